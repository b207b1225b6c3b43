//! What is answered to writes of all types.

use jiff::Timestamp;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Service},
};
use serde_json::{Value, json};

use super::{Answered, Moment, answer};
use crate::{
    operations::{
        matcher::{Match, matches_owned_fields},
        send::request::{Verb, WriteRequest},
    },
    resource::{KubeObject, ObjectKey, ResourceType},
};

/// One object of a server that answers.
struct Server {
    kind: ResourceType,
    key: ObjectKey,
    known: Option<Value>,
    version: u64,
}

impl Server {
    fn of<K: KubeObject<DynamicType: Default>>() -> Self {
        let key = ObjectKey::namespaced("shop", "one");
        Self { kind: ResourceType::of::<K>(), key, known: None, version: 10 }
    }

    /// The code of the answer.
    fn take(&mut self, verb: Verb, subresource: Option<&'static str>, body: &Value) -> u16 {
        let (kind, key) = (&self.kind, &self.key);
        let body = body.to_string().into();
        let write = WriteRequest { verb, kind, key, subresource, body, base: None };
        self.version += 1;
        let moment = Moment {
            manager: "test",
            now: Timestamp::from_second(1_800_000_000).expect("a time"),
            version: self.version.to_string(),
            uid: "u".to_owned(),
        };
        match answer(&write, self.known.as_ref(), &moment) {
            Ok(Answered::Stored { object, created }) => {
                self.known = Some(object);
                if created { 201 } else { 200 }
            }
            Ok(Answered::Removed(_)) => {
                self.known = None;
                200
            }
            Err(status) => status.code,
        }
    }

    fn apply(&mut self, body: &Value) -> u16 {
        let mut body = body.clone();
        body["apiVersion"] = self.kind.api_version().into();
        body["kind"] = self.kind.kind().into();
        self.take(Verb::Apply, None, &body)
    }

    fn at(&self, pointer: &str) -> Value {
        let known = self.known.as_ref().expect("it is there");
        known.pointer(pointer).cloned().unwrap_or_default()
    }

    /// Whether an apply of this body would be left out.
    fn matches(&self, body: &Value) -> bool {
        let known = self.known.as_ref().expect("it is there");
        let managed = serde_json::from_value::<Vec<_>>(self.at("/metadata/managedFields")).expect("entries");
        matches_owned_fields(body, known, &managed, "test", None) == Match::Equal
    }
}

fn deployment(image: &str) -> Value {
    json!({
        "metadata": { "labels": { "app": "web" } },
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": {
                    "containers": [{ "name": "web", "image": image, "ports": [{ "containerPort": 80 }] }],
                    "volumes": [{ "name": "html", "emptyDir": {} }],
                },
            },
        },
    })
}

#[test]
fn what_was_applied_matches_and_a_second_apply_changes_nothing() {
    for body in
        [json!({ "data": { "a": "1" }, "metadata": { "annotations": { "b": "2" } } }), json!({ "data": {} })]
    {
        let mut server = Server::of::<ConfigMap>();
        assert_eq!(server.apply(&body), 201);
        assert_eq!(server.at("/metadata/uid"), "u");
        let version = server.at("/metadata/resourceVersion");
        assert_eq!(server.apply(&body), 200);
        assert_eq!(server.at("/metadata/resourceVersion"), version);
    }
    let mut server = Server::of::<Deployment>();
    server.apply(&deployment("one"));
    assert!(server.matches(&deployment("one")) && !server.matches(&deployment("two")));
    assert_eq!(server.at("/metadata/generation"), 1);
    server.apply(&deployment("two"));
    assert!(server.matches(&deployment("two")));
    assert_eq!(server.at("/metadata/generation"), 2);
    let containers = server.at("/spec/template/spec/containers");
    assert_eq!(
        containers,
        json!([{ "name": "web", "image": "two", "ports": [{ "containerPort": 80, "protocol": "TCP" }] }])
    );
}

#[test]
fn what_others_have_written_stays_and_what_is_no_longer_wanted_goes() {
    let mut server = Server::of::<ConfigMap>();
    server.apply(&json!({ "data": { "a": "1", "b": "2" }, "metadata": { "labels": { "x": "y" } } }));
    let known = server.known.as_mut().unwrap();
    known["data"]["theirs"] = "3".into();
    known["metadata"]["managedFields"].as_array_mut().unwrap().push(json!({
        "manager": "else", "operation": "Update", "fieldsType": "FieldsV1",
        "fieldsV1": { "f:data": { "f:theirs": {}, "f:b": {} } },
    }));
    server.apply(&json!({ "data": { "a": "4" } }));
    assert_eq!(server.at("/data"), json!({ "a": "4", "b": "2", "theirs": "3" }));
    assert_eq!(server.at("/metadata/labels"), Value::Null);
}

