//! The primaries themselves.

use std::sync::Arc;

use super::{
    EventSink, Filters, InformerConfiguration, OnObject, PrimaryChange, PrimaryScopes, RustType, Wiring,
    filter::fenced_or, updates,
};
use crate::{
    cache::{Change, ChangeHandler, ChangeKind, Informer, InformerSettings, TextObject, View},
    observe::{Cause, Observation, Observers, SourceHealth},
    resource::{Departed, Object, ObjectKey, ResourceType},
};

/// The name of the primary's own source.
const NAME: &str = "primary";

/// An annotation whose new values cause a run, whatever the filters say: a person's request to look again.
const REQUESTED_AT: &str = "operator-core.io/requested-at";

/// Which changes of a primary cause a run.
///
/// By default a change of the spec does (the generation changes), the mark for deletion, and the loss of the finalizer;
/// a change of labels, annotations or status does not. Creation and deletion always count, and a new value of the annotation
/// [`REQUESTED_AT`].
#[derive(Clone)]
pub(crate) struct PrimaryFilters {
    /// The user's own filters, called before the default ones.
    pub user: Filters<dyn Object>,
    /// Whether there are default filters. Without them only the user's own decide, even about the mark for deletion.
    pub default_filters: bool,
    /// Whether changes that leave the generation as it is are ignored. Kinds without a generation ignore this.
    pub generation_aware: bool,
    /// The finalizer, if the controller uses one.
    pub finalizer: Option<Arc<str>>,
    /// Whether a primary is paused. A change that begins or ends that counts, whatever the filters say.
    pub paused_when: Option<OnObject<dyn Object>>,
}

debug_of!(PrimaryFilters: "PrimaryFilters", |it| user: it.user, finalizer: it.finalizer);

impl Default for PrimaryFilters {
    fn default() -> Self {
        Self {
            user: Filters::new(),
            default_filters: true,
            generation_aware: true,
            finalizer: None,
            paused_when: None,
        }
    }
}

impl PrimaryFilters {
    fn accepts(&self, change: &ChangeKind<TextObject>, view: &View) -> bool {
        self.accepts_unrequested(change, view) || is_requested(change) || self.turns_pause(change, view)
    }

    /// Whether a pause begins or ends.
    fn turns_pause(&self, change: &ChangeKind<TextObject>, view: &View) -> bool {
        let Some(paused_when) = &self.paused_when else { return false };
        let Some(ChangeKind::Updated { old, new }) = change.opened(view) else { return false };
        fenced_or(|| paused_when(&*old) != paused_when(&*new), true)
    }

    fn accepts_unrequested(&self, change: &ChangeKind<TextObject>, view: &View) -> bool {
        if !self.user.accepts_kept(change, view) {
            return false;
        }
        let ChangeKind::Updated { old, new } = change else { return true };
        let lacks_finalizer = |finalizer: &Arc<str>| {
            let lacks =
                |object: &TextObject| !object.finalizers().iter().flatten().any(|name| **name == **finalizer);
            lacks(old) || lacks(new)
        };
        !self.default_filters
            || !self.generation_aware
            || updates::is_another_generation(new.generation(), old.generation())
            || new.is_marked() && !old.is_marked()
            || self.finalizer.as_ref().is_some_and(lacks_finalizer)
    }
}

fn is_requested(change: &ChangeKind<TextObject>) -> bool {
    let ChangeKind::Updated { old, new } = change else { return false };
    new.annotation(REQUESTED_AT).is_some_and(|at| old.annotation(REQUESTED_AT) != Some(at))
}

/// The running source of primaries. JOSDK: `ControllerEventSource`.
#[derive(Clone)]
pub(crate) struct PrimarySource {
    /// The Rust type of the primaries.
    pub(crate) of: RustType,
    informer: Informer,
    scopes: Arc<PrimaryScopes>,
    /// Whether it follows only primaries that selectors match: it doesn't see changes of all others, and one that it doesn't
    /// show any more may still exist.
    pub(crate) selects: bool,
}

debug_of!(PrimarySource: "PrimarySource", |it| type: it.resource_type());

