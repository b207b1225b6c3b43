//! JSON as Go's `encoding/json` reads it, with its messages.
//!
//! ```text
//!  bytes ─▶ states of Go's scanner ─▶ text, number, word ─▶ a value, or a tree with the fields in order and doubled ones
//! ```
//!
//! # Guarantees
//! - Half a surrogate pair and bytes that aren't UTF-8 become the replacement character; whole numbers beyond 64 bits are
//!   floats; of two fields with one name the last counts.
//! - The depth of a text costs no stack here.

use std::fmt::Write;

use serde_json::{Map, Number, Value};

use super::text_of;
use crate::in_process::values::quoted;

/// So many levels Go reads.
const MOST_LEVELS: usize = 10_000;
const UNEXPECTED_END: &str = "unexpected end of JSON input";

/// What is made of a text.
pub(in crate::in_process) trait Build: Sized {
    fn scalar(value: Value) -> Self;
    fn list(items: Vec<Self>) -> Self;
    /// An object with the fields in the order of the text.
    fn object(fields: Vec<(String, Self)>) -> Self;
}

impl Build for Value {
    fn scalar(value: Value) -> Self {
        value
    }

    fn list(items: Vec<Self>) -> Self {
        Self::Array(items)
    }

    fn object(fields: Vec<(String, Self)>) -> Self {
        Self::Object(fields.into_iter().collect::<Map<_, _>>())
    }
}

/// What Go says of a number that is too large for a float begins with this.
pub(in crate::in_process) const WRONG_NUMBER: &str = "json: cannot unmarshal number";

/// Reads a text that is YAML, too: there, a number that is too large for a float is a text.
pub(in crate::in_process) fn read_yaml(text: &[u8]) -> Result<Value, String> {
    Reader { text, at: 0, wrong_number: None, is_yaml: true }.whole()
}

/// Reads a text whose fields have types: a number that is too large for a float becomes the largest float, and so is refused
/// or dropped with its field.
pub(in crate::in_process) fn read_typed(text: &[u8]) -> Result<Value, String> {
    Reader { text, at: 0, wrong_number: None, is_yaml: false }.whole()
}

/// Reads a text; the error is Go's.
pub(in crate::in_process) fn read<T: Build>(text: &[u8]) -> Result<T, String> {
    let mut reader = Reader { text, at: 0, wrong_number: None, is_yaml: false };
    let value = reader.whole()?;
    match reader.wrong_number {
        Some(number) => Err(format!("{WRONG_NUMBER} {number} into Go value of type float64")),
        None => Ok(value),
    }
}

