//! Dependents that are objects in the cluster: the objects of one primary, as one node sees them, and which of these
//! objects it may write.
//!
//! ```text
//! key ────────────▶ informer ─▶ there? ─▶ whose? ─▶ may be written, or an error that says whose it is
//! owner's label ──▶ index ────▶ all ────▶ whose? ─▶ what the node may remove                            (remove)
//! ```

mod engine;
mod jobs;
mod read;
mod remove;
mod settings;
mod writing;
mod written;

pub use crate::results::Adoption;
pub(in crate::dependent) use engine::ObjectEngine;
use jobs::Jobs;
pub(crate) use jobs::forget_departed;
pub(in crate::dependent) use jobs::{annotate, done_live};
pub(in crate::dependent) use remove::holds_data;
pub(crate) use remove::retired;
pub(in crate::dependent) use settings::Managed;
pub(crate) use settings::{Changes, FromPrimary, Judge, ObjectSettings, SourceChoice, settings};

use std::{collections::BTreeSet, sync::Arc};

use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use kube::core::TypeMeta;

use crate::{
    cache::TextObject,
    dependent::{
        Asked, Error,
        function::{complete, name_for_key},
    },
    event_source::{AnySecondary, OWNER_INDEX},
    operations,
    reconciler::AnyContext,
    resource::{AnyObject, Cluster, Draft, Marks, Object, ObjectKey, Whose, label_value, owner_in},
    results::Secondary,
};

/// The objects of one primary that a node writes.
pub(in crate::dependent) struct OfPrimary<'r> {
    managed: &'r Managed,
    asked: Asked<'r>,
    marks: Marks<'r>,
    /// JSON pointers to the fields that are left to others once an object exists.
    left: &'r [String],
}

impl Managed {
    /// Its objects for the primary in question.
    pub(in crate::dependent) fn of_primary<'r>(&'r self, asked: Asked<'r>) -> Result<OfPrimary<'r>, Error> {
        let shared = asked.context.shared();
        let owner = ObjectKey::in_meta(asked.primary.meta());
        let Some(uid) = asked.primary.meta().uid.as_deref() else { return Err(Error::NoUid(owner)) };
        let node = label_value(asked.node);
        let marks = Marks {
            of: &shared.marks,
            // A former node was a declared one when it existed.
            beside: !self.is_former && !shared.marks.has_node(&node),
            node,
            owner_value: label_value(uid),
            owner,
            owner_type: asked.context.primary_type(),
            uid,
            kind: &self.kind,
            annotations: &self.annotations,
            keeps_ids: self.rules.keeps_ids,
            field_manager: &shared.writer.field_manager,
        };
        Ok(OfPrimary { managed: self, asked, marks, left: &[] })
    }

    /// The running event source.
    pub(in crate::dependent) fn source(&self, context: &AnyContext) -> Result<Arc<AnySecondary>, Error> {
        let name = &*self.source.name;
        let source = context.event_source(self.of, name);
        let source = source.filter(|source| source.resource_type().is_kind_of(&self.kind));
        Ok(source.ok_or_else(|| operations::Error::UnknownEventSource {
            name: name.to_owned(),
            kind: self.kind.kind().to_owned(),
        })?)
    }

    /// Makes a bounded event source hold the node's objects for the primary, and these keys, until the run ends.
    pub(in crate::dependent) async fn hold(
        &self,
        asked: Asked<'_>,
        wanted: impl IntoIterator<Item = &ObjectKey> + Send,
    ) -> Result<(), Error> {
        // A source that doesn't run is reported by the code that reads it.
        let Ok(source) = self.source(asked.context) else { return Ok(()) };
        let informer = source.informer();
        if !informer.is_bounded() {
            return Ok(());
        }
        let mut keys: BTreeSet<ObjectKey> = wanted.into_iter().cloned().collect();
        keys.extend(source.keys_of(asked.context.primary_key()));
        if let Some(uid) = asked.primary.meta().uid.as_deref() {
            keys.extend(informer.keys_by_index(OWNER_INDEX, &label_value(uid)));
        }
        Ok(asked.context.hold(informer, keys.into_iter().collect()).boxed().await?)
    }

