//! Whether a status has a field for ids, as far as its type shows.

use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{dependent::Unsound, operations::put_at};

/// The mistake in the field of the status `S`, if there is one. If a type has its own way of reading, no mistake is
/// found here; the server reports more before anything is created.
pub(super) fn wrong<S: DeserializeOwned>(field: &str, several: bool) -> Option<Unsound> {
    let (id, write) = match several {
        true => {
            (json!({ "key": "id" }), "a map of `String`s, as in `pub record_ids: BTreeMap<String, String>`")
        }
        false => (json!("id"), "an optional `String`, as in `pub record_id: Option<String>`"),
    };
    let mut status = Value::Null;
    put_at(&mut status, field, Some(id));
    let mut is_ignored = false;
    let read = serde_ignored::deserialize::<_, _, S>(status, |_| is_ignored = true);
    let why = match read {
        _ if is_ignored => {
            format!("the status has no field `{field}`, and the server drops what it doesn't know")
        }
        // Other fields may be missing: only this field was in the input.
        Err(error) if error.to_string().starts_with("missing field") => return None,
        Err(error) => format!("`status.{field}` can't hold them: {error}"),
        Ok(_) => return None,
    };
    Some(Unsound {
        what: "keeps the ids of its records in a field of the status that can't hold them",
        why,
        write,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    #[expect(dead_code, reason = "only read")]
    struct Status {
        needed: u8,
        record_id: Option<String>,
        record_ids: BTreeMap<String, String>,
        number: Option<u32>,
        dns: Option<Dns>,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only read")]
    struct Dns {
        id: String,
    }

    fn why(field: &str, several: bool) -> Option<String> {
        wrong::<Status>(field, several).map(|unsound| unsound.why)
    }

    #[test]
    fn a_field_is_there_and_holds_an_id_or_ids_by_key() {
        assert_eq!(why("recordId", false), None);
        assert_eq!(why("recordIds", true), None);
        assert_eq!(why("dns.id", false), None);
        let says = |field, several, words: &str| {
            assert!(why(field, several).is_some_and(|why| why.contains(words)), "{field}");
        };
        says("record_id", false, "the status has no field `record_id`");
        says("dns.recordId", false, "the status has no field `dns.recordId`");
        says("number", false, "invalid type: string");
        says("recordId", true, "invalid type: map");
        says("recordIds", false, "invalid type: string");
    }
}
