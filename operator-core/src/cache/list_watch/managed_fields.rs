//! Taking managed fields out of objects before they are decoded. Pure.
//!
//! They are close to half of an object's text and, as trees of maps, ten times that in memory. Cutting them out of the
//! text costs one look at it. No foreign entry is ever built, and of an own one the fields stay what they were: text,
//! which the matcher alone reads.

use std::{borrow::Cow, ops::Range};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{FieldsV1, ManagedFieldsEntry, Time};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    metadata: Metadata<'a>,
}

#[derive(Deserialize)]
struct Metadata<'a> {
    #[serde(borrow, default, rename = "managedFields")]
    managed_fields: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Manager<'a> {
    #[serde(borrow)]
    manager: Cow<'a, str>,
}

/// [`ManagedFieldsEntry`] with its fields as text.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    api_version: Option<String>,
    fields_type: Option<String>,
    #[serde(borrow)]
    fields_v1: Option<&'a RawValue>,
    manager: Option<String>,
    operation: Option<String>,
    subresource: Option<String>,
    time: Option<Time>,
}

impl From<Entry<'_>> for ManagedFieldsEntry {
    fn from(entry: Entry<'_>) -> Self {
        Self {
            api_version: entry.api_version,
            fields_type: entry.fields_type,
            fields_v1: entry.fields_v1.map(|fields| as_text(fields.get().to_owned())),
            manager: entry.manager,
            operation: entry.operation,
            subresource: entry.subresource,
            time: entry.time,
        }
    }
}

/// An object whose managed fields were taken out.
pub(super) struct Cut<'a> {
    /// Its text without any.
    pub(super) text: Cow<'a, str>,
    /// The entries of own managers, their fields as text.
    pub(super) own: Option<Vec<ManagedFieldsEntry>>,
}

/// Takes the managed fields out of an object's text, and keeps those of `own_managers`. What can't be understood stays
/// as it is: the decoder has better words for it.
pub(super) fn cut<'a>(item: &'a str, own_managers: &[impl AsRef<str>]) -> Cut<'a> {
    let Some(managed_fields) =
        serde_json::from_str::<Item<'_>>(item).ok().and_then(|item| item.metadata.managed_fields)
    else {
        return Cut { text: Cow::Borrowed(item), own: None };
    };
    let Range { start, end } = range_within(item, managed_fields.get());
    let text = Cow::Owned([&item[..start], "null", &item[end..]].concat());
    Cut { text, own: own_entries(managed_fields, own_managers) }
}

/// Keeps the entries of `own_managers`, with their fields as text.
pub(in crate::cache) fn keep_own(
    entries: Option<Vec<ManagedFieldsEntry>>,
    own_managers: &[String],
) -> Option<Vec<ManagedFieldsEntry>> {
    let is_own = |entry: &ManagedFieldsEntry| {
        entry.manager.as_ref().is_some_and(|manager| own_managers.contains(manager))
    };
    let own = entries?.into_iter().filter(is_own).map(|entry| {
        let fields_v1 = entry.fields_v1.map(|FieldsV1(fields)| match fields {
            Value::Object(_) => as_text(fields.to_string()),
            other => FieldsV1(other),
        });
        ManagedFieldsEntry { fields_v1, ..entry }
    });
    let own: Vec<_> = own.collect();
    (!own.is_empty()).then(|| own.into_boxed_slice().into_vec())
}

/// A tree of maps takes about twenty times its text. The type has no place for text but this one.
fn as_text(fields: String) -> FieldsV1 {
    FieldsV1(Value::String(fields))
}

