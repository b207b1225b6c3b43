//! The primaries themselves, watched: how their status changes, and when they are ready.

use std::{collections::BTreeMap, sync::Arc};

use kube::{Client, api::DynamicObject};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use super::{
    feed::{Feed, human},
    lines::LineObserver,
    ready::{Judge, Readiness},
};
use crate::{
    cache::{
        Change, ChangeHandler, ChangeKind, Informer, InformerPlan, InformerSettings, TextObject, View,
        kind_of,
    },
    cli::output::Mark,
    environment::{Clock, Environment, Now},
    resource::{ObjectKey, ResourceType},
};

/// The primaries of one controller.
#[derive(Debug)]
pub(super) struct FollowedObjects {
    pub(super) controller: String,
    pub(super) kind: ResourceType,
    informer: Informer,
    judge: Judge,
    _task: AbortOnDropHandle<()>,
}

impl FollowedObjects {
    pub(super) fn follow(
        controller: &str,
        kind: &ResourceType,
        client: Client,
        environment: &Environment,
        narrator: Narrator,
    ) -> Self {
        let settings = InformerSettings::new(format!("{controller}-dev"), kind.clone());
        let judge = narrator.judge.clone();
        let (view, environment) =
            (Arc::new(View::new(&settings, kind_of::<DynamicObject>(), environment)), environment.clone());
        let plan = InformerPlan { settings, bounds: None, share: None, view, client, environment };
        let spawner = plan.environment.clone();
        let informer = Informer::new(plan, Arc::new(narrator), BTreeMap::new());
        let running = informer.clone();
        let task = spawner.spawn("output", async move { running.run(std::future::pending()).await });
        let (controller, kind) = (controller.to_owned(), kind.clone());
        Self { controller, kind, informer, judge, _task: AbortOnDropHandle::new(task) }
    }

    /// The primaries that exist now, and what their status says.
    pub(super) async fn now(&self) -> Vec<(ObjectKey, Readiness)> {
        // A list that fails is as good as one that shows something new: the caller looks again later.
        let caught_up = self.informer.caught_up().await.unwrap_or(false);
        let read = |(key, object): (ObjectKey, Arc<TextObject>)| {
            let readiness = match (caught_up, value(&object)) {
                (true, value) => (self.judge.0)(&value),
                (false, _) => Readiness::Waiting("its newest state is on its way".to_owned()),
            };
            (key, readiness)
        };
        self.informer.entries().into_iter().map(read).collect()
    }
}

/// An object as JSON.
fn value(object: &TextObject) -> Value {
    serde_json::from_str(object.text()).unwrap_or_default()
}

/// Reports how primaries change.
pub(super) struct Narrator {
    pub(super) controller: String,
    pub(super) lines: Arc<LineObserver>,
    pub(super) feed: Feed,
    pub(super) clock: Clock,
    pub(super) judge: Judge,
    pub(super) activity: Arc<Notify>,
    /// Since when each object that is not ready has been so.
    pub(super) unready: Mutex<BTreeMap<ObjectKey, Now>>,
}

impl ChangeHandler for Narrator {
    fn on_change(&self, change: Change) {
        let Change { key, kind } = change;
        match &kind {
            ChangeKind::Added { new, .. } => self.tell(&key, &Value::Null, &value(new)),
            ChangeKind::Updated { old, new } => self.tell(&key, &value(old), &value(new)),
            ChangeKind::Deleted { .. } => {
                self.unready.lock().remove(&key);
                self.feed.change(&key, Mark::Deleted, "gone");
            }
        }
        self.activity.notify_waiters();
    }
}

impl Narrator {
    fn tell(&self, key: &ObjectKey, old: &Value, new: &Value) {
        let readiness = (self.judge.0)(new);
        if let Some(text) = status_change(&old["status"], &new["status"]) {
            let mark = if matches!(readiness, Readiness::Error(_)) { Mark::Error } else { Mark::Working };
            self.lines.say(&self.controller, key, mark, format!("status  {text}"));
        }
        if new.pointer("/metadata/deletionTimestamp").is_some() {
            if old.pointer("/metadata/deletionTimestamp").is_none() {
                self.feed.change(key, Mark::Deleted, "marked for deletion");
            }
            return;
        }
        let now = self.clock.now();
        let mut unready = self.unready.lock();
        if old["metadata"]["generation"] != new["metadata"]["generation"] {
            // A new spec: from here on it is on its way to another state.
            unready.insert(key.clone(), now);
        }
        if readiness != Readiness::Ready {
            unready.entry(key.clone()).or_insert(now);
        } else if let Some(since) = unready.remove(key) {
            self.feed.change(key, Mark::Ready, format!("ready after {}", human(now.since(since))));
        }
    }
}

/// The changes of a status, in a compact form; `None` if none of them is worth a line.
fn status_change(old: &Value, new: &Value) -> Option<String> {
    let (empty, Value::Object(new)) = (serde_json::Map::new(), new) else { return None };
    let old = old.as_object().unwrap_or(&empty);
    let gone = old.keys().filter(|field| !new.contains_key(*field)).map(|field| format!("{field}: gone"));
    let changed = new.iter().filter(|(field, value)| old.get(*field) != Some(value));
    let changed = changed.map(|(field, value)| format!("{field}: {}", compact(value)));
    let text: Vec<String> =
        changed.chain(gone).filter(|text| !text.starts_with("observedGeneration")).collect();
    (!text.is_empty()).then(|| text.join(" · "))
}

/// The longest value that is shown as a whole.
const LONGEST: usize = 60;

fn compact(value: &Value) -> String {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(|item| item["type"].is_string()) => {
            let word = |item: &Value, field: &str| item[field].as_str().unwrap_or("?").to_owned();
            let words: Vec<String> =
                items.iter().map(|item| format!("{}={}", word(item, "type"), word(item, "status"))).collect();
            words.join(" ")
        }
        other => other.to_string(),
    };
    if text.chars().count() <= LONGEST {
        text
    } else {
        text.chars().take(LONGEST - 3).chain("...".chars()).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_status_change_names_what_has_changed() {
        let change = |old, new| status_change(&old, &new);
        assert_eq!(
            change(json!(null), json!({ "ready": false, "map": "m" })).as_deref(),
            Some("map: m · ready: false")
        );
        assert_eq!(change(json!({ "ready": true }), json!({ "ready": true })), None);
        assert_eq!(
            change(json!({ "observedGeneration": 1 }), json!({ "observedGeneration": 2 })),
            None,
            "which generation was observed is in every line already"
        );
        assert_eq!(change(json!({ "a": 1, "b": 2 }), json!({ "a": 1 })).as_deref(), Some("b: gone"));
        let conditions = json!({ "conditions": [{ "type": "Ready", "status": "True" }] });
        assert_eq!(change(json!({}), conditions).as_deref(), Some("conditions: Ready=True"));
    }

    #[test]
    fn long_values_are_cut() {
        assert_eq!(compact(&json!("x".repeat(100))).len(), LONGEST);
    }
}
