//! What the operator waits for, and how it gets ready.

use std::{collections::BTreeMap, time::Duration};

use serde_json::Value;

use crate::testing::simulation::record::Call;

/// Types whose objects get ready by what the cluster's controllers do.
const WORKLOADS: [(&str, &str); 6] = [
    ("Deployment", "deployments"),
    ("StatefulSet", "statefulsets"),
    ("DaemonSet", "daemonsets"),
    ("ReplicaSet", "replicasets"),
    ("Job", "jobs"),
    ("Pod", "pods"),
];

/// What is ready sooner than this is not late.
const LATE: Duration = Duration::from_secs(1);

/// What was wrong with the readiness of objects that the operator has written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::testing::simulation) struct Troubles {
    /// Whether there were such objects.
    pub(in crate::testing::simulation) waits: bool,
    /// One was ready late.
    pub(in crate::testing::simulation) late: bool,
    /// One was ready, and then not, although no one had changed it.
    pub(in crate::testing::simulation) went: bool,
    /// One was not ready when the bad luck ended.
    pub(in crate::testing::simulation) never: bool,
}

impl Troubles {
    pub(in crate::testing::simulation) const fn any(self) -> bool {
        self.late || self.went || self.never
    }
}

/// All workloads that only an operator or a user has made, by type, namespace and name.
#[derive(Debug, Default)]
pub(super) struct Waits(BTreeMap<(&'static str, String, String), Wait>);

#[derive(Debug)]
struct Wait {
    /// The object's uid and generation.
    version: (Value, Value),
    is_ready: bool,
    since: Duration,
    is_gone: bool,
    troubles: Troubles,
}

impl Waits {
    /// An object has changed; returns whether it has become ready.
    pub(super) fn changed(&mut self, at: Duration, object: &Value, is_gone: bool) -> bool {
        let Some(plural) = plural(object) else { return false };
        let metadata = &object["metadata"];
        let part = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let version = (metadata["uid"].clone(), metadata["generation"].clone());
        let wait = self.0.entry((plural, part("namespace"), part("name"))).or_insert_with(|| Wait {
            version: version.clone(),
            is_ready: false,
            since: at,
            is_gone: false,
            troubles: Troubles::default(),
        });
        wait.is_gone = is_gone || metadata["deletionTimestamp"].is_string();
        if wait.is_gone {
            return false;
        }
        let is_ready = is_ready(plural, object);
        if wait.version != version {
            (wait.version, wait.since, wait.is_ready) = (version, at, false);
        } else if wait.is_ready && !is_ready {
            (wait.troubles.went, wait.since, wait.is_ready) = (true, at, false);
        }
        if !is_ready || wait.is_ready {
            return false;
        }
        wait.troubles.late |= at.saturating_sub(wait.since) >= LATE;
        wait.is_ready = true;
        true
    }

    /// What was wrong with those that the operator has written.
    pub(super) fn told(&self, calls: &[Call]) -> Troubles {
        let written = calls.iter().filter(|call| is_written(call));
        let written = written.filter_map(|call| {
            let target = &call.target;
            let (_, plural) = WORKLOADS.into_iter().find(|(_, plural)| *plural == target.resource)?;
            let namespace = target.namespace.clone().unwrap_or_default();
            self.0.get(&(plural, namespace, target.name.clone()?))
        });
        written.fold(Troubles::default(), |all, wait| Troubles {
            waits: true,
            late: all.late || wait.troubles.late,
            went: all.went || wait.troubles.went,
            never: all.never || !wait.is_ready && !wait.is_gone,
        })
    }
}

/// Whether the operator has written an object of a type that gets ready.
pub(in crate::testing::simulation) fn writes_workloads(calls: &[Call]) -> bool {
    calls.iter().any(|call| is_written(call) && is_workload(&call.target.resource))
}

/// Whether objects of this type get ready by what the cluster's controllers do.
pub(in crate::testing::simulation) fn is_workload(plural: &str) -> bool {
    WORKLOADS.iter().any(|(_, of)| *of == plural)
}

fn is_written(call: &Call) -> bool {
    let target = &call.target;
    call.by_operator()
        && call.took_effect()
        && target.verb.is_write()
        && target.subresource.is_none()
        && !call.deleted()
}

/// The type of a workload that belongs to no other one.
fn plural(object: &Value) -> Option<&'static str> {
    let plural = |kind: &Value| WORKLOADS.into_iter().find(|(of, _)| kind == of).map(|(_, plural)| plural);
    let found = plural(&object["kind"])?;
    let owners = object["metadata"]["ownerReferences"].as_array();
    let belongs = owners.into_iter().flatten().any(|owner| plural(&owner["kind"]).is_some());
    (!belongs).then_some(found)
}

fn is_ready(plural: &str, object: &Value) -> bool {
    let status = &object["status"];
    let is_true = |kind: &str| {
        let conditions = status["conditions"].as_array();
        conditions.into_iter().flatten().any(|of| of["type"] == kind && of["status"] == "True")
    };
    match plural {
        "pods" => return is_true("Ready") || status["phase"] == "Succeeded",
        "jobs" => return is_true("Complete"),
        _ => {}
    }
    let number = |value: &Value| value.as_i64().unwrap_or_default();
    let wanted = match plural {
        "daemonsets" => number(&status["desiredNumberScheduled"]),
        _ => object["spec"]["replicas"].as_i64().unwrap_or(1),
    };
    let counts: &[&str] = match plural {
        "daemonsets" => &["numberReady", "updatedNumberScheduled"],
        "replicasets" => &["replicas", "availableReplicas"],
        // While Pods of both templates run, those of the old one may be the ones that are available.
        _ => &["replicas", "availableReplicas", "updatedReplicas"],
    };
    status["observedGeneration"] == object["metadata"]["generation"]
        && counts.iter().all(|count| number(&status[count]) == wanted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(generation: u32, observed: u32, available: u32) -> Value {
        json!({
            "kind": "Deployment",
            "metadata": { "namespace": "a", "name": "web", "uid": "1", "generation": generation,
                "ownerReferences": [{ "kind": "WebPage" }] },
            "spec": { "replicas": 1 },
            "status": {
                "observedGeneration": observed, "replicas": 1, "updatedReplicas": 1, "availableReplicas": available,
            },
        })
    }

    /// The troubles after these states, each with its second.
    fn after(states: &[(u64, Value)]) -> Troubles {
        let mut waits = Waits::default();
        for (second, state) in states {
            waits.changed(Duration::from_secs(*second), state, false);
        }
        let wait = waits.0.values().next().expect("it is a workload");
        Troubles { never: !wait.is_ready, ..wait.troubles }
    }

    #[test]
    fn readiness_is_late_or_goes_or_never_comes() {
        let none = Troubles::default();
        assert_eq!(after(&[(0, deployment(1, 0, 0)), (0, deployment(1, 1, 1))]), none);
        let late = Troubles { late: true, ..none };
        assert_eq!(after(&[(0, deployment(1, 0, 0)), (2, deployment(1, 1, 1))]), late);
        let never = Troubles { never: true, ..none };
        assert_eq!(after(&[(0, deployment(1, 0, 0)), (2, deployment(1, 1, 0))]), never);
        let went = Troubles { went: true, never: true, ..none };
        assert_eq!(after(&[(0, deployment(1, 1, 1)), (2, deployment(1, 1, 0))]), went);
    }

    #[test]
    fn who_changes_an_object_waits_anew() {
        let states = [(0, deployment(1, 1, 1)), (5, deployment(2, 1, 1)), (5, deployment(2, 2, 1))];
        assert_eq!(after(&states), Troubles::default());
    }

    #[test]
    fn the_old_pods_of_a_rollout_are_not_what_is_waited_for() {
        let mut both = deployment(2, 2, 1);
        both["status"]["replicas"] = json!(2);
        let states =
            [(0, deployment(1, 1, 1)), (1, deployment(2, 1, 1)), (1, both), (1, deployment(2, 2, 1))];
        assert_eq!(after(&states), Troubles::default());
    }

    #[test]
    fn what_belongs_to_a_workload_is_not_waited_for() {
        let owners = json!([{ "kind": "ReplicaSet" }]);
        let pod = json!({ "kind": "Pod", "metadata": { "name": "a", "ownerReferences": owners } });
        assert_eq!(plural(&pod), None);
    }
}
