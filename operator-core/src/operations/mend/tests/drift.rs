//! Refusals of a real server, and what is done about them.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Value, json};

use super::{US, decided, entry, ports, refusal, shown};
use crate::operations::mend::drift::drift;

const DUPLICATE: &str = "FieldValueDuplicate";

/// A service with these ports.
fn service(ports: &[(&str, u16)]) -> Value {
    let ports: Vec<_> = ports.iter().map(|(name, port)| json!({ "name": name, "port": port })).collect();
    json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": "web" }, "spec": { "ports": ports } })
}

fn by_others(fields: &Value) -> Vec<ManagedFieldsEntry> {
    vec![entry("ed", "Update", fields)]
}

#[test]
fn a_list_that_is_cited_is_replaced_by_ours_if_others_have_written_there() {
    let (ours, live) = (service(&[("http", 80)]), service(&[("http", 81), ("theirs", 70)]));
    let replaced = vec!["replace /spec/ports [{name:http,port:80}]".to_owned()];
    let others = [entry(US, "Apply", &ports(&[90])), entry("ed", "Update", &ports(&[81, 70]))];
    let theirs = vec!["spec.ports (ed)".to_owned()];
    // Whichever of the items is cited, or the list as a whole.
    for cited in ["spec.ports[0].name", "spec.ports[1]", "spec.ports[9].name", "spec.ports"] {
        let drift = decided(&ours, &live, &others, &[(cited, DUPLICATE)]);
        assert_eq!(shown(&drift), (replaced.clone(), theirs.clone()), "{cited}");
    }
    let twice = [("spec.ports[0].name", "FieldValueRequired"), ("spec.ports[1].name", "FieldValueRequired")];
    assert_eq!(shown(&decided(&ours, &live, &others, &twice)), (replaced.clone(), theirs));
    // What a patch of ours has left, if the process ended before it became a part of what is applied.
    let unfinished = [entry(US, "Apply", &ports(&[80])), entry(US, "Update", &ports(&[80]))];
    let drift = decided(&ours, &live, &unfinished, &[("spec.ports[1].name", DUPLICATE)]);
    assert_eq!(shown(&drift), (replaced, vec!["spec.ports (no one else's)".to_owned()]));
}

#[test]
fn what_is_wrong_with_ours_by_itself_is_nobody_else_s_fault() {
    let (ours, live) = (service(&[("a", 1), ("a", 2)]), service(&[("a", 1)]));
    let nothing = (Vec::new(), Vec::new());
    for entries in [
        vec![entry(US, "Apply", &ports(&[1]))],
        by_others(&json!({ "f:spec": { "f:selector": {} } })),
        vec![],
    ] {
        for cited in ["spec.ports[1].name", "spec.ports", "spec.type", "", "spec..ports", "[0]", "spec[ports"]
        {
            assert_eq!(shown(&decided(&ours, &live, &entries, &[(cited, DUPLICATE)])), nothing, "{cited}");
        }
    }
    let elsewhere =
        decided(&ours, &live, &by_others(&ports(&[1])), &[("spec.type", "FieldValueNotSupported")]);
    assert_eq!(shown(&elsewhere), nothing);
}

/// Containers, told apart by their names.
fn pod(containers: &Value) -> Value {
    json!({ "spec": { "containers": containers } })
}

/// What others have written of the containers.
fn of_containers(fields: &Value) -> Vec<ManagedFieldsEntry> {
    by_others(&json!({ "f:spec": { "f:containers": fields } }))
}

/// A sidecar has a port of the same name, which only within one container is too much.
#[test]
fn the_innermost_list_in_which_others_have_written_is_replaced() {
    let app = |port: u16| json!({ "name": "app", "ports": [{ "name": "http", "containerPort": port }] });
    let sidecar = json!({ "name": "sidecar", "ports": [{ "name": "http", "containerPort": 90 }] });
    let (ours, live) = (pod(&json!([app(80)])), pod(&json!([sidecar, app(81)])));
    let theirs = of_containers(&json!({
        "k:{\"name\":\"app\"}": { "f:ports": { "k:{\"containerPort\":81,\"protocol\":\"TCP\"}": { ".": {} } } },
        "k:{\"name\":\"sidecar\"}": { ".": {} },
    }));
    let drift = decided(&ours, &live, &theirs, &[("spec.containers[1].ports[1].name", DUPLICATE)]);
    let replaced = "replace /spec/containers/1/ports [{containerPort:80,name:http}]".to_owned();
    assert_eq!(shown(&drift), (vec![replaced], vec!["spec.containers[1].ports (ed)".to_owned()]));
    // Only the outer list is theirs: the sidecar goes.
    let theirs = of_containers(&json!({ "k:{\"name\":\"sidecar\"}": { ".": {} } }));
    let drift = decided(&ours, &live, &theirs, &[("spec.containers[0].ports[0].hostPort", DUPLICATE)]);
    let replaced = "replace /spec/containers [{name:app,ports:[{containerPort:80,name:http}]}]".to_owned();
    assert_eq!(shown(&drift), (vec![replaced], vec!["spec.containers (ed)".to_owned()]));
}

