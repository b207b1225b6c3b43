//! The syntax of field selectors, with the real server's error messages, and what is compared. Pure.

use serde_json::Value;

/// A term of a field selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldTerm {
    pub(super) field: String,
    pub(super) value: String,
    pub(super) equal: bool,
}

/// Reads a selector.
pub(super) fn parse(selector: &str) -> Result<Vec<FieldTerm>, String> {
    let mut parts = split(selector);
    parts.sort_unstable();
    let terms = parts.into_iter().filter(|part| !part.is_empty()).map(|part| term(selector, part));
    // One without a field and a value, such as `!=`, selects everything.
    let says = |term: &Result<FieldTerm, String>| {
        term.as_ref().map_or(true, |term| !term.field.is_empty() || !term.value.is_empty())
    };
    terms.filter(says).collect()
}

/// The terms of a selector: a comma behind a backslash is a value's.
fn split(selector: &str) -> Vec<&str> {
    let (mut parts, mut start, mut escaped) = (Vec::new(), 0, false);
    for (at, letter) in selector.char_indices() {
        if !escaped && letter == ',' {
            parts.push(&selector[start..at]);
            start = at + 1;
        }
        escaped = !escaped && letter == '\\';
    }
    parts.push(&selector[start..]);
    parts
}

fn term(selector: &str, part: &str) -> Result<FieldTerm, String> {
    let place = |at: usize| {
        let operator = ["!=", "==", "="].into_iter().find(|operator| part[at..].starts_with(operator))?;
        Some((&part[..at], operator, &part[at + operator.len()..]))
    };
    let Some((field, operator, value)) = part.char_indices().find_map(|(at, _)| place(at)) else {
        return Err(format!("invalid selector: '{selector}'; can't understand '{part}'"));
    };
    Ok(FieldTerm { field: field.to_owned(), value: unescape(value)?, equal: operator != "!=" })
}

fn unescape(value: &str) -> Result<String, String> {
    let (mut plain, mut letters) = (String::new(), value.chars());
    while let Some(letter) = letters.next() {
        match (letter, letter == '\\') {
            (_, true) => match letters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => plain.push(escaped),
                other => {
                    let other = other.map(String::from).unwrap_or_default();
                    return Err(format!("invalid field selector: invalid escape sequence: \\{other}"));
                }
            },
            (',' | '=', _) => {
                let number = u32::from(letter);
                return Err(format!("invalid field selector: unescaped character in value: {number}"));
            }
            _ => plain.push(letter),
        }
    }
    Ok(plain)
}

/// What the real server compares of an object; nothing is the empty text.
pub(super) fn selected(object: &Value, field: &str) -> String {
    let at = |path: &str| path.split('.').try_fold(object, |value, part| value.get(part));
    let or = |value: Option<&Value>, otherwise: &str| match value {
        Some(Value::String(text)) => text.clone(),
        None | Some(Value::Null) => otherwise.to_owned(),
        Some(other) => other.to_string(),
    };
    let text = |path: &str| or(at(path), "");
    match field {
        "status.successful" => or(at("status.succeeded"), "0"),
        "spec.unschedulable" | "spec.hostNetwork" => or(at(field), "false"),
        "spec.host" => text("spec.nodeName"),
        "source" => Some(text("source.component"))
            .filter(|source| !source.is_empty())
            .unwrap_or_else(|| text("reportingComponent")),
        // The real server knows these by labels of its own group of events.
        other => text(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn selectors_are_read_or_refused_in_the_words_of_the_real_server() {
        let terms = parse(r"b!=x\,y,a==1,,c=").expect("it is right");
        let said: Vec<_> = terms.iter().map(|term| (&*term.field, &*term.value, term.equal)).collect();
        assert_eq!(said, [("a", "1", true), ("b", "x,y", false), ("c", "", true)]);
        assert_eq!(parse("!=,=").expect("they select everything"), []);
        let why = |selector: &str| parse(selector).expect_err("it is wrong");
        assert_eq!(why("a"), "invalid selector: 'a'; can't understand 'a'");
        assert_eq!(why("a=b=c"), "invalid field selector: unescaped character in value: 61");
        assert_eq!(why(r"a=\x"), r"invalid field selector: invalid escape sequence: \x");
        assert_eq!(why(r"a=\"), r"invalid field selector: invalid escape sequence: \");
    }

    #[test]
    fn some_fields_have_another_name_or_a_default() {
        let object =
            json!({"status": {"succeeded": 2}, "spec": {"nodeName": "n"}, "reportingComponent": "web"});
        let of = |field| selected(&object, field);
        assert_eq!((&*of("status.successful"), &*of("spec.host")), ("2", "n"));
        assert_eq!((&*of("source"), &*of("spec.unschedulable"), &*of("spec.x")), ("web", "false", ""));
    }
}
