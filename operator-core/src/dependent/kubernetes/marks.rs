//! How an object says that it is a primary's: by an owner reference, or by annotations.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;

use super::settings::Managed;
use crate::{
    dependent::Error,
    reconciler::Context,
    resource::{KubeObject, ObjectKey},
};

impl<K: KubeObject> Managed<K> {
    /// `desired` with what is needed to find its primary again: an owner reference where the garbage collector is to delete
    /// it, otherwise annotations. JOSDK's `addMetadata`.
    pub(in crate::dependent) fn marked<P: KubeObject>(
        &self,
        mut desired: K,
        primary: &P,
        context: &Context<P>,
    ) -> Result<K, Error> {
        if self.capabilities.is_garbage_collected() {
            let key = || ObjectKey::of(&desired);
            if let Some(reason) = illegal_owner(context.primary_key(), &key(), self.kind.is_namespaced()) {
                let (kind, owner) = (self.kind.clone(), context.primary_key().clone());
                return Err(Error::IllegalOwner { kind, key: key(), owner, reason });
            }
            let owner = context.owner_reference(primary);
            let owner = owner.ok_or_else(|| Error::NoUid(context.primary_key().clone()))?;
            add_owner(desired.meta_mut().owner_references.get_or_insert_default(), owner);
        } else if self.capabilities.can_create() || self.capabilities.can_update() {
            let annotations = self.annotations.of(context.primary_key(), context.primary_type());
            desired.meta_mut().annotations.get_or_insert_default().extend(annotations);
        }
        Ok(desired)
    }

    /// Whether `object` says that it is the primary's: by an owner reference to this very incarnation, or by annotations,
    /// which know no incarnation.
    pub(in crate::dependent) fn is_marked<P: KubeObject>(
        &self,
        object: &K,
        primary: &P,
        context: &Context<P>,
    ) -> bool {
        let uid = primary.meta().uid.as_deref();
        let owners = object.meta().owner_references.iter().flatten();
        let owned = uid.is_some() && owners.into_iter().any(|owner| Some(&*owner.uid) == uid);
        owned
            || self.annotations.primary_of(object, context.primary_type()).as_ref()
                == Some(context.primary_key())
    }

    /// Whose `object` is, as far as it says so.
    pub(super) fn whose<P: KubeObject>(&self, object: &K, context: &Context<P>) -> String {
        let meta = object.meta();
        let owners = meta.owner_references.iter().flatten();
        let owners: Vec<_> =
            owners.map(|owner| format!("{} {} (uid {})", owner.kind, owner.name, owner.uid)).collect();
        if !owners.is_empty() {
            return format!("it is owned by {}", owners.join(", "));
        }
        if let Some(primary) = self.annotations.primary_of(object, context.primary_type()) {
            return format!("its annotations say that it belongs to {} {primary}", context.primary_type());
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

fn add_owner(owners: &mut Vec<OwnerReference>, owner: OwnerReference) {
    if !owners.iter().any(|known| known.uid == owner.uid) {
        owners.push(owner);
    }
}

/// Why the garbage collector would not understand an owner reference, and delete the object at once.
fn illegal_owner(owner: &ObjectKey, child: &ObjectKey, namespaced: bool) -> Option<&'static str> {
    let namespace = owner.namespace()?;
    if !namespaced {
        return Some(
            "an owner in a namespace can't own an object without one; use `Capabilities::CRUD_NO_GC`, which marks it by annotations",
        );
    }
    // One without a namespace is refused when it is written.
    let elsewhere = child.namespace().is_some_and(|other| other != namespace);
    elsewhere.then_some(
        "an owner can't own an object in another namespace; use `Capabilities::CRUD_NO_GC`, which marks it by annotations",
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
        assert!(cluster_scoped.is_some_and(|why| why.contains("CRUD_NO_GC")));
    }

    #[test]
    fn an_owner_is_named_once() {
        let owner = OwnerReference { uid: "u".to_owned(), ..OwnerReference::default() };
        let mut owners = vec![owner.clone()];
        add_owner(&mut owners, owner);
        assert_eq!(owners.len(), 1);
    }
}
