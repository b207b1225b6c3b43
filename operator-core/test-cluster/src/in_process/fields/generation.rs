//! What increments the generation of an object.

use serde_json::Value;

use super::{
    Origin, Schema,
    canonical::{same_in_memory, with_amounts},
    recorded::at,
};

/// A field, by its path of names.
type Path = &'static [&'static str];

const SPEC: &[Path] = &[&["spec"]];

/// The built-in kinds that count generations, and the fields whose changes count.
const BUILT_IN: &[(&str, &[Path])] = &[
    ("CronJob", SPEC),
    ("CustomResourceDefinition", SPEC),
    ("DaemonSet", SPEC),
    ("Deployment", &[&["spec"], &["metadata", "annotations"]]),
    ("EndpointSlice", &[&["endpoints"], &["ports"], &["addressType"], &["metadata", "labels"]]),
    ("Ingress", SPEC),
    ("IngressClass", SPEC),
    ("Job", SPEC),
    ("MutatingWebhookConfiguration", &[&["webhooks"]]),
    ("NetworkPolicy", SPEC),
    ("Pod", SPEC),
    ("PodDisruptionBudget", SPEC),
    // Begins with one, and stays there: what it consists of can't be changed.
    ("PriorityClass", &[]),
    ("ReplicaSet", SPEC),
    ("StatefulSet", SPEC),
    ("ValidatingWebhookConfiguration", &[&["webhooks"]]),
];

fn counted(kind: &str) -> Option<&'static [Path]> {
    BUILT_IN.iter().find(|(name, _)| *name == kind).map(|(_, fields)| *fields)
}

/// Whether a kind's generation distinguishes an empty list from none.
pub(super) fn knows_empty(kind: &str) -> bool {
    kind == "NetworkPolicy"
}

/// Whether the kind counts its generations.
pub(super) fn starts_generation(schema: &Schema) -> bool {
    match schema.0.origin {
        Origin::Custom(_) => true,
        Origin::Builtin { .. } => counted(&schema.0.kind.kind).is_some(),
    }
}

/// Whether a write increments the generation.
pub(super) fn changes_generation(schema: &Schema, old: &Value, new: &Value) -> bool {
    let differs_but_in = |parts: &[&str]| {
        fn rest<'a>(object: &'a Value, parts: &[&str]) -> impl Iterator<Item = (&'a String, &'a Value)> {
            entries(object).filter(move |(name, _)| !parts.contains(&name.as_str()))
        }
        let same = |((one, left), (other, right)): ((&String, &Value), (&String, &Value))| {
            one == other && same_in_memory(left, right)
        };
        rest(old, parts).count() != rest(new, parts).count()
            || !rest(old, parts).zip(rest(new, parts)).all(same)
    };
    match &schema.0.origin {
        Origin::Custom(definition) if definition.has_status => differs_but_in(&["metadata", "status"]),
        Origin::Custom(_) => differs_but_in(&["metadata"]),
        Origin::Builtin { go, .. } => {
            let fields = counted(&schema.0.kind.kind).unwrap_or_default();
            let differ =
                |old: &Value, new: &Value| fields.iter().any(|path| field(old, path) != field(new, path));
            // Another form of the same amount is no change.
            differ(old, new) && differ(&with_amounts(go, old), &with_amounts(go, new))
        }
    }
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

fn field<'o>(object: &'o Value, path: &[&str]) -> &'o Value {
    path.iter().fold(object, |part, name| at(part, name))
}
