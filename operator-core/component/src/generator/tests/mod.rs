mod cache;
mod combined;
mod digests;
mod lookups;

use std::{
    error::Error as StdError,
    pin::Pin,
    sync::atomic::{AtomicUsize, Ordering},
};

use k8s_openapi::api::core::v1::ConfigMap;
use operator_core::{BoxError, Objects, Permanent};
use serde_json::{Value, json};

use super::*;

pub(super) use digests::any_json;

/// A ConfigMap `web` in the namespace `shop`.
pub(super) fn primary() -> ConfigMap {
    let mut primary = ConfigMap::default();
    primary.metadata.name = Some("web".to_owned());
    primary.metadata.namespace = Some("shop".to_owned());
    primary
}

pub(super) fn key(kind: &str, name: &str) -> LookupKey {
    LookupKey {
        api_version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: "shop".to_owned(),
        name: name.to_owned(),
    }
}

pub(super) fn json_of(objects: &Objects) -> Vec<Value> {
    objects.iter().map(|object| json!(object)).collect()
}

pub(super) fn is_permanent(error: &(dyn StdError + 'static)) -> bool {
    std::iter::successors(Some(error), |error| (*error).source()).any(|error| error.is::<Permanent>())
}

/// Counts what is read, and fails if it is told to.
pub(super) struct Counted {
    pub(super) objects: Objects,
    pub(super) reads: AtomicUsize,
    pub(super) fails: bool,
}

impl Counted {
    pub(super) fn of(yaml: &str) -> Self {
        let objects = Objects::from_yaml(yaml).expect("it is YAML");
        Self { objects, reads: AtomicUsize::new(0), fails: false }
    }

    pub(super) fn reads(&self) -> usize {
        self.reads.load(Ordering::Relaxed)
    }
}

impl Lookup for Counted {
    fn lookup<'a>(
        &'a self,
        key: &'a LookupKey,
    ) -> Pin<Box<dyn Future<Output = Result<Option<Value>, BoxError>> + Send + 'a>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        if self.fails {
            return Box::pin(async { Err("the server is busy".into()) });
        }
        self.objects.lookup(key)
    }
}
