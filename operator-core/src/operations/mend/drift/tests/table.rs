//! Refusals of a real server, and what is done about them.

use serde_json::{Value, json};

use super::{decided, entry, live_service, ports, service, shown};

const DUPLICATE: &str = "FieldValueDuplicate";

/// Ours, the live ports, which of them our last apply has left, which are others', the causes; the operations, what is in the way.
type Row<'r> = (
    &'r [(&'r str, u16)],
    &'r [(&'r str, u16)],
    &'r [u16],
    &'r [u16],
    &'r [(&'r str, &'r str)],
    &'r [&'r str],
    &'r [&'r str],
);

#[test]
fn ports_of_ours_take_the_place_of_those_that_are_cited() {
    let rows: &[Row<'_>] = &[
        // Ours is cited, as it comes behind theirs.
        (
            &[("http", 80)],
            &[("http", 81)],
            &[],
            &[81],
            &[("spec.ports[1].name", DUPLICATE)],
            &["replace /spec/ports/0 {name:http,port:80}"],
            &["spec.ports[0] (kubectl-edit)"],
        ),
        // Theirs is cited, as it comes behind ours; a third one of others is not.
        (
            &[("a", 80), ("b", 90)],
            &[("x", 70), ("b", 90), ("a", 81)],
            &[90],
            &[70, 81],
            &[("spec.ports[3].name", DUPLICATE)],
            &["replace /spec/ports/2 {name:a,port:80}"],
            &["spec.ports[2] (kubectl-edit)"],
        ),
        // Without names, both lack one.
        (
            &[("", 80)],
            &[("", 81)],
            &[],
            &[81],
            &[("spec.ports[0].name", "FieldValueRequired"), ("spec.ports[1].name", "FieldValueRequired")],
            &["replace /spec/ports/0 {name:,port:80}"],
            &["spec.ports[0] (kubectl-edit)"],
        ),
        // Two of three.
        (
            &[("a", 1), ("b", 2), ("c", 3)],
            &[("a", 11), ("b", 2), ("c", 33)],
            &[2],
            &[11, 33],
            &[("spec.ports[1].name", DUPLICATE), ("spec.ports[4].name", DUPLICATE)],
            &["replace /spec/ports/0 {name:a,port:1}", "replace /spec/ports/2 {name:c,port:3}"],
            &["spec.ports[0] (kubectl-edit)", "spec.ports[2] (kubectl-edit)"],
        ),
        // What the apply itself takes away isn't counted.
        (
            &[("p1", 1), ("p3", 3)],
            &[("p1", 1), ("p2", 2), ("p3", 33)],
            &[1, 2],
            &[33],
            &[("spec.ports[2].name", DUPLICATE)],
            &["replace /spec/ports/2 {name:p3,port:3}"],
            &["spec.ports[2] (kubectl-edit)"],
        ),
        // The same, and theirs is cited: one further on, it would be what is ours and right.
        (
            &[("a", 80), ("b", 90)],
            &[("x", 70), ("z", 60), ("b", 90), ("a", 81)],
            &[60, 90],
            &[70, 81],
            &[("spec.ports[3].name", DUPLICATE)],
            &["replace /spec/ports/3 {name:a,port:80}"],
            &["spec.ports[3] (kubectl-edit)"],
        ),
        // Ours is there, under another name, and theirs has its old one.
        (
            &[("http", 80)],
            &[("web", 80), ("http", 81)],
            &[80],
            &[80, 81],
            &[("spec.ports[1].name", DUPLICATE)],
            &["remove /spec/ports/1"],
            &["spec.ports[1] (kubectl-edit)"],
        ),
        // The list as a whole is cited: all of others go, and ours are there in full.
        (
            &[("a", 1)],
            &[("x", 7), ("a", 1), ("y", 8)],
            &[1],
            &[7, 8],
            &[("spec.ports", "FieldValueTooMany")],
            &["replace /spec/ports [{name:a,port:1,protocol:TCP,targetPort:1}]"],
            &["spec.ports[0] (kubectl-edit)", "spec.ports[2] (kubectl-edit)"],
        ),
        // An item that there is not.
        (
            &[("a", 1)],
            &[("x", 7)],
            &[],
            &[7],
            &[("spec.ports[9].name", DUPLICATE)],
            &["replace /spec/ports [{name:a,port:1}]"],
            &["spec.ports[0] (kubectl-edit)"],
        ),
        // What is wrong with ours by itself is nobody else's fault.
        (
            &[("a", 1)],
            &[("a", 1), ("x", 7)],
            &[1],
            &[7],
            &[("spec.ports[0].name", "FieldValueTooLong")],
            &[],
            &[],
        ),
        (
            &[("a", 1)],
            &[("a", 1), ("x", 7)],
            &[1],
            &[7],
            &[("spec.type", "FieldValueNotSupported")],
            &[],
            &[],
        ),
        // Nobody else's items.
        (&[("a", 1), ("a", 2)], &[("a", 1)], &[1], &[], &[("spec.ports[1].name", DUPLICATE)], &[], &[]),
    ];
    for (ours, live, applied, others, causes, operations, theirs) in rows {
        let mut entries = vec![entry("us", "Apply", &ports(applied))];
        if !others.is_empty() {
            entries.push(entry("kubectl-edit", "Update", &ports(others)));
        }
        let drift = decided(&service(ours), &live_service(live), &entries, causes);
        let (found, whose) = shown(&drift);
        assert_eq!(found, *operations, "{ours:?} {live:?} {causes:?}");
        assert_eq!(whose, *theirs, "{ours:?} {live:?} {causes:?}");
    }
}

