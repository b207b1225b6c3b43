use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};

use super::{
    super::{Comparison, GenericMatcher, Match, Matcher},
    differs,
};

fn config_map(data: &Value) -> ConfigMap {
    serde_json::from_value(json!({ "metadata": { "name": "web" }, "data": data })).unwrap()
}

/// How it matches what has `a`, and `b` from somebody else.
fn matched(matcher: Matcher<ConfigMap>, desired: &Value) -> Match {
    let (actual, desired) = (config_map(&json!({ "a": "1", "b": "2" })), config_map(desired));
    matcher.erased().matches(&actual, &desired, &serde_json::to_value(&desired).unwrap()).unwrap()
}

#[test]
fn content_is_compared_as_the_choice_says() {
    assert_eq!(matched(Matcher::default(), &json!({ "a": "1" })), Match::Equal);
    assert_eq!(matched(Matcher::Auto, &json!({ "a": "2" })), differs(&["data.a"]));
    let exact = Matcher::Generic(GenericMatcher::new().comparison(Comparison::Equal));
    assert_eq!(matched(exact.clone(), &json!({ "a": "1" })), differs(&["data.b"]));
    assert_eq!(matched(exact, &json!({ "a": "1", "b": "2" })), Match::Equal);
}

#[test]
fn a_function_gets_the_actual_object_first() {
    let has_more = Matcher::custom(|actual: &ConfigMap, desired: &ConfigMap| {
        let count = |object: &ConfigMap| object.data.as_ref().map_or(0, BTreeMap::len);
        count(actual) > count(desired)
    });
    assert_eq!(matched(has_more.clone(), &json!({ "z": "9" })), Match::Equal);
    assert_eq!(matched(has_more, &json!({ "a": "1", "b": "2" })), Match::Differs(Vec::new()));
}

#[test]
fn a_matcher_can_be_shown() {
    assert_eq!(format!("{:?}", Matcher::custom(|_: &ConfigMap, _| true)), "Custom(..)");
    assert_eq!(format!("{:?}", Matcher::<ConfigMap>::Auto), "Auto");
    assert!(format!("{:?}", Matcher::<ConfigMap>::Generic(GenericMatcher::new())).contains("Tolerating"));
}
