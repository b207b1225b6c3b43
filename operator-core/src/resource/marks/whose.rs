//! The decision.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{ControllerMarks, names::split_mark, value::digits};
use crate::resource::{MappingAnnotations, ObjectKey, ResourceType, is_owned_by};

/// The number of digits in each half of a mark.
const DIGITS: usize = 32;

/// The owner of an object, as one node sees it for one primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    /// This node's.
    Mine {
        /// Whether the node may remove it: the mark exists and fits.
        removable: bool,
    },
    /// Made by this node for an earlier incarnation of the primary, and left behind: it has no owner.
    Orphan,
    /// Owned by an earlier incarnation of the primary, so the garbage collector deletes it.
    Going,
    /// Made for this primary by a node that the controller no longer has for this kind, under a name that this node
    /// wants.
    OfFormerNode,
    /// Without any sign of an owner.
    Nobodys,
    /// Someone else's.
    Foreign,
}

/// The marks that one node puts on its objects for one primary, and by which it recognises these objects.
#[derive(Clone, Debug)]
pub(crate) struct Marks<'a> {
    pub(crate) of: &'a ControllerMarks,
    /// The values of the labels.
    pub(crate) node: String,
    pub(crate) owner_value: String,
    /// Whether the reconciler calls the dependent in addition to the declared ones.
    pub(crate) beside: bool,
    /// Whether its objects keep the ids of records: nothing else may write or remove such objects.
    pub(crate) keeps_ids: bool,
    pub(crate) owner: ObjectKey,
    pub(crate) owner_type: &'a ResourceType,
    pub(crate) uid: &'a str,
    /// The kind of the node's objects.
    pub(crate) kind: &'a ResourceType,
    /// The mapping annotations of the node.
    pub(crate) annotations: &'a MappingAnnotations,
    pub(crate) field_manager: &'a str,
}

