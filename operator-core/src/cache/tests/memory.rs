//! What managed fields cost: nothing, as they are never built. Each kind of object is measured in a process of its own,
//! as the other tests take memory as well.
//!
//! An object of this size takes about 2.3 times its text, managed fields or not: each map has a node for eleven entries,
//! and each short text a block of its own. That is the shape of the typed objects, and beyond this module.

use std::{collections::BTreeMap, env, io::Write as _, process::Command, sync::Arc};

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{json, value::RawValue};

use crate::cache::{Change, ChangeHandler, engine::Decoded, scopes::ScopeIndex, text::Item};

use super::{known::TestEngine, typed::TestConfig};

const OBJECTS: usize = 5_000;
/// Says that this process is the one that measures, and whether with managed fields.
const MEASURE: &str = "OPERATOR_CORE_TEST_MEASURES_MEMORY";

/// A config map of about 2 KB, perhaps with half as much again of managed fields.
fn text(index: usize, managed_fields: bool) -> Box<RawValue> {
    let values: BTreeMap<_, _> =
        (0..10).map(|key| (format!("key-{key}"), format!("{index:0>150}"))).collect();
    let mut object = json!({
        "metadata": {
            "name": format!("map-{index}"), "namespace": "shop", "uid": format!("0a1b2c3d-0000-0000-0000-{index:0>12}"),
            "resourceVersion": (1_000 + index).to_string(), "labels": { "app.kubernetes.io/name": "shop" },
        },
        "data": values,
    });
    if managed_fields {
        let fields: serde_json::Map<_, _> = (0..40).map(|key| (format!("f:key-{key}"), json!({}))).collect();
        object["metadata"]["managedFields"] =
            json!([{ "manager": "kubectl", "fieldsV1": { "f:data": fields } }]);
    }
    RawValue::from_string(object.to_string()).unwrap()
}

/// Memory in use, in bytes, as the kernel sees it.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1_024
}

/// Bytes for each object in a cache that has listed them.
fn measure(managed_fields: bool) -> usize {
    // A handler that keeps nothing.
    struct Deaf;
    impl ChangeHandler for Deaf {
        fn on_change(&self, _: Change) {}
    }
    let engine = TestEngine::<ConfigMap>::new(&TestConfig::new(), Arc::new(Deaf));
    let scope = ScopeIndex(0);
    engine.list_started(scope);
    let before = resident();
    for index in 0..OBJECTS {
        let item = text(index, managed_fields);
        let object = engine.face.take(&Item::of(item.get()));
        assert!(matches!(object, Decoded::Object { .. }));
        engine.listed(scope, object);
    }
    engine.list_finished(scope, "1000000");
    (resident() - before) / OBJECTS
}

#[test]
fn managed_fields_take_no_memory() {
    if let Some(managed_fields) = env::var_os(MEASURE) {
        writeln!(std::io::stderr(), "bytes={}", measure(managed_fields == "with")).unwrap();
        return;
    }
    let [with, without] = ["with", "without"].map(|managed_fields| {
        let measured = Command::new(env::current_exe().unwrap())
            .args(["cache::tests::memory::managed_fields_take_no_memory", "--exact", "--nocapture"])
            .env(MEASURE, managed_fields)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&measured.stderr).into_owned();
        let bytes = said.lines().find_map(|line| line.strip_prefix("bytes=")).expect("a measurement");
        bytes.parse::<usize>().unwrap()
    });
    assert!(with * 10 <= without * 11, "{with} bytes for each object with managed fields, {without} without");
}
