//! Keys of list items in a managed set: `k:{"containerPort":80,"protocol":"TCP"}`.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::{Number, Value};

use super::index::{digest, digest_of_text};
use super::value::{present, same_number};

/// The values of the key fields of one item.
///
/// It borrows from the managed set: there is one for each item of each list, and building owned values for each would
/// take most of the time of a match.
#[derive(Debug)]
pub(super) struct ItemKey<'a> {
    /// Most lists have one key field, which then costs no allocation.
    first: KeyField<'a>,
    others: Vec<KeyField<'a>>,
}

type KeyField<'a> = (Cow<'a, str>, Scalar<'a>);

/// The value of a key field. The API server allows scalars only.
#[derive(Debug)]
enum Scalar<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
}

impl<'a> ItemKey<'a> {
    /// Parses the part after `k:`. `None` if it is no object of scalars, or an empty one, which would name every item.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        Self::plain(text).or_else(|| serde_json::from_str(text).ok())
    }

    /// Parses the usual key: one field whose value is text, as the API server writes it.
    fn plain(text: &'a str) -> Option<Self> {
        let (name, value) = text.strip_prefix("{\"")?.split_once('"')?;
        let value = value.strip_prefix(":\"")?.strip_suffix("\"}")?;
        let is_plain = |text: &str| text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
        let first = (Cow::Borrowed(name), Scalar::Text(Cow::Borrowed(value)));
        (is_plain(name) && is_plain(value)).then(|| Self { first, others: Vec::new() })
    }

    /// Whether the predicate holds for all key fields, given each with its value in `item`. (A chained iterator over
    /// them is slower by half.)
    fn all(&self, item: &Candidate<'_>, is_so: impl Fn(&str, &Scalar<'a>, Option<&Value>) -> bool) -> bool {
        is_so(&self.first.0, &self.first.1, item.first)
            && self.others.iter().all(|(name, value)| is_so(name, value, item.item.get(name.as_ref())))
    }

    /// The name of the first key field.
    pub(super) fn first_field(&self) -> &str {
        &self.first.0
    }

    /// The digest of the value of the first key field.
    pub(super) fn first_digest(&self) -> u64 {
        self.first.1.digest()
    }

    /// Whether the key identifies this item of the actual object, in which all defaults are filled in.
    pub(super) fn names(&self, item: &Candidate<'_>) -> bool {
        self.all(item, |_, value, found| found.is_some_and(|found| value.is(found)))
    }

    /// Whether the key identifies this item of the desired object, given what is owned of the item.
    ///
    /// A key field with a default (the protocol of a port) may be omitted. It is in the key all the same, but it was
    /// not applied and so is not owned. That distinguishes such an item from one that contains the field.
    pub(super) fn names_desired(&self, item: &Candidate<'_>, owned: &Value) -> bool {
        item.item.is_object()
            && self.all(item, |name, value, found| match present(found) {
                Some(found) => value.is(found),
                None => owned.get(format!("f:{name}")).is_none(),
            })
    }
}

/// An item that a key may identify, and its value of the first key field, by which it was found.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub(super) item: &'a Value,
    pub(super) first: Option<&'a Value>,
}

impl Scalar<'_> {
    /// The same as that of an equal value in an item.
    fn digest(&self) -> u64 {
        match self {
            Self::Null => digest(None),
            Self::Bool(value) => digest(Some(&Value::Bool(*value))),
            Self::Number(number) => digest(Some(&Value::Number(number.clone()))),
            Self::Text(text) => digest_of_text(text),
        }
    }

    fn is(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Null, Value::Null) => true,
            (Self::Bool(one), Value::Bool(other)) => one == other,
            (Self::Number(one), Value::Number(other)) => same_number(one, other),
            (Self::Text(one), Value::String(other)) => one == other,
            _ => false,
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for ItemKey<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;

        impl<'de> Visitor<'de> for Fields {
            type Value = ItemKey<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of key fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let Some(first) = next_field(&mut map)? else { return Err(A::Error::custom("no key field")) };
                let mut others = Vec::new();
                while let Some(field) = next_field(&mut map)? {
                    others.push(field);
                }
                Ok(ItemKey { first, others })
            }
        }

        fn next_field<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Option<KeyField<'de>>, A::Error> {
            match map.next_entry()? {
                Some((Scalar::Text(name), value)) => Ok(Some((name, value))),
                Some(_) => Err(A::Error::custom("a name is text")),
                None => Ok(None),
            }
        }

        deserializer.deserialize_map(Fields)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;

        impl<'de> Visitor<'de> for Any {
            type Value = Scalar<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a scalar")
            }

            fn visit_unit<E>(self) -> Result<Self::Value, E> {
                Ok(Scalar::Null)
            }

            fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
                Ok(Scalar::Bool(value))
            }

            fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
                Ok(Scalar::Number(value.into()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
                Ok(Scalar::Number(value.into()))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
                Number::from_f64(value).map(Scalar::Number).ok_or_else(|| E::custom("not a finite number"))
            }

            fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(Cow::Borrowed(value)))
            }

            fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
                Ok(Scalar::Text(Cow::Owned(value.to_owned())))
            }
        }

        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn candidate(item: &Value) -> Candidate<'_> {
        Candidate { item, first: item.get("port") }
    }

    #[test]
    fn plain_keys_are_parsed_as_all_others() {
        for text in [
            r#"{"name":"a"}"#,
            r#"{"":""}"#,
            r#"{"a":"b","c":"d"}"#,
            r#"{"a":"b\"}"#,
            r#"{"a\":"b"}"#,
            r#"{"a":"":"b"}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":"}"}"#,
            r#"{"ä":"ö"}"#,
        ] {
            if let Some(plain) = ItemKey::plain(text) {
                let usual: ItemKey<'_> = serde_json::from_str(text).unwrap();
                assert_eq!(format!("{plain:?}"), format!("{usual:?}"));
            } else {
                assert_ne!(text, r#"{"name":"a"}"#, "the usual form");
            }
        }
    }

    #[test]
    fn names_the_item_with_all_its_values() {
        let is_named = |key: &ItemKey<'_>, item: &Value| key.names(&candidate(item));
        let key = ItemKey::parse(r#"{"port":80,"protocol":"T\u0043P"}"#).unwrap();
        assert!(is_named(&key, &json!({"port": 80.0, "protocol": "TCP", "name": "web"})));
        for other in [json!({"port": 81, "protocol": "TCP"}), json!({"port": 80}), json!("80"), json!(null)] {
            assert!(!is_named(&key, &other), "{other}");
        }
    }

    #[test]
    fn a_defaulted_key_field_may_be_left_out_unless_it_is_owned() {
        let key = ItemKey::parse(r#"{"port":80,"protocol":"TCP"}"#).unwrap();
        let is_named = |item: Value, owned: Value| key.names_desired(&candidate(&item), &owned);
        assert!(is_named(json!({"port": 80}), json!({".": {}, "f:port": {}})));
        assert!(!is_named(json!({"port": 80}), json!({".": {}, "f:port": {}, "f:protocol": {}})));
        assert!(!is_named(json!({"port": 80, "protocol": "UDP"}), json!({"f:port": {}})));
    }

    #[test]
    fn malformed_keys_are_none() {
        for text in ["", "{", "{}", "[]", "1", r#"{"a":{}}"#, r#"{"a":[1]}"#, r#"{"a":1} x"#, "{a:1}"] {
            assert!(ItemKey::parse(text).is_none(), "{text}");
        }
    }
}