impl PrimarySource {
    /// Builds the source; it does nothing until it runs.
    #[must_use]
    pub(crate) fn new(
        primaries: &InformerConfiguration,
        filters: PrimaryFilters,
        shows_ends: bool,
        wiring: &Wiring,
    ) -> Self {
        let settings = InformerSettings {
            name: NAME.to_owned(),
            scope: wiring.scope.clone(),
            // It must be able to go.
            take_over_metadata: true,
            ..primaries.settings.clone()
        };
        let selects = settings.label_selector.is_some() || settings.field_selector.is_some();
        let mut plan = primaries.plan(settings, false, wiring);
        if shows_ends {
            // The reconciler is given the last state of a primary whose end no watch has shown, and nobody else has it.
            plan.bounds = None;
        }
        let indexers = plan.view.opens(primaries.indexers.clone());
        let events = Arc::new(PrimaryEvents {
            view: Arc::clone(&plan.view),
            scopes: Arc::clone(&wiring.scopes),
            controller: Arc::clone(&wiring.controller),
            filters,
            shows_ends,
            observers: wiring.observers.clone(),
            sink: Arc::clone(&wiring.sink),
        });
        let informer = Informer::new(plan, events, indexers);
        wiring.fill(&informer);
        Self { of: primaries.of, informer, scopes: Arc::clone(&wiring.scopes), selects }
    }

    /// Everything that is known about the primaries.
    #[must_use]
    pub(crate) fn informer(&self) -> &Informer {
        &self.informer
    }

    /// The type of the primaries.
    #[must_use]
    pub(crate) fn resource_type(&self) -> &ResourceType {
        self.informer.resource_type()
    }
}

impl PrimarySource {
    /// Whether the present state of the primary can't be decoded: its last decodable state isn't what the user wants.
    pub(crate) fn is_undecodable(&self, primary: &ObjectKey) -> bool {
        self.informer.is_undecodable(primary)
    }

    /// The known state of `primary` may differ from the live one: its next run has to read it.
    pub(crate) fn doubt(&self, primary: &ObjectKey) {
        Doubt::begin(&self.scopes, primary);
    }

    /// Whether the next run of `primary` has to read it.
    pub(crate) fn is_in_doubt(&self, primary: &ObjectKey) -> bool {
        self.scopes.of(primary).look(|_: &mut Doubt| ()).is_some()
    }

    /// `primary` was read after all known writes.
    pub(crate) fn looked_at(&self, primary: &ObjectKey) {
        self.scopes.of(primary).forget::<Doubt>();
    }
}

/// The next run of a primary starts by reading the live object, because a write to it is unconfirmed, or because a list
/// has shown it in an older state than had been seen. It is kept until a run has looked.
///
/// A write without an answer may have taken effect. Until its event arrives, the cache shows a state without it, and a
/// run that finds the desired state there writes nothing. If the event arrives later and only the status has changed,
/// it triggers no primary: the unwanted state would stay.
#[derive(Default)]
struct Doubt;

impl Doubt {
    fn begin(scopes: &PrimaryScopes, primary: &ObjectKey) {
        scopes.of(primary).change(|_: &mut Self| ());
    }
}

/// Turns changes of primaries into events.
struct PrimaryEvents {
    view: Arc<View>,
    scopes: Arc<PrimaryScopes>,
    controller: Arc<str>,
    filters: PrimaryFilters,
    shows_ends: bool,
    observers: Observers,
    sink: Arc<dyn EventSink>,
}

impl ChangeHandler for PrimaryEvents {
    fn on_change(&self, change: Change) {
        let Change { key, kind } = change;
        // A deletion is never filtered: the data about the object must go with it.
        let deleted = matches!(kind, ChangeKind::Deleted { .. });
        if !deleted && !self.filters.accepts(&kind, &self.view) {
            return;
        }
        let (controller, action) = (&*self.controller, kind.action());
        self.observers.observe(&Observation::EventReceived { controller, source: NAME, key: &key, action });
        match &kind {
            ChangeKind::Deleted { last, final_state_unknown } => {
                let seen = if self.shows_ends { self.view.open(last) } else { None };
                let seen = seen.map(|last| Departed { last, final_state_unknown: *final_state_unknown });
                self.sink.primary_deleted(&key, uid(last), seen);
            }
            ChangeKind::Added { new, initial } => {
                let deleting = new.is_marked();
                let cause = if *initial { Cause::InitialList } else { Cause::Created };
                self.sink.primary_changed(PrimaryChange { key: &key, uid: uid(new), cause, deleting });
            }
            ChangeKind::Updated { old, new } => {
                let deleting = new.is_marked();
                let newly = deleting && !old.is_marked();
                let cause = if newly { Cause::MarkedForDeletion } else { Cause::Changed };
                self.sink.primary_changed(PrimaryChange { key: &key, uid: uid(new), cause, deleting });
            }
        }
    }

