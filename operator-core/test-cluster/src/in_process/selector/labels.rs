//! The syntax of label selectors, with the real server's error messages. Pure.

use std::collections::{BTreeSet, VecDeque};

use super::{LabelTerm, Test};
use crate::in_process::values::names;

const OPERATORS: &str = "in, notin, =, ==, !=, gt, lt";

/// Reads a selector.
pub(super) fn parse(selector: &str) -> Result<Vec<LabelTerm>, String> {
    let mut tokens = Tokens(lex(selector));
    let mut terms = Vec::new();
    if tokens.peek().is_empty() {
        return Ok(terms);
    }
    if !is_word(tokens.peek()) && tokens.peek() != "!" {
        return Err(format!("found '{}', expected: !, identifier, or 'end of string'", tokens.peek()));
    }
    loop {
        terms.push(term(&mut tokens).map_err(|error| format!("unable to parse requirement: {error}"))?);
        match tokens.take().as_str() {
            "" => return Ok(terms),
            "," if is_word(tokens.peek()) || tokens.peek() == "!" => {}
            "," => return Err(format!("found '{}', expected: identifier after ','", tokens.peek())),
            other => return Err(format!("found '{other}', expected: ',' or 'end of string'")),
        }
    }
}

fn term(tokens: &mut Tokens) -> Result<LabelTerm, String> {
    let negated = tokens.peek() == "!";
    if negated {
        tokens.take();
    }
    let key = word(tokens)?;
    if let Some(why) = said(&names::qualified(&key)) {
        return Err(format!("<nil>: Invalid value: {key:?}: {why}"));
    }
    let test = if negated {
        Test::Absent
    } else if matches!(tokens.peek(), "" | ",") {
        Test::Exists
    } else {
        match tokens.take().as_str() {
            "=" | "==" => Test::In(vec![value(tokens)?]),
            "!=" => Test::NotIn(vec![value(tokens)?]),
            "in" => Test::In(values(tokens)?),
            "notin" => Test::NotIn(values(tokens)?),
            ">" => Test::Greater(number(tokens)?),
            "<" => Test::Less(number(tokens)?),
            other => return Err(format!("found '{other}', expected: {OPERATORS}")),
        }
    };
    if let Test::In(values) | Test::NotIn(values) = &test {
        for (at, value) in values.iter().enumerate() {
            if let Some(why) = said(&names::label_value(value)) {
                return Err(format!("values[{at}][{key}]: Invalid value: {value:?}: {why}"));
            }
        }
    }
    Ok(LabelTerm { key, test })
}

/// All that is wrong with a text, if anything is.
fn said(wrong: &[String]) -> Option<String> {
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

fn word(tokens: &mut Tokens) -> Result<String, String> {
    let found = tokens.take();
    if is_word(&found) { Ok(found) } else { Err(format!("found '{found}', expected: identifier")) }
}

/// A single value, which may be missing.
fn value(tokens: &mut Tokens) -> Result<String, String> {
    if matches!(tokens.peek(), "" | ",") { Ok(String::new()) } else { word(tokens) }
}

fn number(tokens: &mut Tokens) -> Result<i64, String> {
    let value = value(tokens)?;
    let wrong = "for 'Gt', 'Lt' operators, the value must be an integer";
    value.parse().map_err(|_| format!("values[0]: Invalid value: {value:?}: {wrong}"))
}

/// Values in parentheses, sorted; a missing one is empty.
fn values(tokens: &mut Tokens) -> Result<Vec<String>, String> {
    let open = tokens.take();
    if open != "(" {
        return Err(format!("found '{open}' expected: '('"));
    }
    let mut values = BTreeSet::new();
    match tokens.peek() {
        ")" => {
            tokens.take();
            return Ok(vec![String::new()]);
        }
        "," => {}
        first if is_word(first) => {}
        other => return Err(format!("found '{other}', expected: ',', ')' or identifier")),
    }
    loop {
        match tokens.take() {
            comma if comma == "," => {
                if values.is_empty() {
                    values.insert(String::new());
                }
                if matches!(tokens.peek(), ")" | ",") {
                    values.insert(String::new());
                }
                match tokens.peek() {
                    ")" => break,
                    "," => drop(tokens.take()),
                    _ => {}
                }
            }
            word if is_word(&word) => {
                values.insert(word);
                match tokens.peek() {
                    "," => {}
                    ")" => break,
                    other => return Err(format!("found '{other}', expected: ',' or ')'")),
                }
            }
            other => return Err(format!("found '{other}', expected: ',', or identifier")),
        }
    }
    tokens.take();
    Ok(values.into_iter().collect())
}

struct Tokens(VecDeque<String>);

impl Tokens {
    /// The next token; the end is an empty one.
    fn peek(&self) -> &str {
        self.0.front().map_or("", String::as_str)
    }

    fn take(&mut self) -> String {
        self.0.pop_front().unwrap_or_default()
    }
}

fn is_special(letter: char) -> bool {
    "=!(),><".contains(letter)
}

fn is_word(token: &str) -> bool {
    token.chars().next().is_some_and(|letter| !is_special(letter))
}

fn lex(selector: &str) -> VecDeque<String> {
    let mut tokens = VecDeque::new();
    let mut letters = selector.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut token = letter.to_string();
        if letter.is_whitespace() {
            continue;
        }
        if is_special(letter) {
            if matches!(letter, '=' | '!') && letters.peek() == Some(&'=') {
                token.extend(letters.next());
            }
        } else {
            while let Some(next) = letters.next_if(|next| !is_special(*next) && !next.is_whitespace()) {
                token.push(next);
            }
        }
        tokens.push_back(token);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(selector: &str, expected: Result<usize, &str>) {
        let parsed = parse(selector).map(|terms| terms.len());
        assert_eq!(parsed, expected.map_err(str::to_owned), "{selector}");
    }

    #[test]
    fn selectors_are_read_or_refused_in_the_words_of_the_real_server() {
        check("", Ok(0));
        check("a, !b, c=d, e!=f, g in (h, i), j notin (k), l>1, m==", Ok(8));
        check("a in ()", Ok(1));
        check("in in (in)", Ok(1));
        check("a===", Err("unable to parse requirement: found '=', expected: identifier"));
        check(
            "a foo",
            Err("unable to parse requirement: found 'foo', expected: in, notin, =, ==, !=, gt, lt"),
        );
        check(",", Err("found ',', expected: !, identifier, or 'end of string'"));
        check("a,", Err("found '', expected: identifier after ','"));
        check("a=b=c", Err("found '=', expected: ',' or 'end of string'"));
        check("a in", Err("unable to parse requirement: found '' expected: '('"));
        check("a in (a", Err("unable to parse requirement: found '', expected: ',' or ')'"));
        check(
            "a>b",
            Err(
                "unable to parse requirement: values[0]: Invalid value: \"b\": for 'Gt', 'Lt' operators, the value must be \
                 an integer",
            ),
        );
        check(
            "/a=b",
            Err("unable to parse requirement: <nil>: Invalid value: \"/a\": prefix part must be non-empty"),
        );
    }
}
