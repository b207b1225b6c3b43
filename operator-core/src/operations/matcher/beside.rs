//! Compares the desired object with the text of the actual one, without decoding it. Pure.
//!
//! The result is "surely equal", "surely another" or "don't know". In the last case
//! [`matches_owned_fields`](super::matches_owned_fields) decides, and the rules about what the server drops and fills
//! in; so every rule exists only once. The comparison ends at the first difference.
//!
//! # Guarantees
//! - What is surely equal is equal for the full matcher, too: each field that is wanted is owned, each that is owned is
//!   wanted, and all have the same values.
//! - What is surely another differs for it, too: a string that is owned differs from the one that is wanted. In an item
//!   of a list this counts once the whole key of the item was read, as what stands in this place may be another item.
//!   Strings that may be numbers, quantities or times are not compared in this way: they can be written in several
//!   forms.
//!
//! # Assumptions
//! - The text is an object as the server sends it: no key occurs twice.
//! - The result "surely another" is used only for types that keep strings as they are.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::cache::{Applied, Owned};

use super::walk::Scope;

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// Applying would surely change nothing.
    Equal,
    /// Applying would surely change something.
    Another,
    /// Nothing is sure.
    Unsure,
}

/// Compares whether applying `desired` would change something in the object with this text, and to which `applied` was
/// applied.
pub(crate) fn look_beside(desired: &Value, actual: &str, applied: &Applied<'_>) -> Look {
    let (Some(wanted), Some(metadata)) = (desired.as_object(), desired["metadata"].as_object()) else {
        return Look::Unsure;
    };
    let Owned::Fields(owned) = applied.fields.get() else { return Look::Unsure };
    if applied.api_version.is_some_and(|recorded| desired["apiVersion"] != recorded) {
        return Look::Unsure;
    }
    let owners = applied.owners.map(Owned::parse);
    let below = Metadata { wanted: metadata, owners: owners.as_ref() };
    let top = Fields { wanted, owned, part: Part::Top(&below) };
    match top.deserialize(&mut serde_json::Deserializer::from_str(actual)) {
        Ok(()) => Look::Equal,
        Err(error) if error.is_data() && error.to_string().starts_with(ANOTHER) => Look::Another,
        Err(_) => Look::Unsure,
    }
}

/// The top level of an object.
struct Metadata<'a> {
    wanted: &'a Map<String, Value>,
    /// Separate from everything else that is owned, because they differ for each object.
    owners: Option<&'a Owned>,
}

#[derive(Clone, Copy)]
enum Part<'a> {
    Top(&'a Metadata<'a>),
    Metadata(Option<&'a Owned>),
    /// An item of a list, with its key.
    Item(&'a Map<String, Value>),
    Inner,
}

impl Part<'_> {
    fn ignores(self, name: &str) -> bool {
        let scope = match self {
            Self::Top(_) => Scope::Top,
            Self::Metadata(_) => Scope::Metadata,
            Self::Item(_) | Self::Inner => Scope::Inner,
        };
        scope.ignores(name)
    }
}

/// The error that ends a comparison. It is never read.
fn unsure<E: Error>() -> E {
    E::custom("")
}

/// The text of the error that ends a comparison at a string that differs from the wanted one.
const ANOTHER: &str = "another word";

/// Whether a string may have other forms: as a quantity or as a time.
fn may_be_spelled_otherwise(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.'))
}

/// A string that is wanted exactly as it is.
struct Word<'a>(&'a str);

impl<'de> DeserializeSeed<'de> for Word<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Word<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a word")
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<(), E> {
        match word == self.0 {
            true => Ok(()),
            false if may_be_spelled_otherwise(word) && may_be_spelled_otherwise(self.0) => Err(unsure()),
            // No word at all may stand for a default.
            false if word.is_empty() || self.0.is_empty() => Err(unsure()),
            false => Err(E::custom(ANOTHER)),
        }
    }
}

/// Fields of an object: each owned one is found and as wanted.
struct Fields<'a> {
    wanted: &'a Map<String, Value>,
    owned: &'a BTreeMap<Box<str>, Owned>,
    part: Part<'a>,
}