impl Marks<'_> {
    /// Marks an object that this node writes; name and namespace are already set.
    pub(crate) fn put_on(&self, meta: &mut ObjectMeta) {
        let mark = self.mark(&self.of.controller, &self.node, meta);
        let labels = meta.labels.get_or_insert_default();
        labels.insert(self.of.names.controller.to_string(), self.of.controller.clone());
        labels.insert(self.of.names.node.to_string(), self.node.clone());
        labels.insert(self.of.names.owner.to_string(), self.owner_value.clone());
        meta.annotations.get_or_insert_default().insert(self.of.names.mark.to_string(), mark);
    }

    /// The owner of the object; `wanted` if the node wants an object of this very name and kind.
    pub(crate) fn whose(&self, meta: &ObjectMeta, wanted: bool) -> Whose {
        let references = meta.owner_references.as_deref().unwrap_or_default();
        let referred = references.iter().any(|reference| reference.uid == self.uid);
        let is_earlier = |reference: &OwnerReference| self.is_earlier(meta, reference);
        let others = || references.iter().filter(|reference| reference.uid != self.uid);
        if others().any(|other| other.controller == Some(true) && !is_earlier(other)) {
            return Whose::Foreign;
        }
        if !referred && others().any(is_earlier) {
            return Whose::Going;
        }
        let owner = self.label(meta, &self.of.names.owner);
        let node = self.label(meta, &self.of.names.node);
        let controller = self.label(meta, &self.of.names.controller);
        let is_our_controller = controller.is_some_and(|name| self.of.is_us(name));
        if referred || owner == Some(&*self.owner_value) {
            if controller.is_some() && !is_our_controller {
                return Whose::Foreign;
            }
            return match node {
                Some(node) if node == self.node && is_our_controller => {
                    let removable = self.is_removable(meta, node);
                    let is_others = !removable && self.holds_ids_of_others(meta, node);
                    if is_others { Whose::Foreign } else { Whose::Mine { removable } }
                }
                Some(node) if node != self.node => {
                    let is_former = is_our_controller && !self.is_declared(node);
                    let is_free = wanted && is_former && !self.holds_ids_of_others(meta, node);
                    if is_free { Whose::OfFormerNode } else { Whose::Foreign }
                }
                _ if wanted && self.has_written(meta) => Whose::Mine { removable: false },
                _ => Whose::Foreign,
            };
        }
        if !references.is_empty() {
            return Whose::Foreign;
        }
        match (controller, node, owner) {
            (Some(_), Some(node), Some(_)) if is_our_controller && node == self.node => {
                if self.is_of_earlier_incarnation(meta) { Whose::Orphan } else { Whose::Foreign }
            }
            (None, None, None) => self.of_the_unlabelled(meta, wanted),
            _ => Whose::Foreign,
        }
    }

    /// Whether it was made for this primary by the node with this label's value, and by nothing else.
    pub(crate) fn is_removable(&self, meta: &ObjectMeta, node: &str) -> bool {
        let references = meta.owner_references.iter().flatten();
        let is_controlled =
            |reference: &OwnerReference| reference.controller == Some(true) && reference.uid != self.uid;
        let controller = self.label(meta, &self.of.names.controller).filter(|name| self.of.is_us(name));
        let mark = controller.map(|controller| self.mark(controller, node, meta));
        !references.into_iter().any(is_controlled)
            && self.label(meta, &self.of.names.owner) == Some(&*self.owner_value)
            && mark.is_some()
            && self.found_mark(meta) == mark.as_deref()
    }

    /// The node that has made it for this primary, and nothing else.
    pub(crate) fn maker<'m>(&self, meta: &'m ObjectMeta) -> Option<&'m str> {
        self.label(meta, &self.of.names.node).filter(|node| self.is_removable(meta, node))
    }

    /// The same if the controller no longer has such a node of this kind.
    pub(crate) fn former_node<'m>(&self, meta: &'m ObjectMeta) -> Option<&'m str> {
        let node = self.label(meta, &self.of.names.node).filter(|node| !self.is_declared(node))?;
        self.is_removable(meta, node).then_some(node)
    }

    /// Whether the controller has a node with that label's value that makes such objects.
    fn is_declared(&self, node: &str) -> bool {
        if self.keeps_ids { self.of.nodes.has_records(node) } else { self.of.nodes.has_of(node, self.kind) }
    }

    /// Whether the object, of the node with this label's value, keeps the ids of records and this node's objects don't.
    fn holds_ids_of_others(&self, meta: &ObjectMeta, node: &str) -> bool {
        !self.keeps_ids && Marks { keeps_ids: true, ..self.clone() }.is_removable(meta, node)
    }

    /// The merge patch of the metadata by which an object with `actual` gets the marks, and the owner reference or mapping
    /// annotations, of one that is desired with `desired`; `None` if it has them.
    pub(crate) fn upkeep(&self, desired: &ObjectMeta, actual: &ObjectMeta) -> Option<Value> {
        let names_us = |owner: &&OwnerReference| owner.uid == self.uid;
        let wanted = desired.owner_references.iter().flatten().find(names_us);
        let stands = self.of.names.stand_as(desired, actual);
        let is_owned =
            actual.owner_references.iter().flatten().any(|owner| names_us(&owner)) == wanted.is_some();
        // The usual case, in which nothing is built.
        let same = |key| annotation(desired, key) == annotation(actual, key);
        if stands && is_owned && self.annotations.keys().all(same) {
            return None;
        }
        let mapping = self.annotations.of(&self.owner, self.owner_type);
        let mapped = |meta: &ObjectMeta, (key, value): &(String, String)| {
            annotation(meta, key).filter(|known| *known == value).cloned()
        };
        let differs = |entry: &&(String, String)| mapped(actual, entry) != mapped(desired, entry);
        if stands && is_owned && !mapping.iter().any(|entry| differs(&entry)) {
            return None;
        }
        let annotations =
            mapping.iter().filter(differs).map(|entry| (entry.0.clone(), json!(mapped(desired, entry))));
        let mut metadata = json!({ "annotations": annotations.collect::<Map<_, _>>() });
        if !stands {
            metadata["labels"] = self.of.names.labels_in(desired);
            metadata["annotations"][&*self.of.names.mark] = json!(self.of.names.mark_in(desired));
        }
        if !is_owned {
            let others = actual.owner_references.iter().flatten().filter(|owner| owner.uid != self.uid);
            metadata["ownerReferences"] = json!(others.chain(wanted).collect::<Vec<_>>());
        }
        Some(json!({ "metadata": metadata }))
    }

    /// Whether a node that the controller has made it, according to its labels.
    pub(crate) fn is_of_controller(&self, meta: &ObjectMeta) -> bool {
        let is_us = self.label(meta, &self.of.names.controller).is_some_and(|name| self.of.is_us(name));
        is_us
            && self.label(meta, &self.of.names.node).is_some_and(|node| self.of.nodes.has_of(node, self.kind))
    }

    /// What has made it, according to its labels.
    pub(crate) fn marked_by(&self, meta: &ObjectMeta) -> Option<String> {
        let controller = self.label(meta, &self.of.names.controller)?;
        let of = |key| self.label(meta, key).unwrap_or("?");
        let (node, owner) = (of(&self.of.names.node), of(&self.of.names.owner));
        Some(format!("node `{node}` of controller `{controller}`, for the primary with uid {owner},"))
    }

    /// Of an object that lost its labels, or never had any: its mapping annotations name the owner, or nothing does.
    fn of_the_unlabelled(&self, meta: &ObjectMeta, wanted: bool) -> Whose {
        match self.annotations.primary_in(meta, self.owner_type) {
            Some(primary) if primary == self.owner && wanted && self.has_written(meta) => {
                Whose::Mine { removable: false }
            }
            Some(_) => Whose::Foreign,
            None => Whose::Nobodys,
        }
    }

    /// Whether the reference means an earlier incarnation of the primary.
    fn is_earlier(&self, meta: &ObjectMeta, reference: &OwnerReference) -> bool {
        // A reference names an owner in the object's own namespace, or one without.
        let is_there =
            self.owner.namespace().is_none() || self.owner.namespace() == meta.namespace.as_deref();
        is_there
            && reference.uid != self.uid
            && reference.name == self.owner.name()
            && is_owned_by(reference, self.owner_type)
    }

    fn has_written(&self, meta: &ObjectMeta) -> bool {
        let mut managers = meta.managed_fields.iter().flatten().filter_map(|entry| entry.manager.as_deref());
        managers.any(|manager| manager == self.field_manager)
    }

    fn is_of_earlier_incarnation(&self, meta: &ObjectMeta) -> bool {
        let found = self.found_mark(meta).and_then(|mark| mark.split_once('.'));
        let controller = self.label(meta, &self.of.names.controller).unwrap_or_default();
        let right = || self.half(controller, &self.node, meta, &self.named_owner());
        found.is_some_and(|(_, of_the_name)| of_the_name == right())
    }

    fn label<'m>(&self, meta: &'m ObjectMeta, key: &str) -> Option<&'m str> {
        meta.labels.as_ref()?.get(key).map(String::as_str)
    }

    fn found_mark<'m>(&self, meta: &'m ObjectMeta) -> Option<&'m str> {
        self.of.names.mark_in(meta).map(|mark| split_mark(mark).0)
    }

    /// Two hashes: one with the primary's uid, and one with its name, by which a later incarnation recognises it.
    fn mark(&self, controller: &str, node: &str, meta: &ObjectMeta) -> String {
        let half = |owner: &[&str]| self.half(controller, node, meta, owner);
        format!("{}.{}", half(&[self.uid]), half(&self.named_owner()))
    }

    fn named_owner(&self) -> [&str; 4] {
        let namespace = self.owner.namespace().unwrap_or_default();
        [self.owner_type.group(), self.owner_type.kind(), namespace, self.owner.name()]
    }

    fn half(&self, controller: &str, node: &str, meta: &ObjectMeta, owner: &[&str]) -> String {
        let own = [
            self.kind.group(),
            self.kind.kind(),
            meta.namespace.as_deref().unwrap_or_default(),
            meta.name.as_deref().unwrap_or_default(),
        ];
        // An object that a reconciler makes beside its declared nodes is never taken for one of a former node.
        let declared = match self.keeps_ids {
            true => "ids",
            false if node == self.node && self.beside => "beside",
            false => "node",
        };
        let mut hash = Sha256::new();
        for part in [controller, declared, node].iter().chain(owner).chain(&own) {
            // Each with its length: different lists of parts have different texts.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        digits(hash.finalize(), DIGITS)
    }
}

fn annotation<'m>(meta: &'m ObjectMeta, key: &str) -> Option<&'m String> {
    meta.annotations.as_ref()?.get(key)
}
