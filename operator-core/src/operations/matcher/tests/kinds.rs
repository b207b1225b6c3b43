//! The kinds that operators write most.

use serde_json::{Value, json};

use super::{Match, differs, matched, with, without};

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}, "creationTimestamp": null},
        "spec": {
            "replicas": 2,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [
                        {
                            "name": "web",
                            "image": "nginx:1.27",
                            "args": ["-g", "daemon off;"],
                            "ports": [{"containerPort": 80}, {"containerPort": 53, "protocol": "UDP"}],
                            "env": [{"name": "MODE", "value": "fast"}, {"name": "DEPTH", "value": "3"}],
                        },
                        {"name": "sidecar", "image": "envoy:1"},
                    ],
                },
            },
        },
    })
}

/// What the server makes of it: defaults, a sidecar injected by someone else before ours, and foreign fields.
fn stored_deployment() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "8f0e",
            "resourceVersion": "812",
            "generation": 3,
            "creationTimestamp": "2026-11-21T10:00:00Z",
            "labels": {"app": "web", "team.example.com/owner": "shop"},
            "annotations": {"deployment.kubernetes.io/revision": "3"},
        },
        "spec": {
            "replicas": 2,
            "revisionHistoryLimit": 10,
            "strategy": {"type": "RollingUpdate"},
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "restartPolicy": "Always",
                    "containers": [
                        {"name": "injected", "image": "mesh:2"},
                        {"name": "sidecar", "image": "envoy:1", "imagePullPolicy": "IfNotPresent"},
                        {
                            "name": "web",
                            "image": "nginx:1.27",
                            "imagePullPolicy": "IfNotPresent",
                            "args": ["-g", "daemon off;"],
                            "ports": [
                                {"containerPort": 53, "protocol": "UDP"},
                                {"containerPort": 53, "protocol": "TCP"},
                                {"containerPort": 80, "protocol": "TCP"},
                            ],
                            "env": [
                                {"name": "MODE", "value": "fast"},
                                {"name": "INJECTED", "value": "1"},
                                {"name": "DEPTH", "value": "3"},
                            ],
                        },
                    ],
                },
            },
        },
        "status": {"readyReplicas": 2},
    })
}

fn deployment_owned() -> Value {
    json!({
        "f:metadata": {"f:labels": {"f:app": {}}},
        "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:template": {
                "f:metadata": {"f:labels": {"f:app": {}}},
                "f:spec": {
                    "f:containers": {
                        "k:{\"name\":\"sidecar\"}": {".": {}, "f:image": {}, "f:name": {}},
                        "k:{\"name\":\"web\"}": {
                            ".": {},
                            "f:args": {},
                            "f:env": {
                                "k:{\"name\":\"DEPTH\"}": {".": {}, "f:name": {}, "f:value": {}},
                                "k:{\"name\":\"MODE\"}": {".": {}, "f:name": {}, "f:value": {}},
                            },
                            "f:image": {},
                            "f:name": {},
                            "f:ports": {
                                "k:{\"containerPort\":53,\"protocol\":\"UDP\"}":
                                    {".": {}, "f:containerPort": {}, "f:protocol": {}},
                                "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}},
                            },
                        },
                    },
                },
            },
        },
    })
}

const CONTAINERS: &str = "/spec/template/spec/containers";

#[test]
fn deployment_as_applied_is_equal() {
    assert_eq!(matched(&deployment(), &stored_deployment(), deployment_owned()), Match::Equal);
}

#[test]
fn deployment_with_another_desired_state_differs_there() {
    let desired = deployment();
    let web = format!("{CONTAINERS}/0");
    let path = |rest: &str| format!("spec.template.spec.containers{rest}");
    for (changed, expected) in [
        (with(&desired, "/spec/replicas", json!(3)), "spec.replicas".to_owned()),
        (with(&desired, "/spec/paused", json!(true)), "spec.paused".to_owned()),
        (without(&desired, "/spec/replicas"), "spec.replicas".to_owned()),
        // Owning the foreign label as well is a change even though the value is there.
        (
            with(&desired, "/metadata/labels/team.example.com~1owner", json!("shop")),
            "metadata.labels[team.example.com/owner]".to_owned(),
        ),
        (without(&desired, "/metadata/labels"), "metadata.labels.app".to_owned()),
        (with(&desired, "/spec/selector/matchLabels/tier", json!("front")), "spec.selector".to_owned()),
        (with(&desired, &format!("{web}/image"), json!("nginx:1.28")), path("[0].image")),
        (with(&desired, &format!("{web}/args"), json!(["daemon off;", "-g"])), path("[0].args")),
        (with(&desired, &format!("{web}/env/1/value"), json!("4")), path("[0].env[1].value")),
        (without(&desired, &format!("{web}/env/1")), path("[0].env[2]")),
        (with(&desired, &format!("{web}/env/-"), json!({"name": "NEW"})), path("[0].env[2]")),
        // The same port with its default written out is owned by one field more.
        (with(&desired, &format!("{web}/ports/0/protocol"), json!("TCP")), path("[0].ports[0].protocol")),
        (with(&desired, &format!("{web}/ports/-"), json!({"containerPort": 53})), path("[0].ports[2]")),
        (without(&desired, &format!("{CONTAINERS}/1")), path("[1]")),
    ] {
        assert_eq!(matched(&changed, &stored_deployment(), deployment_owned()), differs(&[&expected]));
    }
}

