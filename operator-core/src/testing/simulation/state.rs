//! The state of the cluster, without what differs between two runs that did the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{
    calm::first,
    made_up::{self, MadeUp, forget, forget_counts, forget_places, is_of_kubernetes},
    objects::{ListedObject, Objects},
};
use crate::resource::MarkNames;

/// Every object by its name, normalised.
#[derive(Clone, Debug, Default)]
pub(super) struct ClusterState {
    objects: BTreeMap<String, Value>,
    /// The uids of the objects whose names are not generated.
    uids: BTreeMap<String, String>,
    /// Objects that replaced one with their name.
    replaced: BTreeSet<String>,
    /// Objects that may exist without existing in the calm run.
    left: BTreeSet<String>,
}

/// The maximum number of differences in the report.
const MOST_DIFFERENCES: usize = 8;

impl ClusterState {
    /// The state of these objects. An object was replaced if `known` contains another uid for it: the one that the user
    /// has seen last, or that it had when the schedule settled last.
    pub(super) fn of(objects: &Objects, made_up: &[MadeUp], known: &BTreeMap<String, String>) -> Self {
        let names: BTreeMap<&str, String> = objects
            .0
            .iter()
            .filter_map(|found| Some((found.object["metadata"]["uid"].as_str()?, found.name())))
            .collect();
        let mut state = Self::default();
        let mut generated: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for found in &objects.0 {
            let mut object = found.object.clone();
            forget(&found.group, &found.resource, &mut object, made_up);
            name_owners(&mut object, &names);
            if is_of_kubernetes(&found.group) {
                sort_conditions(&mut object);
            }
            if let Some(family) = family(found) {
                object["metadata"]["name"] = Value::String("generated".to_owned());
                generated.entry(family).or_default().push(object);
                continue;
            }
            let (name, uid) = (found.name(), found.part("uid").to_owned());
            if known.get(&name).is_some_and(|known| *known != uid) {
                state.replaced.insert(name.clone());
            }
            state.uids.insert(name.clone(), uid);
            state.objects.insert(name, object);
        }
        for (family, mut members) in generated {
            members.sort_by_cached_key(Value::to_string);
            let members = members.into_iter().enumerate();
            state.objects.extend(members.map(|(index, object)| (format!("{family}{index}"), object)));
        }
        state
    }

    /// Removes the managers of this object's fields.
    pub(super) fn forget_managers_of(&mut self, name: &str) {
        let metadata = self.objects.get_mut(name).and_then(|object| object.get_mut("metadata"));
        if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
            metadata.remove("managedFields");
        }
    }

    /// Removes the numbers in the statuses of what counts Pods.
    pub(super) fn forget_counts(&mut self) {
        self.objects.iter_mut().for_each(|(name, object)| forget_counts(plural(name), object));
    }

    /// Removes the values at these places.
    pub(super) fn forget_places(&mut self, places: &[MadeUp]) {
        self.objects.iter_mut().for_each(|(name, object)| forget_places(plural(name), object, places));
    }

    /// The places at which this state of a calm run differs from that of another calm run.
    pub(super) fn made_by_chance(&self, again: &Self) -> BTreeSet<MadeUp> {
        made_up::made_by_chance(&self.objects, &again.objects)
    }

    /// This object may exist without existing in the calm run, if `is_so` is true for it.
    pub(super) fn may_be_left(&mut self, name: &str, is_so: impl Fn(&Value) -> bool) {
        if self.objects.get(name).is_some_and(is_so) {
            self.left.insert(name.to_owned());
        }
    }

    /// The uids of the objects whose names are not generated.
    pub(super) fn uids(&self) -> &BTreeMap<String, String> {
        &self.uids
    }

    /// The differences from `calm`, as text.
    pub(super) fn differences(&self, calm: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let names: BTreeSet<&String> = self.objects.keys().chain(calm.objects.keys()).collect();
        for name in names {
            match (self.objects.get(name), calm.objects.get(name)) {
                (Some(_), None) if self.left.contains(name) => {}
                (Some(_), None) => differences.push(format!("{name} exists, and not in the calm run")),
                (None, Some(_)) => {
                    differences.push(format!("{name} doesn't exist, and does in the calm run"))
                }
                (Some(here), Some(there)) => compare(name, here, there, &mut differences),
                (None, None) => {}
            }
        }
        let replaced = self.replaced.iter().filter(|name| !calm.replaced.contains(*name));
        differences.extend(replaced.map(|name| {
            format!("{name} is another object of that name, and the same one as before in the calm run")
        }));
        first(MOST_DIFFERENCES, differences)
    }

    /// The objects except Secrets, as text.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&String, String)> {
        let open = self.objects.iter().filter(|(name, _)| !name.starts_with("secrets/"));
        open.map(|(name, value)| (name, value.to_string()))
    }
}

