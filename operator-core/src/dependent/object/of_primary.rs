//! The objects of one primary, as one node sees them.
//!
//! ```text
//! key ────────────▶ informer ─▶ there? ─▶ whose? ─▶ may be written, or an error that says whose it is   (adoption)
//! owner's label ──▶ index ────▶ all ────▶ whose? ─▶ what the node may remove                            (marks)
//! ```

use std::sync::Arc;

use super::settings::Managed;
use crate::{
    cache::TextObject,
    dependent::{Asked, Error},
    event_source::OWNER_INDEX,
    resource::{AnyObject, Cluster, Marks, Object, ObjectKey, Whose, label_value},
};

/// The objects of one primary that a node writes.
pub(in crate::dependent) struct OfPrimary<'r> {
    pub(in crate::dependent) managed: &'r Managed,
    pub(in crate::dependent) asked: Asked<'r>,
    pub(super) marks: Marks<'r>,
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
            beside: !shared.marks.has_node(&node),
            node,
            owner_value: label_value(uid),
            owner,
            owner_type: asked.context.primary_type(),
            uid,
            kind: &self.kind,
            annotations: &self.annotations,
            field_manager: &shared.writer.field_manager,
        };
        Ok(OfPrimary { managed: self, asked, marks })
    }
}

impl OfPrimary<'_> {
    /// Whether the node's objects are applied: as it says, or else as the operator does.
    pub(super) fn applies(&self) -> bool {
        let Managed { use_ssa, kind, .. } = self.managed;
        use_ssa.unwrap_or_else(|| self.asked.context.shared().workflows.applies(kind))
    }

    /// The object known under that key, whatever its owner.
    pub(in crate::dependent) fn there(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        Ok(self.managed.followed(key, self.asked.context)?.informer().lazy(key))
    }

    /// The object known under that key, if the node may write it.
    pub(in crate::dependent) fn actual(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        Ok(self.there(key)?.filter(|object| self.may_write(&**object)))
    }

    /// What the node has made and may remove, in the order of keys.
    pub(in crate::dependent) fn removable(&self) -> Result<Vec<AnyObject>, Error> {
        self.with_its_label(&|_, _| true, |object| self.is_removable(object))
    }

    /// The same if everything has to be removed: fails while there may be some in a namespace that the source hasn't
    /// seen yet.
    pub(in crate::dependent) fn all_removable(&self) -> Result<Vec<AnyObject>, Error> {
        let source = self.managed.source(self.asked.context)?;
        let own = self.marks.owner.namespace().filter(|_| self.managed.capabilities.is_garbage_collected());
        // What has an owner reference is where its owner is.
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
    pub(super) fn is_removable(&self, object: &dyn Object) -> bool {
        self.marks.whose(object.meta(), false) == Whose::Mine { removable: true }
    }

    /// The objects with the primary's label for which `is` is true, in the order of keys; `may_be` is a first check
    /// without decoding.
    pub(super) fn with_its_label(
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