    /// The running event source, if it follows that key and has listed its namespace.
    pub(super) fn followed(&self, key: &ObjectKey, context: &AnyContext) -> Result<Arc<AnySecondary>, Error> {
        let source = self.source(context)?;
        let named = || (self.kind.clone(), key.clone(), Arc::clone(&self.source.name));
        if !source.informer().follows(key) {
            let (kind, key, source_name) = named();
            return Err(Error::NotWatched { kind, key, source_name });
        }
        // In a namespace that is not listed yet, existing objects would count as missing.
        if !source.informer().is_synced_for(key) {
            let (kind, key, source_name) = named();
            return Err(Error::NotSynced { kind, key, source_name });
        }
        Ok(source)
    }

    /// The newest known state of an object that was written or found. A newer object with the same name is another object.
    pub(in crate::dependent) fn newest(&self, of: &Secondary, context: &AnyContext) -> Option<AnyObject> {
        let meta = of.meta()?;
        let key = ObjectKey::in_meta(meta);
        let source =
            if self.is_read_only() { self.seer(&key, context) } else { self.followed(&key, context).ok() };
        let newest = source?.informer().lazy(&key)?;
        (newest.meta().uid == meta.uid).then_some(newest)
    }
}

impl<'r> OfPrimary<'r> {
    /// Leaves these fields to others once an object exists.
    pub(in crate::dependent) fn without_fields(self, pointers: &'r [String]) -> Self {
        Self { left: pointers, ..self }
    }
}

impl OfPrimary<'_> {
    /// Whether the node's objects are applied: as the node declares, or else as the operator does.
    fn applies(&self) -> bool {
        let Managed { rules, kind, .. } = self.managed;
        rules.use_ssa.unwrap_or_else(|| self.asked.context.shared().workflows.applying.applies(kind))
    }

    /// The object known under that key, whatever its owner.
    pub(in crate::dependent) fn there(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        Ok(self.managed.followed(key, self.asked.context)?.informer().lazy(key))
    }

    /// The object known under that key, if the node may write it.
    pub(in crate::dependent) fn actual(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        Ok(self.there(key)?.filter(|object| self.may_write(&**object)))
    }

    /// The objects that the node has made and may delete, in the order of keys.
    pub(in crate::dependent) fn removable(&self) -> Result<Vec<AnyObject>, Error> {
        self.with_its_label(&|_, _| true, |object| self.is_removable(object))
    }

    /// The objects of nodes that the controller no longer has, with these nodes, as their labels name them.
    pub(in crate::dependent) fn of_former_nodes(&self) -> Result<Vec<(String, AnyObject)>, Error> {
        let node = |object: &dyn Object| self.marks.former_node(object.meta()).map(str::to_owned);
        let all = self.with_its_label(&|_, _| true, |object| node(object).is_some())?;
        Ok(all.into_iter().filter_map(|object| Some((node(&*object)?, object))).collect())
    }

    /// Whether another node with records of this type has no object yet.
    pub(in crate::dependent) fn has_rivals(&self) -> Result<bool, Error> {
        let maker = |object: &dyn Object| self.marks.maker(object.meta()).map(str::to_owned);
        let all = self.with_its_label(&|_, _| true, |object| maker(object).is_some())?;
        let makers: BTreeSet<_> = all.iter().filter_map(|object| maker(&**object)).collect();
        Ok(self.marks.of.nodes().alike(&self.marks.node).any(|node| !makers.contains(node)))
    }

    /// The same if everything has to be deleted: fails while there may be objects in a namespace that the source hasn't
    /// listed yet.
    fn all_removable(&self) -> Result<Vec<AnyObject>, Error> {
        let source = self.managed.source(self.asked.context)?;
        let own = self.marks.owner.namespace().filter(|_| self.managed.capabilities.garbage_collected);
        // An object with an owner reference is in its owner's namespace.
        let may_hide = |namespace: Option<&str>| own.is_none() || namespace.is_none() || namespace == own;
        let mut collections = source.informer().collections();
        let hidden = collections.find(|(namespace, synced, _)| !synced && may_hide(namespace.as_deref()));
        if let Some((namespace, ..)) = hidden {
            let (kind, source_name) = (self.managed.kind.clone(), Arc::clone(&self.managed.source.name));
            let key = ObjectKey::new(Cluster::local(), namespace.as_deref(), "*");
            return Err(Error::NotSynced { kind, key, source_name });
        }
        self.removable()
    }

    /// Whether the node may remove the object.
    fn is_removable(&self, object: &dyn Object) -> bool {
        self.marks.whose(object.meta(), false) == Whose::Mine { removable: true }
    }

    /// The objects with the primary's label for which `is` is true, in the order of keys; `may_be` is a quick check
    /// without decoding.
    fn with_its_label(
        &self,
        may_be: &dyn Fn(&ObjectKey, &TextObject) -> bool,
        is: impl Fn(&dyn Object) -> bool,
    ) -> Result<Vec<AnyObject>, Error> {
        let source = self.managed.source(self.asked.context)?;
        let mut all = source.informer().lazy_by_index(OWNER_INDEX, &self.marks.owner_value, may_be);
        all.retain(|object| is(&**object));
        Ok(all)
    }
}