/// The plural of an object's type, by the name under which it is kept.
fn plural(name: &str) -> &str {
    name.split('/').next().unwrap_or_default()
}

/// The controllers of the cluster put the condition that has changed last to the end. What an operator writes is compared
/// as it is.
fn sort_conditions(object: &mut Value) {
    if let Some(Value::Array(conditions)) = object.pointer_mut("/status/conditions") {
        conditions.sort_by_cached_key(|condition| condition["type"].to_string());
    }
}

/// Objects with generated names are identified by their type, owner and prefix.
fn family(found: &ListedObject) -> Option<String> {
    let prefix = found.object["metadata"]["generateName"].as_str()?;
    found.part("name").strip_prefix(prefix)?;
    let owner = &found.object["metadata"]["ownerReferences"][0];
    let part = |name: &str| owner[name].as_str().unwrap_or("-").to_owned();
    let ListedObject { resource, .. } = found;
    Some(format!("{resource}/{}/{prefix}* of {} {} ", found.part("namespace"), part("kind"), part("name")))
}

/// Owners are replaced by their names, while they exist, in references and where managed fields identify references by
/// their keys.
fn name_owners(object: &mut Value, names: &BTreeMap<&str, String>) {
    let name = |uid: &str| names.get(uid).cloned().unwrap_or_else(|| "gone".to_owned());
    let metadata = &mut object["metadata"];
    if let Some(Value::Array(owners)) = metadata.get_mut("ownerReferences") {
        for owner in owners {
            if let Some(uid) = owner["uid"].as_str().map(name) {
                owner["uid"] = Value::String(uid);
            }
        }
    }
    if let Some(Value::Object(labels)) = metadata.get_mut("labels") {
        for label in labels.values_mut() {
            if let Some(named) = label.as_str().and_then(|uid| names.get(uid)) {
                *label = Value::String(named.clone());
            }
        }
    }
    // Of the parts of a mark the second one alone knows no uid.
    if let Some(Value::String(mark)) = metadata
        .get_mut("annotations")
        .and_then(|annotations| annotations.get_mut(MarkNames::default().mark()))
        && let Some(of_the_name) = mark.split('.').nth(1)
    {
        *mark = of_the_name.to_owned();
    }
    if let Some(Value::Array(managers)) = metadata.get_mut("managedFields") {
        for manager in &mut *managers {
            if let Some(Value::Object(owners)) = manager.pointer_mut("/fieldsV1/f:metadata/f:ownerReferences")
            {
                rename_keys(owners, name);
            }
        }
        // Their order is that of their times.
        managers.sort_by_cached_key(Value::to_string);
    }
}

/// `k:{"uid":"…"}` identifies an owner by its uid: replaced by its name.
fn rename_keys(fields: &mut Map<String, Value>, name: impl Fn(&str) -> String) {
    let rename = |key: String| {
        let mut parts: Value = serde_json::from_str(key.strip_prefix("k:")?).ok()?;
        let named = name(parts.get("uid")?.as_str()?);
        parts["uid"] = Value::String(named);
        Some(format!("k:{parts}"))
    };
    let renamed = std::mem::take(fields).into_iter();
    *fields = renamed.map(|(key, value)| (rename(key.clone()).unwrap_or(key), value)).collect();
}