#[test]
fn items_go_by_their_keys() {
    let mut server = Server::of::<Service>();
    let ports = |ports: Value| json!({ "spec": { "ports": ports } });
    server.apply(&ports(json!([{ "port": 80 }, { "port": 81, "protocol": "UDP" }])));
    server.known.as_mut().unwrap()["spec"]["ports"][0]["nodePort"] = 30_000.into();
    server.apply(&ports(json!([{ "port": 80, "name": "http" }])));
    let expected = json!([{ "port": 80, "name": "http", "nodePort": 30_000, "protocol": "TCP" }]);
    assert_eq!(server.at("/spec/ports"), expected);
}

#[test]
fn the_status_is_written_alone_and_only_by_its_subresource() {
    let mut server = Server::of::<Deployment>();
    server.apply(&deployment("one"));
    let status = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "status": { "replicas": 2 }, "spec": { "replicas": 7 } });
    assert_eq!(server.take(Verb::Apply, Some("status"), &status), 200);
    assert_eq!((server.at("/status/replicas"), server.at("/spec/replicas")), (json!(2), json!(1)));
    assert_eq!(server.at("/metadata/generation"), 1);
    assert_eq!(server.take(Verb::MergePatch, None, &json!({ "status": { "replicas": 3 } })), 200);
    assert_eq!(server.at("/status/replicas"), 2);
    assert_eq!(server.take(Verb::MergePatch, Some("status"), &json!({ "status": { "replicas": 3 } })), 200);
    assert_eq!(server.at("/status/replicas"), 3);
}

#[test]
fn a_write_is_bound_to_what_it_names() {
    let mut server = Server::of::<ConfigMap>();
    assert_eq!(server.apply(&json!({ "metadata": { "uid": "u" } })), 409, "nothing has that uid");
    assert_eq!(server.take(Verb::JsonPatch, None, &json!([])), 404);
    assert_eq!(server.take(Verb::Delete, None, &json!({})), 404);
    assert_eq!(server.apply(&json!({ "data": { "a": "1" }, "metadata": { "resourceVersion": "1" } })), 201);
    assert_eq!(server.apply(&json!({ "metadata": { "resourceVersion": "1" } })), 409, "it exists");
    assert_eq!(server.apply(&json!({ "metadata": { "uid": "v" } })), 409);
    assert_eq!(server.take(Verb::Create, None, &json!({})), 409);
    let test = |value: &str| json!([{ "op": "test", "path": "/metadata/uid", "value": value }, { "op": "remove", "path": "/data/a" }]);
    assert_eq!(server.take(Verb::JsonPatch, None, &test("v")), 422);
    assert_eq!(server.take(Verb::JsonPatch, None, &test("u")), 200);
    assert_eq!(server.at("/data"), json!({}));
    assert_eq!(server.take(Verb::Update, None, &json!({ "metadata": { "resourceVersion": "1" } })), 409);
    let version = server.at("/metadata/resourceVersion");
    let body = json!({ "data": { "b": "1" }, "metadata": { "resourceVersion": version } });
    assert_eq!(server.take(Verb::Update, None, &body), 200);
    assert_eq!((server.at("/data/b"), server.at("/metadata/uid")), (json!("1"), json!("u")));
    let preconditions = |uid: &str| json!({ "preconditions": { "uid": uid } });
    assert_eq!(server.take(Verb::Delete, None, &preconditions("v")), 409);
    assert_eq!(server.take(Verb::Delete, None, &preconditions("u")), 200);
    assert_eq!(server.known, None);
}

#[test]
fn a_finalizer_keeps_an_object_until_it_is_removed() {
    let mut server = Server::of::<Deployment>();
    let mut body = deployment("one");
    body["metadata"]["finalizers"] = json!(["a/b"]);
    server.apply(&body);
    server.take(Verb::Delete, None, &json!({}));
    assert!(server.at("/metadata/deletionTimestamp").is_string());
    let version = server.at("/metadata/resourceVersion");
    server.take(Verb::Delete, None, &json!({}));
    assert_eq!(server.at("/metadata/resourceVersion"), version, "a second deletion changes nothing");
    let off = json!([{ "op": "remove", "path": "/metadata/finalizers/0" }]);
    assert_eq!(server.take(Verb::JsonPatch, None, &off), 200);
    assert_eq!(server.known, None);
}
