//! What isn't compared between two runs: the rules, each with its reason. They are about what the server makes up, counts, or
//! takes from its clock, about what the cluster's controllers write in an order of their own, and about what an operator makes
//! by chance, which is found by itself.
//!
//! Only by its place: a `time` in a config map's data, or a `generation` in a custom resource's spec, was put there on
//! purpose.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::Value;

use super::cluster::is_workload;

/// The plural of a type and a path in its objects: the values there are made up, beyond those in all objects.
pub(super) type MadeUp = (String, String);

/// In every object: the server counts, dates and names each of its writes.
const EVERYWHERE: [&str; 9] = [
    "metadata/uid",
    "metadata/resourceVersion",
    "metadata/creationTimestamp",
    "metadata/generation",
    "metadata/selfLink",
    "metadata/managedFields/[]/time",
    "status/conditions/[]/lastTransitionTime",
    "status/conditions/[]/lastUpdateTime",
    "status/conditions/[]/lastProbeTime",
];

/// In objects of types that come with the cluster: the cluster assigns an address, draws a name, or dates a step. An assigned value is distinguished from a refused one, as in a
/// headless Service, so the place stays, and only its value is removed.
const OF_THE_CLUSTER: [(&str, &str, &str); 25] = [
    ("", "services", "spec/clusterIP"),
    ("", "services", "spec/clusterIPs/[]"),
    ("", "services", "spec/ports/[]/nodePort"),
    ("", "services", "spec/healthCheckNodePort"),
    ("", "pods", "status/startTime"),
    ("", "pods", "status/podIP"),
    ("", "pods", "status/podIPs/[]/ip"),
    ("", "pods", "status/containerStatuses/[]/state/running/startedAt"),
    ("", "pods", "metadata/labels/pod-template-hash"),
    ("", "persistentvolumeclaims", "spec/volumeName"),
    ("apps", "deployments", "metadata/annotations/deployment.kubernetes.io~1revision"),
    ("apps", "replicasets", "metadata/annotations/deployment.kubernetes.io~1revision"),
    ("apps", "replicasets", "metadata/labels/pod-template-hash"),
    ("apps", "replicasets", "spec/selector/matchLabels/pod-template-hash"),
    ("apps", "replicasets", "spec/template/metadata/labels/pod-template-hash"),
    ("apps", "statefulsets", "status/currentRevision"),
    ("apps", "statefulsets", "status/updateRevision"),
    ("batch", "jobs", "status/startTime"),
    ("batch", "jobs", "status/completionTime"),
    ("batch", "jobs", "metadata/labels/batch.kubernetes.io~1controller-uid"),
    ("batch", "jobs", "spec/selector/matchLabels/batch.kubernetes.io~1controller-uid"),
    ("batch", "jobs", "spec/template/metadata/labels/batch.kubernetes.io~1controller-uid"),
    ("batch", "jobs", "spec/template/metadata/labels/controller-uid"),
    ("batch", "cronjobs", "status/lastScheduleTime"),
    ("batch", "cronjobs", "status/lastSuccessfulTime"),
];

/// All values at this path, as in `status/conditions/[]/since`: `[]` stands for every item of a list, `*` for every field,
/// `~1` for a slash inside a name. A field that doesn't exist is skipped.
fn values_at<'v>(value: &'v mut Value, path: &str) -> Vec<&'v mut Value> {
    path.trim_matches('/').split('/').fold(vec![value], |found, part| {
        let part = if part.contains('~') { part.replace("~1", "/").into() } else { Cow::Borrowed(part) };
        found.into_iter().flat_map(|value| step(value, &part)).collect()
    })
}

/// In statuses that count Pods: in a cluster in which no Pod gets ready, a number depends on how many rollouts have begun, and on
/// when its controller has counted.
const COUNT_PODS: [&str; 2] = ["poddisruptionbudgets", "horizontalpodautoscalers"];

/// Removes the numbers from the status of an object that counts Pods.
pub(super) fn forget_counts(plural: &str, object: &mut Value) {
    let status = object.get_mut("status").and_then(Value::as_object_mut);
    if let Some(status) = status.filter(|_| is_workload(plural) || COUNT_PODS.contains(&plural)) {
        status.retain(|_, value| !value.is_number());
    }
}

/// Removes what is recorded about statuses that the cluster's controllers write: whether a field that was zero has an owner depends
/// on how many writes it took. Those of the operator's own types are compared.
fn forget_managers_of_status(object: &mut Value) {
    if let Some(Value::Array(managers)) = object.pointer_mut("/metadata/managedFields") {
        managers.retain(|entry| entry["subresource"] != "status");
    }
}