impl OfPrimary<'_> {
    /// The owner of an object that the node wants.
    pub(in crate::dependent) fn whose_wanted(&self, object: &dyn Object) -> Whose {
        match self.marks.whose(object.meta(), true) {
            Whose::Foreign if matches!(self.wanted_by_maker(object), Some((_, Some(false)))) => {
                Whose::OfFormerNode
            }
            whose => whose,
        }
    }

    /// Whether the node may delete an object that it wants, to create it again: it, or a node before it, has made the
    /// object.
    fn may_recreate(&self, object: &dyn Object) -> bool {
        match self.whose_wanted(object) {
            Whose::Mine { removable } => removable,
            Whose::OfFormerNode => self.marks.former_node(object.meta()).is_some(),
            Whose::Orphan => true,
            Whose::Going | Whose::Nobodys | Whose::Foreign => false,
        }
    }

    /// Whether the node may write an object that it wants.
    fn may_write(&self, object: &dyn Object) -> bool {
        match self.whose_wanted(object) {
            Whose::Mine { .. } | Whose::Orphan | Whose::OfFormerNode => true,
            Whose::Going => false,
            Whose::Nobodys => self.managed.rules.adoption != Adoption::Never,
            Whose::Foreign => self.managed.rules.adoption == Adoption::Always,
        }
    }

    /// Why the node may not write an object that it wants.
    fn refusal(&self, object: &dyn Object) -> Error {
        let (kind, key) = (self.managed.kind.clone(), ObjectKey::in_meta(object.meta()));
        match self.whose_wanted(object) {
            Whose::Going => Error::Going { kind, key },
            Whose::Nobodys => {
                let (owner, advice) = (self.says(object), Adoption::IfUnowned);
                Error::Conflict { kind, key, owner, advice }
            }
            Whose::Mine { .. } | Whose::Orphan | Whose::OfFormerNode | Whose::Foreign => {
                if let Some((node, None)) = self.wanted_by_maker(object).filter(|_| !self.marks.beside) {
                    return Error::Undecided { kind, key, node: node.to_owned() };
                }
                // One of the controller's own would be taken back in its next run.
                let is_own = self.marks.is_of_controller(object.meta());
                let advice = if is_own { Adoption::Never } else { Adoption::Always };
                Error::Conflict { kind, key, owner: self.says(object), advice }
            }
        }
    }

    /// The owner of the object, as far as it is known.
    fn says(&self, object: &dyn Object) -> String {
        let meta = object.meta();
        let owners = meta.owner_references.iter().flatten();
        let mut owners: Vec<_> =
            owners.map(|owner| format!("{} {} (uid {})", owner.kind, owner.name, owner.uid)).collect();
        if !owners.is_empty() {
            let owners = match owners.pop() {
                Some(last) if owners.is_empty() => last,
                last => [owners.join(", "), last.unwrap_or_default()].join(" and "),
            };
            return match self.marks.marked_by(meta) {
                Some(by) => format!("it is owned by {owners}, and according to its labels {by} has made it"),
                None => format!("it is owned by {owners}"),
            };
        }
        if let Some(by) = self.marks.marked_by(meta) {
            return format!("according to its labels {by} has made it");
        }
        let primary_type = self.asked.context.primary_type();
        if let Some(primary) = self.managed.annotations.primary_in(meta, primary_type) {
            return format!("according to its annotations it belongs to {primary_type} {primary}");
        }
        let mut managers: Vec<_> =
            meta.managed_fields.iter().flatten().filter_map(|entry| entry.manager.as_deref()).collect();
        managers.sort_unstable();
        managers.dedup();
        match managers[..] {
            [] => "it names no owner".to_owned(),
            _ => format!("it names no owner, and was written by {}", managers.join(", ")),
        }
    }
}

