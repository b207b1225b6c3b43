//! What differs by its place between two runs that did the same: what the server makes up, counts, or takes from its
//! clock.
//!
//! Only by its place: a `time` in a config map's data, or a `generation` in a custom resource's spec, was put there on
//! purpose.

use std::borrow::Cow;

use serde_json::Value;

/// The plural of a type and a path in its objects: the values there are made up, beyond those in all objects.
pub(super) type MadeUp = (String, String);

/// In every object.
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

/// In objects of types that come with the cluster. An assigned value is distinguished from a refused one, as in a
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
    let others = others.iter().filter(|(plural, _)| plural == resource).map(|(_, path)| path.as_str());
    let paths = EVERYWHERE.into_iter().chain(own.map(|(_, _, path)| *path)).chain(others);
    paths.for_each(|path| make_up(object, path));
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
    fn a_test_says_what_its_operator_makes_up() {
        let mut object = json!({ "status": { "backups": [{ "at": "noon", "size": 3 }] } });
        forget("shop", "pages", &mut object, &[("pages".to_owned(), "status/backups/[]/at".to_owned())]);
        assert_eq!(object["status"]["backups"], json!([{ "at": "made up", "size": 3 }]));
    }
}
