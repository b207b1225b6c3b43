//! The transitions of a primary's conditions: what a status says otherwise than the last one.
//!
//! ```text
//! status ─compared with what was last seen─▶ News ─the status is written─▶ observers, and an Event of Kubernetes
//!                                                                     └──▶ what is seen now, until the primary is gone
//! ```
//!
//! # Guarantees
//! - A transition is told once the server has it, and by one run.
//! - If a status says nothing new, it is compared in place: nothing is parsed or kept.
//! - What a process finds when it first runs a primary is no transition.
//! - A primary that is gone isn't counted any more.

use std::sync::Arc;

use serde_json::Value;

use crate::{
    event_source::PrimaryScope,
    observe::{Observation, Observers},
    reconciler::{AnyContext, AnyRun, RECONCILING},
    resource::{AnyObject, ObjectKey},
    status::conditions::ConditionStatus,
};

/// Type, status and reason of a condition, as it was last seen.
type Stated = [String; 3];

/// The conditions in a status, whatever else they have, with their messages.
fn said(status: &Value) -> impl Iterator<Item = ([&str; 3], &str)> {
    let items = status.get("conditions").and_then(Value::as_array).into_iter().flatten();
    items.filter_map(|item| {
        let text = |field| item.get(field)?.as_str();
        let reason = text("reason").unwrap_or_default();
        Some(([text("type")?, text("status")?, reason], text("message").unwrap_or_default()))
    })
}

fn owned(said: [&str; 3]) -> Stated {
    said.map(str::to_owned)
}

/// Whether a status has just these conditions.
fn is_same(seen: &[Stated], status: &Value) -> bool {
    said(status).all(|(said, _)| seen.iter().any(|seen| *seen == said)) && said(status).count() == seen.len()
}

/// Whether a transition is one for the worse.
fn is_worse(before: Option<&Stated>, [_, now, _]: &Stated, tells_of_trouble: bool) -> bool {
    let is_true = |status: &str| status == ConditionStatus::True.as_str();
    let (was, is) = (before.is_some_and(|[_, before, _]| is_true(before)), is_true(now));
    if tells_of_trouble { is && !was } else { was && !is }
}

/// Tells the observers of a primary.
#[derive(Clone, Debug)]
pub(super) struct Told {
    observers: Observers,
    controller: Arc<str>,
    key: ObjectKey,
}

impl Told {
    /// One of both has the type. The message is that of a transition.
    fn change(&self, before: Option<&Stated>, now: Option<&Stated>, message: Option<&str>) {
        let (controller, key) = (&*self.controller, &self.key);
        let condition = before.or(now).map_or("", |of| &*of[0]);
        let [before, now] = [before, now].map(|of| of.map(|[_, status, reason]| (&**status, &**reason)));
        self.observers.observe(&Observation::ConditionChanged {
            controller,
            key,
            condition,
            before,
            now,
            message,
        });
    }

    pub(super) fn pause(&self, paused: bool) {
        let (controller, key) = (&*self.controller, &self.key);
        self.observers.observe(&Observation::PrimaryPaused { controller, key, paused });
    }
}

/// What was last told of a primary; dropped with it.
#[derive(Debug, Default)]
pub(super) struct LastTold {
    /// `None` before anything was seen.
    conditions: Option<Vec<Stated>>,
    /// Whether its status says that it is paused, if it is.
    pub(super) pause: Option<bool>,
    to: Option<Told>,
}

impl LastTold {
    /// Changes it; `None` if the primary is gone.
    pub(super) fn change<R>(context: &AnyContext, change: impl FnOnce(&mut Self) -> R) -> Option<(R, Told)> {
        let (writer, key) = (&context.shared().writer, context.primary_key().clone());
        let (observers, controller) = (writer.observers.clone(), Arc::clone(&writer.controller));
        let to = Told { observers, controller, key };
        context.scope().change(|last: &mut Self| {
            last.to = Some(to.clone());
            (change(last), to)
        })
    }
}

impl Drop for LastTold {
    fn drop(&mut self) {
        let Some(to) = &self.to else { return };
        self.conditions.iter().flatten().for_each(|of| to.change(Some(of), None, None));
        if self.pause.is_some() {
            to.pause(false);
        }
    }
}

/// The conditions of a status that differ from those that were last seen; with their messages.
pub(super) struct News(Vec<(Stated, String)>);

impl News {
    /// What this status says, if it is news about the primary of this scope.
    pub(super) fn of(status: &Value, scope: &PrimaryScope<'_>) -> Option<Self> {
        let is_same = |last: &mut LastTold| last.conditions.as_ref().map(|seen| is_same(seen, status));
        let is_new = match scope.look(is_same).flatten() {
            Some(same) => !same,
            None => said(status).next().is_some(),
        };
        is_new.then(|| Self(said(status).map(|(said, text)| (owned(said), text.to_owned())).collect()))
    }

