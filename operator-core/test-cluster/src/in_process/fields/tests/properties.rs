//! What holds for all sets of fields, and for all applies.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    super::set::{Element, Scalar, Set},
    *,
};

fn element() -> impl Strategy<Value = Element> {
    prop_oneof![
        "[ab]{1,2}".prop_map(|name| Element::field(&name)),
        (0..3).prop_map(|number| Element::Item(Scalar(json!(number)))),
        ("[xy]", any::<bool>()).prop_map(|(name, port)| Element::Key(vec![
            ("name".to_owned(), Scalar(json!(name))),
            ("on".to_owned(), Scalar(json!(port)))
        ])),
        (0_usize..3).prop_map(Element::Index),
    ]
}

fn set() -> impl Strategy<Value = Set> {
    prop::collection::vec(prop::collection::vec(element(), 1..4), 0..8).prop_map(|paths| {
        let mut set = Set::default();
        paths.iter().for_each(|path| set.insert(path));
        set
    })
}

/// The `data` of a ConfigMap; an empty one would be a leaf, which conflicts with whoever applies data to it.
fn data() -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map("[abc]", "[12]", 1..3)
}

/// Objects of so few forms that two of them are often equal.
fn object() -> impl Strategy<Value = Value> {
    let entry = (0..2, prop::option::of(0..2), prop::option::of(0..2));
    let entries = prop::option::of(prop::collection::vec(entry, 0..3));
    (prop::option::of((0..2, entries)), 0..2, any::<bool>()).prop_map(|(metadata, spec, whole)| {
        let mut object = json!({ "spec": { "n": spec } });
        if whole {
            object["spec"]["n"] = json!(f64::from(spec));
        }
        let Some((name, entries)) = metadata else { return object };
        object["metadata"] = json!({ "name": name });
        let entries = entries.map(|entries| {
            entries.into_iter().map(|(manager, time, fields)| {
                let mut entry = json!({ "manager": manager });
                time.into_iter().for_each(|time| entry["time"] = json!(time));
                fields.into_iter().for_each(|fields| entry["fieldsV1"] = json!(fields));
                entry
            })
        });
        if let Some(entries) = entries {
            object["metadata"]["managedFields"] = entries.collect();
        }
        object
    })
}

proptest! {
    #![proptest_config(crate::seed::daily())]

    #[test]
    fn objects_are_the_same_when_nothing_but_the_times_of_managed_fields_differs(one in object(), two in object()) {
        let timeless = |object: &Value| {
            let mut object = object.clone();
            let entries = object.pointer_mut("/metadata/managedFields").and_then(Value::as_array_mut);
            for entry in entries.into_iter().flatten() {
                entry.as_object_mut().map(|entry| entry.remove("time"));
            }
            object
        };
        prop_assert_eq!(is_same(&one, &two), canonical::equal(&timeless(&one), &timeless(&two)));
    }

    #[test]
    fn a_set_survives_the_wire(set in set()) {
        prop_assert_eq!(Set::decode(&set.encode()), set);
    }

    #[test]
    fn sets_are_sets(one in set(), two in set()) {
        prop_assert_eq!(one.union(&two), two.union(&one));
        prop_assert_eq!(one.intersection(&two), two.intersection(&one));
        prop_assert!(one.difference(&two).intersection(&two).is_empty());
        prop_assert_eq!(one.difference(&two).union(&one.intersection(&two)), one.clone());
        prop_assert_eq!(one.difference(&two).union(&two), one.union(&two));
        prop_assert!(one.difference(&one).is_empty());
        prop_assert_eq!(one.union(&two).without(&two).intersection(&two), Set::default());
    }

    #[test]
    fn a_second_apply_of_the_same_changes_nothing(first in data(), second in data(), force in any::<bool>()) {
        let schema = config_map();
        let body = |data: &BTreeMap<String, String>| named("ConfigMap", "v1", &json!({ "data": data }));
        let made = apply(&by(&schema, "one"), None, &body(&first), force).expect("is created");
        if let Ok(applied) = apply(&by(&schema, "two"), Some(&made), &body(&second), force) {
            for (key, value) in &second {
                prop_assert_eq!(&applied["data"][key], &json!(value));
            }
            let again = apply(&by(&schema, "two"), Some(&applied), &body(&second), false).expect("has no conflicts");
            prop_assert!(is_same(&applied, &again));
        } else {
            let differ = second.iter().any(|(key, value)| first.get(key).is_some_and(|other| other != value));
            prop_assert!(!force && differ, "only values that differ conflict");
        }
    }

    #[test]
    fn whoever_applies_nothing_any_more_leaves_what_others_own(first in data(), second in data()) {
        let schema = config_map();
        let body = |data: &BTreeMap<String, String>| named("ConfigMap", "v1", &json!({ "data": data }));
        let nothing = named("ConfigMap", "v1", &json!({}));
        let made = apply(&by(&schema, "one"), None, &body(&first), true).expect("is created");
        let both = apply(&by(&schema, "two"), Some(&made), &body(&second), true).expect("is applied");
        let left = apply(&by(&schema, "one"), Some(&both), &nothing, false).expect("is applied");
        let data = left.get("data").cloned().unwrap_or_else(|| json!({}));
        prop_assert_eq!(data, json!(second));
        let none = apply(&by(&schema, "two"), Some(&left), &nothing, false).expect("is applied");
        prop_assert_eq!(none.get("data"), None);
        prop_assert_eq!(none["metadata"].get("managedFields"), None);
    }
}