/// How deep a text nests lists and objects, whether it is JSON or not.
pub(in crate::in_process) fn depth(text: &[u8]) -> usize {
    let (mut depth, mut most, mut in_text, mut escaped) = (0_usize, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => {
                depth += 1;
                most = most.max(depth);
            }
            b'}' | b']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    most
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// The first number that is too large for a float.
    wrong_number: Option<String>,
    is_yaml: bool,
}

/// A list or an object that hasn't ended.
enum Open<T> {
    List(Vec<T>),
    Object(Vec<(String, T)>, String),
}

impl Reader<'_> {
    fn whole<T: Build>(&mut self) -> Result<T, String> {
        let mut open: Vec<Open<T>> = Vec::new();
        loop {
            let Some(mut value) = self.begin(&mut open)? else { continue };
            // What a value ends, up to the next one.
            loop {
                self.skip();
                let Some(last) = open.last_mut() else {
                    return match self.peek() {
                        None => Ok(value),
                        Some(byte) => Err(invalid(byte, "after top-level value")),
                    };
                };
                let byte = self.next()?;
                match (last, byte) {
                    (Open::List(items), b',') => items.push(value),
                    (Open::Object(fields, name), b',') => {
                        fields.push((std::mem::take(name), value));
                        self.skip();
                        *name = self.name("looking for beginning of object key string")?;
                    }
                    (Open::List(_), b']') | (Open::Object(..), b'}') => {
                        value = match open.pop() {
                            Some(Open::List(mut items)) => {
                                items.push(value);
                                T::list(items)
                            }
                            Some(Open::Object(mut fields, name)) => {
                                fields.push((name, value));
                                T::object(fields)
                            }
                            None => value,
                        };
                        continue;
                    }
                    (Open::List(_), byte) => return Err(invalid(byte, "after array element")),
                    (Open::Object(..), byte) => return Err(invalid(byte, "after object key:value pair")),
                }
                break;
            }
        }
    }

    /// Reads the beginning of a value: a whole one, unless a list or an object begins that has something in it.
    fn begin<T: Build>(&mut self, open: &mut Vec<Open<T>>) -> Result<Option<T>, String> {
        self.skip();
        let byte = self.next()?;
        if matches!(byte, b'{' | b'[') && open.len() >= MOST_LEVELS {
            return Err(invalid(byte, "exceeded max depth"));
        }
        Ok(Some(match byte {
            b'{' => {
                self.skip();
                if self.peek() == Some(b'}') {
                    self.at += 1;
                    return Ok(Some(T::object(Vec::new())));
                }
                let name = self.name("looking for beginning of object key string")?;
                open.push(Open::Object(Vec::new(), name));
                return Ok(None);
            }
            b'[' => {
                self.skip();
                if self.peek() == Some(b']') {
                    self.at += 1;
                    return Ok(Some(T::list(Vec::new())));
                }
                open.push(Open::List(Vec::new()));
                return Ok(None);
            }
            b'"' => T::scalar(Value::String(self.string()?)),
            b't' => T::scalar(self.word("true", true.into())?),
            b'f' => T::scalar(self.word("false", false.into())?),
            b'n' => T::scalar(self.word("null", Value::Null)?),
            b'-' | b'0'..=b'9' => T::scalar(self.number(byte)?),
            other => return Err(invalid(other, "looking for beginning of value")),
        }))
    }

    /// The name of a field, and the colon after it.
    fn name(&mut self, context: &str) -> Result<String, String> {
        match self.next()? {
            b'"' => {}
            other => return Err(invalid(other, context)),
        }
        let name = self.string()?;
        self.skip();
        match self.next()? {
            b':' => Ok(name),
            other => Err(invalid(other, "after object key")),
        }
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, String> {
        for expected in word.bytes().skip(1) {
            let byte = self.next_or_space();
            if byte != expected {
                let context = format!("in literal {word} (expecting '{}')", char::from(expected));
                return Err(invalid(byte, &context));
            }
        }
        Ok(value)
    }

    fn number(&mut self, first: u8) -> Result<Value, String> {
        let start = self.at - 1;
        let mut first = first;
        if first == b'-' {
            first = self.next_or_space();
            if !first.is_ascii_digit() {
                return Err(invalid(first, "in numeric literal"));
            }
        }
        if first != b'0' {
            self.digits();
        }
        let mut is_float = false;
        if self.peek() == Some(b'.') {
            is_float = true;
            self.at += 1;
            match self.next_or_space() {
                b'0'..=b'9' => self.digits(),
                other => return Err(invalid(other, "after decimal point in numeric literal")),
            }
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            is_float = true;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            match self.next_or_space() {
                b'0'..=b'9' => self.digits(),
                other => return Err(invalid(other, "in exponent of numeric literal")),
            }
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).into_owned();
        if !is_float {
            // What is beyond Go's integers is a float there, which is made of it later.
            let whole = text.parse::<i64>().map(Number::from);
            if let Ok(whole) = whole.or_else(|_| text.parse::<u64>().map(Number::from)) {
                return Ok(Value::Number(whole));
            }
        }
        match text.parse::<f64>().ok().and_then(Number::from_f64) {
            Some(number) => Ok(Value::Number(number)),
            None if self.is_yaml => Ok(Value::String(text)),
            None => {
                self.wrong_number.get_or_insert(text);
                Ok(Value::from(f64::MAX))
            }
        }
    }

    fn digits(&mut self) {
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
    }

    /// A text whose opening quote has been read.
    fn string(&mut self) -> Result<String, String> {
        let start = self.at;
        let mut is_plain = true;
        loop {
            match self.next()? {
                b'"' => break,
                b'\\' => {
                    is_plain = false;
                    match self.next_or_space() {
                        b'b' | b'f' | b'n' | b'r' | b't' | b'\\' | b'/' | b'"' => {}
                        b'u' => {
                            for _ in 0..4 {
                                let byte = self.next_or_space();
                                if !byte.is_ascii_hexdigit() {
                                    return Err(invalid(byte, "in \\u hexadecimal character escape"));
                                }
                            }
                        }
                        other => return Err(invalid(other, "in string escape code")),
                    }
                }
                byte @ 0..0x20 => return Err(invalid(byte, "in string literal")),
                _ => {}
            }
        }
        let raw = text_of(&self.text[start..self.at - 1]);
        Ok(if is_plain { raw } else { unescaped(&raw) })
    }

    fn skip(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Result<u8, String> {
        let byte = self.peek().ok_or_else(|| UNEXPECTED_END.to_owned())?;
        self.at += 1;
        Ok(byte)
    }

    /// The next byte where a space is a mistake: Go looks at a space when the text has ended.
    fn next_or_space(&mut self) -> u8 {
        self.next().unwrap_or(b' ')
    }
}

/// What Go says of a byte that can't stand where it does.
fn invalid(byte: u8, context: &str) -> String {
    let shown = match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        byte => {
            let quoted = quoted(&char::from(byte).to_string());
            format!("'{}'", &quoted[1..quoted.len() - 1])
        }
    };
    format!("invalid character {shown} {context}")
}

/// A text whose escapes are known to be right.
fn unescaped(raw: &str) -> String {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = rest.as_bytes().get(at + 1).copied().unwrap_or_default();
        let mut after = at + 2;
        text.push(match escape {
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit =
                    |from: usize| rest.get(from..from + 4).and_then(|hex| u32::from_str_radix(hex, 16).ok());
                let first = unit(at + 2).unwrap_or_default();
                after = at + 6;
                let second =
                    rest.get(after..after + 2).filter(|next| *next == "\\u").and_then(|_| unit(after + 2));
                match (first, second) {
                    (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) => {
                        after += 6;
                        char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00))
                            .unwrap_or_default()
                    }
                    _ => char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER),
                }
            }
            other => char::from(other),
        });
        rest = rest.get(after..).unwrap_or_default();
    }
    text.push_str(rest);
    text
}