/// The server takes an item away with the apply that doesn't want it any more, whoever has written a field of it.
#[test]
fn who_has_only_changed_an_item_does_not_keep_it() {
    let changed =
        json!({ "f:spec": { "f:ports": { "k:{\"port\":1,\"protocol\":\"TCP\"}": { "f:targetPort": {} } } } });
    let entries = [
        entry("us", "Apply", &ports(&[1, 2])),
        entry("ed", "Update", &changed),
        entry("x", "Update", &ports(&[7])),
    ];
    let live = live_service(&[("a", 1), ("b", 2), ("c", 7)]);
    let drift = decided(&service(&[("b", 2)]), &live, &entries, &[("spec.ports[1].name", DUPLICATE)]);
    assert_eq!(
        shown(&drift),
        (vec!["remove /spec/ports/2".to_owned()], vec!["spec.ports[2] (x)".to_owned()])
    );
}

/// Ours and the live one below the containers' first, with the managed set of others there.
fn container(ours: Value, live: Value, theirs: &Value) -> (Value, Value, Value) {
    let pod = |container: Value| json!({ "spec": { "containers": [container] } });
    (pod(ours), pod(live), json!({ "f:spec": { "f:containers": { "k:{\"name\":\"app\"}": theirs } } }))
}

#[test]
fn what_others_have_put_into_ours_goes() {
    let field = |name: &str| json!({ "name": name });
    let named = |rest: Value| {
        let mut named = json!({ "name": "app" });
        named.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        named
    };
    let env = |item: Value| named(json!({ "env": [item] }));
    let (value_from, value) =
        (json!({ "name": "X", "valueFrom": field("f") }), json!({ "name": "X", "value": "1" }));
    let probe = |handler: &str| named(json!({ "livenessProbe": { handler: { "port": 80 } } }));
    let volume = |kind: &str| json!({ "spec": { "volumes": [{ "name": "v", kind: {} }] } });
    let strategy = |strategy: Value| json!({ "spec": { "strategy": strategy } });
    let rows = [
        (
            container(
                env(value_from),
                env(value),
                &json!({ "f:env": { "k:{\"name\":\"X\"}": { ".": {}, "f:name": {}, "f:value": {} } } }),
            ),
            ("spec.containers[0].env[0].valueFrom", "FieldValueInvalid"),
            vec!["replace /spec/containers/0/env/0 {name:X,valueFrom:{name:f}}"],
            "spec.containers[0].env[0] (ed)",
        ),
        (
            (
                volume("emptyDir"),
                volume("configMap"),
                json!({ "f:spec": { "f:volumes": { "k:{\"name\":\"v\"}": { ".": {}, "f:configMap": {} } } } }),
            ),
            ("spec.volumes[0].configMap", "FieldValueForbidden"),
            vec!["remove /spec/volumes/0/configMap", "add /spec/volumes/0/emptyDir {}"],
            "spec.volumes[0].configMap (ed)",
        ),
        (
            container(
                probe("httpGet"),
                probe("tcpSocket"),
                &json!({ "f:livenessProbe": { "f:tcpSocket": { "f:port": {} } } }),
            ),
            ("spec.containers[0].livenessProbe.tcpSocket", "FieldValueForbidden"),
            vec![
                "remove /spec/containers/0/livenessProbe/tcpSocket",
                "add /spec/containers/0/livenessProbe/httpGet {port:80}",
            ],
            "spec.containers[0].livenessProbe.tcpSocket (ed)",
        ),
        (
            (
                strategy(json!({ "type": "Recreate" })),
                strategy(json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } })),
                json!({ "f:spec": { "f:selector": {} } }),
            ),
            ("spec.strategy.rollingUpdate", "FieldValueForbidden"),
            vec!["remove /spec/strategy/rollingUpdate", "add /spec/strategy/type Recreate"],
            "spec.strategy.rollingUpdate (no one else's)",
        ),
        // A mount of others of a volume of ours that goes.
        (
            container(
                named(json!({ "volumeMounts": [{ "name": "w", "mountPath": "/w" }] })),
                named(
                    json!({ "volumeMounts": [{ "name": "w", "mountPath": "/w" }, { "name": "v", "mountPath": "/x" }] }),
                ),
                &json!({ "f:volumeMounts": { "k:{\"mountPath\":\"/x\"}": { ".": {}, "f:name": {} } } }),
            ),
            ("spec.containers[0].volumeMounts[1].name", "FieldValueNotFound"),
            vec!["remove /spec/containers/0/volumeMounts/1"],
            "spec.containers[0].volumeMounts[1] (ed)",
        ),
    ];
    for ((desired, live, theirs), cause, operations, whose) in rows {
        let drift = decided(&desired, &live, &[entry("ed", "Update", &theirs)], &[cause]);
        assert_eq!(
            shown(&drift),
            (operations.into_iter().map(str::to_owned).collect(), vec![whose.to_owned()]),
            "{cause:?}"
        );
    }
}

