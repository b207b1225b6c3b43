//! Deletes the objects that a node has made. Only the marks decide which these are: neither `desired` nor a mapper is called.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, LazyLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::FutureExt;
use parking_lot::Mutex;

use super::{
    OfPrimary,
    settings::{Managed, ObjectSettings},
    written::Written,
};
use crate::{
    cache::TextObject,
    dependent::{
        AnyDependent, Asked, Capabilities, Engine, Error,
        erased::{Answer, Deleted, Pruning},
    },
    operations::{Removed, live},
    reconciler::{BoxError, MemoKey, Wants},
    resource::{AnyObject, KubeObject, MadeKinds, Object, ObjectKey, ResourceType, label_value},
    results::{Leaving, ReconcileResult, Secondary},
};

/// So many objects of other nodes of a kind are looked at; if there are more, they are sorted by their nodes once in a run.
const MANY: usize = 8;

/// The keys of a primary's objects of a kind, by the values of their nodes' labels.
type MadeByNodes = BTreeMap<String, Vec<ObjectKey>>;

impl Managed {
    /// The objects that are left after a deletion: those `known` to the event source, or else those that only a read of
    /// the live objects shows.
    pub(in crate::dependent) async fn left(
        &self,
        known: Vec<Secondary>,
        asked: Asked<'_>,
    ) -> Result<Vec<Secondary>, BoxError> {
        if !known.is_empty() || self.is_read_only() {
            return Ok(known);
        }
        let own = self.of_primary(asked).map_err(Error::boxed)?;
        let hidden = own.hidden().await.map_err(Error::boxed)?.into_iter();
        Ok(hidden.map(|object| self.secondary(object)).collect())
    }
}

