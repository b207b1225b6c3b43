//! The schemas of Kubernetes' own kinds, recorded by `cargo record-types` and packed.
//!
//! # Assumptions
//! - A broken recording is an empty one: no kind has a schema then, and a test fails.

use std::{collections::BTreeMap, io::Read, sync::LazyLock};

use flate2::read::GzDecoder;
use serde_json::Value;

use crate::in_process::kinds::Kind;

#[derive(Default)]
struct Recorded {
    schemas: BTreeMap<String, Value>,
    /// The names of schemas, by group, version and kind.
    kinds: BTreeMap<(String, String, String), String>,
}

static RECORDED: LazyLock<Recorded> = LazyLock::new(|| {
    let mut text = Vec::new();
    let packed: &[u8] = include_bytes!("schemas.json.gz");
    let Ok(_) = GzDecoder::new(packed).read_to_end(&mut text) else { return Recorded::default() };
    let schemas: BTreeMap<String, Value> = serde_json::from_slice(&text).unwrap_or_default();
    let mut kinds = BTreeMap::new();
    for (name, schema) in &schemas {
        for kind in schema["x-kubernetes-group-version-kind"].as_array().into_iter().flatten() {
            let text = |field: &str| kind[field].as_str().unwrap_or_default().to_owned();
            kinds.insert((text("group"), text("version"), text("kind")), name.clone());
        }
    }
    Recorded { schemas, kinds }
});

/// The name of a kind's schema.
pub(super) fn name_of(kind: &Kind) -> Option<String> {
    let key = (kind.group.clone(), kind.version.clone(), kind.kind.clone());
    RECORDED.kinds.get(&key).cloned()
}

pub(super) fn schema(name: &str) -> Option<&'static Value> {
    RECORDED.schemas.get(name)
}
