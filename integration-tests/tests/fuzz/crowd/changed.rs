//! Definitions that change: versions come, go and are no longer served, schemas change under objects that are there.

use std::time::Duration;

use integration_tests::Random;
use serde_json::{Value, json};

use super::{Ask, Both, Sort, tell_all};
use crate::prepare_in_process;

const SORT: Sort = Sort { name: "changed", story, stories: 12, answers: 30 };

/// The real server takes some time to serve what a definition says.
const SERVED: Duration = Duration::from_secs(20);

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const VERSIONS: [&str; 3] = ["v1", "v2", "v1beta1"];

/// What a definition says just now.
#[derive(Clone)]
struct Defined {
    /// Name, whether it is served, its schema's fields.
    versions: Vec<(&'static str, bool, Value)>,
    storage: usize,
    /// Counts the changes: the default of a field, so that a change can be seen.
    changes: usize,
    status: bool,
}

fn fields(random: &mut Random) -> Value {
    let mut fields = json!({});
    let options = [
        ("a", json!({"type": "integer"})),
        ("a", json!({"type": "integer", "minimum": 2})),
        ("a", json!({"type": "string"})),
        ("b", json!({"type": "string", "enum": ["x", "y"]})),
        ("b", json!({"type": "string", "maxLength": 2, "default": "z"})),
        ("c", json!({"type": "array", "items": {"type": "string"}, "maxItems": 1})),
        ("c", json!({"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"})),
        ("d", json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
        ("d", json!({"type": "object", "properties": {"x": {"type": "integer", "default": 4}}})),
        ("d", json!({"type": "object", "additionalProperties": {"type": "integer"}})),
        ("e", json!({"type": "integer", "nullable": true})),
    ];
    for (name, schema) in options {
        if random.chance(40) {
            fields[name] = schema;
        }
    }
    fields
}

impl Defined {
    fn new(random: &mut Random) -> Self {
        let versions = vec![("v1", true, fields(random))];
        Self { versions, storage: 0, changes: 0, status: random.chance(50) }
    }

    fn change(&mut self, random: &mut Random) {
        self.changes += 1;
        let at = random.below(self.versions.len());
        match random.below(8) {
            0 | 1 if self.versions.len() < VERSIONS.len() => {
                self.versions.push((VERSIONS[self.versions.len()], random.chance(85), fields(random)));
            }
            2 => self.versions[at].1 = !self.versions[at].1,
            3 => self.storage = at,
            // One that has stored objects can't go, which the answer says.
            4 if self.versions.len() > 1 => {
                self.versions.pop();
                self.storage = self.storage.min(self.versions.len() - 1);
            }
            5 => self.status = !self.status,
            _ => self.versions[at].2 = fields(random),
        }
    }

    fn body(&self, version: &str) -> Value {
        let versions: Vec<Value> = (self.versions.iter().enumerate())
            .map(|(at, (name, served, fields))| {
                let mut fields = fields.clone();
                fields["marker"] = json!({"type": "integer", "default": self.changes});
                let schema = json!({"type": "object", "properties": {
                    "spec": {"type": "object", "default": {}, "properties": fields},
                    "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                }});
                let mut version = json!({
                    "name": name, "served": served, "storage": at == self.storage, "schema": {"openAPIV3Schema": schema},
                });
                if self.status {
                    version["subresources"] = json!({"status": {}});
                }
                version
            })
            .collect();
        let names =
            json!({"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"});
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.<s>.example.com", "resourceVersion": version},
            "spec": {"group": "<s>.example.com", "scope": "Namespaced", "names": names, "versions": versions},
        })
    }

    /// Waits until each version is served as it is defined, or not.
    fn barrier(&self) -> Vec<Ask> {
        let ask = |name: &str| {
            let body = json!({
                "apiVersion": format!("<s>.example.com/{name}"), "kind": "Thing", "metadata": {"name": "barrier"},
            });
            Ask::post(things(name), body).query("dryRun", "All").patiently().needed()
        };
        VERSIONS.iter().map(|name| ask(name)).collect()
    }
}

fn things(version: &str) -> String {
    format!("/apis/<s>.example.com/{version}/namespaces/<s>-a/things")
}

fn spec(random: &mut Random) -> Value {
    let mut spec = json!({});
    for (name, values) in [
        ("a", &[json!(1), json!(5), json!("text"), Value::Null][..]),
        ("b", &[json!("x"), json!("y"), json!("long"), json!(1)]),
        ("c", &[json!(["x"]), json!(["x", "y"]), json!([]), json!(["x", "x"])]),
        ("d", &[json!({}), json!({"x": 1}), json!({"x": 1, "y": 2}), json!({"z": "t"})]),
        ("e", &[json!(1), Value::Null]),
        ("unknown", &[json!(1)]),
    ] {
        if random.chance(35) {
            spec[name] = random.pick(values);
        }
    }
    spec
}

fn act(random: &mut Random) -> Ask {
    let version = random.pick(&VERSIONS);
    let name = random.pick(&["a", "b", "c"]);
    let all = things(version);
    let one = format!("{all}/{name}");
    let mut body = json!({
        "apiVersion": format!("<s>.example.com/{version}"), "kind": "Thing", "metadata": {"name": name}, "spec": spec(random),
    });
    match random.below(14) {
        0..=3 => Ask::post(all, body).query("fieldManager", "one"),
        4 => {
            body["metadata"]["resourceVersion"] = format!("<version things/{name}>").into();
            Ask::put(one, body).query("fieldManager", "two")
        }
        5 | 6 => Ask::apply(one, body).query("force", random.pick(&["true", "false"])),
        7 => Ask::merge(one, json!({"spec": spec(random)})).query("fieldManager", "two"),
        8 => Ask::merge(one, json!({"metadata": {"labels": {"l": random.pick(&["1", "2"])}}})),
        9 => Ask::merge(format!("{one}/status"), json!({"status": {"phase": random.pick(&["x", "y"])}})),
        10 => Ask::delete(one, Value::Null),
        11 => Ask::get(one),
        _ => Ask::get(all),
    }
}

fn story(random: &mut Random) -> Vec<Ask> {
    let mut defined = Defined::new(random);
    let one = format!("{DEFINITIONS}/things.<s>.example.com");
    let mut asks = vec![Ask::post("/api/v1/namespaces", json!({"metadata": {"name": "<s>-a"}})).needed()];
    let mut first = defined.body("");
    if let Some(metadata) = first["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    asks.push(Ask::post(DEFINITIONS, first).needed());
    asks.extend(defined.barrier());
    for _ in 0..4 {
        asks.extend((0..6).map(|_| act(random)));
        defined.change(random);
        // Its conditions are written later, so it is read again first.
        asks.push(Ask::get(&one).needed());
        asks.push(Ask::put(&one, defined.body("<version customresourcedefinitions/things.<s>.example.com>")));
        asks.extend(defined.barrier());
    }
    asks.extend((0..4).map(|_| act(random)));
    asks.push(Ask::delete(&one, Value::Null));
    asks.extend(defined.barrier());
    asks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed() -> anyhow::Result<()> {
    let (real, _cluster) = crate::prepare_real().await?;
    let both = Both { real, model: prepare_in_process().await?, patience: SERVED };
    tell_all(&both, &SORT).await
}
