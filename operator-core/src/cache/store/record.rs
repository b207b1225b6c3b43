//! The data that a bounded store always keeps about an object.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference, Time};

use crate::{cache::text::TextObject, resource::ObjectKey};

/// The part of an object's metadata that the library uses, and its labels, by which lists are searched. Name and
/// namespace are in its key. Annotations are left out: they can be as large as the object itself.
#[derive(Clone, Debug)]
pub(super) struct ObjectRecord {
    uid: Option<Box<str>>,
    pub(super) version: Option<Box<str>>,
    generation: Option<i64>,
    deletion_timestamp: Option<Time>,
    finalizers: Option<Vec<String>>,
    owner_references: Option<Vec<OwnerReference>>,
    /// Not as a map, whose smallest node has room for eleven.
    labels: Option<Box<[Label]>>,
    /// The server reported that the object doesn't exist, and the watch hasn't yet.
    pub(super) hidden: bool,
}

/// A name and a value.
type Label = (Box<str>, Box<str>);

fn label((name, value): (String, String)) -> Label {
    (name.into_boxed_str(), value.into_boxed_str())
}

impl ObjectRecord {
    pub(super) fn of(object: &TextObject) -> Self {
        Self {
            uid: object.uid().map(Box::from),
            version: object.version().map(Box::from),
            generation: object.generation(),
            deletion_timestamp: object.marked_at(),
            finalizers: object.finalizers(),
            owner_references: object.owners(),
            labels: object.labels().map(|labels| labels.into_iter().map(label).collect()),
            hidden: false,
        }
    }

    pub(super) fn meta(&self, key: &ObjectKey) -> ObjectMeta {
        ObjectMeta {
            name: Some(key.name().to_owned()),
            namespace: key.namespace().map(str::to_owned),
            uid: self.uid.as_deref().map(str::to_owned),
            resource_version: self.version.as_deref().map(str::to_owned),
            generation: self.generation,
            deletion_timestamp: self.deletion_timestamp.clone(),
            finalizers: self.finalizers.clone(),
            owner_references: self.owner_references.clone(),
            labels: self.labels.as_deref().map(|labels| {
                labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
            }),
            ..ObjectMeta::default()
        }
    }
}
