//! The signs in an object that show its primary, and the node that has made it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::{OfPrimary, settings::Managed};
use kube::core::TypeMeta;

use crate::{
    dependent::{Asked, Error, function::complete},
    resource::{AnyObject, Draft, Object, ObjectKey, owner_in},
};

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
        complete(draft.meta_mut(), kind.is_namespaced(), &self.marks.owner, node, only)
            .map_err(|why| Error::Unnamed { kind: kind.clone(), node: node.to_owned(), why })
    }

    /// `desired` with what is needed to find its primary again, and with the marks of the node: an owner reference if
    /// the garbage collector should delete it, otherwise annotations. JOSDK's `addMetadata`.
    pub(in crate::dependent) fn marked(&self, mut desired: Box<dyn Draft>) -> Result<AnyObject, Error> {
        let (managed, owner) = (self.managed, &self.marks.owner);
        if managed.capabilities.is_garbage_collected() {
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
        if managed.detects_version {
            let (key, version) = (self.marks.of.names().api_version(), managed.kind.api_version());
            let annotations = desired.meta_mut().annotations.get_or_insert_default();
            annotations.insert(key.to_owned(), version);
        }
        self.marks.put_on(desired.meta_mut());
        Ok(desired.finish())
    }
}

impl Managed {
    /// Whether `object`, which is only read, belongs to the primary: by an owner reference to this very incarnation, or
    /// by annotations, which don't distinguish incarnations.
    pub(super) fn names_owner(&self, object: &dyn Object, asked: Asked<'_>) -> bool {
        let uid = asked.primary.meta().uid.as_deref();
        let owners = object.meta().owner_references.iter().flatten();
        let owned = uid.is_some() && owners.into_iter().any(|owner| Some(&*owner.uid) == uid);
        let context = asked.context;
        owned
            || self.annotations.primary_in(object.meta(), context.primary_type()).as_ref()
                == Some(context.primary_key())
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
