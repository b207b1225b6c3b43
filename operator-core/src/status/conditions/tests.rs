//! Conditions over time.

use super::*;

const READY: ConditionUpdate<'static> = ConditionUpdate {
    r#type: "Ready",
    status: ConditionStatus::True,
    reason: "AllReady",
    message: "3/3 replicas ready",
    observed_generation: Some(1),
};

fn at(second: i64) -> Timestamp {
    Timestamp::from_millisecond(second * 1000 + 250).unwrap()
}

fn since(conditions: &[Condition]) -> i64 {
    find(conditions, "Ready").unwrap().last_transition_time.0.as_millisecond()
}

#[test]
fn a_new_condition_comes_last_with_the_time_in_whole_seconds() {
    let mut conditions = Vec::new();
    assert!(set(&mut conditions, &ConditionUpdate { r#type: "Other", ..READY }, at(1)));
    assert!(set(&mut conditions, &READY, at(2)));
    assert_eq!(conditions[1].type_, "Ready");
    assert_eq!(since(&conditions), 2000);
}

#[test]
fn saying_the_same_again_changes_nothing() {
    let mut conditions = Vec::new();
    set(&mut conditions, &READY, at(1));
    let before = conditions.clone();
    assert!(!set(&mut conditions, &READY, at(60)));
    assert_eq!(conditions, before);
}

#[test]
fn another_reason_message_or_generation_keeps_the_time() {
    let mut conditions = Vec::new();
    set(&mut conditions, &READY, at(1));
    assert!(set(&mut conditions, &ConditionUpdate { reason: "Scaled", ..READY }, at(2)));
    assert!(set(&mut conditions, &ConditionUpdate { message: "4/4", ..READY }, at(3)));
    assert!(set(&mut conditions, &ConditionUpdate { observed_generation: Some(2), ..READY }, at(4)));
    assert_eq!(since(&conditions), 1000);
    assert_eq!(conditions.len(), 1);
}

#[test]
fn another_status_is_a_transition() {
    let mut conditions = Vec::new();
    set(&mut conditions, &READY, at(1));
    assert!(set(&mut conditions, &ConditionUpdate { status: false.into(), ..READY }, at(5)));
    assert_eq!(since(&conditions), 5000);
    assert!(!is_true(&conditions, "Ready"));
    assert!(set(&mut conditions, &READY, at(6)));
    assert_eq!(since(&conditions), 6000);
    assert!(is_true(&conditions, "Ready"));
}

#[test]
fn a_type_is_there_once() {
    let mut conditions = Vec::new();
    set(&mut conditions, &ConditionUpdate { r#type: "Other", ..READY }, at(1));
    set(&mut conditions, &READY, at(1));
    conditions.push(conditions[1].clone());
    assert!(set(&mut conditions, &READY, at(2)));
    assert_eq!(conditions.iter().map(|one| one.type_.as_str()).collect::<Vec<_>>(), ["Other", "Ready"]);
}

#[test]
fn a_condition_can_go() {
    let mut conditions = Vec::new();
    set(&mut conditions, &READY, at(1));
    assert!(remove(&mut conditions, "Ready"));
    assert!(!remove(&mut conditions, "Ready"));
    assert_eq!(find(&conditions, "Ready"), None);
}

#[derive(kube::CustomResource, serde::Serialize, serde::Deserialize, schemars::JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Listed", namespaced, status = "ListedStatus")]
struct ListedSpec {}

#[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema, Clone, Debug)]
struct ListedStatus {
    plain: Vec<Condition>,
    /// What is said of the field stays.
    #[serde(default)]
    #[schemars(schema_with = "list_map")]
    conditions: Vec<Condition>,
}

#[test]
fn in_a_definition_the_list_is_a_map_by_type_and_else_as_ever() {
    let definition = serde_json::to_value(<Listed as kube::CustomResourceExt>::crd()).unwrap();
    let status = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"];
    let (conditions, plain) = (&status["properties"]["conditions"], &status["properties"]["plain"]);
    assert_eq!(conditions["x-kubernetes-list-type"], "map");
    assert_eq!(conditions["x-kubernetes-list-map-keys"], serde_json::json!(["type"]));
    assert_eq!(conditions["description"], "What is said of the field stays.");
    assert_eq!(conditions["items"], plain["items"]);
    assert_eq!(plain["x-kubernetes-list-type"], serde_json::Value::Null);
    assert_eq!(status["required"], serde_json::json!(["plain"]));
}