impl OfPrimary<'_> {
    /// Deletes an object that the node has made and that isn't wanted. A deletion that the server has taken isn't sent again: until
    /// a watch shows its end, the object only seems to be there.
    pub(in crate::dependent) async fn remove(&self, object: &AnyObject) -> Result<Removed, Error> {
        let (scope, object_key) = (self.asked.context.scope(), self.key_of(object));
        let written = (Arc::from(self.asked.node), object_key.0.clone(), object_key.1.clone());
        scope.look(|all: &mut Written| all.remove(&written));
        let uid = object.meta().uid.as_deref().unwrap_or_default();
        let taken = scope.look(|leaving: &mut Leaving| leaving.taken(&object_key, uid)).flatten();
        if let Some(is_kept) = taken {
            return Ok(if is_kept { Removed::Going } else { Removed::Gone });
        }
        let removed = self.remove_if(object, &|live| self.is_removable(live)).await?;
        if removed != Removed::NotOurs {
            let source = self.managed.source(self.asked.context)?;
            let all = |leaving: &mut Leaving| leaving.is_crowded().then(|| leaving.all_taken(&object_key.0));
            let is_over = |(key, uid): &(ObjectKey, String)| {
                source.informer().lazy(key).is_none_or(|shown| shown.meta().uid.as_ref() != Some(uid))
            };
            let taken = scope.look(all).flatten().unwrap_or_default();
            let over: BTreeSet<_> = taken.into_iter().filter(is_over).map(|(key, _)| key).collect();
            let taken = (uid, removed == Removed::Going);
            scope.change(|leaving: &mut Leaving| leaving.take(object_key, taken, &over));
        }
        Ok(removed)
    }

    fn key_of(&self, object: &AnyObject) -> (ResourceType, ObjectKey) {
        (self.managed.kind.clone(), ObjectKey::in_meta(object.meta()))
    }

    /// The same if something may wait for the end of the object.
    pub(in crate::dependent) async fn remove_and_note(&self, object: &AnyObject) -> Result<(), Error> {
        let removed = self.remove(object).await?;
        if let (Removed::Going, Some(uid)) = (removed, object.meta().uid.clone()) {
            let note = |leaving: &mut Leaving| leaving.note(self.asked.node, self.key_of(object), uid);
            self.asked.context.scope().change(note);
        }
        Ok(())
    }

    /// Objects that were deleted and still exist, though the event source no longer shows them, because the label that
    /// selects them was removed. Only a read of the live objects shows them, and nothing else triggers the primary when
    /// they are gone.
    async fn hidden(&self) -> Result<Vec<AnyObject>, Error> {
        let context = self.asked.context;
        let mut hidden = Vec::new();
        for (key, uid) in self.leaving() {
            let source = self.managed.source(context)?;
            let live = live(&context.shared().writer, source.informer(), &key).await?;
            hidden.extend(live.filter(|live| live.meta().uid.as_ref() == Some(&uid)));
        }
        if !hidden.is_empty() {
            context.remembered().lock().note_asked();
        }
        Ok(hidden)
    }

    /// Whether an object was deleted and isn't gone yet.
    pub(in crate::dependent) fn awaits_some(&self) -> bool {
        !self.leaving().is_empty()
    }

    fn leaving(&self) -> BTreeMap<ObjectKey, String> {
        let of = |leaving: &mut Leaving| leaving.of(self.asked.node, &self.managed.kind);
        self.asked.context.scope().look(of).unwrap_or_default()
    }

    /// The objects that the node has made under other names than these.
    pub(in crate::dependent) fn removable_but(
        &self,
        is_wanted: &dyn Fn(&ObjectKey) -> bool,
    ) -> Result<Vec<AnyObject>, Error> {
        let source = self.managed.source(self.asked.context)?;
        let (memo, primary) = (self.asked.context.memo(), self.asked.primary);
        let key = MemoKey::of(source.identity());
        let mut made = memo.known(&key, primary);
        if made.is_none() {
            let others = AtomicUsize::new(0);
            let is_other = |key: &ObjectKey, _: &TextObject| {
                let is = !is_wanted(key);
                others.fetch_add(usize::from(is), Ordering::Relaxed);
                is && (self.marks.beside || others.load(Ordering::Relaxed) <= MANY)
            };
            let found = self.with_its_label(&is_other, |object| self.is_removable(object))?;
            // A reconciler may call its dependents several times in a run.
            if others.into_inner() <= MANY || self.marks.beside {
                return Ok(found);
            }
            // Each of many nodes of a kind would look at the objects of all others.
            made = Some(memo.keep(&key, primary, self.made_by_nodes()?));
        }
        let made = made.as_deref().and_then(|made: &MadeByNodes| made.get(&self.marks.node));
        let others = made.into_iter().flatten().filter(|key| !is_wanted(key));
        let found = others.filter_map(|key| source.informer().lazy(key));
        Ok(found.filter(|object| self.is_removable(&**object)).collect())
    }

    /// The keys of all objects with the primary's label, by the label of the node.
    fn made_by_nodes(&self) -> Result<MadeByNodes, Error> {
        let made = Mutex::new(MadeByNodes::new());
        let note = |key: &ObjectKey, object: &TextObject| {
            let node = object.label(self.marks.of.names().node()).unwrap_or_default();
            made.lock().entry(node).or_default().push(key.clone());
            false
        };
        self.with_its_label(&note, |_| false)?;
        Ok(made.into_inner())
    }

    /// Of these objects, which the node no longer wants, those that no other node wants; and what stays because it isn't
    /// known whether another node wants it, in words.
    pub(in crate::dependent) fn without_others(
        &self,
        mut all: Vec<AnyObject>,
    ) -> (Vec<AnyObject>, Option<String>) {
        let mut kept = Vec::new();
        all.retain(|object| match self.is_wanted_by_others(&**object) {
            Ok(wanted) => !wanted,
            Err(nodes) => {
                let key = ObjectKey::in_meta(object.meta());
                kept.push(format!("{key} stays until {} has said what it wants", nodes.join(" and ")));
                false
            }
        });
        (all, (!kept.is_empty()).then(|| format!("{} {}", self.managed.kind, kept.join(", "))))
    }

    /// Whether another node wants an object that this one doesn't want any more.
    ///
    /// # Errors
    /// The nodes of which that isn't known yet.
    fn is_wanted_by_others(&self, object: &dyn Object) -> Result<bool, Vec<String>> {
        let (key, node) = (ObjectKey::in_meta(object.meta()), &*self.marks.node);
        let others: Vec<_> = self.wants(&key).filter(|other| other.node != node).collect();
        if others.iter().any(|other| other.wants == Some(true)) {
            let object = (self.managed.kind.clone(), key);
            self.asked.context.scope().change(|leaving: &mut Leaving| leaving.give_up(node, object));
            return Ok(true);
        }
        // One that says only in its turn what it wants may have to wait for long.
        let open = others.into_iter().filter(|other| other.wants.is_none() && !other.is_late);
        let open: Vec<_> = open.map(|other| other.node).collect();
        if open.is_empty() { Ok(false) } else { Err(open) }
    }

    /// The nodes that write this kind, and whether each wants an object with this key, as far as this run knows.
    fn wants(&self, key: &ObjectKey) -> impl Iterator<Item = Wants> {
        let Asked { primary, context, .. } = self.asked;
        let workflow = context.shared().workflow.as_ref().filter(|_| !self.marks.beside);
        workflow.into_iter().flat_map(move |of| of.wants(&self.managed.kind, key, primary, context))
    }

    /// The other node that has made the object, and whether it still wants it, as far as that is known.
    pub(super) fn wanted_by_maker<'o>(&self, object: &'o dyn Object) -> Option<(&'o str, Option<bool>)> {
        let maker = self.marks.maker(object.meta()).filter(|node| *node != self.marks.node)?;
        let key = ObjectKey::in_meta(object.meta());
        let wants = self.wants(&key).find(|one| one.node == maker).and_then(|one| one.wants);
        let object = (&self.managed.kind, &key);
        let given_up = |leaving: &mut Leaving| leaving.has_given_up(maker, object).then_some(false);
        Some((maker, wants.or_else(|| self.asked.context.scope().look(given_up).flatten())))
    }

    /// Fails if the node wants this object of another one, which wants one of this node's, and comes before or after it.
    pub(super) fn refuse_swap(&self, object: &dyn Object) -> Result<(), Error> {
        let Some((other, Some(false))) = self.wanted_by_maker(object) else { return Ok(()) };
        let workflow = self.asked.context.shared().workflow.as_ref();
        if !workflow.is_some_and(|workflow| workflow.are_in_order(&self.marks.node, other)) {
            return Ok(());
        }
        let is_wanted =
            |key: &ObjectKey| self.wants(key).any(|one| one.node == other && one.wants == Some(true));
        let own = self.removable_but(&|key| !is_wanted(key))?;
        match own.first() {
            None => Ok(()),
            Some(own) => Err(Error::Swap {
                kind: self.managed.kind.clone(),
                key: ObjectKey::in_meta(object.meta()),
                in_exchange: ObjectKey::in_meta(own.meta()),
                node: self.marks.node.clone(),
                other: other.to_owned(),
            }),
        }
    }

    /// Deletes the leftovers of nodes that the controller no longer has: those of `node`, or of all such nodes without
    /// it. Returns the number of these objects.
    pub(super) async fn prune(&self, node: Option<&str>, pruning: Pruning<'_>) -> Result<usize, Error> {
        // What nodes with several kinds have left goes in an order of its own.
        let sets = LazyLock::new(|| MadeKinds::of(&*self.asked.newest(), self.marks.of));
        let former = |object: &dyn Object| {
            let by = self.marks.former_node(object.meta());
            by.is_some_and(|by| node.map_or_else(|| !sets.has(by, self.marks.of), |node| node == by))
        };
        let mut removed = 0;
        // An object that was found to be as desired is wanted by an existing node.
        for object in self.with_its_label(&|_, kept| kept.verdict().get().is_none(), former)? {
            let is_new = |uid: &String| !pruning.removed.lock().contains(uid);
            let is_new = object.meta().uid.as_ref().is_some_and(is_new);
            if is_new && self.is_unwanted(&*object) && self.may_forget(&object, pruning.data) {
                if object.meta().deletion_timestamp.is_none() {
                    tracing::info!(
                        kind = %self.managed.kind, object = %ObjectKey::in_meta(object.meta()),
                        node = self.marks.former_node(object.meta()),
                        "removed: the controller no longer has the node that created it"
                    );
                }
                self.remove_if(&object, &former).await?;
                pruning.removed.lock().extend(object.meta().uid.clone());
                removed += 1;
            }
        }
        Ok(removed)
    }

    /// Whether each node that writes this kind has said its names, and none is this object's.
    fn is_unwanted(&self, object: &dyn Object) -> bool {
        self.wants(&ObjectKey::in_meta(object.meta())).all(|one| one.wants == Some(false))
    }

    async fn remove_if(
        &self,
        object: &AnyObject,
        is_ours: &(dyn Fn(&dyn Object) -> bool + Send + Sync),
    ) -> Result<Removed, Error> {
        let operations = self.operations();
        let removal = operations.remove(self.managed.of, object, is_ours);
        Ok(self.asked.context.permitted(removal).await?)
    }

    /// Whether a leftover may be deleted: an object that holds data is deleted only if the declaration requests it.
    pub(super) fn may_forget(&self, object: &AnyObject, prunes_data: bool) -> bool {
        let may = prunes_data || !holds_data(self.managed.kind.group(), self.managed.kind.kind());
        if !may && object.meta().deletion_timestamp.is_none() {
            tracing::warn!(
                kind = %self.managed.kind, object = %ObjectKey::in_meta(object.meta()),
                "left behind although it is no longer wanted, because data would be lost with it; delete it by hand, or set `.prune_data()`"
            );
        }
        may
    }
}

