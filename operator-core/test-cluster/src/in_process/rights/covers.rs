//! Whether rules cover others, and what they lack. Pure.

use serde_json::{Value, json};

use super::texts;

/// What `owned` lacks of `wanted`, each a text, in their order; empty if it covers all.
pub(super) fn lacking(owned: &[Value], wanted: &[Value]) -> Vec<String> {
    let parts = wanted.iter().flat_map(parts);
    let missing = parts.filter(|part| !owned.iter().any(|rule| covers(rule, part)));
    let mut texts: Vec<String> = compact(missing.collect()).iter().map(text).collect();
    texts.sort();
    texts.dedup();
    texts
}

/// A rule as rules of one verb and one resource or path each.
fn parts(rule: &Value) -> Vec<Value> {
    let mut parts = Vec::new();
    let verbs = texts(rule, "verbs");
    for group in texts(rule, "apiGroups") {
        for resource in texts(rule, "resources") {
            for verb in &verbs {
                let part = json!({ "apiGroups": [group], "resources": [resource], "verbs": [verb] });
                let names = texts(rule, "resourceNames");
                if names.is_empty() {
                    parts.push(part.clone());
                }
                parts.extend(names.into_iter().map(|name| {
                    let mut named = part.clone();
                    named["resourceNames"] = json!([name]);
                    named
                }));
            }
        }
    }
    for path in texts(rule, "nonResourceURLs") {
        parts.extend(verbs.iter().map(|verb| json!({ "nonResourceURLs": [path], "verbs": [verb] })));
    }
    parts
}

fn covers(rule: &Value, part: &Value) -> bool {
    let all = |field: &str, matches: &dyn Fn(&str, &str) -> bool| {
        let own = texts(rule, field);
        texts(part, field).into_iter().all(|wanted| own.iter().any(|own| matches(own, wanted)))
    };
    let or_star = |own: &str, wanted: &str| own == "*" || own == wanted;
    let resource = |own: &str, wanted: &str| {
        let of_all = || wanted.split_once('/').is_some_and(|(_, sub)| own == format!("*/{sub}"));
        or_star(own, wanted) || of_all()
    };
    let path = |own: &str, wanted: &str| {
        own == wanted || (own.ends_with('*') && wanted.starts_with(own.trim_end_matches('*')))
    };
    let names = texts(rule, "resourceNames");
    let named = names.is_empty()
        || (!texts(part, "resourceNames").is_empty() && all("resourceNames", &|own, wanted| own == wanted));
    all("verbs", &or_star)
        && all("apiGroups", &or_star)
        && all("resources", &resource)
        && all("nonResourceURLs", &path)
        && named
}

/// Rules that differ only by their verbs are one.
fn compact(parts: Vec<Value>) -> Vec<Value> {
    let mut compacted: Vec<Value> = Vec::new();
    for part in parts {
        let same = |other: &&mut Value| {
            ["apiGroups", "resources", "resourceNames"].iter().all(|field| other[*field] == part[*field])
                && part["nonResourceURLs"].is_null()
                && other["nonResourceURLs"].is_null()
        };
        let verbs = part["verbs"].as_array().cloned().unwrap_or_default();
        match compacted.iter_mut().find(same).and_then(|other| other["verbs"].as_array_mut()) {
            Some(known) => known.extend(verbs),
            None => compacted.push(part),
        }
    }
    compacted
}

fn text(rule: &Value) -> String {
    const FIELDS: [(&str, &str); 5] = [
        ("APIGroups", "apiGroups"),
        ("Resources", "resources"),
        ("NonResourceURLs", "nonResourceURLs"),
        ("ResourceNames", "resourceNames"),
        ("Verbs", "verbs"),
    ];
    let fields = FIELDS.iter().filter_map(|(name, field)| {
        let values: Vec<String> = texts(rule, field).iter().map(|value| format!("{value:?}")).collect();
        (!values.is_empty()).then(|| format!("{name}:[{}]", values.join(" ")))
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}
