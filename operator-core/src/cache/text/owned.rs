//! A set of owned fields (`fieldsV1`), as a tree that is parsed once for all objects whose managers own the same. Pure.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The fields below some place that a manager owns.
#[derive(Debug)]
pub(crate) enum Owned {
    /// The place as a whole.
    Whole,
    /// These fields of an object.
    Fields(BTreeMap<Box<str>, Owned>),
    /// These items of a list, by their keys.
    Keyed(Vec<(Map<String, Value>, Owned)>),
    /// Something else: members of a set, items by their position, or a part that can't be parsed.
    Other,
}

impl Owned {
    /// The set in `text`.
    pub(crate) fn parse(text: &str) -> Self {
        serde_json::from_str::<Value>(text).map_or(Self::Other, |fields| Self::of(&fields))
    }

    fn of(fields: &Value) -> Self {
        let Some(fields) = fields.as_object() else { return Self::Other };
        // The place itself.
        let mut names = fields.iter().filter(|(name, _)| *name != ".").peekable();
        match names.peek().and_then(|(name, _)| name.get(..2)) {
            None if names.peek().is_none() => Self::Whole,
            Some("f:") => {
                let field = |(name, below): (&String, &Value)| {
                    Some((Box::from(name.strip_prefix("f:")?), Self::of(below)))
                };
                names.map(field).collect::<Option<_>>().map_or(Self::Other, Self::Fields)
            }
            Some("k:") => {
                let item = |(name, below): (&String, &Value)| {
                    Some((serde_json::from_str(name.strip_prefix("k:")?).ok()?, Self::of(below)))
                };
                names.map(item).collect::<Option<_>>().map_or(Self::Other, Self::Keyed)
            }
            _ => Self::Other,
        }
    }
}

/// What one manager has applied to the main resource, according to the object's managed fields.
#[derive(Debug)]
pub(crate) struct Applied<'k> {
    pub(crate) api_version: Option<&'k str>,
    /// Everything except the owner references, which are owned as a whole.
    pub(crate) fields: AppliedFields<'k>,
    /// The owner references, as a set of owned fields, if any are owned.
    pub(crate) owners: Option<&'k str>,
}

/// Shared with others, or parsed only for this call.
#[derive(Debug)]
pub(crate) enum AppliedFields<'k> {
    Shared(&'k Owned),
    Alone(Owned),
}

impl AppliedFields<'_> {
    pub(crate) fn get(&self) -> &Owned {
        match self {
            Self::Shared(owned) => owned,
            Self::Alone(owned) => owned,
        }
    }
}
