//! Whether a server has shown only the requested part of the objects: one that doesn't know the parameter silently ignores
//! it, and shows all of them.

use kube::Client;
use serde::Deserialize;

use super::{Collection, failure::Failure, shell::fetch};
use crate::{
    cache::{
        config::InformerSettings,
        engine::{Decoded, WatchEvent},
        shard::{GATE, Shard},
    },
    resource::ResourceType,
};

/// The words for a server that ignores the parameter.
fn ignored() -> Failure {
    Failure::new(format!(
        "the API server ignores the shard selector, and would show all objects: start it, at version 1.36 or later, with \
         `--feature-gates={GATE}=true`, or leave `.shard_selector(…)` out"
    ))
}

impl Collection {
    /// An answer to a list, if it is about the requested part. A server says so with kinds of its own; of a custom
    /// resource only the objects themselves show it.
    pub(super) fn sharded(&self, body: String) -> Result<String, Failure> {
        #[derive(Deserialize)]
        struct List {
            items: Option<Vec<Object>>,
        }
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            uid: Option<String>,
            namespace: Option<String>,
        }
        let Some(shard) = &self.settings.shard else { return Ok(body) };
        let is_other = |object: &Object| {
            let Metadata { uid, namespace } = &object.metadata;
            uid.as_ref().is_some_and(|uid| !shard.includes(uid, namespace.as_deref()))
        };
        match serde_json::from_str::<List>(&body) {
            Ok(list) if list.items.iter().flatten().any(is_other) => Err(ignored()),
            // An answer that isn't a list is reported when it is read.
            Ok(_) | Err(_) => Ok(body),
        }
    }

    /// Checks that an event of a watch is about the requested part. A watch may be answered by another server than the
    /// list.
    pub(super) fn shown_by_shard(&self, event: &WatchEvent) -> Result<(), Failure> {
        let Some(shard) = &self.settings.shard else { return Ok(()) };
        let (WatchEvent::Applied(of) | WatchEvent::Deleted(of)) = event;
        match of {
            Decoded::Object { key, kept }
                if kept.uid().is_some_and(|uid| !shard.includes(uid, key.namespace())) =>
            {
                Err(ignored())
            }
            Decoded::Object { .. } | Decoded::Undecodable(_) => Ok(()),
        }
    }
}

/// Whether the server knows shard selectors: requests a list with an invalid one. A server that answers nevertheless
/// ignores selectors, and that is the error. A refusal means that it knows them, or is other trouble, which the informer
/// will have as well and report.
pub(crate) async fn knows_shards(
    client: &Client,
    kind: &ResourceType,
    namespace: Option<&str>,
) -> Result<(), String> {
    let mut settings = InformerSettings::new("shards", kind.clone());
    (settings.shard, settings.page_size) = (Some(Shard::unreadable()), 1);
    let namespace = namespace.filter(|_| kind.is_namespaced());
    let collection = Collection::new(settings, client.clone(), namespace);
    let Ok(request) = collection.list_metadata(None) else { return Ok(()) };
    match fetch(&collection, request).await {
        Ok(_) => Err(ignored().reason),
        Err(_) => Ok(()),
    }
}
