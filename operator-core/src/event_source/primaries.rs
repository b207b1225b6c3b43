//! What event sources may know of the primaries.

use std::any::Any;

use crate::{
    cache::Informer,
    resource::{KubeObject, ObjectKey},
};

/// The primaries of a controller as its event sources see them: their keys, whatever their type. Answers to JOSDK's
/// `IndexerResourceCache` of the primary, got from its `EventSourceContext`.
///
/// Reads take no lock that is held while events are handed on, so mappers may read.
pub trait Primaries: Any + Send + Sync {
    /// The keys of all primaries, sorted.
    fn keys(&self) -> Vec<ObjectKey>;

    /// The keys of the primaries for which the named index gives `value`, sorted. The index is declared by
    /// `ControllerBuilder::index`; an unknown one has nothing.
    fn by_index(&self, index: &str, value: &str) -> Vec<ObjectKey>;
}

impl<P: KubeObject> Primaries for Informer<P> {
    fn keys(&self) -> Vec<ObjectKey> {
        Self::keys(self)
    }

    fn by_index(&self, index: &str, value: &str) -> Vec<ObjectKey> {
        Self::by_index(self, index, value).iter().map(|primary| ObjectKey::of(&**primary)).collect()
    }
}

/// Nobody: what the primary's own source, which comes first, is built with.
pub(crate) struct NoPrimaries;

impl Primaries for NoPrimaries {
    fn keys(&self) -> Vec<ObjectKey> {
        Vec::new()
    }

    fn by_index(&self, _: &str, _: &str) -> Vec<ObjectKey> {
        Vec::new()
    }
}