#[test]
fn a_container_that_has_got_another_name_makes_way_and_a_sidecar_stays() {
    let container = |name: &str, port: u16| json!({ "name": name, "ports": [{ "containerPort": port, "hostPort": port }] });
    let pod = |containers: Vec<Value>| json!({ "spec": { "containers": containers } });
    let set = json!({ "f:spec": { "f:containers": {
        "k:{\"name\":\"other\"}": { ".": {}, "f:ports": { "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": { ".": {} } } },
        "k:{\"name\":\"sidecar\"}": { ".": {} },
    } } });
    let drift = decided(
        &pod(vec![container("app", 80)]),
        &pod(vec![container("sidecar", 90), container("other", 80)]),
        &[entry("ed", "Update", &set)],
        &[("spec.containers[2].ports[0].hostPort", DUPLICATE)],
    );
    let (operations, theirs) = shown(&drift);
    assert_eq!(operations, ["replace /spec/containers/1 {name:app,ports:[{containerPort:80,hostPort:80}]}"],);
    assert_eq!(theirs, ["spec.containers[1] (ed)"]);
}

/// Ours is cited by the name of its port, which a sidecar has as well: only in one container it has to be the only one.
#[test]
fn the_innermost_list_decides() {
    let port = |number: u16| json!({ "name": "http", "containerPort": number });
    let containers = |ours: Vec<Value>, all: bool| {
        let mut containers = vec![json!({ "name": "app", "ports": ours })];
        containers.extend(all.then(|| json!({ "name": "sidecar", "ports": [port(90)] })));
        json!({ "spec": { "containers": containers } })
    };
    let set = json!({ "f:spec": { "f:containers": {
        "k:{\"name\":\"app\"}": { "f:ports": { "k:{\"containerPort\":81,\"protocol\":\"TCP\"}": { ".": {}, "f:name": {} } } },
        "k:{\"name\":\"sidecar\"}": { ".": {} },
    } } });
    let drift = decided(
        &containers(vec![port(80)], false),
        &containers(vec![port(81)], true),
        &[entry("ed", "Update", &set)],
        &[("spec.containers[0].ports[1].name", DUPLICATE)],
    );
    assert_eq!(shown(&drift).0, ["replace /spec/containers/0/ports/0 {containerPort:80,name:http}"]);
}

#[test]
fn what_is_cited_where_nothing_is_ours_is_only_named() {
    let desired = json!({ "spec": { "containers": [{ "name": "app" }] } });
    let live = json!({ "spec": { "containers": [{ "name": "z" }], "initContainers": [{ "name": "app" }] } });
    let set = json!({ "f:spec": { "f:initContainers": { "k:{\"name\":\"app\"}": { ".": {} } } } });
    let drift = decided(
        &desired,
        &live,
        &[entry("ed", "Update", &set)],
        &[("spec.initContainers[0].name", DUPLICATE)],
    );
    assert_eq!(shown(&drift), (vec![], vec!["spec.initContainers (ed)".to_owned()]));
}

#[test]
fn nothing_is_done_where_something_cannot_be_changed_anyway() {
    let entries = [entry("kubectl-edit", "Update", &ports(&[81]))];
    let mut refusal =
        super::refusal(&[("spec.clusterIPs[0]", "FieldValueInvalid"), ("spec.ports[1].name", DUPLICATE)]);
    "Invalid value: [\"None\"]: may not change once set"
        .clone_into(&mut refusal.details.as_mut().unwrap().causes[0].message);
    let drift = super::drift(&service(&[("a", 80)]), &live_service(&[("a", 81)]), &entries, "us", &refusal);
    assert_eq!(shown(&drift), (vec![], vec!["spec.ports[0] (kubectl-edit)".to_owned()]));
}