fn compare(path: &str, here: &Value, there: &Value, differences: &mut Vec<String>) {
    // Most are equal, and then their paths aren't needed.
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

    fn states(objects: impl IntoIterator<Item = (&'static str, Value)>) -> ClusterState {
        let found = objects.into_iter().map(|(resource, object)| ListedObject {
            group: String::new(),
            resource: resource.to_owned(),
            object,
        });
        ClusterState::of(&Objects(found.collect()), &[], &BTreeMap::new())
    }

    fn state(mut object: Value) -> ClusterState {
        object["metadata"]["namespace"] = json!("shop");
        object["metadata"]["name"] = json!("a");
        states([("configmaps", object)])
    }

    #[test]
    fn owners_in_managed_fields_go_by_their_names() {
        let state = |uid: &str, owner: &str| {
            let shelf = json!({ "metadata": { "namespace": "shop", "name": "s", "uid": uid } });
            let key = format!(r#"k:{{"uid":"{owner}"}}"#);
            let child = json!({ "metadata": {
                "ownerReferences": [{ "kind": "Shelf", "name": "s", "uid": owner }],
                "managedFields": [{ "fieldsV1": { "f:metadata": { "f:ownerReferences": { key: {} } } } }],
            } });
            states([("shelves", shelf), ("configmaps", child)])
        };
        assert_eq!(state("1-2", "1-2").differences(&state("3-4", "3-4")), [""; 0]);
        assert_ne!(state("1-2", "5-6").differences(&state("3-4", "3-4")), [""; 0], "its owner is gone");
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
        right["metadata"]["managedFields"] =
            json!([{ "manager": "b", "time": "x" }, { "manager": "c", "time": "y" }]);
        assert_eq!(state(left).differences(&state(right)), [""; 0]);
    }

    #[test]
    fn counts_are_forgotten_where_rollouts_do_not_end() {
        let of = |resource: &'static str, replicas: u32| {
            let status =
                json!({ "replicas": replicas, "conditions": [{ "type": "Available", "status": "False" }] });
            let object = json!({ "metadata": { "namespace": "shop", "name": "a" }, "status": status });
            let mut state = states([(resource, object)]);
            state.forget_counts();
            state
        };
        assert_eq!(of("deployments", 1).differences(&of("deployments", 2)), [""; 0]);
        assert_ne!(of("shelves", 1).differences(&of("shelves", 2)), [""; 0]);
    }

    #[test]
    fn the_order_of_conditions_is_the_operator_s_where_it_is_the_operator_s() {
        let conditions = |order: [&str; 2]| {
            let conditions = order.map(|kind| json!({ "type": kind, "status": "True" }));
            json!({ "metadata": { "name": "a" }, "status": { "conditions": conditions } })
        };
        let (one, other) =
            (conditions(["Available", "Progressing"]), conditions(["Progressing", "Available"]));
        let of = |group: &str, object: &Value| {
            let found =
                ListedObject { group: group.to_owned(), resource: "any".to_owned(), object: object.clone() };
            ClusterState::of(&Objects(vec![found]), &[], &BTreeMap::new())
        };
        assert_eq!(of("apps", &one).differences(&of("apps", &other)), [""; 0]);
        assert_ne!(of("shop.example.com", &one).differences(&of("shop.example.com", &other)), [""; 0]);
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
            ClusterState::default().differences(&right),
            ["configmaps/shop/a doesn't exist, and does in the calm run"]
        );
    }

    #[test]
    fn generated_names_go_by_owner_prefix_and_number() {
        let job = |name: &str, owner: &str, text: &str| {
            let object = json!({
                "metadata": { "namespace": "shop", "generateName": "run-", "name": name,
                    "ownerReferences": [{ "kind": "Page", "name": owner, "uid": "1" }] },
                "data": { "text": text },
            });
            ("configmaps", object)
        };
        let here = states([job("run-x", "a", "1"), job("run-y", "a", "2"), job("run-z", "b", "3")]);
        let there = states([job("run-1", "a", "2"), job("run-2", "a", "1"), job("run-3", "b", "3")]);
        assert_eq!(here.differences(&there), [""; 0]);
        let moved = states([job("run-1", "a", "2"), job("run-2", "b", "1"), job("run-3", "b", "3")]);
        assert!(here.differences(&moved)[0].contains("configmaps/shop/run-* of Page a 0"));
    }

    #[test]
    fn an_object_that_was_replaced_is_another_one() {
        let object = json!({ "metadata": { "namespace": "shop", "name": "a", "uid": "new" } });
        let found = ListedObject { group: String::new(), resource: "configmaps".to_owned(), object };
        let objects = Objects(vec![found]);
        let after = |uid: &str| {
            let known = BTreeMap::from([("configmaps/shop/a".to_owned(), uid.to_owned())]);
            ClusterState::of(&objects, &[], &known)
        };
        assert_eq!(after("new").differences(&after("new")), [""; 0]);
        assert!(after("old").differences(&after("new"))[0].contains("another object of that name"));
        assert_eq!(after("old").differences(&after("old")), [""; 0], "as in the calm run");
    }
}
