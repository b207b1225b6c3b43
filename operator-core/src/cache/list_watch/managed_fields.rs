//! Leaving managed fields out before they are decoded. Pure.
//!
//! They are close to half of an object's text and, as trees of maps, far more than that in memory. Cutting them out of
//! the text costs one look at it, and no foreign entry is ever built.

use std::{borrow::Cow, ops::Range};

use serde::Deserialize;
use serde_json::value::RawValue;

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
struct Entry<'a> {
    #[serde(borrow)]
    manager: Cow<'a, str>,
}

/// The text of an object without the managed fields of others than `own_managers`. What can't be understood stays as it
/// is: the decoder has better words for it.
pub(super) fn without_foreign<'a>(item: &'a str, own_managers: &[String]) -> Cow<'a, str> {
    let Some(managed_fields) =
        serde_json::from_str::<Item<'_>>(item).ok().and_then(|item| item.metadata.managed_fields)
    else {
        return Cow::Borrowed(item);
    };
    let own = own_entries(managed_fields, own_managers);
    let Range { start, end } = range_within(item, managed_fields.get());
    Cow::Owned([&item[..start], &own, &item[end..]].concat())
}

fn own_entries(managed_fields: &RawValue, own_managers: &[String]) -> String {
    if own_managers.is_empty() {
        return "null".to_owned();
    }
    let entries: Vec<&RawValue> = serde_json::from_str(managed_fields.get()).unwrap_or_default();
    let own: Vec<&str> = entries
        .into_iter()
        .filter(|entry| {
            serde_json::from_str::<Entry<'_>>(entry.get())
                .is_ok_and(|entry| own_managers.iter().any(|own| *own == entry.manager))
        })
        .map(RawValue::get)
        .collect();
    if own.is_empty() { "null".to_owned() } else { format!("[{}]", own.join(",")) }
}

/// Where `part`, which was borrowed from `whole`, lies in it.
fn range_within(whole: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prune(item: &str, own: &[&str]) -> String {
        let own: Vec<String> = own.iter().map(|&own| own.to_owned()).collect();
        without_foreign(item, &own).into_owned()
    }

    #[test]
    fn only_own_entries_are_left() {
        let item = r#"{"metadata":{"name":"ä","managedFields": [{"manager":"me","x":1}, {"manager":"kubectl"},{"manager":"me\u0021"},{"no":1},{"manager":"me","y":[2]}] ,"uid":"u"},"spec":{"managedFields":[1]}}"#;
        let with = |entries| {
            format!(
                r#"{{"metadata":{{"name":"ä","managedFields": {entries} ,"uid":"u"}},"spec":{{"managedFields":[1]}}}}"#
            )
        };
        assert_eq!(prune(item, &[]), with("null"));
        assert_eq!(prune(item, &["other"]), with("null"));
        assert_eq!(prune(item, &["me"]), with(r#"[{"manager":"me","x":1},{"manager":"me","y":[2]}]"#));
        assert_eq!(
            prune(item, &["me!"]),
            with(r#"[{"manager":"me\u0021"}]"#),
            "names are compared, not their text"
        );
    }

    #[test]
    fn what_has_none_or_cannot_be_understood_stays_as_it_is() {
        for item in
            [r#"{"metadata":{"name":"a"}}"#, r#"{"metadata":{"managedFields":null}}"#, "{}", "[1", "7"]
        {
            assert!(matches!(without_foreign(item, &[]), Cow::Borrowed(same) if same == item), "{item}");
        }
        assert_eq!(
            prune(r#"{"metadata":{"managedFields":7}}"#, &["me"]),
            r#"{"metadata":{"managedFields":null}}"#
        );
    }
}
