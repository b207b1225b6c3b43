//! All sources of secondaries of one controller, found by type and by name.

use std::{
    any::{Any, TypeId},
    fmt,
    sync::Arc,
};

use super::{EventSource, SecondarySource};
use crate::resource::KubeObject;

struct Entry {
    object_type: TypeId,
    source: Arc<dyn EventSource>,
    /// The source again, with its type still known to whoever asks for it.
    typed: Box<dyn Any + Send + Sync>,
}

/// The sources of secondaries of one controller, in the order in which they were declared.
#[derive(Default)]
pub struct Sources {
    entries: Vec<Entry>,
}

impl Sources {
    /// Adds a source.
    pub fn add<K: KubeObject>(&mut self, source: SecondarySource<K>) {
        let informer = Arc::new(source.informer().clone());
        self.entries.push(Entry {
            object_type: TypeId::of::<K>(),
            source: informer,
            typed: Box::new(source),
        });
    }

    /// The sources of objects of type `K`.
    pub fn of_type<K: KubeObject>(&self) -> impl Iterator<Item = &SecondarySource<K>> {
        let object_type = TypeId::of::<K>();
        let entries = self.entries.iter().filter(move |entry| entry.object_type == object_type);
        entries.filter_map(|entry| entry.typed.downcast_ref())
    }

    /// The source of that name, if it is one of objects of type `K`.
    #[must_use]
    pub fn named<K: KubeObject>(&self, name: &str) -> Option<&SecondarySource<K>> {
        self.of_type().find(|source| source.informer().name() == name)
    }

    /// All sources, whatever their type.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn EventSource>> {
        self.entries.iter().map(|entry| &entry.source)
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().map(|source| source.name())).finish()
    }
}
