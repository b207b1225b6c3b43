//! What a type says about the merging of its fields.
//!
//! # Assumptions
//! - A broken recording is an empty one: every list is replaced then, and a test fails.

use std::{collections::BTreeMap, sync::LazyLock};

use super::{
    super::recorded::{Go, RECORDED},
    Refused,
};

/// The strategies and the key of each field that has any, by type: as in Go's tags.
static TAGS: LazyLock<BTreeMap<String, BTreeMap<String, String>>> =
    LazyLock::new(|| serde_json::from_str(include_str!("../recorded/patches.json")).unwrap_or_default());

/// How a field is merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Rule {
    /// `merge`, `replace`, or nothing.
    pub(super) strategy: &'static str,
    /// The field by which the items of a list are known; empty if they are known by their values.
    pub(super) key: String,
}

/// The type of a value.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meta<'t>(&'t Go);

impl<'t> Meta<'t> {
    pub(super) fn of(go: &'t Go) -> Self {
        match go {
            Go::Pointer(to) => Self::of(to),
            go => Self(go),
        }
    }

    /// The type of a field, and how it is merged.
    pub(super) fn field(self, name: &str) -> Result<(Self, Rule), Refused> {
        let Go::Struct(id) = self.0 else { return Err(self.no_struct(name)) };
        let Some(field) = RECORDED.fields(*id).get(name) else { return Err(self.no_field(name)) };
        let tag = TAGS.get(RECORDED.name(*id)).and_then(|fields| fields.get(name));
        let (strategies, key) = tag.map_or(("", ""), |tag| tag.split_once(' ').unwrap_or((tag, "")));
        let mut strategies = strategies.split(',').filter(|strategy| *strategy != "retainKeys");
        let strategy = match strategies.next() {
            Some("merge") => "merge",
            Some("replace") => "replace",
            _ => "",
        };
        Ok((Self::of(&field.go), Rule { strategy, key: key.to_owned() }))
    }

    /// The type of a list's items, and how it is merged.
    pub(super) fn list(self, name: &str) -> Result<(Self, Rule), Refused> {
        let (of, rule) = self.field(name)?;
        match of.0 {
            Go::List(item) => Ok((Self::of(item), rule)),
            Go::Bytes => Ok((of, rule)),
            _ => {
                let wrong = format!("expected slice or array type, but got: {}", self.form());
                Err(Refused::Internal(wrong))
            }
        }
    }

    /// The name of the type's form in Go.
    pub(super) fn form(self) -> &'static str {
        match self.0 {
            Go::Text => "string",
            Go::Number => "int32",
            Go::Bool => "bool",
            Go::List(_) | Go::Bytes => "slice",
            Go::Map(_) => "map",
            Go::Pointer(_) => "ptr",
            _ => "struct",
        }
    }

    fn no_struct(self, name: &str) -> Refused {
        match self.form() {
            "struct" => self.no_field(name),
            other => Refused::Internal(format!(
                "merging an object in json but data type is not struct, instead is: {other}"
            )),
        }
    }

    fn no_field(self, name: &str) -> Refused {
        let of = match self.0 {
            Go::Struct(id) => RECORDED.name(*id).rsplit('.').next().unwrap_or_default(),
            Go::Time => "Time",
            Go::MicroTime => "MicroTime",
            Go::Quantity => "Quantity",
            Go::IntOrString => "IntOrString",
            _ => "RawExtension",
        };
        Refused::Internal(format!("unable to find api field in struct {of} for the json field {name:?}"))
    }
}
