//! The columns of Kubernetes' own kinds, recorded from a real API server by `cargo record-types`.
//!
//! # Assumptions
//! - A broken recording is an empty one: tables have no columns then, and a test fails.

use std::{collections::BTreeMap, sync::LazyLock};

use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Default, Deserialize)]
struct Recorded {
    texts: Vec<String>,
    kinds: BTreeMap<String, Vec<Column>>,
}

/// Name, type, format, the number of its description, priority.
#[derive(Deserialize)]
struct Column(String, String, String, usize, i64);

static RECORDED: LazyLock<Recorded> =
    LazyLock::new(|| serde_json::from_str(include_str!("columns.json")).unwrap_or_default());

/// The columns of a kind, as in a table.
pub(super) fn of(api_version: &str, kind: &str) -> Value {
    let columns = RECORDED.kinds.get(&format!("{api_version} {kind}"));
    let shown = columns.into_iter().flatten().map(|Column(name, of, format, text, priority)| {
        json!({
            "name": name,
            "type": of,
            "format": format,
            "description": RECORDED.texts.get(*text),
            "priority": priority,
        })
    });
    shown.collect()
}

/// Whether a kind has no columns but its name and the time of its creation.
pub(super) fn are_default(api_version: &str, kind: &str) -> bool {
    let columns = RECORDED.kinds.get(&format!("{api_version} {kind}"));
    columns.is_none_or(|columns| columns.iter().any(|Column(name, ..)| name == "Created At"))
}
