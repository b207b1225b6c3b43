//! The whole of a write, on the kinds that need nothing of their own and on custom ones. The fuzz against the real
//! server knows much more.

mod properties;

use super::*;

fn config_map() -> Schema {
    Schema::builtin(&GroupVersionKind::gvk("", "v1", "ConfigMap")).expect("the types are recorded")
}

fn at_time(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + seconds).expect("a time")
}

fn by<'a>(schema: &'a Schema, manager: &'a str) -> Write<'a> {
    Write { schema, endpoint: Endpoint::Main, manager, time: at_time(0) }
}

fn named(kind: &str, api_version: &str, rest: &Value) -> Value {
    let mut object =
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a", "namespace": "n"}});
    for (key, value) in rest.as_object().expect("an object") {
        object[key] = value.clone();
    }
    object
}

#[test]
fn the_recorded_types_know_the_kinds_and_the_keys_of_their_lists() {
    let deployment = GroupVersionKind::gvk("apps", "v1", "Deployment");
    assert!(Schema::builtin(&deployment).is_some());
    assert!(Schema::builtin(&GroupVersionKind::gvk("", "v1", "Unknown")).is_none());
}

#[test]
fn an_apply_owns_what_it_says_and_a_second_one_that_differs_conflicts() {
    let schema = config_map();
    let body = |data: Value| named("ConfigMap", "v1", &json!({"data": data}));
    let made =
        apply(&by(&schema, "one"), None, &body(json!({"a": "1", "b": "2"})), false).expect("is created");
    assert_eq!(made["data"], json!({"a": "1", "b": "2"}));
    assert_eq!(
        made["metadata"]["managedFields"],
        json!([{
            "manager": "one", "operation": "Apply", "apiVersion": "v1", "fieldsType": "FieldsV1",
            "time": "2023-11-14T22:13:20Z", "fieldsV1": {"f:data": {"f:a": {}, "f:b": {}}},
        }])
    );

    let two = by(&schema, "two");
    let conflict = apply(&two, Some(&made), &body(json!({"a": "3"})), false);
    assert_eq!(conflict, Err(Refusal::Conflict(vec![("\"one\"".to_owned(), ".data.a".to_owned())])));

    let forced = apply(&two, Some(&made), &body(json!({"a": "3"})), true).expect("is forced");
    assert_eq!(forced["data"], json!({"a": "3", "b": "2"}));
    let dropped =
        apply(&by(&schema, "one"), Some(&forced), &body(json!({})), false).expect("nothing is left");
    assert_eq!(dropped["data"], json!({"a": "3"}));
}

#[test]
fn an_update_owns_what_it_changes() {
    let schema = config_map();
    let made =
        apply(&by(&schema, "one"), None, &named("ConfigMap", "v1", &json!({"data": {"a": "1"}})), false)
            .expect("is created");
    let mut put = made.clone();
    put["data"] = json!({"a": "2", "c": "3"});
    let changed = change(&by(&schema, "two"), Some(&made), put).expect("is written");
    let managers: Vec<_> = changed["metadata"]["managedFields"].as_array().into_iter().flatten().collect();
    assert_eq!(managers.len(), 1, "{managers:?}");
    assert_eq!(managers[0]["fieldsV1"], json!({"f:data": {"f:a": {}, "f:c": {}}}));
    assert!(is_same(&changed, &changed));
    assert!(!is_same(&made, &changed));
}

#[test]
fn a_secret_has_its_texts_as_data() {
    let secret = Schema::builtin(&GroupVersionKind::gvk("", "v1", "Secret")).expect("the types are recorded");
    let body = named("Secret", "v1", &json!({"stringData": {"a": "hello", "b": ""}}));
    let made = change(&by(&secret, "one"), None, body).expect("is created");
    assert_eq!(made["data"], json!({"a": "aGVsbG8=", "b": ""}));
    assert_eq!(made["type"], json!("Opaque"));
    assert_eq!(made.get("stringData"), None);
}

