//! Conditions whose times can be trusted.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use schemars::{Schema, SchemaGenerator, json_schema};

use crate::resource::{cut, is_condition_type, is_reason, label_value};

/// The reason of a condition whose own one isn't a word.
const OTHER: &str = "Other";

/// The longest message in the usual schema.
const LONGEST_MESSAGE: usize = 32_768;

/// The status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ConditionStatus {
    /// The statement is true.
    True,
    /// The statement is false.
    False,
    /// It is unknown.
    Unknown,
}

impl ConditionStatus {
    /// Its form in a status.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// A condition without its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConditionUpdate<'a> {
    /// Its type, in camel case: `Ready`. For a text that can't be one in the usual schema, the type is its valid part with a
    /// hash; all functions of this module find it by the text.
    pub r#type: &'a str,
    /// Its status.
    pub status: ConditionStatus,
    /// Why, as one word in camel case. Anything else, which the API server would refuse if a CRD uses the usual schema, is put
    /// before the message, and the reason is `Other`.
    pub reason: &'a str,
    /// Why, for people. It should not contain anything that differs each time, such as a duration: that would make every
    /// run a write. What the usual schema has no room for is cut off.
    pub message: &'a str,
    /// The generation of the object for which this was determined.
    pub observed_generation: Option<i64>,
}

/// Sets the condition of that type, and returns whether anything has changed.
///
/// The transition time is `now`, in whole seconds as they are sent, if the condition is new or its status has changed;
/// if only the reason or the message has changed, it stays the same. So setting the same condition again changes
/// nothing. A new condition comes last; further ones of its type, which the API server would refuse, are dropped.
///
/// JOSDK: has no counterpart. Go: `meta.SetStatusCondition`.
pub fn set(conditions: &mut Vec<Condition>, update: &ConditionUpdate<'_>, now: Timestamp) -> bool {
    let (reason, message) = worded(update.reason, OTHER, update.message.to_owned());
    let mut wanted = Condition {
        type_: type_of(update.r#type),
        status: update.status.as_str().to_owned(),
        reason: reason.to_owned(),
        message: cut(message, LONGEST_MESSAGE),
        observed_generation: update.observed_generation,
        last_transition_time: Time(whole_seconds(now)),
    };
    let Some(position) = position(conditions, update.r#type) else {
        conditions.push(wanted);
        return true;
    };
    let wanted_type = wanted.type_.clone();
    let known = &mut conditions[position];
    if known.status == wanted.status {
        wanted.last_transition_time = known.last_transition_time.clone();
    }
    let changed = *known != wanted;
    *known = wanted;
    let before = conditions.len();
    let mut index = 0;
    conditions.retain(|condition| {
        index += 1;
        index - 1 == position || condition.type_ != wanted_type
    });
    changed || conditions.len() != before
}

/// The condition of that type.
#[must_use]
pub fn find<'a>(conditions: &'a [Condition], r#type: &str) -> Option<&'a Condition> {
    position(conditions, r#type).map(|position| &conditions[position])
}

/// Whether there is a condition of that type, and it is `True`.
#[must_use]
pub fn is_true(conditions: &[Condition], r#type: &str) -> bool {
    find(conditions, r#type).is_some_and(|condition| condition.status == ConditionStatus::True.as_str())
}

/// Removes the condition of that type, and returns whether there was one.
pub fn remove(conditions: &mut Vec<Condition>, r#type: &str) -> bool {
    let (before, r#type) = (conditions.len(), type_of(r#type));
    conditions.retain(|condition| condition.type_ != r#type);
    conditions.len() != before
}

/// The schema of a list of conditions that is a map by their type, for the field of a status. Then others can set conditions beside
/// those of the operator: each writes only its own ones.
///
/// ```
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
/// #[serde(rename_all = "camelCase", default)]
/// struct PageStatus {
///     address: Option<String>,
///     #[schemars(schema_with = "operator_core::status::conditions::list_map")]
///     conditions: Vec<Condition>,
/// }
/// ```
///
/// Go: `+listType=map` and `+listMapKey=type`.
pub fn list_map(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": generator.subschema_for::<Condition>(),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    })
}

fn position(conditions: &[Condition], r#type: &str) -> Option<usize> {
    let r#type = type_of(r#type);
    conditions.iter().position(|condition| condition.type_ == r#type)
}

fn type_of(text: &str) -> String {
    if is_condition_type(text) { text.to_owned() } else { label_value(text) }
}

/// The reason and the message of a condition. A reason that isn't a word is put before the message, and `otherwise` takes its place.
pub(crate) fn worded<'r>(reason: &'r str, otherwise: &'r str, message: String) -> (&'r str, String) {
    if is_reason(reason) { (reason, message) } else { (otherwise, format!("{reason}: {message}")) }
}

/// A time as it is after it was sent and read back.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
