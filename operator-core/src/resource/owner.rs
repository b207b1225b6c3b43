//! Owner references: how a child says which object it belongs to.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};

use super::{KubeObject, ResourceType};

/// A reference to `owner` for a child's `metadata.ownerReferences`: the garbage collector deletes the child
/// with its owner. `None` if `owner` has no uid, which means that it wasn't read from a cluster.
///
/// The reference names the owner as the managing controller and does not block its deletion.
pub(crate) fn owner_reference<K: KubeObject>(owner: &K, owner_type: &ResourceType) -> Option<OwnerReference> {
    owner_in(owner.meta(), owner_type)
}

/// The same for an object with this metadata.
pub(crate) fn owner_in(meta: &ObjectMeta, owner_type: &ResourceType) -> Option<OwnerReference> {
    Some(OwnerReference {
        api_version: owner_type.api_version(),
        kind: owner_type.kind().to_owned(),
        name: meta.name.clone()?,
        uid: meta.uid.clone()?,
        controller: Some(true),
        block_owner_deletion: None,
    })
}

/// Whether `reference` points to an object of `owner_type`. The version is ignored: a reference survives a new version
/// of the owner's kind.
#[must_use]
pub(crate) fn is_owned_by(reference: &OwnerReference, owner_type: &ResourceType) -> bool {
    let group = reference.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    reference.kind == owner_type.kind() && group == owner_type.group()
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};

    use super::*;

    fn reference(api_version: &str, kind: &str) -> OwnerReference {
        OwnerReference { api_version: api_version.into(), kind: kind.into(), ..OwnerReference::default() }
    }

    #[test]
    fn an_owner_is_told_by_group_and_kind_and_not_by_version() {
        let deployment = ResourceType::of::<Deployment>();
        assert!(is_owned_by(&reference("apps/v1", "Deployment"), &deployment));
        assert!(is_owned_by(&reference("apps/v2beta1", "Deployment"), &deployment));
        assert!(!is_owned_by(&reference("extensions/v1", "Deployment"), &deployment));
        assert!(!is_owned_by(&reference("apps/v1", "ReplicaSet"), &deployment));
        assert!(is_owned_by(&reference("v1", "Pod"), &ResourceType::of::<Pod>()));
    }
}
