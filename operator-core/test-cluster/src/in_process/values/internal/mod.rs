//! Pods and volumes as the real server has them in memory, which is how some of its errors show them.
//!
//! There, a field has the name that it has in Go, all fields are written, and some stand elsewhere. `types.txt` has the
//! types: for each its fields in their order, as `Name:form` or `Name=name in JSON:form`; a line that begins with a blank
//! goes on with the type before it. `^` is a field of what is around it, `+` the fields of another type.
//!
//! | form | what | if it is absent |
//! |---|---|---|
//! | `s`, `n`, `b`, `q` | text, number, yes or no, quantity | `""`, `0`, `false`, `"0"` |
//! | `p` | anything | `null` |
//! | `S` | a selector by labels | `null` |
//! | `.T`, `*T`, `[T` | a type, a pointer to it, a list of it | its empty fields, `null`, `null` |

mod difference;

use std::{collections::BTreeMap, sync::LazyLock};

use serde_json::Value;

use super::{
    common::Selector,
    errors::{Shown as _, json},
    read::at,
};

type Fields = Vec<(&'static str, &'static str, &'static str)>;

static TYPES: LazyLock<BTreeMap<&'static str, Fields>> = LazyLock::new(|| {
    let mut types: BTreeMap<&str, Fields> = BTreeMap::new();
    let mut last = "";
    for line in include_str!("types.txt").lines() {
        let mut words = line.split_whitespace();
        if !line.starts_with(' ') {
            last = words.next().unwrap_or_default();
        }
        let fields = types.entry(last).or_default();
        fields.extend(words.map(|word| {
            let (name, form) = word.split_once(':').unwrap_or((word, ""));
            let (name, json) = name.split_once('=').unwrap_or((name, ""));
            (name, json, form)
        }));
    }
    types
});

/// A pod template.
pub(in crate::in_process) fn pod_template(template: &Value) -> String {
    shown("PodTemplateSpec", template)
}

/// The spec of a pod.
pub(in crate::in_process) fn pod_spec(spec: &Value) -> String {
    shown("PodSpec", spec)
}

/// The security context of a container.
pub(in crate::in_process) fn security_context(context: &Value) -> String {
    shown("SecurityContext", context)
}

/// One term of a selector of nodes.
pub(in crate::in_process) fn node_term(term: &Value) -> String {
    shown("NodeSelectorTerm", term)
}

/// The terms of a selector of nodes.
pub(in crate::in_process) fn node_terms(terms: &[Value]) -> String {
    if terms.is_empty() {
        return "null".to_owned();
    }
    format!("[{}]", terms.iter().map(node_term).collect::<Vec<_>>().join(","))
}

/// What is different between two specs of a pod.
pub(in crate::in_process) fn difference(old: &Value, new: &Value) -> String {
    difference::unified(&pod_spec(old), &pod_spec(new))
}

/// The affinity of a volume to nodes.
pub(in crate::in_process) fn volume_affinity(affinity: &Value) -> String {
    if affinity.is_null() { "null".to_owned() } else { shown("VolumeNodeAffinity", affinity) }
}

/// What is different between two sources of a volume.
pub(in crate::in_process) fn volume_difference(old: &Value, new: &Value) -> String {
    difference::unified(&shown("PersistentVolumeSource", old), &shown("PersistentVolumeSource", new))
}

fn shown(of: &str, value: &Value) -> String {
    let mut out = String::new();
    write(&mut out, of, value, &Value::Null);
    out
}

fn write(out: &mut String, of: &str, value: &Value, around: &Value) {
    out.push('{');
    let mut first = true;
    write_fields(out, of, value, around, &mut first);
    out.push('}');
}

fn write_fields(out: &mut String, of: &str, value: &Value, around: &Value, first: &mut bool) {
    for (name, in_json, form) in TYPES.get(of).into_iter().flatten() {
        if *name == "+metadata" {
            metadata(out, at(value, "metadata"), first);
            continue;
        }
        if let Some(part) = name.strip_prefix('+') {
            write_fields(out, part.trim_start_matches('*'), value, around, first);
            continue;
        }
        let field = match in_json.strip_prefix('^') {
            Some(field) => at(around, field),
            None if in_json.is_empty() => at(value, &lower(name)),
            None => at(value, in_json),
        };
        key(out, name, first);
        write_field(out, form, field, value);
    }
}

fn write_field(out: &mut String, form: &str, field: &Value, around: &Value) {
    let (sign, of) = form.split_at(1);
    match (sign, field) {
        (".", field) => write(out, of, field, around),
        ("*" | "[" | "p" | "S", Value::Null) => out.push_str("null"),
        ("*", field) => write(out, of, field, around),
        ("[", Value::Array(items)) if items.is_empty() => out.push_str("null"),
        ("[", Value::Array(items)) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(out, of, item, around);
            }
            out.push(']');
        }
        ("S", selector) => out.push_str(&Selector(selector).shown()),
        ("s", Value::Null) => out.push_str("\"\""),
        ("n", Value::Null) => out.push('0'),
        ("b", Value::Null) => out.push_str("false"),
        ("q", Value::Null) => out.push_str("\"0\""),
        (_, field) => out.push_str(&json(field, &[])),
    }
}

fn metadata(out: &mut String, metadata: &Value, first: &mut bool) {
    const ORDER: [&str; 14] = [
        "name",
        "generateName",
        "namespace",
        "selfLink",
        "uid",
        "resourceVersion",
        "generation",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "labels",
        "annotations",
        "ownerReferences",
        "finalizers",
    ];
    for field in ORDER {
        let value = at(metadata, field);
        if !value.is_null() {
            key(out, field, first);
            out.push_str(&json(value, &["apiVersion", "kind", "name", "uid", "controller"]));
        }
    }
}

fn key(out: &mut String, name: &str, first: &mut bool) {
    if !std::mem::take(first) {
        out.push(',');
    }
    out.push('"');
    out.push_str(name);
    out.push_str("\":");
}

fn lower(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json as object;

    use super::*;

    #[test]
    fn a_template_is_shown_with_all_that_is_empty() {
        let template = object!({
            "metadata": {"labels": {"app": "a"}},
            "spec": {"hostNetwork": true, "securityContext": {}, "containers": [{"name": "c"}]},
        });
        let shown = pod_template(&template);
        assert!(
            shown.starts_with(r#"{"labels":{"app":"a"},"Spec":{"Volumes":null,"InitContainers":null,"#),
            "{shown}"
        );
        assert!(shown.contains(r#""Containers":[{"Name":"c","Image":"","Command":null,"#), "{shown}");
        assert!(shown.contains(r#""SecurityContext":{"HostNetwork":true,"HostPID":false,"#), "{shown}");
        assert!(serde_json::from_str::<Value>(&shown).is_ok(), "{shown}");
    }
}
