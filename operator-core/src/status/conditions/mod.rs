//! Conditions whose times can be trusted.

#[cfg(test)]
mod tests;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use crate::resource::is_reason;

/// The reason of a condition whose own one isn't a word.
const OTHER: &str = "Other";

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
    /// Its type, in camel case: `Ready`.
    pub r#type: &'a str,
    /// Its status.
    pub status: ConditionStatus,
    /// Why, as one word in camel case. Anything else, which the API server would refuse if a CRD uses the usual schema, is put
    /// before the message, and the reason is `Other`.
    pub reason: &'a str,
    /// Why, for people. It should not contain anything that differs each time, such as a duration: that would make every
    /// run a write.
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
    let (reason, message) = match is_reason(update.reason) {
        true => (update.reason, update.message.to_owned()),
        false => (OTHER, format!("{}: {}", update.reason, update.message)),
    };
    let mut wanted = Condition {
        type_: update.r#type.to_owned(),
        status: update.status.as_str().to_owned(),
        reason: reason.to_owned(),
        message,
        observed_generation: update.observed_generation,
        last_transition_time: Time(whole_seconds(now)),
    };
    let Some(position) = position(conditions, update.r#type) else {
        conditions.push(wanted);
        return true;
    };
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
        index - 1 == position || condition.type_ != update.r#type
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
    let before = conditions.len();
    conditions.retain(|condition| condition.type_ != r#type);
    conditions.len() != before
}

fn position(conditions: &[Condition], r#type: &str) -> Option<usize> {
    conditions.iter().position(|condition| condition.type_ == r#type)
}

/// A time as it is after it was sent and read back.
fn whole_seconds(time: Timestamp) -> Timestamp {
    Timestamp::from_second(time.as_second()).unwrap_or(time)
}