fn own_entries(
    managed_fields: &RawValue,
    own_managers: &[impl AsRef<str>],
) -> Option<Vec<ManagedFieldsEntry>> {
    if own_managers.is_empty() {
        return None;
    }
    let entries: Vec<&RawValue> = serde_json::from_str(managed_fields.get()).unwrap_or_default();
    let is_own = |entry: &&RawValue| {
        serde_json::from_str::<Manager<'_>>(entry.get())
            .is_ok_and(|entry| own_managers.iter().any(|own| own.as_ref() == entry.manager))
    };
    let own = entries.into_iter().filter(is_own);
    // An entry that can't be understood is as good as none: the next apply writes it anew.
    let own: Vec<ManagedFieldsEntry> =
        own.filter_map(|entry| serde_json::from_str::<Entry<'_>>(entry.get()).ok()).map(Into::into).collect();
    (!own.is_empty()).then(|| own.into_boxed_slice().into_vec())
}

/// Where `part`, which was borrowed from `whole`, lies in it.
pub(super) fn range_within(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::resource::arbitrary_tests::{any_bytes, any_json};

    use super::*;

    fn own(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn only_own_entries_are_left_with_their_fields_as_text() {
        let item = r#"{"metadata":{"name":"ä","managedFields": [{"manager":"me","fieldsV1":{"f:b":{},"f:a":{}}}, {"manager":"kubectl"},{"manager":"me\u0021"},{"no":1},{"manager":"me","operation":"Apply","time":"2026-11-21T12:00:00Z"},{"manager":"me","time":7}] ,"uid":"u"},"spec":{"managedFields":[1]}}"#;
        let kept = |names| json!(cut(item, &own(names)).own);
        let without =
            r#"{"metadata":{"name":"ä","managedFields": null ,"uid":"u"},"spec":{"managedFields":[1]}}"#;
        assert_eq!(cut(item, &own(&["me"])).text, without);
        assert_eq!(kept(&[]), json!(null));
        assert_eq!(kept(&["other"]), json!(null));
        assert_eq!(
            kept(&["me"]),
            json!([
                { "manager": "me", "fieldsV1": r#"{"f:b":{},"f:a":{}}"# },
                { "manager": "me", "operation": "Apply", "time": "2026-11-21T12:00:00Z" },
            ])
        );
        assert_eq!(kept(&["me!"]), json!([{ "manager": "me!" }]), "names are compared, not their text");
    }

    #[test]
    fn what_has_none_or_cannot_be_understood_stays_as_it_is() {
        for item in
            [r#"{"metadata":{"name":"a"}}"#, r#"{"metadata":{"managedFields":null}}"#, "{}", "[1", "7"]
        {
            let cut = cut(item, &own(&[]));
            assert!(matches!(cut.text, Cow::Borrowed(same) if same == item), "{item}");
            assert_eq!(cut.own, None);
        }
        let odd = cut(r#"{"metadata":{"managedFields":7}}"#, &own(&["me"]));
        assert_eq!((&*odd.text, odd.own), (r#"{"metadata":{"managedFields":null}}"#, None));
    }

    #[test]
    fn decoded_entries_are_brought_into_the_same_form() {
        let entries = json!([{ "manager": "kubectl" }, { "manager": "me", "fieldsV1": { "f:a": {} } }]);
        let kept = keep_own(serde_json::from_value(entries).unwrap(), &own(&["me"]));
        assert_eq!(json!(kept), json!([{ "manager": "me", "fieldsV1": r#"{"f:a":{}}"# }]));
        assert_eq!(keep_own(kept.clone(), &own(&["me"])), kept);
        assert_eq!(keep_own(kept, &[]), None);
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn a_text_of_any_kind_is_cut_or_stays_as_it_is(text in any_bytes()) {
            if let Ok(text) = std::str::from_utf8(&text) {
                let cut = cut(text, &own(&["me"]));
                prop_assert!(matches!(cut.text, Cow::Owned(_)) || cut.text == text);
            }
        }

        #[test]
        fn nothing_but_the_managed_fields_is_cut(object in any_json(), managed_fields in any_json()) {
            let mut whole = json!({ "spec": object.clone(), "metadata": { "a": object.clone(), "z": object } });
            whole["metadata"]["managedFields"] = managed_fields;
            let text = whole.to_string();
            let cut = cut(&text, &own(&["me"]));
            whole["metadata"]["managedFields"] = Value::Null;
            prop_assert_eq!(serde_json::from_str::<Value>(&cut.text).unwrap(), whole);
        }

        #[test]
        fn own_entries_are_found_among_any_others(
            mut entries in prop::collection::vec(any_json(), 0..4),
            at: prop::sample::Index,
            fields in any_json(),
        ) {
            let others = entries.iter().filter(|entry| entry["manager"] == "me").count();
            prop_assume!(others == 0);
            let at = at.index(entries.len() + 1);
            entries.insert(at, json!({ "manager": "me", "fieldsV1": { "f:a": fields } }));
            let text = json!({ "metadata": { "managedFields": entries } }).to_string();
            let kept = cut(&text, &own(&["me"])).own.unwrap_or_default();
            prop_assert_eq!(kept.len(), 1);
            let FieldsV1(kept) = kept[0].fields_v1.clone().unwrap();
            let kept: Value = serde_json::from_str(kept.as_str().unwrap()).unwrap();
            prop_assert_eq!(kept, json!({ "f:a": fields }));
        }
    }
}
