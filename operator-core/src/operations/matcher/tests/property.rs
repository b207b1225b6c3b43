//! Properties over random objects.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::super::{Match, fields::MAX_PATHS, matches_owned_fields, strip_nulls};
use super::model::{self, Mutation, Node, actual, any_json, desired, fields, managed, mutate, places};
use super::{MANAGER, applied, differs, is_owned, matched};

/// An object whose `spec` is the given tree.
#[expect(clippy::needless_pass_by_value, reason = "every caller has just made it")]
fn object(spec: Value) -> Value {
    json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": spec})
}

/// The managed set of an object whose `spec` has these fields.
fn owned(fields: &BTreeMap<String, Node>) -> Value {
    let spec = Node::Fields { fields: fields.clone(), foreign: false };
    managed(&spec).map_or(json!({}), |owned| json!({"f:spec": owned}))
}

/// Fields with one place at least that a mutation can hit.
fn fields_with_content() -> impl Strategy<Value = BTreeMap<String, Node>> {
    fields().prop_map(|mut fields| {
        fields.insert("z".to_owned(), Node::Scalar(json!(1)));
        fields
    })
}

/// Keys of a managed set, sound and unsound ones.
fn managed_key() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => model::name().prop_map(|name| format!("f:{name}")),
        2 => "[a-e]".prop_map(|name| format!("k:{{\"{name}\":\"{name}\"}}")),
        2 => any_json().prop_map(|json| format!("k:{json}")),
        2 => any_json().prop_map(|json| format!("v:{json}")),
        1 => (0_usize..4).prop_map(|index| format!("i:{index}")),
        1 => Just(".".to_owned()),
        1 => "[fkvi]:.{0,6}",
        1 => any::<String>(),
    ]
}

/// Anything that may be in the place of a managed set.
fn any_managed() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![4 => Just(json!({})), 1 => any_json()];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop::collection::btree_map(managed_key(), inner, 0..5)
            .prop_map(|set| Value::Object(set.into_iter().collect::<Map<_, _>>()))
    })
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn what_was_applied_is_equal_whatever_others_add(fields in fields(), foreign: bool) {
        let spec = Node::Fields { fields: fields.clone(), foreign };
        prop_assert_eq!(matched(&object(desired(&spec)), &object(actual(&spec)), owned(&fields)), Match::Equal);
    }

    #[test]
    fn what_was_applied_is_owned_until_a_field_more_or_less_is_wanted(
        fields in fields_with_content(),
        at: prop::sample::Index,
        mutation in prop::sample::select(vec![Mutation::Remove, Mutation::Add]),
    ) {
        let wanted = |fields| object(desired(&Node::Fields { fields, foreign: false }));
        let (owned, places) = (owned(&fields), places(&fields));
        prop_assert!(is_owned(&wanted(fields.clone()), &owned));
        let mut mutated = fields;
        prop_assert!(mutate(&mut mutated, mutation, &mut at.index(places)));
        prop_assert!(!is_owned(&wanted(mutated), &owned));
    }

    #[test]
    fn nulls_in_the_desired_object_are_as_if_stripped(fields in fields()) {
        let spec = Node::Fields { fields: fields.clone(), foreign: true };
        let mut stripped = desired(&spec);
        strip_nulls(&mut stripped);
        prop_assert_eq!(matched(&object(stripped), &object(actual(&spec)), owned(&fields)), Match::Equal);
    }

    #[test]
    fn any_mutation_of_the_desired_object_differs(
        fields in fields_with_content(),
        at: prop::sample::Index,
        mutation in prop::sample::select(vec![Mutation::Change, Mutation::Remove, Mutation::Add]),
    ) {
        let places = places(&fields);
        let mut mutated = fields.clone();
        prop_assert!(mutate(&mut mutated, mutation, &mut at.index(places)));
        let wanted = object(desired(&Node::Fields { fields: mutated, foreign: false }));
        let stored = object(actual(&Node::Fields { fields: fields.clone(), foreign: true }));
        prop_assert!(matches!(matched(&wanted, &stored, owned(&fields)), Match::Differs(_)));
    }

    #[test]
    fn a_change_of_what_is_owned_differs_and_an_addition_does_not(
        fields in fields_with_content(),
        at: prop::sample::Index,
        mutation in prop::sample::select(vec![Mutation::Change, Mutation::Remove, Mutation::Add]),
    ) {
        let places = places(&fields);
        let mut mutated = fields.clone();
        prop_assert!(mutate(&mut mutated, mutation, &mut at.index(places)));
        let wanted = object(desired(&Node::Fields { fields: fields.clone(), foreign: false }));
        let stored = object(actual(&Node::Fields { fields: mutated, foreign: true }));
        let answer = matched(&wanted, &stored, owned(&fields));
        prop_assert_eq!(answer.is_equal(), mutation == Mutation::Add, "{:?}", answer);
    }

    #[test]
    fn a_number_that_was_applied_is_equal_when_it_comes_back(number in prop::num::f64::NORMAL) {
        let wanted = object(json!({ "share": number }));
        let stored = serde_json::from_str(&wanted.to_string()).unwrap();
        prop_assert_eq!(matched(&wanted, &stored, json!({ "f:spec": { "f:share": {} } })), Match::Equal);
    }

    #[test]
    fn a_set_that_is_any_text_is_understood_or_differs(text: String, cut: prop::sample::Index, owned in any_managed()) {
        let object = object(json!({ "a": 1 }));
        let mut sound = owned.to_string();
        while !sound.is_char_boundary(cut.index(sound.len() + 1)) {
            sound.pop();
        }
        sound.truncate(cut.index(sound.len() + 1));
        for text in [text, sound] {
            let is_set = serde_json::from_str::<Map<String, Value>>(&text).is_ok();
            let answer = matches_owned_fields(&object, &object, &[applied(None, text.into())], MANAGER, None);
            prop_assert!(is_set || answer == differs(&["metadata.managedFields"]), "{answer:?}");
        }
    }

    #[test]
    fn never_panics(wanted in any_json(), stored in any_json(), owned in any_managed(), whole: bool) {
        let answer = if whole {
            matched(&wanted, &stored, owned)
        } else {
            matched(&object(wanted), &object(stored), json!({"f:spec": owned}))
        };
        if let Match::Differs(paths) = answer {
            prop_assert!((1..=MAX_PATHS).contains(&paths.len()));
        }
    }
}
