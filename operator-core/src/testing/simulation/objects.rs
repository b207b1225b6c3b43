//! All objects of the cluster as they are, for what a test says about them.

use std::collections::BTreeSet;

use http::Request;
use kube::Client;
use serde_json::Value;

use super::{leases::is_question, record::Call};
use crate::resource::{KubeObject, ObjectKey, ResourceType};

/// Types that record what has happened, and not what is.
const NOT_STATE: [&str; 2] = ["events", "leases"];

/// An object with its type.
#[derive(Clone, Debug)]
pub(super) struct ListedObject {
    pub(super) group: String,
    pub(super) resource: String,
    pub(super) object: Value,
}

impl ListedObject {
    pub(super) fn name(&self) -> String {
        named(&self.resource, self.part("namespace"), self.part("name"))
    }

    pub(super) fn part(&self, name: &str) -> &str {
        self.object["metadata"][name].as_str().unwrap_or_default()
    }
}

/// The name of an object in stories and states.
pub(super) fn named(resource: &str, namespace: &str, name: &str) -> String {
    format!("{resource}/{namespace}/{name}")
}

/// The objects of a cluster at one moment, for [`Sim::invariant`](super::Sim::invariant): those of all types of which
/// at least one was written.
#[derive(Clone, Debug, Default)]
pub struct Objects(pub(super) Vec<ListedObject>);

impl Objects {
    /// All objects of a type, over all namespaces.
    ///
    /// # Panics
    /// If one of them is not of that type.
    #[must_use]
    pub fn all<K: KubeObject<DynamicType: Default>>(&self) -> Vec<K> {
        let of = ResourceType::of::<K>();
        let all = self.0.iter().filter(|found| found.group == of.group() && found.resource == of.plural());
        all.map(|found| {
            serde_json::from_value(found.object.clone()).expect("the server's answer is of its type")
        })
        .collect()
    }

    /// An object, if it exists.
    #[must_use]
    pub fn get<K: KubeObject<DynamicType: Default>>(&self, key: &ObjectKey) -> Option<K> {
        self.all::<K>().into_iter().find(|object| ObjectKey::of(object) == *key)
    }

    /// All collections in which anything was written: their paths, groups and resources.
    pub(super) fn written(calls: &[Call]) -> BTreeSet<(String, String, String)> {
        let written = calls.iter().filter(|call| call.target.verb.is_write());
        written
            .filter(|call| !NOT_STATE.contains(&call.target.resource.as_str()) && !is_question(&call.target))
            .map(|call| {
                let target = &call.target;
                (target.collection_path(), target.group.clone(), target.resource.clone())
            })
            .collect()
    }

    /// Reads these collections.
    pub(super) async fn read(
        client: &Client,
        collections: BTreeSet<(String, String, String)>,
    ) -> Result<Self, kube::Error> {
        let mut objects = Vec::new();
        for (path, group, resource) in collections {
            let request = Request::get(path).body(Vec::new()).map_err(kube::Error::HttpError)?;
            let mut list: Value = match client.request(request).await {
                // Its definition is gone, and with it all of its objects.
                Err(kube::Error::Api(status)) if status.code == 404 => continue,
                list => list?,
            };
            let items = list["items"].as_array_mut().map(std::mem::take).unwrap_or_default();
            objects.extend(items.into_iter().map(|object| ListedObject {
                group: group.clone(),
                resource: resource.clone(),
                object,
            }));
        }
        Ok(Self(objects))
    }

    /// The objects whose status is about another generation than their current one.
    pub(super) fn behind(&self) -> Vec<String> {
        let behind = |found: &&ListedObject| {
            let observed = found.object["status"]["observedGeneration"].as_i64();
            let generation = found.object["metadata"]["generation"].as_i64();
            observed.zip(generation).is_some_and(|(observed, generation)| observed != generation)
        };
        self.0.iter().filter(behind).map(ListedObject::name).collect()
    }
}
