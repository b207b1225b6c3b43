//! Whether a server has shown only the part of the objects that was asked for: one that doesn't know the parameter ignores
//! it without a word, and then shows all of them.

use kube::Client;
use serde::{Deserialize, de::IgnoredAny};

use super::{Collection, failure::Failure, shell::fetch};
use crate::{
    cache::{
        config::Settings,
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
    /// An answer to a list, if it is about the part that was asked for: only then the server repeats the selector.
    pub(super) fn sharded(&self, body: String) -> Result<String, Failure> {
        #[derive(Deserialize)]
        struct List {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Metadata {
            shard_info: Option<IgnoredAny>,
        }
        if self.shard.is_none() {
            return Ok(body);
        }
        match serde_json::from_str::<List>(&body) {
            Ok(list) if list.metadata.shard_info.is_none() => Err(ignored()),
            // What is no list at all is found out when it is read.
            Ok(_) | Err(_) => Ok(body),
        }
    }

    /// What a watch has shown, if it is about the part that was asked for. A watch may be answered by another server
    /// than the list.
    pub(super) fn shown_by_shard(&self, event: &WatchEvent) -> Result<(), Failure> {
        let Some(shard) = &self.shard else { return Ok(()) };
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

/// Whether the server knows shard selectors: asks for one object. The error says that it doesn't. Trouble of other kinds
/// is no answer to this question; the informer will have it as well, and says so.
pub(crate) async fn knows_shards(
    client: &Client,
    kind: &ResourceType,
    namespace: Option<&str>,
    shard: &Shard,
) -> Result<(), String> {
    let mut settings = Settings::new("shards", kind.clone());
    (settings.shard, settings.page_size) = (Some(shard.clone()), 1);
    let namespace = namespace.filter(|_| kind.is_namespaced());
    let collection = Collection::new(&settings, client.clone(), namespace);
    // Not of metadata only: that form of a list never says which part it is.
    let Ok(request) = collection.list(None, true) else { return Ok(()) };
    match fetch(&collection, request).await {
        Ok(body) => collection.sharded(body).map(drop).map_err(|failure| failure.reason),
        Err(_) => Ok(()),
    }
}
