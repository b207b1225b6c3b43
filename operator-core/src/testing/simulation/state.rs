//! The state of the cluster, without what differs between two runs that did the same.

use std::collections::{BTreeMap, BTreeSet};

use http::Request;
use kube::Client;
use serde_json::{Map, Value};

use super::record::Call;

/// Every object by its name, normalised.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State(pub(super) BTreeMap<String, Value>);

/// Types that say what has happened, and not what is.
const NOT_STATE: [&str; 4] = ["events", "leases", "customresourcedefinitions", "namespaces"];

/// What the server makes up, counts, or takes from its clock, wherever it stands.
const MADE_UP: [&str; 19] = [
    "uid",
    "resourceVersion",
    "creationTimestamp",
    "generation",
    "observedGeneration",
    "selfLink",
    "lastTransitionTime",
    "lastUpdateTime",
    "lastProbeTime",
    "lastHeartbeatTime",
    "startTime",
    "completionTime",
    "time",
    "clusterIP",
    "clusterIPs",
    "nodePort",
    "healthCheckNodePort",
    "deployment.kubernetes.io/revision",
    "pod-template-hash",
];

/// So many differences are told.
const MOST_DIFFERENCES: usize = 8;

impl State {
    /// All collections in which anything was written: their paths and resources.
    pub(super) fn written(calls: &[Call]) -> BTreeSet<(String, String)> {
        let written = calls.iter().filter(|call| call.target.verb.is_write());
        written
            .filter(|call| !NOT_STATE.contains(&call.target.resource.as_str()))
            .map(|call| (call.target.collection_path(), call.target.resource.clone()))
            .collect()
    }

    /// Reads these collections.
    pub(super) async fn read(
        client: &Client,
        collections: BTreeSet<(String, String)>,
    ) -> Result<Self, kube::Error> {
        let mut objects = Vec::new();
        for (path, resource) in collections {
            let request = Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError)?;
            let mut list: Value = client.request(request).await?;
            for object in list["items"].as_array_mut().map(std::mem::take).unwrap_or_default() {
                let part = |name: &str| object["metadata"][name].as_str().unwrap_or_default().to_owned();
                objects.push((format!("{resource}/{}/{}", part("namespace"), part("name")), object));
            }
        }
        Ok(Self::of(objects))
    }

    fn of(objects: Vec<(String, Value)>) -> Self {
        // Managed fields name the items of lists by their keys, and owners are named by their uids there.
        let uids: Vec<(String, String)> = objects
            .iter()
            .filter_map(|(name, object)| Some((object["metadata"]["uid"].as_str()?.to_owned(), name.clone())))
            .collect();
        let normalised = objects.into_iter().map(|(name, mut object)| {
            normalise(&mut object, &uids);
            (name, object)
        });
        Self(normalised.collect())
    }

    /// What differs from `calm`, in words.
    pub(super) fn differences(&self, calm: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let names: BTreeSet<&String> = self.0.keys().chain(calm.0.keys()).collect();
        for name in names {
            match (self.0.get(name), calm.0.get(name)) {
                (Some(_), None) => differences.push(format!("{name} exists, and not in the calm run")),
                (None, Some(_)) => {
                    differences.push(format!("{name} doesn't exist, and does in the calm run"))
                }
                (Some(here), Some(there)) => compare(name, here, there, &mut differences),
                (None, None) => {}
            }
        }
        if differences.len() > MOST_DIFFERENCES {
            let more = differences.len() - MOST_DIFFERENCES;
            differences.truncate(MOST_DIFFERENCES);
            differences.push(format!("and {more} more"));
        }
        differences
    }

    /// Where a text stands that should stand nowhere.
    pub(super) fn found(&self, canary: &str) -> Vec<String> {
        let secret = |name: &str| name.starts_with("secrets/");
        let holds = |value: &Value| value.to_string().contains(canary);
        let found = self.0.iter().filter(|(name, value)| !secret(name) && holds(value));
        found.map(|(name, _)| name.clone()).collect()
    }
}

