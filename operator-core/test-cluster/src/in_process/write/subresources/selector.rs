//! Label selectors inside objects (`matchLabels`, `matchExpressions`). Pure.

use serde_json::Value;

/// Whether a selector selects an object with these labels. None at all selects nothing.
pub(in crate::in_process) fn matches(selector: &Value, labels: &Value) -> bool {
    if !selector.is_object() {
        return false;
    }
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let equal = |(key, value): (&String, &Value)| label(key) == value.as_str();
    let expression = |expression: &Value| {
        let value = label(text(expression, "key"));
        let listed = value.is_some_and(|value| values(expression).contains(&value));
        match text(expression, "operator") {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            _ => false,
        }
    };
    selector["matchLabels"].as_object().into_iter().flatten().all(equal)
        && selector["matchExpressions"].as_array().into_iter().flatten().all(expression)
}

/// A selector as text, its terms in the order of their keys.
pub(super) fn as_text(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let mut terms: Vec<(String, String)> = labels
        .map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())))
        .collect();
    for expression in selector["matchExpressions"].as_array().into_iter().flatten() {
        let key = text(expression, "key");
        let mut values = values(expression);
        values.sort_unstable();
        let values = values.join(",");
        let term = match text(expression, "operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        terms.push((key.to_owned(), term));
    }
    terms.sort_by(|(one, _), (two, _)| one.cmp(two));
    terms.into_iter().map(|(_, term)| term).collect::<Vec<_>>().join(",")
}

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or_default()
}

fn values(expression: &Value) -> Vec<&str> {
    expression["values"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_selector_selects_all_and_none_selects_nothing() {
        assert!(matches(&json!({}), &json!(null)));
        assert!(!matches(&Value::Null, &json!({ "a": "b" })));
    }

    #[test]
    fn terms_are_asked_and_shown() {
        let selector = json!({
            "matchLabels": { "app": "web" },
            "matchExpressions": [
                { "key": "tier", "operator": "NotIn", "values": ["z", "y"] },
                { "key": "b", "operator": "Exists" },
                { "key": "a", "operator": "DoesNotExist" },
            ],
        });
        assert_eq!(as_text(&selector), "!a,app=web,b,tier notin (y,z)");
        assert!(matches(&selector, &json!({ "app": "web", "b": "" })));
        for other in [
            json!({ "app": "web" }),
            json!({ "app": "web", "b": "1", "tier": "y" }),
            json!({ "app": "web", "b": "1", "a": "1" }),
            json!({ "b": "1" }),
        ] {
            assert!(!matches(&selector, &other), "{other}");
        }
    }
}
