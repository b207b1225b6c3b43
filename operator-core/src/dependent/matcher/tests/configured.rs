use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry},
};
use serde_json::{Value, json};

use super::{
    super::{Comparison, GenericMatcher, Match, Matcher, Written},
    cases::MANAGER,
};

const APPLIED: Written<'static> = Written::Applied { manager: MANAGER };

fn config_map(data: &Value) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": "web" }, "data": data })).unwrap()
}

/// What has `a` applied, and `b` from somebody else.
fn actual() -> ConfigMap {
    let mut actual = config_map(&json!({ "a": "1", "b": "2" }));
    actual.metadata.managed_fields = Some(vec![ManagedFieldsEntry {
        manager: Some(MANAGER.to_owned()),
        operation: Some("Apply".to_owned()),
        fields_v1: Some(FieldsV1(json!({ "f:data": { "f:a": {} } }))),
        ..ManagedFieldsEntry::default()
    }]);
    actual
}

fn matched(matcher: &Matcher<ConfigMap>, desired: &Value, written: Written<'_>) -> Match {
    let desired = config_map(desired);
    matcher.matches(&actual(), &desired, &serde_json::to_value(&desired).unwrap(), written).unwrap()
}

#[test]
fn without_a_choice_the_way_of_writing_decides() {
    let desired = json!({ "a": "1", "b": "2" });
    assert_eq!(matched(&Matcher::Auto, &desired, APPLIED), Match::Differs(vec!["data.b".to_owned()]));
    assert_eq!(matched(&Matcher::default(), &desired, Written::Replaced), Match::Equal);
    assert_eq!(matched(&Matcher::Auto, &json!({ "a": "1" }), APPLIED), Match::Equal);
}

#[test]
fn a_choice_holds_for_every_way_of_writing() {
    let exact = Matcher::Generic(GenericMatcher::new().comparison(Comparison::Equal));
    for written in [APPLIED, Written::Replaced] {
        assert_eq!(matched(&exact, &json!({ "a": "1" }), written), Match::Differs(vec!["data.b".to_owned()]));
        assert_eq!(matched(&exact, &json!({ "a": "1", "b": "2" }), written), Match::Equal);
    }
}

#[test]
fn what_is_replaced_was_never_applied() {
    assert_eq!(matched(&Matcher::Ssa, &json!({ "a": "1" }), APPLIED), Match::Equal);
    assert_eq!(matched(&Matcher::Ssa, &json!({ "a": "1" }), Written::Replaced), Match::NeverApplied);
    assert!(Matcher::<ConfigMap>::Ssa.needs_apply());
    assert!(!Matcher::<ConfigMap>::Auto.needs_apply());
}

#[test]
fn a_function_gets_the_actual_object_first() {
    let has_more = Matcher::custom(|actual: &ConfigMap, desired: &ConfigMap| {
        let count = |object: &ConfigMap| object.data.as_ref().map_or(0, std::collections::BTreeMap::len);
        count(actual) > count(desired)
    });
    assert_eq!(matched(&has_more.clone(), &json!({ "z": "9" }), APPLIED), Match::Equal);
    assert_eq!(matched(&has_more, &json!({ "a": "1", "b": "2" }), APPLIED), Match::Differs(Vec::new()));
}

#[test]
fn a_matcher_can_be_shown() {
    assert_eq!(format!("{:?}", Matcher::custom(|_: &ConfigMap, _| true)), "Custom(..)");
    assert_eq!(format!("{:?}", Matcher::<ConfigMap>::Auto), "Auto");
    assert!(format!("{:?}", Matcher::<ConfigMap>::Generic(GenericMatcher::new())).contains("Tolerating"));
}