/// The places at which objects of two calm runs differ although nothing else was different: an operator has made these values
/// by chance, such as a password.
pub(super) fn made_by_chance(
    here: &BTreeMap<String, Value>,
    there: &BTreeMap<String, Value>,
) -> BTreeSet<MadeUp> {
    let mut found = BTreeSet::new();
    for (name, object) in here {
        let plural = name.split('/').next().unwrap_or_default();
        if let Some(other) = there.get(name) {
            differing(String::new(), object, other, &mut |path| {
                found.insert((plural.to_owned(), path));
            });
        }
    }
    found
}

/// Calls `tell` with the path of each text or number that differs. A field that only one of both has isn't made by chance.
fn differing(path: String, here: &Value, there: &Value, tell: &mut impl FnMut(String)) {
    let below = |part: &str| if path.is_empty() { part.to_owned() } else { format!("{path}/{part}") };
    match (here, there) {
        (Value::Object(here), Value::Object(there)) => {
            for (key, here) in here {
                if let Some(there) = there.get(key) {
                    differing(below(&key.replace('/', "~1")), here, there, tell);
                }
            }
        }
        (Value::Array(here), Value::Array(there)) if here.len() == there.len() => {
            here.iter().zip(there).for_each(|(here, there)| differing(below("[]"), here, there, tell));
        }
        (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_)) if here != there => {
            tell(path)
        }
        _ => {}
    }
}

/// Replaces the values at these places of an object of this type.
pub(super) fn forget_places(plural: &str, object: &mut Value, places: &[MadeUp]) {
    places.iter().filter(|(of, _)| of == plural).for_each(|(_, path)| make_up(object, path));
}

fn make_up(object: &mut Value, path: &str) {
    for made_up in values_at(object, path) {
        if !made_up.is_null() && *made_up != "None" {
            *made_up = Value::String("made up".to_owned());
        }
    }
}