fn normalise(value: &mut Value, uids: &[(String, String)]) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(prefix)) = fields.get("generateName").cloned() {
                fields.insert("name".to_owned(), Value::String(format!("{prefix}*")));
            }
            MADE_UP.iter().for_each(|made_up| drop(fields.remove(*made_up)));
            if fields.contains_key("deletionTimestamp") {
                fields.insert("deletionTimestamp".to_owned(), Value::String("set".to_owned()));
            }
            rename_keys(fields, uids);
            fields.values_mut().for_each(|value| normalise(value, uids));
            sort_managers(fields);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| normalise(item, uids)),
        _ => {}
    }
}

/// `k:{"uid":"…"}` names an owner by its uid: by its name instead, while it exists.
fn rename_keys(fields: &mut Map<String, Value>, uids: &[(String, String)]) {
    if !fields.keys().any(|key| key.starts_with("k:") && key.contains("\"uid\"")) {
        return;
    }
    let rename = |key: String| {
        let mut parts: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        let uid = parts.get("uid")?.as_str()?;
        let name = uids.iter().find(|(known, _)| known == uid).map_or("gone", |(_, name)| name);
        parts["uid"] = Value::String(name.to_owned());
        Some(format!("k:{parts}"))
    };
    let renamed = std::mem::take(fields).into_iter();
    *fields = renamed.map(|(key, value)| (rename(key.clone()).unwrap_or(key), value)).collect();
}

/// Their order is that of their times.
fn sort_managers(fields: &mut Map<String, Value>) {
    if let Some(Value::Array(managers)) = fields.get_mut("managedFields") {
        managers.sort_by_cached_key(Value::to_string);
    }
}

fn compare(path: &str, here: &Value, there: &Value, differences: &mut Vec<String>) {
    // Most are equal, and then nobody wants to know their paths.
    if here == there {
        return;
    }
    match (here, there) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let path = format!("{path} .{key}");
                let (left, right) =
                    (left.get(key).unwrap_or(&Value::Null), right.get(key).unwrap_or(&Value::Null));
                compare(&path, left, right, differences);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                compare(&format!("{path}[{at}]"), left, right, differences);
            }
        }
        _ => differences.push(format!("{path} is {}, and {} in the calm run", short(here), short(there))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn state(object: Value) -> State {
        State::of(vec![("configmaps/shop/a".to_owned(), object)])
    }

    #[test]
    fn owners_in_managed_fields_go_by_their_names() {
        let state = |uid: &str| {
            let owner = json!({ "metadata": { "uid": uid } });
            let key = format!(r#"k:{{"uid":"{uid}"}}"#);
            let child = json!({ "metadata": { "managedFields": [{ "fieldsV1": { key: {} } }] } });
            State::of(vec![("shelves/shop/s".to_owned(), owner), ("configmaps/shop/a".to_owned(), child)])
        };
        assert_eq!(state("1-2").differences(&state("3-4")), [""; 0]);
        assert!(state("1-2").0["configmaps/shop/a"].to_string().contains("shelves/shop/s"));
    }

    #[test]
    fn what_the_server_makes_up_is_no_difference() {
        let object = |uid: &str, time: &str| {
            json!({
                "metadata": {
                    "name": "a", "uid": uid, "resourceVersion": time, "creationTimestamp": time,
                    "ownerReferences": [{ "kind": "WebPage", "name": "p", "uid": uid }],
                    "managedFields": [{ "manager": time, "time": time }, { "manager": "b", "time": uid }],
                },
                "status": { "conditions": [{ "type": "Ready", "lastTransitionTime": time }] },
            })
        };
        let (mut left, mut right) = (object("1", "2"), object("3", "4"));
        left["metadata"]["managedFields"][0]["manager"] = json!("c");
        right["metadata"]["managedFields"] = json!([{ "manager": "b" }, { "manager": "c" }]);
        assert_eq!(state(left).differences(&state(right)), [""; 0]);
    }

    #[test]
    fn a_difference_is_told_with_its_place() {
        let left = state(json!({ "data": { "a": "1", "b": [1, 2] }, "same": true }));
        let right = state(json!({ "data": { "a": "2", "b": [1, 3] }, "same": true }));
        let differences = left.differences(&right);
        assert_eq!(
            differences,
            [
                r#"configmaps/shop/a .data .a is "1", and "2" in the calm run"#,
                "configmaps/shop/a .data .b[1] is 2, and 3 in the calm run",
            ]
        );
        assert_eq!(
            State::default().differences(&right),
            ["configmaps/shop/a doesn't exist, and does in the calm run"]
        );
    }
}
