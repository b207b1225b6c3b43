//! Secondaries in the cluster, and the effect of their changes on primaries.

use std::{collections::BTreeSet, fmt, sync::Arc};

use super::{Filters, NamedKeys, RustType, SourceEvents, relation::Relation};
use crate::{
    cache::{
        Answer, AnyWrite, Change, ChangeHandler, ChangeKind, Informer, ResourceCache, TextObject, Unopened,
        View,
    },
    observe::{Cause, Observation, SourceHealth, SourceIndex},
    resource::{AnyObject, KubeObject, Object, ObjectKey, ResourceType, is_owned_by},
};

/// A running source of secondaries of type `K`: the known objects, and the primaries that they belong to.
pub struct SecondarySource<K: KubeObject> {
    any: Arc<AnySecondary>,
    cache: ResourceCache<K>,
}

impl<K: KubeObject> Clone for SecondarySource<K> {
    fn clone(&self) -> Self {
        Self { any: Arc::clone(&self.any), cache: self.cache.clone() }
    }
}

impl<K: KubeObject> fmt::Debug for SecondarySource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

impl<K: KubeObject> SecondarySource<K> {
    /// `None` if its objects are of another type.
    pub(super) fn of_any(any: Arc<AnySecondary>) -> Option<Self> {
        let cache = (any.of == RustType::of::<K>()).then(|| ResourceCache::of(any.informer.clone()))?;
        Some(Self { any, cache })
    }

    pub(super) fn any(self) -> Arc<AnySecondary> {
        self.any
    }

    /// The objects that belong to `primary`, in the order of their keys; the operator's own writes are visible at once.
    /// Objects that can't be decoded are left out.
    #[must_use]
    pub fn secondaries_of(&self, primary: &ObjectKey) -> Vec<Arc<K>> {
        self.any.secondaries_of(primary).filter_map(|object| object.ok()?.typed()).collect()
    }

    /// Everything that is known, for all primaries.
    #[must_use]
    pub fn cache(&self) -> &ResourceCache<K> {
        &self.cache
    }

    /// The type of the secondaries.
    #[must_use]
    pub fn resource_type(&self) -> &ResourceType {
        self.any.resource_type()
    }

    /// The name, unique within the controller.
    #[must_use]
    pub fn name(&self) -> &str {
        self.any.name()
    }
}

/// The same for secondaries of any type.
pub(crate) struct AnySecondary {
    /// The Rust type of its objects.
    pub(super) of: RustType,
    pub(super) informer: Informer,
    pub(super) events: Arc<SecondaryEvents>,
    pub(crate) shows: Shows,
    /// Distinguishes it from all others.
    pub(super) identity: Arc<()>,
}

/// The objects in its namespaces that a source shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shows {
    /// All of them.
    All,
    /// Some.
    Some,
    /// Those that primaries name.
    Named,
    /// A part of each.
    Parts,
}

debug_of!(AnySecondary: "SecondarySource", |it| name: it.events.to.name);

impl AnySecondary {
    /// Distinguishes it from all others.
    pub(crate) fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// The position within the controller, as the causes of runs have it.
    pub(crate) fn index(&self) -> SourceIndex {
        self.events.to.index
    }

    /// The objects that belong to `primary`, in the order of their keys.
    pub(crate) fn secondaries_of(
        &self,
        primary: &ObjectKey,
    ) -> impl Iterator<Item = Result<AnyObject, Unopened>> {
        self.keys_of(primary).into_iter().filter_map(|key| self.get(&key).transpose())
    }

    /// The keys of the objects that belong to `primary`, in their order; some may not exist.
    pub(crate) fn keys_of(&self, primary: &ObjectKey) -> Vec<ObjectKey> {
        self.events.relation.secondaries_of(primary, self.events.to.primaries())
    }