/// Why a text that is JSON isn't YAML to Go's parser, if that is so.
pub(in crate::in_process) fn wrong_as_yaml(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    if depth(text.as_bytes()) > MOST_LEVELS {
        return Some(format!("yaml: exceeded max depth of {MOST_LEVELS}"));
    }
    // The text is read in advance, so this comes first.
    let is_allowed = |letter: char| match letter {
        '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' => true,
        letter => letter >= '\u{a0}' && !matches!(letter, '\u{fffe}' | '\u{ffff}'),
    };
    if !text.chars().all(is_allowed) {
        return Some("yaml: control characters are not allowed".to_owned());
    }
    let (mut rest, mut line) = (text, 0_usize);
    while let Some(at) = rest.find('\\') {
        line += rest[..at].matches('\n').count();
        let after = &rest[at + 1..];
        let is_surrogate = || {
            let code = after.get(1..5).and_then(|hex| u32::from_str_radix(hex, 16).ok());
            code.is_some_and(|code| (0xd800..0xe000).contains(&code))
        };
        let why = match after.as_bytes().first() {
            Some(b'/') => Some("found unknown escape character"),
            Some(b'u') if is_surrogate() => Some("found invalid Unicode character escape code"),
            _ => None,
        };
        if let Some(why) = why {
            let mut said = "yaml: ".to_owned();
            if line > 0 {
                // Writing to a string doesn't fail.
                let _ = write!(said, "line {}: ", line + 1);
            }
            return Some(said + why);
        }
        rest = after.get(1..).unwrap_or_default();
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        read(text.as_bytes())
    }

    #[test]
    fn texts_are_read_as_go_reads_them() {
        assert_eq!(
            value(r#" {"a": [1, -2.5, {}, []], "b": null, "a": true} "#),
            Ok(json!({"a": true, "b": null}))
        );
        assert_eq!(value(r#""\ud83d\ude00 \ud83d \n\/""#), Ok(json!("😀 \u{fffd} \n/")));
        assert_eq!(
            value("[18446744073709551615, 18446744073709551616]"),
            Ok(json!([u64::MAX, 18446744073709551616_f64]))
        );
        let bytes: Result<Value, _> = read(b"\"a\xffb\"");
        assert_eq!(bytes, Ok(json!("a\u{fffd}b")));
        let begun: Result<Value, _> = read(b"\"\xe2\x82\"");
        assert_eq!(begun, Ok(json!("\u{fffd}\u{fffd}")), "one for each byte");
        assert_eq!(read_typed(b"[1e400, 1]"), Ok(json!([f64::MAX, 1])));
    }

    #[test]
    fn what_is_no_json_is_refused_in_go_s_words() {
        for (text, why) in [
            ("", UNEXPECTED_END),
            ("{", UNEXPECTED_END),
            ("{a", "invalid character 'a' looking for beginning of object key string"),
            ("{\"a\" 1", "invalid character '1' after object key"),
            ("{\"a\":1 1", "invalid character '1' after object key:value pair"),
            ("[1 1", "invalid character '1' after array element"),
            ("[1,]", "invalid character ']' looking for beginning of value"),
            ("{\"a\":1,}", "invalid character '}' looking for beginning of object key string"),
            ("01", "invalid character '1' after top-level value"),
            ("-a", "invalid character 'a' in numeric literal"),
            ("1.x", "invalid character 'x' after decimal point in numeric literal"),
            ("1ex", "invalid character 'x' in exponent of numeric literal"),
            ("trux", "invalid character 'x' in literal true (expecting 'e')"),
            ("\"\n\"", "invalid character '\\n' in string literal"),
            (r#""\x""#, "invalid character 'x' in string escape code"),
            (r#""\u12x""#, "invalid character 'x' in \\u hexadecimal character escape"),
            ("'a'", "invalid character '\\'' looking for beginning of value"),
            ("1e400", "json: cannot unmarshal number 1e400 into Go value of type float64"),
            ("[nul", "invalid character ' ' in literal null (expecting 'l')"),
            ("-", "invalid character ' ' in numeric literal"),
            ("1.", "invalid character ' ' after decimal point in numeric literal"),
            ("1e", "invalid character ' ' in exponent of numeric literal"),
            ("\"\\", "invalid character ' ' in string escape code"),
            ("\"\\u0", "invalid character ' ' in \\u hexadecimal character escape"),
            ("\"a", UNEXPECTED_END),
        ] {
            assert_eq!(value(text), Err(why.to_owned()), "{text}");
        }
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(value(&deep(10_001)), Err("invalid character '[' exceeded max depth".to_owned()));
        assert_eq!((depth(deep(500).as_bytes()), depth(br#"{"a":"[[\"[["}"#)), (500, 1));
    }

    #[test]
    fn some_json_is_no_yaml() {
        let wrong = |text: &str| wrong_as_yaml(text.as_bytes());
        assert_eq!(wrong(r#"{"a":"\n\u00e4\\ud800"}"#), None);
        assert_eq!(
            wrong("{\"a\":\n\"\\/\"}").as_deref(),
            Some("yaml: line 2: found unknown escape character")
        );
        let half = "yaml: found invalid Unicode character escape code";
        assert_eq!(wrong(r#"{"a":"\ud83d\ude00"}"#).as_deref(), Some(half));
        assert_eq!(wrong("\"\u{7f}\"").as_deref(), Some("yaml: control characters are not allowed"));
    }
}