    /// The status was written: the primary was in the state `before`, and is in the state `written`.
    pub(super) fn tell(self, run: &AnyRun, before: &AnyObject, written: &AnyObject, context: &AnyContext) {
        let now: Vec<_> = self.0.iter().map(|(stated, _)| stated.clone()).collect();
        let Some((known, told)) = LastTold::change(context, |last| last.conditions.replace(now.clone()))
        else {
            return;
        };
        let mut known = known.unwrap_or_else(|| {
            // What was there before this process.
            let known = match before.version() == written.version() {
                true => now,
                false => said(&before.to_value().unwrap_or_default()["status"])
                    .map(|(said, _)| owned(said))
                    .collect(),
            };
            known.iter().for_each(|of| told.change(None, Some(of), None));
            known
        });
        for (now, message) in &self.0 {
            let before = known.iter().position(|before| before[0] == now[0]);
            let before = before.map(|position| known.swap_remove(position));
            if before.as_ref() != Some(now) {
                told.change(before.as_ref(), Some(now), Some(message));
                record(before.as_ref(), now, message, run, context);
            }
        }
        known.iter().for_each(|gone| told.change(Some(gone), None, None));
    }
}

/// Records a transition as an Event, if the controller says that it writes some.
fn record(before: Option<&Stated>, now: &Stated, message: &str, run: &AnyRun, context: &AnyContext) {
    let [condition, status, reason] = now;
    let tells_of_trouble = run.tells_of_trouble(condition);
    let is_worse = is_worse(before, now, tells_of_trouble);
    // That something goes on is told by the other conditions, and that nothing is wrong from the beginning isn't told.
    let is_quiet = condition == RECONCILING || before.is_none() && tells_of_trouble && !is_worse;
    if is_quiet || !context.shared().events.declared {
        return;
    }
    let is_so = format!("{condition} is {status}");
    let text = format!("{is_so}: {message}");
    // A message may have a number in it, and isn't a transition of its own.
    let (events, text) = (context.events().keyed(is_so), text.trim_end_matches(": "));
    // What a person asked for isn't worth a warning.
    if is_worse && !run.was_asked_for() { events.warn(reason, text) } else { events.normal(reason, text) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen(all: &[[&str; 3]]) -> Vec<Stated> {
        all.iter().copied().map(owned).collect()
    }

    fn status(all: &[[&str; 3]]) -> Value {
        let one =
            |[of, status, reason]: &[&str; 3]| json!({ "type": of, "status": status, "reason": reason });
        json!({ "conditions": all.iter().map(one).collect::<Vec<_>>() })
    }

    const READY: [&str; 3] = ["Ready", "True", "Succeeded"];
    const WAITS: [&str; 3] = ["Ready", "False", "Waiting"];
    const STALLED: [&str; 3] = ["Stalled", "False", "Succeeded"];

    #[test]
    fn a_status_is_the_same_if_types_statuses_and_reasons_are_in_any_order() {
        for (known, now, same) in [
            (&[][..], &[][..], true),
            (&[READY, STALLED], &[STALLED, READY], true),
            (&[READY, STALLED], &[WAITS, STALLED], false),
            (&[READY], &[["Ready", "True", "Other"]], false),
            (&[READY, STALLED], &[READY], false),
            (&[READY], &[READY, STALLED], false),
        ] {
            assert_eq!(is_same(&seen(known), &status(now)), same, "{known:?} {now:?}");
        }
        assert!(
            is_same(&[], &json!({ "conditions": "none" })) && is_same(&[], &json!({ "conditions": [{}] }))
        );
        let mut told = status(&[READY]);
        told["conditions"][0]["message"] = "another one".into();
        assert!(is_same(&seen(&[READY]), &told), "a message alone is no transition");
    }

    #[test]
    fn what_got_worse_depends_on_what_the_condition_tells_of() {
        let (yes, no) = (&seen(&[READY])[0], &seen(&[WAITS])[0]);
        let unknown = &seen(&[["Ready", "Unknown", "Asked"]])[0];
        for (before, now, good, trouble) in [
            (Some(yes), no, true, false),
            (Some(yes), unknown, true, false),
            (Some(no), yes, false, true),
            (Some(unknown), no, false, false),
            (Some(yes), yes, false, false),
            (None, no, false, false),
            (None, yes, false, true),
        ] {
            assert_eq!(
                (is_worse(before, now, false), is_worse(before, now, true)),
                (good, trouble),
                "{now:?}"
            );
        }
    }
}