/// Whether data that can't be restored is lost with an object of this kind.
pub(in crate::dependent) fn holds_data(group: &str, kind: &str) -> bool {
    matches!(
        (group, kind),
        ("", "PersistentVolumeClaim" | "Namespace") | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}

/// The leftovers of a node that the controller no longer has, of a kind that no other node writes.
struct FormerNode(Managed);

/// Declares that there was a node of that name, whose objects were of type `K`.
pub(crate) fn retired<K: KubeObject>(name: &str, dynamic: &K::DynamicType) -> AnyDependent {
    let mut settings = ObjectSettings::<K>::new(name.into());
    settings.capabilities = Capabilities { deletes: true, ..Capabilities::READ_ONLY };
    settings.is_former = true;
    let managed = settings.finish(dynamic.clone());
    AnyDependent::new(name, managed.declaration(), FormerNode(managed))
}

impl Engine for FormerNode {
    fn reconcile<'r>(&'r self, _: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async { Ok(ReconcileResult::nothing()) }.boxed()
    }

    fn delete<'r>(&'r self, _: Asked<'r>) -> Answer<'r, Deleted> {
        async { Ok(Deleted::NOTHING) }.boxed()
    }

    fn secondaries<'r>(&'r self, _: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning<'r>) -> Answer<'r, usize> {
        async move {
            let node = label_value(asked.node);
            let of_primary = self.0.of_primary(asked).map_err(Error::boxed)?;
            of_primary.prune(Some(&node), pruning).await.map_err(Error::boxed)
        }
        .boxed()
    }
}
