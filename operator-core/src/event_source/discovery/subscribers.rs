//! The controllers that have queried what the cluster serves, and are notified when the answers change.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use tokio::sync::{Notify, futures::Notified};

use super::{NAME, definition::Definition};
use crate::{
    cache::{Change, ChangeHandler, ChangeKind, View},
    event_source::{EventSink, Primaries},
    observe::{Cause, Observation, Observers, SourceHealth},
    resource::AnyObject,
};

/// What is triggered when an answer changes: all primaries of a controller.
#[derive(Clone)]
pub(crate) struct Subscriber {
    pub(crate) controller: Arc<str>,
    pub(crate) primaries: Arc<dyn Primaries>,
    pub(crate) sink: Arc<dyn EventSink>,
    pub(crate) cause: Cause,
}

impl Subscriber {
    pub(crate) fn wake(&self) {
        for primary in self.primaries.keys() {
            self.sink.related_changed(&primary, self.cause);
        }
    }
}

debug_of!(Subscriber: "Subscriber", |it| controller: it.controller);

/// All subscribers.
pub(super) struct Subscribers {
    /// Opens the definitions.
    view: Arc<View>,
    observers: Observers,
    state: Mutex<Subscriptions>,
    health_changed: Notify,
}

#[derive(Default)]
struct Subscriptions {
    /// By the name of a definition, or of a group, and by controller.
    about: BTreeMap<String, BTreeMap<Arc<str>, Subscriber>>,
    /// The controllers of primaries, by the name of their definition.
    of_primaries: BTreeMap<String, Vec<Subscriber>>,
    controllers: BTreeMap<Arc<str>, Subscriber>,
    health: SourceHealth,
    /// A subscriber has got no answer.
    refused: bool,
}

impl Subscribers {
    pub(super) fn new(observers: Observers, view: Arc<View>) -> Self {
        Self { view, observers, state: Mutex::default(), health_changed: Notify::new() }
    }

    /// `subscriber` has primaries of the definition with that name.
    pub(super) fn follow_primaries(&self, definition: &str, subscriber: &Subscriber) {
        self.state.lock().of_primaries.entry(definition.to_owned()).or_default().push(subscriber.clone());
    }

    /// `subscriber` queries a definition, or a group.
    pub(super) fn add(&self, about: &str, subscriber: &Subscriber) {
        let mut state = self.state.lock();
        if !state.about.contains_key(about) {
            state.about.insert(about.to_owned(), BTreeMap::new());
        }
        if let Some(subscribers) = state.about.get_mut(about)
            && !subscribers.contains_key(&subscriber.controller)
        {
            subscribers.insert(Arc::clone(&subscriber.controller), subscriber.clone());
        }
        if !state.controllers.contains_key(&subscriber.controller) {
            state.controllers.insert(Arc::clone(&subscriber.controller), subscriber.clone());
            let health = state.health.clone();
            drop(state);
            self.tell(&subscriber.controller, &health);
        }
    }

    /// The controllers that have queried, by name.
    pub(super) fn controllers(&self) -> Vec<Arc<str>> {
        self.state.lock().controllers.keys().cloned().collect()
    }

    /// A subscriber has got no answer, and has to be triggered when there are answers, which may exist by now.
    pub(super) fn refused(&self, subscriber: &Subscriber) {
        let answers = {
            let mut state = self.state.lock();
            let answers = state.health == SourceHealth::Healthy;
            state.refused |= !answers;
            answers
        };
        if answers {
            subscriber.wake();
        }
    }

    /// There is an answer about a group, after a failure.
    pub(super) fn wake(&self, group: &str) {
        let of_group = self.state.lock().about.get(group).cloned().unwrap_or_default();
        of_group.values().for_each(Subscriber::wake);
    }

    /// Resolves when the health changes after this call.
    pub(super) fn health_changed(&self) -> Notified<'_> {
        self.health_changed.notified()
    }

    fn tell(&self, controller: &str, health: &SourceHealth) {
        self.observers.observe(&Observation::SourceHealth { controller, source: NAME, health });
    }
}

impl ChangeHandler for Subscribers {
    fn on_change(&self, change: Change) {
        let Some(kind) = change.kind.opened(&self.view) else { return };
        let definition = |object: &AnyObject| AnyObject::clone(object).typed::<Definition>();
        let (old, new) = match &kind {
            // A definition that existed when the first query came is part of its answer.
            ChangeKind::Added { initial: true, .. } => return,
            ChangeKind::Updated { old, new } => (definition(old), definition(new)),
            kind => (None, definition(kind.object())),
        };
        let Some(definition) = new else { return };
        if !old.as_ref().is_some_and(|old| old.is_alike(&definition)) {
            let of_primaries = self.state.lock().of_primaries.get(definition.name()).cloned();
            for subscriber in of_primaries.iter().flatten() {
                subscriber.sink.redefined(subscriber.cause);
            }
        }
        if old.is_some_and(|old| old.offer() == definition.offer()) {
            return;
        }
        let mut woken = BTreeMap::new();
        {
            let state = self.state.lock();
            for about in [definition.name(), definition.group()] {
                let of = state.about.get(about).into_iter().flatten();
                woken.extend(of.map(|(controller, subscriber)| (Arc::clone(controller), subscriber.clone())));
            }
        }
        woken.values().for_each(Subscriber::wake);
    }

    fn on_health(&self, health: &SourceHealth) {
        let (controllers, refused) = {
            let mut state = self.state.lock();
            state.health = health.clone();
            let answers = *health == SourceHealth::Healthy;
            let refused = answers && std::mem::take(&mut state.refused);
            (state.controllers.clone(), refused)
        };
        self.health_changed.notify_waiters();
        for (controller, subscriber) in &controllers {
            self.tell(controller, health);
            if refused {
                subscriber.wake();
            }
        }
    }
}
