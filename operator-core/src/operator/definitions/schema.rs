//! The schema of a type, compared with the served one.

use serde_json::Value;

/// The places at which the served schema isn't that of the type, except for descriptions: `.spec.pages[].title`,
/// `.spec.labels.*`. Anything additional on the server isn't a difference.
pub(super) fn differences(own: &Value, live: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", own, live, &mut found);
    found
}

fn compare(at: &str, own: &Value, live: &Value, found: &mut Vec<String>) {
    if text(own) != text(live) {
        found.push(if at.is_empty() { ".".to_owned() } else { at.to_owned() });
    }
    for (name, own) in own["properties"].as_object().into_iter().flatten() {
        compare(&format!("{at}.{name}"), own, &live["properties"][name], found);
    }
    for (name, sign) in [("items", "[]"), ("additionalProperties", ".*")] {
        if !own[name].is_null() {
            compare(&format!("{at}{sign}"), &own[name], &live[name], found);
        }
    }
}

/// The part of a schema about the value itself.
fn text(schema: &Value) -> String {
    let mut schema = schema.clone();
    if let Some(words) = schema.as_object_mut() {
        words.retain(|name, _| {
            !matches!(&**name, "description" | "properties" | "items" | "additionalProperties")
        });
    }
    schema.to_string()
}
