//! The templates of small kinds; [`fill`](crate::kinds::fill) says how they are written.

use integration_tests::prelude::*;

use crate::templates::pod_template;

pub(crate) fn endpoints() -> Value {
    json!({"subsets?": {"~": [
        {
            "addresses": {"?": [[{"ip": "10.0.0.1"}], [{"ip": "10.0.0.2", "hostname": "x"}, {"ip": "10.0.0.1"}]]},
            "ports?": {"?": [[{"port": 80}], [{"name": "a", "port": 80, "protocol": "UDP"}, {"name": "b", "port": 81}]]},
        },
        {"notReadyAddresses": [{"ip": "10.0.0.3"}], "ports": [{"name": "c", "port": 82}]},
    ]}})
}

pub(crate) fn limit_range() -> Value {
    json!({"spec": {"limits": {"~": [
        {"type": "Container", "default?": {"cpu": {"?": ["1", "2"]}}, "max?": {"cpu": "2"}},
        {"type": "Pod", "max?": {"memory": {"?": ["1Gi", "2Gi"]}}},
        {"type": "PersistentVolumeClaim", "max": {"storage": "2Gi"}, "min?": {"storage": "1Gi"}},
    ]}}})
}

pub(crate) fn resource_quota() -> Value {
    json!({
        "spec?": {
            "hard?": {"pods?": {"?": ["1", 2]}, "requests.cpu?": {"?": ["1", "1500m"]}, "limits.memory?": "1Gi"},
            "scopes?": {"?": [["NotTerminating"], ["Terminating"]]},
        },
        "status?": {"hard?": {"pods": "1"}, "used?": {"pods": {"?": ["0", "1"]}}},
    })
}

/// A Pod that no node has, so that it goes at once when it is deleted.
pub(crate) fn pod() -> Value {
    let mut pod = pod_template();
    if let Some(pod) = pod.as_object_mut() {
        pod.remove("metadata");
        pod.insert(
            "status?".to_owned(),
            json!({
                "phase?": {"?": ["Pending", "Running"]},
                "message?": "m",
                "conditions?": {"~": [{"type": "Ready", "status": {"?": ["True", "False"]}}, {"type": "PodScheduled", "status": "False"}]},
            }),
        );
    }
    pod
}

pub(crate) fn controller_revision() -> Value {
    let data = json!({"a": 1, "b": {"c": [1, "x"]}});
    json!({"revision": {"?": [1, 2]}, "data": {"?": [data, data, data, {"a": 2}]}})
}

pub(crate) fn ingress_class() -> Value {
    json!({"spec?": {
        "controller": "example.com/x",
        "parameters?": {"kind": "X", "name": {"?": ["a", "b"]}, "apiGroup?": "example.com", "scope?": "Cluster"},
    }})
}