fn step<'v>(value: &'v mut Value, part: &str) -> Vec<&'v mut Value> {
    match (value, part) {
        (Value::Array(items), "[]") => items.iter_mut().collect(),
        (Value::Object(fields), "*") => fields.values_mut().collect(),
        (Value::Object(fields), name) => fields.get_mut(name).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Whether a type of this group comes with the cluster.
pub(super) fn is_of_kubernetes(group: &str) -> bool {
    !group.contains('.') || group.ends_with(".k8s.io")
}

/// Removes made-up values from an object. Its observed generation is kept as the distance to the current one.
pub(super) fn forget(group: &str, resource: &str, object: &mut Value, others: &[MadeUp]) {
    let generation = object["metadata"]["generation"].as_i64();
    if let Some(generation) = generation {
        let relate = |observed: &mut Value| {
            if let Some(number) = observed.as_i64() {
                *observed = Value::String(match generation - number {
                    0 => "the generation".to_owned(),
                    behind => format!("{behind} behind the generation"),
                });
            }
        };
        if let Some(status) = object.get_mut("status") {
            step(status, "observedGeneration").into_iter().for_each(relate);
            values_at(status, "conditions/[]/observedGeneration").into_iter().for_each(relate);
        }
    }
    let own = OF_THE_CLUSTER.iter().filter(|(of, plural, _)| (*of, *plural) == (group, resource));
    let paths = EVERYWHERE.into_iter().chain(own.map(|(_, _, path)| *path));
    paths.for_each(|path| make_up(object, path));
    forget_places(resource, object, others);
    if is_of_kubernetes(group) {
        forget_managers_of_status(object);
    }
    if (group, resource) == ("", "pods") {
        // How often a container has crashed.
        for container in values_at(object, "status/containerStatuses/[]") {
            container.as_object_mut().map(|container| container.remove("lastState"));
            container["restartCount"] = 0.into();
        }
    }
    if object["metadata"]["deletionTimestamp"].is_string() {
        object["metadata"]["deletionTimestamp"] = Value::String("set".to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_users_write_is_not_made_up_whatever_it_is_called() {
        let written = json!({
            "metadata": { "name": "a" },
            "data": { "time": "noon", "generation": "3", "uid": "x", "startTime": "1", "clusterIP": "10.0.0.1" },
        });
        let mut object = written.clone();
        forget("", "configmaps", &mut object, &[]);
        assert_eq!(object, written);
    }

    #[test]
    fn an_observed_generation_is_kept_as_how_far_it_is_behind() {
        let status = |generation: i64, observed: i64| {
            let mut object = json!({
                "metadata": { "generation": generation },
                "status": { "observedGeneration": observed, "conditions": [{ "observedGeneration": observed }] },
            });
            forget("shop", "pages", &mut object, &[]);
            object["status"].clone()
        };
        assert_eq!(status(3, 3), status(7, 7));
        assert_ne!(status(3, 2), status(7, 7));
    }

    #[test]
    fn what_is_assigned_is_told_from_what_is_refused() {
        let service = |ip: &str| {
            let mut object =
                json!({ "spec": { "clusterIP": ip, "ports": [{ "port": 80, "nodePort": 30001 }] } });
            forget("", "services", &mut object, &[]);
            object
        };
        assert_eq!(service("10.0.0.1"), service("10.0.0.2"));
        assert_ne!(service("10.0.0.1"), service("None"));
        assert_eq!(service("None")["spec"]["ports"], json!([{ "port": 80, "nodePort": "made up" }]));
        // A type of that name in another group has nothing to do with it.
        let mut other = json!({ "spec": { "clusterIP": "10.0.0.1" } });
        forget("serving.example.com", "services", &mut other, &[]);
        assert_eq!(other["spec"]["clusterIP"], "10.0.0.1");
    }

    #[test]
    fn how_often_a_container_has_crashed_is_no_part_of_the_state() {
        let pod = |restarts: i64, address: &str| {
            let state = json!({ "running": { "startedAt": address } });
            let mut container =
                json!({ "name": "web", "ready": true, "restartCount": restarts, "state": state });
            if restarts > 0 {
                container["lastState"] = json!({ "terminated": { "exitCode": 1 } });
            }
            let mut object = json!({ "status": { "podIP": address, "containerStatuses": [container] } });
            forget("", "pods", &mut object, &[]);
            object
        };
        assert_eq!(pod(0, "10.0.0.1"), pod(7, "10.0.0.2"));
        assert_eq!(pod(1, "")["status"]["containerStatuses"][0]["ready"], true);
    }

    #[test]
    fn what_two_calm_runs_make_by_chance_is_found_by_its_place() {
        let state = |password: &str, hash: &str, items: Value| {
            let secret = json!({ "data": { "password": password, "user": "shop" }, "items": items });
            let workload = json!({ "metadata": { "annotations": { "shop.io/hash": hash } } });
            BTreeMap::from([
                ("secrets/shop/a".to_owned(), secret),
                ("deployments/shop/a".to_owned(), workload),
            ])
        };
        let (here, there) = (state("a", "1", json!([{ "x": 1 }])), state("b", "2", json!([{ "x": 2 }])));
        let found: Vec<MadeUp> = made_by_chance(&here, &there).into_iter().collect();
        let place = |plural: &str, path: &str| (plural.to_owned(), path.to_owned());
        let expected = [
            place("deployments", "metadata/annotations/shop.io~1hash"),
            place("secrets", "data/password"),
            place("secrets", "items/[]/x"),
        ];
        assert_eq!(found, expected);
        let forgotten = |mut state: BTreeMap<String, Value>| {
            for (name, object) in &mut state {
                forget_places(name.split('/').next().expect("a type"), object, &found);
            }
            state
        };
        assert_eq!(forgotten(here.clone()), forgotten(there));
        // A list that is longer in one of the runs, and a field that is missing, are other ends and not chance.
        let longer = state("a", "1", json!([{ "x": 1 }, { "x": 1 }]));
        assert!(made_by_chance(&here, &longer).is_empty());
        assert!(made_by_chance(&here, &state("a", "1", json!([{ "y": 1 }]))).is_empty());
    }

    #[test]
    fn who_wrote_a_status_is_compared_for_types_of_the_operator_only() {
        let fields = |group: &str, status: &str| {
            let entry = json!({ "manager": "controllers", "subresource": "status", "fieldsV1": { "f:status": { status: {} } } });
            let mut object = json!({ "metadata": { "managedFields": [{ "manager": "us" }, entry] } });
            forget(group, "statefulsets", &mut object, &[]);
            object
        };
        assert_eq!(fields("apps", "f:updatedReplicas"), fields("apps", "f:replicas"));
        assert_eq!(fields("apps", "f:replicas")["metadata"]["managedFields"], json!([{ "manager": "us" }]));
        assert_ne!(fields("shop.io", "f:updatedReplicas"), fields("shop.io", "f:replicas"));
    }

    #[test]
    fn a_test_says_what_its_operator_makes_up() {
        let mut object = json!({ "status": { "backups": [{ "at": "noon", "size": 3 }] } });
        forget("shop", "pages", &mut object, &[("pages".to_owned(), "status/backups/[]/at".to_owned())]);
        assert_eq!(object["status"]["backups"], json!([{ "at": "made up", "size": 3 }]));
    }
}
