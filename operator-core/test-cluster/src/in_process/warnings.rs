//! Warnings as headers of an answer. Pure.

use http::HeaderValue;

/// All warnings of an answer may have so many letters; if they have more, each is cut.
const ALL: usize = 4 * 1024;
/// What is left of a warning that is cut.
const EACH: usize = 256;

/// The values of the headers: each warning once, in their order. What can't be in a header is left out.
pub(super) fn headers(warnings: &[String]) -> Vec<HeaderValue> {
    let mut texts: Vec<&str> = Vec::new();
    for warning in warnings {
        if !warning.is_empty() && !texts.contains(&warning.as_str()) {
            texts.push(warning);
        }
    }
    let all: usize = texts.iter().map(|text| text.chars().count()).sum();
    let mut written = 0;
    let mut values = Vec::new();
    for text in texts {
        let text: String = if all > ALL { text.chars().take(EACH).collect() } else { text.to_owned() };
        if written >= ALL && all > ALL {
            break;
        }
        written += text.chars().count();
        let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
        values.extend(HeaderValue::from_bytes(format!("299 - \"{quoted}\"").as_bytes()));
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_warning_is_said_once_and_all_fit() {
        let said = |warnings: &[String]| headers(warnings).len();
        assert_eq!(said(&["a".to_owned(), "b\"\\".to_owned(), "a".to_owned(), "c\n".to_owned()]), 2);
        assert_eq!(
            headers(&["b\"\\ü".to_owned()])[0],
            HeaderValue::from_bytes("299 - \"b\\\"\\\\ü\"".as_bytes()).expect("a header")
        );
        let many: Vec<String> = (0..30).map(|number| format!("{number:0300}")).collect();
        let cut = headers(&many);
        assert!(cut.len() == 16 && cut.iter().all(|value| value.len() == EACH + 8), "{}", cut.len());
    }
}