#[test]
fn deployment_changed_by_someone_else_differs_where_we_own_it() {
    let actual = stored_deployment();
    for (changed, expected) in [
        (with(&actual, "/spec/replicas", json!(5)), "spec.replicas"),
        (without(&actual, "/spec/replicas"), "spec.replicas"),
        (with(&actual, "/metadata/labels/app", json!("other")), "metadata.labels.app"),
        (without(&actual, &format!("{CONTAINERS}/1")), "spec.template.spec.containers[1]"),
        (
            with(&actual, &format!("{CONTAINERS}/-"), json!({"name": "web"})),
            "spec.template.spec.containers[0]",
        ),
    ] {
        assert_eq!(matched(&deployment(), &changed, deployment_owned()), differs(&[expected]));
    }
    for ignored in [
        with(&actual, "/spec/strategy", json!({"type": "Recreate"})),
        with(&actual, "/status/readyReplicas", json!(0)),
        without(&actual, "/metadata/annotations"),
        without(&actual, &format!("{CONTAINERS}/0")),
    ] {
        assert_eq!(matched(&deployment(), &ignored, deployment_owned()), Match::Equal);
    }
}

#[test]
fn service_ports_are_told_apart_by_number_and_protocol() {
    let desired = json!({"spec": {"selector": {"app": "dns"}, "ports": [
        {"name": "tcp", "port": 53},
        {"name": "udp", "port": 53, "protocol": "UDP", "targetPort": "dns"},
    ]}});
    let actual = json!({"spec": {"clusterIP": "10.0.0.7", "selector": {"app": "dns"}, "ports": [
        {"name": "tcp", "port": 53, "protocol": "TCP", "targetPort": 53},
        {"name": "udp", "port": 53, "protocol": "UDP", "targetPort": "dns", "nodePort": 30053},
    ]}});
    let owned = json!({"f:spec": {"f:selector": {}, "f:ports": {
        "k:{\"port\":53,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}},
        "k:{\"port\":53,\"protocol\":\"UDP\"}":
            {".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {}},
    }}});
    assert_eq!(matched(&desired, &actual, owned.clone()), Match::Equal);
    let changed = with(&desired, "/spec/ports/1/targetPort", json!(5353));
    assert_eq!(matched(&changed, &actual, owned.clone()), differs(&["spec.ports[1].targetPort"]));
    let twice = with(&desired, "/spec/ports/-", json!({"name": "again", "port": 53}));
    assert!(!matched(&twice, &actual, owned).is_equal());
}

#[test]
fn config_map_data_is_compared_key_by_key() {
    let desired =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"index.html": "<h1>", "mode": "a"}});
    let actual = json!({"data": {"index.html": "<h1>", "mode": "a", "foreign": "x"}});
    let owned = json!({"f:data": {"f:index.html": {}, "f:mode": {}}});
    assert_eq!(matched(&desired, &actual, owned.clone()), Match::Equal);
    let changed = with(&desired, "/data/index.html", json!("<h2>"));
    assert_eq!(matched(&changed, &actual, owned.clone()), differs(&["data[index.html]"]));
    assert_eq!(matched(&without(&desired, "/data/mode"), &actual, owned), differs(&["data.mode"]));
}

#[test]
fn owner_references_are_told_apart_by_uid_and_finalizers_are_a_set() {
    let owner = |uid: &str| json!({"apiVersion": "v1", "kind": "WebPage", "name": uid, "uid": uid});
    let desired = json!({"metadata": {
        "ownerReferences": [owner("u1")], "finalizers": ["a.io/x", "a.io/y"], "uid": "9", "resourceVersion": "4",
    }});
    let actual = json!({"metadata": {
        "ownerReferences": [owner("u0"), owner("u1")], "finalizers": ["z.io/z", "a.io/y", "a.io/x"], "uid": "9",
    }});
    let owned = json!({"f:metadata": {
        "f:finalizers": {"v:\"a.io/x\"": {}, "v:\"a.io/y\"": {}},
        "f:ownerReferences": {"k:{\"uid\":\"u1\"}": {}},
    }});
    assert_eq!(matched(&desired, &actual, owned.clone()), Match::Equal);
    let finalizers = differs(&["metadata.finalizers"]);
    for changed in [
        without(&desired, "/metadata/finalizers/0"),
        without(&desired, "/metadata/finalizers"),
        with(&desired, "/metadata/finalizers/-", json!("z.io/z")),
        with(&desired, "/metadata/finalizers/0", json!("b.io/x")),
    ] {
        assert_eq!(matched(&changed, &actual, owned.clone()), finalizers);
    }
    let gone = without(&actual, "/metadata/finalizers/1");
    assert_eq!(matched(&desired, &gone, owned.clone()), finalizers);
    let another_owner = with(&desired, "/metadata/ownerReferences/0", owner("u2"));
    assert_eq!(
        matched(&another_owner, &actual, owned),
        differs(&["metadata.ownerReferences[1]", "metadata.ownerReferences[0]"])
    );
}

#[test]
fn nested_maps_of_a_custom_resource_are_merged() {
    let desired = json!({"spec": {"sites": {"eu": {"tags": {"a": "1"}, "weights": [1, 2.0]}, "us": {}}}});
    let actual = json!({"spec": {"sites": {
        "eu": {"tags": {"a": "1", "b": "2"}, "weights": [1.0, 2], "extra": true}, "us": {}, "asia": {"tags": {}},
    }}});
    let owned = json!({"f:spec": {"f:sites": {
        "f:eu": {".": {}, "f:tags": {"f:a": {}}, "f:weights": {}}, "f:us": {},
    }}});
    assert_eq!(matched(&desired, &actual, owned.clone()), Match::Equal);
    let changed = with(&desired, "/spec/sites/eu/tags/a", json!("2"));
    assert_eq!(matched(&changed, &actual, owned.clone()), differs(&["spec.sites.eu.tags.a"]));
    assert_eq!(matched(&without(&desired, "/spec/sites/us"), &actual, owned), differs(&["spec.sites.us"]));
}
