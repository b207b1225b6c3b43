//! Random definitions, how they change, and objects of them.

use integration_tests::prelude::*;

use super::Ask;

pub(super) const VERSIONS: [&str; 3] = ["v1", "v2", "v1beta1"];

/// A version as a definition has it.
#[derive(Clone, Debug)]
struct Version {
    served: bool,
    status: bool,
    /// Whether objects can be selected by one of its fields.
    selectable: bool,
    spec: Value,
}

/// What a definition says just now.
#[derive(Clone, Debug)]
pub(super) struct Defined {
    versions: Vec<Version>,
    storage: usize,
    /// Counts the changes: the default of a field, so that a change can be seen.
    changes: usize,
    names: Value,
    /// Nobody has stored anything anew before the definition said that all is, so no version may go any more.
    migrated: bool,
}

/// What a field may be; the last one that is chosen counts. No list or map becomes one that is a whole.
fn options() -> [(&'static str, Value); 26] {
    let item = |fields: Value, keys: Value| {
        json!({
            "type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys,
            "items": {"type": "object", "required": ["name"], "properties": fields},
        })
    };
    let name = json!({"type": "string"});
    [
        ("a", json!({"type": "integer"})),
        ("a", json!({"type": "integer", "minimum": 2})),
        ("a", json!({"type": "integer", "default": 3})),
        (
            "a",
            json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self > 1", "message": "too small"}]}),
        ),
        ("a", json!({"type": "integer", "x-kubernetes-validations": [{"rule": "self >= oldSelf"}]})),
        ("a", json!({"type": "string"})),
        ("b", json!({"type": "string", "enum": ["x", "y"]})),
        ("b", json!({"type": "string", "maxLength": 2, "default": "z"})),
        ("b", json!({"type": "string", "pattern": "^[a-z]$"})),
        ("b", json!({"type": "string", "nullable": true, "default": "y"})),
        ("c", json!({"type": "array", "items": {"type": "string"}, "maxItems": 1})),
        ("c", json!({"type": "array", "items": {"type": "string", "enum": ["x"]}})),
        ("c", json!({"type": "array", "items": {"type": "string"}, "default": ["d"]})),
        ("d", json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true})),
        ("d", json!({"type": "object", "properties": {"x": {"type": "integer", "default": 4}}})),
        (
            "d",
            json!({"type": "object", "default": {}, "properties": {"x": {"type": "integer", "default": 5}, "z": {"type": "string"}}}),
        ),
        ("d", json!({"type": "object", "additionalProperties": {"type": "integer"}})),
        ("d", json!({"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}})),
        ("e", json!({"type": "integer", "nullable": true})),
        ("e", json!({"type": "integer", "maximum": 0})),
        ("e", json!({"type": "number"})),
        ("e", json!({"type": "boolean"})),
        ("l", item(json!({"name": name, "value": {"type": "integer"}}), json!(["name"]))),
        ("l", item(json!({"name": name, "value": {"type": "integer", "maximum": 1}}), json!(["name"]))),
        (
            "l",
            item(json!({"name": name, "port": {"type": "integer", "default": 1}}), json!(["name", "port"])),
        ),
        (
            "l",
            item(
                json!({"name": name, "port": {"type": "integer", "default": 2}, "value": {"type": "integer"}}),
                json!(["name", "port"]),
            ),
        ),
    ]
}

fn fields(random: &mut Random) -> Value {
    let mut fields = json!({});
    for (name, schema) in options() {
        if random.chance(25) {
            fields[name] = schema;
        }
    }
    let mut spec = json!({"type": "object", "properties": fields});
    if random.chance(25) {
        spec["required"] = json!([random.pick(&["a", "b", "d"])]);
    }
    if random.chance(20) {
        spec["x-kubernetes-validations"] = random.pick(&[
            json!([{"rule": "!has(self.b) || self.b != 'y'", "fieldPath": ".b", "reason": "FieldValueForbidden"}]),
            json!([{"rule": "!has(oldSelf.b) || has(self.b)", "message": "b stays"}]),
        ]);
        spec["properties"]["b"] = json!({"type": "string"});
    }
    if random.chance(10) {
        spec["x-kubernetes-preserve-unknown-fields"] = true.into();
    }
    spec
}

impl Version {
    fn new(random: &mut Random) -> Self {
        let (served, status) = (random.chance(85), random.chance(50));
        Self { served, status, selectable: random.chance(30), spec: fields(random) }
    }
}

impl Defined {
    pub(super) fn new(random: &mut Random) -> Self {
        let first = Version { served: true, ..Version::new(random) };
        let names =
            json!({"kind": "Thing", "plural": "things", "singular": "thing", "listKind": "ThingList"});
        Self { versions: vec![first], storage: 0, changes: 0, names, migrated: false }
    }

    pub(super) fn change(&mut self, random: &mut Random) {
        self.changes += 1;
        let at = random.below(self.versions.len());
        match random.below(12) {
            0 | 1 if self.versions.len() < VERSIONS.len() => self.versions.push(Version::new(random)),
            2 => self.versions[at].served = !self.versions[at].served,
            3 => self.storage = at,
            // One that has stored objects can't go, which the answer says.
            4 if self.versions.len() > 1 && !self.migrated => {
                self.versions.pop();
                self.storage = self.storage.min(self.versions.len() - 1);
            }
            5 => self.versions[at].status = !self.versions[at].status,
            6 => {
                let (field, value) = random.pick(&[
                    ("shortNames", json!(["th"])),
                    ("shortNames", json!([])),
                    ("categories", json!(["all", "some"])),
                    ("singular", json!("athing")),
                    ("listKind", json!("Things")),
                ]);
                self.names[field] = value;
            }
            // One field becomes another one.
            7 | 8 => {
                let (name, schema) = random.pick(&options());
                self.versions[at].spec["properties"][name] = schema;
            }
            9 => self.versions[at].selectable = !self.versions[at].selectable,
            _ => self.versions[at].spec = fields(random),
        }
    }

    /// As it was before, as a further change.
    pub(super) fn back_to(&self, before: Self) -> Self {
        let of = if self.migrated { self.clone() } else { before };
        Self { changes: self.changes + 1, ..of }
    }

    /// The definition, without a version.
    pub(super) fn body(&self) -> Value {
        let versions: Vec<Value> = (self.versions.iter().zip(VERSIONS).enumerate())
            .map(|(at, (version, name))| {
                let schema = json!({"type": "object", "properties": {
                    "marker": {"type": "integer", "default": self.changes},
                    "spec": version.spec,
                    "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
                }});
                let mut body = json!({
                    "name": name, "served": version.served, "storage": at == self.storage,
                    "schema": {"openAPIV3Schema": schema},
                });
                if version.status {
                    body["subresources"] = json!({"status": {}});
                }
                if version.selectable {
                    body["selectableFields"] = json!([{"jsonPath": ".spec.b"}]);
                }
                body
            })
            .collect();
        json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "things.<s>.example.com"},
            "spec": {
                "group": "<s>.example.com", "scope": "Namespaced", "names": self.names, "versions": versions,
            },
        })
    }

    /// A change that is refused.
    pub(super) fn wrong(&self, random: &mut Random, path: &str) -> Ask {
        let mut versions = self.body()["spec"]["versions"].clone();
        let spec = match random.below(6) {
            0 => json!({"scope": "Cluster"}),
            1 => json!({"names": {"kind": "Other"}}),
            2 => json!({"names": {"plural": "others"}}),
            3 => json!({"group": "other.example.com"}),
            4 => {
                versions[0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["f"] =
                    json!({"type": "integer", "default": "text"});
                json!({"versions": versions})
            }
            _ => {
                versions[0]["schema"]["openAPIV3Schema"]["properties"]["g"] = json!({"nullable": true});
                json!({"versions": versions})
            }
        };
        Ask::merge(path, json!({"spec": spec}))
    }

    /// Somebody says that nothing is stored in other versions than one any more: that of the storage, or mistakenly any.
    pub(super) fn migrated(&mut self, random: &mut Random, path: &str) -> Ask {
        self.migrated = true;
        let only = if random.chance(50) { self.storage } else { random.below(self.versions.len()) };
        let stored = json!({"status": {"storedVersions": [VERSIONS[only]]}});
        Ask::merge(format!("{path}/status"), stored)
    }
}

/// A spec that some of the schemas allow.
pub(super) fn spec(random: &mut Random) -> Value {
    let mut spec = json!({});
    for (name, values) in [
        ("a", &[json!(1), json!(5), json!(2), json!("text"), Value::Null][..]),
        ("b", &[json!("x"), json!("y"), json!("long"), json!(1), Value::Null]),
        ("c", &[json!(["x"]), json!(["x", "y"]), json!([]), json!(["x", "x"]), Value::Null]),
        ("d", &[json!({}), json!({"x": 1}), json!({"x": 1, "y": 2}), Value::Null]),
        ("e", &[json!(1), json!(1.5), Value::Null]),
        (
            "l",
            &[
                json!([{"name": "a"}]),
                json!([{"name": "a", "value": 1}, {"name": "b", "value": 2}]),
                json!([{"name": "a", "port": 1}, {"name": "a", "port": 2}]),
                json!([{"name": "a", "port": 1}, {"name": "a"}]),
                json!([]),
            ],
        ),
        ("unknown", &[json!(1)]),
    ] {
        if random.chance(35) {
            spec[name] = random.pick(values);
        }
    }
    spec
}
