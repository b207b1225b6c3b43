//! Earlier states of collections, for answers of a cache that lags behind.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use http::{Request, Uri};
use kube::client::Body;
use parking_lot::Mutex;
use serde::Deserialize;

use super::RequestTarget;

/// The number of states of a collection that are remembered.
const STATES: usize = 64;

/// Lists and versions, by collection; the newest comes last.
#[derive(Debug, Default)]
pub(super) struct Memory(Mutex<BTreeMap<(String, Option<String>), History>>);

#[derive(Debug, Default)]
struct History {
    lists: VecDeque<Bytes>,
    versions: VecDeque<String>,
}

#[derive(Deserialize)]
struct Versioned {
    metadata: Metadata,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    resource_version: String,
}

fn remember<T: PartialEq>(states: &mut VecDeque<T>, state: T) {
    if states.back() != Some(&state) {
        states.push_back(state);
        while states.len() > STATES {
            states.pop_front();
        }
    }
}

/// The one that is `ago` behind the newest, or the oldest there is.
fn behind<T: Clone>(states: &VecDeque<T>, ago: usize) -> Option<T> {
    let newest = states.len().checked_sub(1)?;
    (newest > 0 && ago > 0).then(|| states[newest.saturating_sub(ago)].clone())
}

fn key(target: &RequestTarget) -> (String, Option<String>) {
    (target.collection_path(), target.namespace.clone())
}

impl Memory {
    /// A list was answered.
    pub(super) fn listed(&self, target: &RequestTarget, content: &Bytes) {
        let mut histories = self.0.lock();
        let history = histories.entry(key(target)).or_default();
        remember(&mut history.lists, content.clone());
        if let Ok(list) = serde_json::from_slice::<Versioned>(content) {
            remember(&mut history.versions, list.metadata.resource_version);
        }
    }

    /// A watch has shown this version.
    pub(super) fn watched(&self, target: &RequestTarget, version: &str) {
        let mut histories = self.0.lock();
        remember(&mut histories.entry(key(target)).or_default().versions, version.to_owned());
    }

    /// An older list.
    pub(super) fn older(&self, target: &RequestTarget, ago: usize) -> Option<Bytes> {
        behind(&self.0.lock().get(&key(target))?.lists, ago)
    }

    /// Lets a watch start at an older version; false if none is known, or it names no version.
    pub(super) fn rewind(&self, target: &RequestTarget, request: &mut Request<Body>, ago: usize) -> bool {
        let Some(older) = self.0.lock().get(&key(target)).and_then(|history| behind(&history.versions, ago))
        else {
            return false;
        };
        let uri = request.uri().to_string();
        let Some((path, query)) = uri.split_once('?') else { return false };
        let mut found = false;
        let pairs: Vec<String> = query
            .split('&')
            .map(|pair| match pair.split_once('=') {
                Some(("resourceVersion", version)) if !version.is_empty() && version != older => {
                    found = true;
                    format!("resourceVersion={older}")
                }
                _ => pair.to_owned(),
            })
            .collect();
        let Ok(rewound) = format!("{path}?{}", pairs.join("&")).parse::<Uri>() else { return false };
        if found {
            *request.uri_mut() = rewound;
        }
        found
    }
}
