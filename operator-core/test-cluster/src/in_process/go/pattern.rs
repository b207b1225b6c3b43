//! Regular expressions as Go understands them.
//!
//! Both libraries have RE2's syntax, and differ in a few places: classes such as `\d` are ASCII in Go, `[` inside of a
//! class and `{` that begins no repetition are plain letters there. A pattern is translated, and what Go refuses is
//! refused in its words.

use std::iter::Peekable;

use regex::{Regex, RegexBuilder};

/// A pattern's automaton may be as large as Go would let it be.
const LARGEST: usize = 64 << 20;

/// Compiles a pattern; the error is Go's.
pub(in crate::in_process) fn compile(pattern: &str) -> Result<Regex, String> {
    let translated = translate(pattern).map_err(|why| format!("error parsing regexp: {why}"))?;
    RegexBuilder::new(&translated)
        .size_limit(LARGEST)
        .build()
        .map_err(|_| format!("error parsing regexp: invalid or unsupported syntax: `{pattern}`"))
}

type Letters<'a> = Peekable<std::str::CharIndices<'a>>;

fn translate(pattern: &str) -> Result<String, String> {
    let mut letters = pattern.char_indices().peekable();
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut groups = 0_usize;
    // Whether something stands before that can be repeated, and the repetition that stands there.
    let (mut repeatable, mut repeated) = (false, String::new());
    while let Some((at, letter)) = letters.next() {
        let rest = &pattern[at..];
        let repetition = repetition(rest);
        if let Some(count) = repetition {
            let (mut operator, mut length) = (rest[..count].to_owned(), count);
            if rest[count..].starts_with('?') {
                operator.push('?');
                length += 1;
            }
            if !repeated.is_empty() {
                return Err(format!("invalid nested repetition operator: `{repeated}{operator}`"));
            }
            if !repeatable {
                return Err(format!("missing argument to repetition operator: `{}`", &rest[..count]));
            }
            if too_often(&rest[..count]) {
                return Err(format!("invalid repeat count: `{}`", &rest[..count]));
            }
            out.push_str(&operator);
            for _ in 1..length {
                letters.next();
            }
            repeated = operator;
            continue;
        }
        repeated.clear();
        repeatable = true;
        match letter {
            '\\' => escape(&mut letters, rest, false, &mut out)?,
            '[' => class(&mut letters, rest, &mut out)?,
            '(' => {
                repeatable = false;
                let header = if rest.starts_with("(?") { group(rest)? } else { "(" };
                out.push_str(header);
                for _ in 1..header.chars().count() {
                    letters.next();
                }
                // Flags alone are closed at once.
                groups += usize::from(!header.ends_with(')'));
            }
            ')' => {
                groups = groups.checked_sub(1).ok_or_else(|| format!("unexpected ): `{pattern}`"))?;
                out.push(')');
            }
            '|' => {
                out.push('|');
                repeatable = false;
            }
            '{' | '}' => {
                out.push('\\');
                out.push(letter);
            }
            other => out.push(other),
        }
    }
    if groups > 0 {
        return Err(format!("missing closing ): `{pattern}`"));
    }
    Ok(out)
}

/// The length of a repetition at the beginning of a text, without a `?` after it.
fn repetition(rest: &str) -> Option<usize> {
    match rest.as_bytes().first()? {
        b'*' | b'+' => Some(1),
        b'?' => Some(1),
        b'{' => {
            let end = rest.find('}')?;
            let (least, most) = rest[1..end].split_once(',').unwrap_or((&rest[1..end], "0"));
            let is_number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
            (is_number(least) && (most.is_empty() || is_number(most))).then_some(end + 1)
        }
        _ => None,
    }
}

fn too_often(repetition: &str) -> bool {
    let inner = repetition.trim_start_matches('{').trim_end_matches('}');
    let numbers: Vec<u64> = inner.split(',').filter_map(|number| number.parse().ok()).collect();
    numbers.iter().any(|number| *number > 1_000) || matches!(numbers[..], [least, most] if least > most)
}

/// The beginning of a special group, up to its colon, bracket or end.
fn group(rest: &str) -> Result<&str, String> {
    let body = &rest[2..];
    let named = body.strip_prefix("P<").or_else(|| body.strip_prefix('<'));
    if let Some(name) = named.filter(|name| !name.starts_with(['=', '!'])) {
        let before = rest.len() - name.len();
        let is_word = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        return match name.find('>') {
            Some(end) if end > 0 && is_word(&name[..end]) => Ok(&rest[..=before + end]),
            Some(end) => Err(format!("invalid named capture: `{}`", &rest[..=before + end])),
            None => Err(format!("invalid named capture: `{rest}`")),
        };
    }
    let flags = body.find(|letter: char| !"imsU-".contains(letter)).unwrap_or(body.len());
    match body[flags..].chars().next() {
        Some(':' | ')') => Ok(&rest[..2 + flags + 1]),
        Some(other) => Err(format!("invalid or unsupported Perl syntax: `{}{other}`", &rest[..2 + flags])),
        None => Err(format!("missing closing ): `{rest}`")),
    }
}