impl<'de> DeserializeSeed<'de> for Fields<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut actual: A) -> Result<(), A::Error> {
        const NOTHING: &BTreeMap<Box<str>, Owned> = &BTreeMap::new();
        let (mut met, mut of_key) = (0, 0);
        while let Some(Name(name)) = actual.next_key()? {
            if let (Part::Top(metadata), "metadata") = (self.part, &*name) {
                let owned = match self.owned.get("metadata") {
                    Some(Owned::Fields(owned)) => owned,
                    Some(_) => return Err(unsure()),
                    None => NOTHING,
                };
                let part = Part::Metadata(metadata.owners);
                actual.next_value_seed(Fields { wanted: metadata.wanted, owned, part })?;
                continue;
            }
            let owned = self.owned.get(&*name).filter(|_| !self.part.ignores(&name));
            let Some(owned) = owned else {
                // A field of the key that was left out, as it has a default: it makes the item the one that is owned.
                if let Part::Item(key) = self.part
                    && let Some(default) = key.get(&*name)
                {
                    actual.next_value_seed(Same(default))?;
                    of_key += 1;
                } else {
                    actual.next_value::<IgnoredAny>()?;
                }
                continue;
            };
            let owned = match self.part {
                Part::Metadata(Some(owners)) if name == "ownerReferences" => owners,
                _ => owned,
            };
            let wanted = self.wanted.get(&*name).ok_or_else(unsure)?;
            let compared = actual.next_value_seed(Place { wanted, owned });
            match self.part {
                Part::Item(key) if key.contains_key(&*name) => {
                    compared.map_err(|_| unsure())?;
                    of_key += 1;
                }
                Part::Item(key) if of_key < key.len() => compared.map_err(|_| unsure())?,
                Part::Item(_) | Part::Top(_) | Part::Metadata(_) | Part::Inner => compared?,
            }
            met += 1;
        }
        let counts = |name: &str| !self.part.ignores(name);
        let wanted = self.wanted.iter().filter(|(name, value)| !value.is_null() && counts(name)).count();
        let owned = self.owned.keys().filter(|name| counts(name)).count();
        let key = match self.part {
            Part::Item(key) => key.len(),
            Part::Top(_) | Part::Metadata(_) | Part::Inner => 0,
        };
        if met == wanted && met == owned && of_key == key { Ok(()) } else { Err(unsure()) }
    }
}

/// A name, borrowed if the text contains it without escapes.
struct Name<'de>(Cow<'de, str>);

impl<'de> serde::Deserialize<'de> for Name<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Spelled;
        impl<'de> Visitor<'de> for Spelled {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Name<'de>, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(Spelled)
    }
}

/// A place that is owned, and what is wanted there.
struct Place<'a> {
    wanted: &'a Value,
    owned: &'a Owned,
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match (self.owned, self.wanted) {
            (Owned::Whole, Value::String(wanted)) => Word(wanted).deserialize(deserializer),
            (Owned::Whole, wanted) => Same(wanted).deserialize(deserializer),
            (Owned::Fields(owned), Value::Object(wanted)) => {
                Fields { wanted, owned, part: Part::Inner }.deserialize(deserializer)
            }
            (Owned::Keyed(owned), Value::Array(wanted)) if owned.len() == wanted.len() => {
                deserializer.deserialize_seq(Items { wanted, owned })
            }
            _ => Err(unsure()),
        }
    }
}

/// Items that are merged by key, if they are in the order of those that are wanted, and there are no others.
struct Items<'a> {
    wanted: &'a [Value],
    owned: &'a [(Map<String, Value>, Owned)],
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut actual: A) -> Result<(), A::Error> {
        let mut met = vec![false; self.owned.len()];
        for wanted in self.wanted {
            let is_it = |(_, (key, owned)): &(usize, &(Map<String, Value>, Owned))| {
                key.iter().all(|(name, value)| match wanted.get(name) {
                    Some(wanted) => wanted == value,
                    None => matches!(owned, Owned::Fields(owned) if !owned.contains_key(name.as_str())),
                })
            };
            let mut found = self.owned.iter().enumerate().filter(is_it);
            let (Some((position, (key, owned))), None) = (found.next(), found.next()) else {
                return Err(unsure());
            };
            if std::mem::replace(&mut met[position], true) {
                return Err(unsure());
            }
            let item = match (owned, wanted) {
                (Owned::Fields(owned), Value::Object(wanted)) => {
                    actual.next_element_seed(Fields { wanted, owned, part: Part::Item(key) })?
                }
                // What stands in this place may be another item.
                _ => actual.next_element_seed(Place { wanted, owned }).map_err(|_| unsure())?,
            };
            item.ok_or_else(unsure)?;
        }
        end(actual)
    }
}

/// A value that is compared as a whole.
struct Same<'a>(&'a Value);

impl Same<'_> {
    fn sure<E: Error>(is_same: bool) -> Result<(), E> {
        if is_same { Ok(()) } else { Err(unsure()) }
    }
}

impl<'de> DeserializeSeed<'de> for Same<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Same<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        Self::sure(self.0.as_str() == Some(text))
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        Self::sure(self.0.as_bool() == Some(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        Self::sure(self.0.as_i64() == Some(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        Self::sure(self.0.as_u64() == Some(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        Self::sure(self.0.is_f64() && self.0.as_f64() == Some(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut actual: A) -> Result<(), A::Error> {
        for wanted in self.0.as_array().ok_or_else(unsure)? {
            actual.next_element_seed(Same(wanted))?.ok_or_else(unsure)?;
        }
        end(actual)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut actual: A) -> Result<(), A::Error> {
        let wanted = self.0.as_object().ok_or_else(unsure)?;
        let mut met = 0;
        while let Some(Name(name)) = actual.next_key()? {
            actual.next_value_seed(Same(wanted.get(&*name).ok_or_else(unsure)?))?;
            met += 1;
        }
        Self::sure(met == wanted.len())
    }
}

/// Nothing follows.
fn end<'de, A: SeqAccess<'de>>(mut actual: A) -> Result<(), A::Error> {
    match actual.next_element::<IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(unsure()),
    }
}