    fn on_left(&self, key: &ObjectKey, uid: &str) {
        // This controller treats it as if it had never existed.
        self.sink.primary_deleted(key, uid, None);
    }

    fn on_outdated(&self, key: &ObjectKey) {
        // Its next run reads the live object.
        Doubt::begin(&self.scopes, key);
    }

    fn on_health(&self, health: &SourceHealth) {
        let controller = &*self.controller;
        self.observers.observe(&Observation::SourceHealth { controller, source: NAME, health });
    }

    fn on_undecodable_objects(&self, objects: usize) {
        let controller = &*self.controller;
        self.observers.observe(&Observation::UndecodableObjects { controller, source: NAME, objects });
    }

    fn on_silent_watch(&self) {
        let controller = &*self.controller;
        self.observers.observe(&Observation::WatchReplaced { controller, source: NAME });
    }
}

/// The server gives every object a uid; an empty one can only come from a test.
fn uid(object: &TextObject) -> &str {
    object.uid().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::{api::apps::v1::Deployment, apimachinery::pkg::apis::meta::v1::ObjectMeta};

    use super::*;
    use crate::cache::tests::known::{kept, view};

    fn with_label(value: &str) -> Arc<TextObject> {
        let labels = Some([("colour".to_owned(), value.to_owned())].into());
        let metadata = ObjectMeta { generation: Some(1), labels, ..ObjectMeta::default() };
        kept(&Deployment { metadata, ..Deployment::default() })
    }

    fn accepts(filters: &PrimaryFilters) -> bool {
        filters.accepts(
            &ChangeKind::Updated { old: with_label("red"), new: with_label("blue") },
            &view::<Deployment>(),
        )
    }

    #[test]
    fn a_spec_that_went_back_counts() {
        let filters = PrimaryFilters::default();
        let of = |generation| {
            let metadata = ObjectMeta { generation: Some(generation), ..ObjectMeta::default() };
            kept(&Deployment { metadata, ..Deployment::default() })
        };
        assert!(filters.accepts(&ChangeKind::Updated { old: of(5), new: of(3) }, &view::<Deployment>()));
    }

    #[test]
    fn a_request_counts_once_whatever_the_filters_say() {
        let at = |time: Option<&str>| {
            let annotations = time.map(|time| [(REQUESTED_AT.to_owned(), time.to_owned())].into());
            let metadata = ObjectMeta { generation: Some(1), annotations, ..ObjectMeta::default() };
            kept(&Deployment { metadata, ..Deployment::default() })
        };
        let mut filters = PrimaryFilters::default();
        filters.user.on_update = Some(Arc::new(|_, _| false));
        for (old, new, counts) in [
            (None, Some("noon"), true),
            (Some("noon"), Some("one"), true),
            (Some("noon"), Some("noon"), false),
            (Some("noon"), None, false),
            (None, None, false),
        ] {
            let change = ChangeKind::Updated { old: at(old), new: at(new) };
            assert_eq!(filters.accepts(&change, &view::<Deployment>()), counts, "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_change_that_begins_or_ends_a_pause_counts_whatever_the_filters_say() {
        let is_red =
            |of: &dyn Object| of.meta().labels.as_ref().is_some_and(|labels| labels["colour"] == "red");
        let mut filters = PrimaryFilters { paused_when: Some(Arc::new(is_red)), ..PrimaryFilters::default() };
        filters.user.on_update = Some(Arc::new(|_, _| false));
        for (old, new, counts) in
            [("red", "blue", true), ("blue", "red", true), ("blue", "green", false), ("red", "red", false)]
        {
            let change = ChangeKind::Updated { old: with_label(old), new: with_label(new) };
            assert_eq!(filters.accepts(&change, &view::<Deployment>()), counts, "{old} {new}");
        }
    }

    #[test]
    fn without_default_filters_the_users_decide_alone() {
        let mut filters = PrimaryFilters::default();
        assert!(!accepts(&filters), "a change of labels alone doesn't count");
        filters.default_filters = false;
        assert!(accepts(&filters));
        filters.user.on_update = Some(Arc::new(|_, _| false));
        assert!(!accepts(&filters));
    }
}