#[test]
fn a_custom_object_is_pruned_and_defaulted_and_its_status_has_its_own_endpoint() {
    let page = GroupVersionKind::gvk("sample.example.com", "v1", "WebPage");
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "required": ["html"], "properties": {
            "html": {"type": "string"},
            "port": {"type": "integer", "default": 80},
        }},
        "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
    }});
    let schema = Schema::custom(page, &json!({"status": {}}), &schema);
    let body = |spec: Value| {
        let mut body = named("WebPage", "sample.example.com/v1", &json!({"spec": spec}));
        body["status"] = json!({"ready": true});
        body
    };
    let made =
        change(&by(&schema, "one"), None, body(json!({"html": "x", "unknown": 1}))).expect("is created");
    assert_eq!(made["spec"], json!({"html": "x", "port": 80}));
    assert_eq!(made.get("status"), None);

    let status = Write { endpoint: Endpoint::Status, ..by(&schema, "two") };
    let with_status = apply(&status, Some(&made), &body(json!({"html": "y"})), false).expect("is written");
    assert_eq!(with_status["spec"], made["spec"]);
    assert_eq!(with_status["status"], json!({"ready": true}));
    assert!(!schema.changes_generation(&made, &with_status));

    let empty = change(&by(&schema, "one"), None, body(json!({}))).expect("is read");
    let (causes, _) = schema.wrong(&empty, None, Endpoint::Main, Vec::new());
    let cause = ("FieldValueRequired".to_owned(), "spec.html".to_owned(), "Required value".to_owned());
    assert_eq!(causes, [cause]);
}

#[test]
fn an_embedded_object_has_a_kind_that_is_a_text() {
    let shelf = GroupVersionKind::gvk("sample.example.com", "v1", "Shelf");
    let embedded = json!({
        "type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
    });
    let schema = json!({"type": "object", "properties": {
        "spec": {"type": "object", "properties": {"object": embedded}},
    }});
    let schema = Schema::custom(shelf, &json!({"status": {}}), &schema);
    let applied = |object: Value| {
        let body = json!({"spec": {"object": object}});
        apply(&by(&schema, "one"), None, &named("Shelf", "sample.example.com/v1", &body), false)
    };
    let refused =
        |object: Value| schema.wrong(&applied(object).expect("is read"), None, Endpoint::Main, Vec::new()).0;
    let cause = |reason: &str, message: &str| {
        vec![(reason.to_owned(), "spec.object.apiVersion".to_owned(), message.to_owned())]
    };
    assert_eq!(refused(json!({"apiVersion": "v1", "kind": "ConfigMap"})), []);
    assert_eq!(refused(json!({"kind": "ConfigMap"})), cause("FieldValueRequired", "Required value"));
    assert_eq!(
        refused(json!({"apiVersion": null, "kind": "ConfigMap"})),
        cause("FieldValueInvalid", "Invalid value: null: must be a string"),
        "what an apply says is kept, null as well"
    );
    assert_eq!(
        refused(json!({"apiVersion": "", "kind": "ConfigMap"})),
        cause("FieldValueInvalid", "Invalid value: \"\": must not be empty")
    );
}

#[test]
fn the_first_apply_to_an_untracked_object_notes_what_was_there() {
    let schema = config_map();
    let mut made = change(&by(&schema, "one"), None, named("ConfigMap", "v1", &json!({"data": {"a": "1"}})))
        .expect("is created");
    made["metadata"]["managedFields"] = json!([]);
    made["metadata"]["uid"] = json!("u");
    let body = named("ConfigMap", "v1", &json!({"data": {"b": "2"}}));
    let changed = change(&by(&schema, "two"), Some(&made), made.clone()).expect("is written");
    assert_eq!(changed["metadata"].get("managedFields"), None);
    let applied = apply(&by(&schema, "two"), Some(&changed), &body, false).expect("is applied");
    let managers: Vec<_> = applied["metadata"]["managedFields"].as_array().into_iter().flatten().collect();
    let names: Vec<_> = managers.iter().map(|entry| &entry["manager"]).collect();
    assert_eq!(names, ["two", "before-first-apply"]);
}

#[test]
fn more_than_ten_updaters_are_merged() {
    let schema = config_map();
    let mut object = named("ConfigMap", "v1", &json!({}));
    let mut live = None;
    for number in 0..12_u8 {
        object["data"][format!("k{number}")] = json!("1");
        let name = format!("m{number:02}");
        let write = Write { time: at_time(i64::from(number)), ..by(&schema, &name) };
        let written = change(&write, live.as_ref(), object.clone()).expect("is written");
        object = written.clone();
        live = Some(written);
    }
    let managers = object["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    assert_eq!(managers.len(), 10);
    let merged =
        managers.iter().find(|entry| entry["manager"] == "ancient-changes").expect("the oldest are merged");
    assert_eq!(merged["fieldsV1"]["f:data"], json!({".": {}, "f:k0": {}, "f:k1": {}, "f:k2": {}}));
}