/// What follows a backslash.
fn escape(letters: &mut Letters<'_>, rest: &str, in_class: bool, out: &mut String) -> Result<(), String> {
    let Some((_, letter)) = letters.next() else {
        return Err("trailing backslash at end of expression: ``".to_owned());
    };
    let set = |members: &str| if in_class { members.to_owned() } else { format!("[{members}]") };
    match letter {
        'd' => out.push_str(&set("0-9")),
        'w' => out.push_str(&set("0-9A-Za-z_")),
        's' => out.push_str(&set("\\t\\n\\f\\r ")),
        'D' => out.push_str("[^0-9]"),
        'W' => out.push_str("[^0-9A-Za-z_]"),
        'S' => out.push_str("[^\\t\\n\\f\\r ]"),
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("(?-u:\\B)"),
        'A' | 'z' if !in_class => {
            out.push('\\');
            out.push(letter);
        }
        'Q' if !in_class => {
            while let Some((_, letter)) = letters.next() {
                if letter == '\\' && letters.peek().is_some_and(|(_, next)| *next == 'E') {
                    letters.next();
                    break;
                }
                out.push_str(&regex::escape(&letter.to_string()));
            }
        }
        'p' | 'P' | 'x' | 'a' | 'f' | 't' | 'n' | 'r' | 'v' => {
            out.push('\\');
            out.push(letter);
        }
        '<' | '>' => out.push(letter),
        other if other.is_ascii() && !other.is_ascii_alphanumeric() => {
            out.push('\\');
            out.push(other);
        }
        other => {
            let end = rest.find('\\').unwrap_or_default() + 1 + other.len_utf8();
            return Err(format!("invalid escape sequence: `{}`", &rest[..end]));
        }
    }
    Ok(())
}

/// A class in brackets.
fn class(letters: &mut Letters<'_>, rest: &str, out: &mut String) -> Result<(), String> {
    out.push('[');
    if letters.next_if(|(_, letter)| *letter == '^').is_some() {
        out.push('^');
    }
    let start = rest.as_ptr() as usize;
    let mut first = true;
    while let Some((_, letter)) = letters.next() {
        match letter {
            ']' if !first => {
                out.push(']');
                return Ok(());
            }
            '[' => {
                // The rest of the pattern from here, to see whether a named class begins.
                let ahead: String = letters.clone().map(|(_, letter)| letter).collect();
                match ahead.strip_prefix(':').and_then(|ahead| ahead.find(":]")) {
                    Some(end) => {
                        out.push('[');
                        for _ in 0..ahead[1..=end].chars().count() + 3 {
                            out.extend(letters.next().map(|(_, letter)| letter));
                        }
                    }
                    None => out.push_str("\\["),
                }
            }
            '\\' => {
                let at = letters.peek().map_or(rest.len(), |(at, _)| *at);
                let ahead = rest.get(at.saturating_sub(start)..).unwrap_or_default();
                let shown = format!("\\{ahead}");
                escape(letters, &shown, true, out)?;
            }
            ']' | '&' | '~' | '{' | '}' | '#' => {
                out.push('\\');
                out.push(letter);
            }
            // A range stays one; a sign at the end or the beginning is a letter in both.
            '-' if out.ends_with('-') => out.push_str("\\-"),
            other => out.push(other),
        }
        first = false;
    }
    Err(format!("missing closing ]: `{rest}`"))
}

#[cfg(test)]
mod tests {
    use super::compile;

    fn matches(pattern: &str, text: &str) -> bool {
        compile(pattern).unwrap().is_match(text)
    }

    #[test]
    fn classes_are_ascii() {
        assert!(matches(r"^\d+$", "42") && !matches(r"^\d+$", "٤"));
        assert!(matches(r"^[\w.]+$", "a_1.b") && !matches(r"^\w$", "ä"));
        assert!(matches(r"^[^\s/]+$", "ab") && !matches(r"^[^\s/]+$", "a b"));
    }

    #[test]
    fn letters_that_are_signs_in_rust_are_letters() {
        assert!(matches("^[[]$", "[") && matches("^[]]$", "]") && matches("^[a&&b]$", "&"));
        assert!(matches("^a{,2}$", "a{,2}") && matches("^{x}$", "{x}") && matches(r"^\<$", "<"));
        assert!(matches("^[a-z]([-a-z0-9]*[a-z0-9])?$", "a-b") && matches("^[[:alpha:]-]+$", "a-b"));
        assert!(matches("^(?:a|b)+(?i:c)$", "abC") && !matches("^(?:a|b)+$", "c"));
        assert!(matches(r"^(?i)ab\.c{2}$", "AB.CC") && matches(r"^(?P<x>a)\Q.*\E$", "a.*"));
    }

    #[test]
    fn what_go_refuses_is_refused_in_its_words() {
        for (pattern, why) in [
            ("*", "missing argument to repetition operator: `*`"),
            ("a**", "invalid nested repetition operator: `**`"),
            ("(a", "missing closing ): `(a`"),
            ("a)", "unexpected ): `a)`"),
            ("[a", "missing closing ]: `[a`"),
            (r"\y", r"invalid escape sequence: `\y`"),
            ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
            ("a{1001}", "invalid repeat count: `{1001}`"),
        ] {
            assert_eq!(compile(pattern).unwrap_err(), format!("error parsing regexp: {why}"));
        }
    }
}