    /// The object with that key, whichever primary it belongs to.
    pub(crate) fn get(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Unopened> {
        self.informer.try_get(key)
    }

    /// The objects of all primaries for which the named index gives `value`.
    pub(crate) fn by_index(
        &self,
        index: &str,
        value: &str,
    ) -> impl Iterator<Item = Result<AnyObject, Unopened>> {
        let found = self.informer.by_index(index, value).into_iter();
        found.map(|(key, kept)| self.informer.try_open(&key, &kept))
    }

    /// Everything that is known, for all primaries.
    pub(crate) fn informer(&self) -> &Informer {
        &self.informer
    }

    pub(crate) fn resource_type(&self) -> &ResourceType {
        self.informer.resource_type()
    }

    pub(crate) fn name(&self) -> &str {
        &self.events.to.name
    }

    /// Announces one of the operator's own writes, made by the run of `writer`: its echo triggers no primary, because
    /// every primary that it concerns is triggered by its answer, except the one whose run wrote.
    pub(crate) fn begin_write<'s>(&'s self, key: &ObjectKey, writer: &'s ObjectKey) -> SecondaryWrite<'s> {
        SecondaryWrite { write: self.informer.begin_write(key), writer, source: self }
    }

    /// Takes the answer to a write whose echo is treated like a foreign change.
    pub(crate) fn remember(&self, answer: Answer) -> AnyObject {
        let (key, kept) = (answer.key.clone(), answer.kept.clone());
        let object = self.informer.remember_answer(answer);
        if let Some(new) = kept {
            self.link(&key, &ChangeKind::Added { new, initial: false });
        }
        object
    }

    /// Relates a secondary at once: a run then finds an object that an earlier run has created, before the watch reports
    /// it. Returns the primaries that it belongs to now or belonged to before.
    fn link(&self, key: &ObjectKey, change: &ChangeKind<TextObject>) -> BTreeSet<ObjectKey> {
        let events = &self.events;
        // An object that is not held in full exists nevertheless.
        let not_held = || self.informer.contains(key).then(|| Arc::clone(change.object()));
        let newest = || self.informer.kept(key).or_else(not_held);
        events.relation.written(
            key,
            change,
            &events.view,
            &events.primary_type,
            events.to.primaries(),
            newest,
        )
    }
}

/// One of the operator's own writes in progress.
#[must_use = "the write's echo is filtered only while this is held"]
pub(crate) struct SecondaryWrite<'s> {
    write: AnyWrite,
    /// The primary whose run writes.
    writer: &'s ObjectKey,
    source: &'s AnySecondary,
}

impl SecondaryWrite<'_> {
    /// Takes the server's answer: from now on reads return it. The other primaries that the object belongs to, or
    /// belonged to before, are triggered: the run that wrote knows of the write, they don't.
    pub(crate) fn answered(mut self, answer: Answer) -> AnyObject {
        let before = self.write.base().cloned();
        let (key, kept) = (answer.key.clone(), answer.kept.clone());
        let object = self.write.answered(answer);
        let Some(new) = kept else { return object };
        let change = match before {
            Some(old) => ChangeKind::Updated { old, new },
            None => ChangeKind::Added { new, initial: false },
        };
        let concerned = self.source.link(&key, &change);
        let events = &self.source.events;
        let mut others: BTreeSet<_> =
            concerned.into_iter().filter(|primary| primary != self.writer).collect();
        if !others.is_empty() && !events.filters.accepts_kept(&change, &events.view) {
            others.clear();
        }
        others.extend(events.named.primaries_of(&events.kind, &key));
        for primary in others.iter().filter(|primary| *primary != self.writer) {
            events.to.sink.related_changed(primary, Cause::Source(events.to.index));
        }
        object
    }
}

/// Turns changes of secondaries into events of primaries.
pub(super) struct SecondaryEvents {
    pub(super) to: SourceEvents,
    pub(super) primary_type: ResourceType,
    pub(super) view: Arc<View>,
    pub(super) relation: Relation,
    pub(super) named: Arc<NamedKeys>,
    pub(super) kind: ResourceType,
    pub(super) filters: Filters<dyn Object>,
}

impl SecondaryEvents {
    fn owns(&self, primary: &ObjectKey, secondary: &TextObject) -> bool {
        let owners = secondary.owners().unwrap_or_default();
        owners.iter().any(|owner| is_owned_by(owner, &self.primary_type) && owner.name == primary.name())
    }
}

impl ChangeHandler for SecondaryEvents {
    fn on_change(&self, change: Change) {
        let Change { key, kind } = change;
        let mut woken =
            self.relation.changed(&key, &kind, &self.view, &self.primary_type, self.to.primaries());
        // Filters are about the objects that belong to primaries.
        let named = self.named.primaries_of(&self.kind, &key);
        if !self.filters.accepts_kept(&kind, &self.view) {
            if named.is_empty() {
                return;
            }
            woken.clear();
        }
        woken.extend(named);
        self.to.received(&key, kind.action());
        for primary in woken {
            let owned_gone = matches!(kind, ChangeKind::Deleted { .. }) && self.owns(&primary, kind.object());
            let index = self.to.index;
            let cause = if owned_gone { Cause::OwnedGone(index) } else { Cause::Source(index) };
            self.to.sink.related_changed(&primary, cause);
        }
    }

    fn on_not_selected(&self, key: &ObjectKey) {
        self.relation.not_selected(key);
    }

    fn on_left(&self, key: &ObjectKey, _: &str) {
        // It is not gone, so it wakes no primary.
        self.relation.not_selected(key);
    }

    fn on_health(&self, health: &SourceHealth) {
        self.to.report(health);
    }

    fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.relation.leftovers(exists)
    }

    fn on_undecodable_objects(&self, objects: usize) {
        let (controller, source) = (&*self.to.controller, &*self.to.name);
        self.to.observers.observe(&Observation::UndecodableObjects { controller, source, objects });
    }

    fn on_silent_watch(&self) {
        let (controller, source) = (&*self.to.controller, &*self.to.name);
        self.to.observers.observe(&Observation::WatchReplaced { controller, source });
    }
}
