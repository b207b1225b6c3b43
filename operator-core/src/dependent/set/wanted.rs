//! The wanted objects of a run, with their policies and in their order.

use std::collections::BTreeMap;

use kube::core::DynamicObject;

use super::{
    kinds::Ordered,
    objects::{Objects, SetObject},
    policies::{Policies, Rules},
    stages::{Wave, stages},
};
use crate::resource::{KindName, ObjectKey, ResourceType};

/// What one node wants in a run.
pub(super) struct Wanted {
    pub(super) objects: Vec<WantedObject>,
    /// Their positions, in their order.
    pub(super) waves: Vec<Wave>,
}

/// One of the objects.
pub(super) struct WantedObject {
    pub(super) kind: KindName,
    pub(super) version: String,
    pub(super) object: DynamicObject,
    pub(super) policies: Policies,
}

impl Wanted {
    /// These objects, or all that is wrong with them.
    pub(super) fn of(
        objects: Objects,
        rules: &Rules<'_>,
        only: Option<&[ResourceType]>,
    ) -> Result<Self, Vec<String>> {
        let read = objects.read(rules);
        let faults = super::faults::faults(&read, only);
        if !faults.is_empty() {
            return Err(faults);
        }
        for warning in super::faults::warnings(&read) {
            tracing::warn!("{warning}");
        }
        let objects: Vec<_> = read.into_iter().map(WantedObject::of).collect();
        let ordered: Vec<_> = objects.iter().map(WantedObject::ordered).collect();
        let waves = stages(&ordered);
        drop(ordered);
        Ok(Self { objects, waves })
    }

    /// The kinds, each with the version in which its first object is wanted.
    pub(super) fn kinds(&self) -> BTreeMap<KindName, String> {
        let mut kinds = BTreeMap::new();
        for object in &self.objects {
            kinds.entry(object.kind.clone()).or_insert_with(|| object.version.clone());
        }
        kinds
    }
}

impl WantedObject {
    fn of(read: SetObject) -> Self {
        let ordered = Ordered::new(&read.object, &read.reading.policies);
        let (kind, version) = (KindName::new(ordered.group, ordered.kind), ordered.version.to_owned());
        Self { kind, version, object: read.object, policies: read.reading.policies }
    }

    fn ordered(&self) -> Ordered<'_> {
        Ordered::new(&self.object, &self.policies)
    }

    /// Its key, if its kind has namespaces and it names none: in the primary's.
    pub(super) fn key(&self, is_namespaced: bool, primary: &ObjectKey) -> ObjectKey {
        let key = ObjectKey::in_meta(&self.object.metadata);
        let namespace = key.namespace().or_else(|| primary.namespace()).filter(|_| is_namespaced);
        ObjectKey::new(key.cluster().clone(), namespace, key.name())
    }

    /// The object in errors.
    pub(super) fn told(&self) -> String {
        super::objects::described(&self.object)
    }
}