/// One list is in the other: the position of the inner one would be another once the outer one is replaced.
#[test]
fn what_is_replaced_as_a_whole_is_not_replaced_in_parts() {
    let app = |port: u16| json!([{ "name": "app", "ports": [{ "containerPort": port }], "image": "app" }]);
    let fields =
        json!({ "f:ports": { "k:{\"containerPort\":81,\"protocol\":\"TCP\"}": {} }, "f:livenessProbe": {} });
    let causes = [
        ("spec.containers[0].ports[0].hostPort", DUPLICATE),
        ("spec.containers[0].livenessProbe.tcpSocket", "FieldValueForbidden"),
    ];
    let theirs = of_containers(&json!({ "k:{\"name\":\"app\"}": fields }));
    let (operations, theirs) = shown(&decided(&pod(&app(80)), &pod(&app(81)), &theirs, &causes));
    assert_eq!(operations, ["replace /spec/containers [{image:app,name:app,ports:[{containerPort:80}]}]"]);
    assert_eq!(theirs, ["spec.containers (ed)", "spec.containers[0].ports (ed)"]);
}

#[test]
fn a_field_beside_ours_goes_where_there_is_no_list() {
    let strategy = |strategy: Value| json!({ "spec": { "replicas": 1, "strategy": strategy } });
    let drift = decided(
        &strategy(json!({ "type": "Recreate" })),
        &strategy(json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } })),
        &by_others(&json!({ "f:spec": { "f:selector": {} } })),
        &[("spec.strategy.rollingUpdate", "FieldValueForbidden")],
    );
    let operations = ["remove /spec/strategy/rollingUpdate", "add /spec/strategy/type Recreate"];
    let theirs = vec!["spec.strategy.rollingUpdate (no one else's)".to_owned()];
    assert_eq!(shown(&drift), (operations.map(str::to_owned).to_vec(), theirs));
}

#[test]
fn what_is_cited_where_nothing_is_ours_is_only_named() {
    let desired = pod(&json!([{ "name": "app" }]));
    let live = json!({ "spec": { "containers": [{ "name": "z" }], "initContainers": [{ "name": "app" }] } });
    let set = json!({ "f:spec": { "f:initContainers": { "k:{\"name\":\"app\"}": { ".": {} } } } });
    let drift = decided(&desired, &live, &by_others(&set), &[("spec.initContainers[0].name", DUPLICATE)]);
    assert_eq!(shown(&drift), (vec![], vec!["spec.initContainers (ed)".to_owned()]));
}

/// Texts say nothing: whether the cluster IP can be changed shows the next apply.
#[test]
fn a_list_is_put_back_although_something_else_is_refused() {
    let mut refusal =
        refusal(&[("spec.clusterIPs[0]", "FieldValueInvalid"), ("spec.ports[1].name", DUPLICATE)]);
    "Invalid value: [\"None\"]: may not change once set"
        .clone_into(&mut refusal.details.as_mut().unwrap().causes[0].message);
    let (ours, live) = (service(&[("a", 80)]), service(&[("a", 81)]));
    let drift = drift(&ours, &live, &by_others(&ports(&[81])), US, &refusal);
    let replaced = vec!["replace /spec/ports [{name:a,port:80}]".to_owned()];
    assert_eq!(shown(&drift), (replaced, vec!["spec.ports (ed)".to_owned()]));
}

#[test]
fn pointers_and_paths_say_where_a_name_ends() {
    let labels = |labels: Value| json!({ "metadata": { "labels": labels } });
    let drift = decided(
        &labels(json!({ "app": "web" })),
        &labels(json!({ "app": "web", "a.io/b~c": "!" })),
        &by_others(&json!({ "f:metadata": { "f:labels": { "f:a.io/b~c": {} } } })),
        &[("metadata.labels[a.io/b~c]", "FieldValueInvalid")],
    );
    let expected = (
        vec!["remove /metadata/labels/a.io~1b~0c".to_owned()],
        vec!["metadata.labels[a.io/b~c] (ed)".to_owned()],
    );
    assert_eq!(shown(&drift), expected);
}