impl OfPrimary<'_> {
    /// Adds a missing name and namespace: those of its primary, if the primary is of the node's kind. `only`: it is the
    /// only object of its node.
    pub(in crate::dependent) fn completed(&self, draft: &mut dyn Draft, only: bool) -> Result<(), Error> {
        let (kind, node) = (&self.managed.kind, self.asked.node);
        let is_another =
            |types: &&TypeMeta| (&types.api_version, &*types.kind) != (&kind.api_version(), kind.kind());
        if let Some(types) = draft.types().filter(is_another) {
            let answered = format!("{} {}", types.api_version, types.kind);
            return Err(Error::AnotherKind { kind: kind.clone(), node: node.to_owned(), answered });
        }
        let nodes = (node, self.marks.of.nodes());
        let named = complete(draft.meta_mut(), kind, &self.marks.owner, nodes, only);
        named.map_err(|why| Error::Unnamed { kind: kind.clone(), node: node.to_owned(), why })?;
        if let Some(key) = self.managed.rules.once_per.as_ref().and_then(|once| once.of(self.asked.primary)) {
            name_for_key(draft.meta_mut(), kind, &key);
        }
        Ok(())
    }

    /// `desired` with what is needed to find its primary again, and with the marks of the node: an owner reference if
    /// the garbage collector should delete it, otherwise annotations. JOSDK's `addMetadata`.
    pub(in crate::dependent) fn marked(&self, mut desired: Box<dyn Draft>) -> Result<AnyObject, Error> {
        let (managed, owner) = (self.managed, &self.marks.owner);
        if managed.capabilities.garbage_collected {
            let mut key = || ObjectKey::in_meta(desired.meta_mut());
            if let Some(reason) = illegal_owner(owner, &key(), managed.kind.is_namespaced()) {
                let (kind, owner) = (managed.kind.clone(), owner.clone());
                return Err(Error::IllegalOwner { kind, key: key(), owner, reason });
            }
            let primary = self.asked.primary.meta();
            let reference = owner_in(primary, self.asked.context.primary_type());
            let reference = reference.ok_or_else(|| Error::NoUid(owner.clone()))?;
            add_owner(desired.meta_mut().owner_references.get_or_insert_default(), reference);
        } else if managed.capabilities.can_write() {
            let annotations = managed.annotations.of(owner, self.marks.owner_type);
            desired.meta_mut().annotations.get_or_insert_default().extend(annotations);
        }
        if managed.rules.detects_version {
            let (key, version) = (self.marks.of.names().api_version(), managed.kind.api_version());
            let annotations = desired.meta_mut().annotations.get_or_insert_default();
            annotations.insert(key.to_owned(), version);
        }
        self.marks.put_on(desired.meta_mut());
        Ok(desired.finish())
    }
}

fn add_owner(owners: &mut Vec<OwnerReference>, owner: OwnerReference) {
    if !owners.iter().any(|known| known.uid == owner.uid) {
        owners.push(owner);
    }
}

/// Why an owner reference would not be valid for the garbage collector, which would delete the object at once.
fn illegal_owner(owner: &ObjectKey, child: &ObjectKey, namespaced: bool) -> Option<&'static str> {
    let namespace = owner.namespace()?;
    if !namespaced {
        return Some(
            "a namespaced owner can't own a cluster-scoped object; write `.without_owner()` on its node, which marks the object with annotations",
        );
    }
    // An object without a namespace is refused when it is written.
    let elsewhere = child.namespace().is_some_and(|other| other != namespace);
    elsewhere.then_some(
        "an owner can't own an object in another namespace; write `.without_owner()` on its node, which marks the object with annotations",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_of_the_child_s_namespace_or_of_none() {
        let (shop, everywhere) = (ObjectKey::namespaced("shop", "a"), ObjectKey::cluster_scoped("a"));
        let child = |namespace| ObjectKey::namespaced(namespace, "b");
        assert_eq!(illegal_owner(&shop, &child("shop"), true), None);
        assert_eq!(illegal_owner(&everywhere, &child("shop"), true), None);
        assert_eq!(illegal_owner(&everywhere, &ObjectKey::cluster_scoped("b"), false), None);
        assert!(
            illegal_owner(&shop, &child("bank"), true).is_some_and(|why| why.contains("another namespace"))
        );
        let cluster_scoped = illegal_owner(&shop, &ObjectKey::cluster_scoped("b"), false);
        assert!(cluster_scoped.is_some_and(|why| why.contains("without_owner")));
    }

    #[test]
    fn an_owner_is_named_once() {
        let owner = OwnerReference { uid: "u".to_owned(), ..OwnerReference::default() };
        let mut owners = vec![owner.clone()];
        add_owner(&mut owners, owner);
        assert_eq!(owners.len(), 1);
    }
}
