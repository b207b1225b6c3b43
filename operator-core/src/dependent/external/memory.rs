//! The memory about resources: the event source that knows them, and the creates that may have happened without an
//! answer.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::Mutex;

use crate::{
    dependent::Error,
    event_source::ExternalSource,
    reconciler::{BoxError, Context},
    resource::{KubeObject, ObjectKey},
};

/// The memory of a custom dependent.
#[derive(Debug)]
pub(in crate::dependent) struct Memory<K> {
    /// The event source that remembers the resources, if there is one.
    pub(in crate::dependent) source: Option<Arc<str>>,
    /// What was to be created for a primary, by its key, and was not answered successfully. Nearly always empty.
    unanswered: Mutex<BTreeMap<ObjectKey, BTreeSet<K>>>,
}

impl<K> Default for Memory<K> {
    fn default() -> Self {
        Self { source: None, unanswered: Mutex::default() }
    }
}

impl<K: Ord + Clone> Memory<K> {
    /// The source that remembers the resources.
    pub(super) fn store<P: KubeObject, R: 'static>(
        &self,
        dependent: &str,
        context: &Context<P>,
    ) -> Result<Option<ExternalSource<R>>, BoxError> {
        let Some(name) = self.source.as_deref() else { return Ok(None) };
        let unknown =
            || Error::UnknownEventSource { dependent: dependent.to_owned(), event_source: name.to_owned() };
        Ok(Some(context.external_source(Some(name)).ok_or_else(unknown)?))
    }

    /// Before a look: has the source fetch what it has not fetched yet for this primary, and in any case after a create
    /// whose outcome is unknown.
    pub(super) async fn refresh<P: KubeObject, R: 'static>(
        &self,
        dependent: &str,
        context: &Context<P>,
    ) -> Result<(), BoxError> {
        let key = context.primary_key();
        let in_doubt = self.in_doubt(key, |key| context.primary_cache().get(key).is_some());
        if let Some(source) = self.store::<P, R>(dependent, context)? {
            if in_doubt {
                source.refetch(key).await?;
            } else {
                source.fetch_now(key).await?;
            }
        }
        Ok(())
    }

    /// A create is about to be sent. Recorded before that, so that a run which is dropped while it waits leaves the
    /// record behind.
    pub(super) fn begin_create(&self, primary: &ObjectKey, resource: &K) {
        self.unanswered.lock().entry(primary.clone()).or_default().insert(resource.clone());
    }

    /// These resources exist: their creates were answered, or they were found.
    pub(super) fn found<'k>(&self, primary: &ObjectKey, resources: impl IntoIterator<Item = &'k K>)
    where
        K: 'k,
    {
        let mut all = self.unanswered.lock();
        let Some(keys) = all.get_mut(primary) else { return };
        for resource in resources {
            keys.remove(resource);
        }
        if keys.is_empty() {
            all.remove(primary);
        }
    }

    /// The number of primaries that don't exist and have creates in doubt.
    pub(in crate::dependent) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.unanswered.lock().keys().filter(|primary| !exists(primary)).count()
    }

    /// Everything that is desired for this primary exists.
    pub(super) fn settle(&self, primary: &ObjectKey) {
        self.unanswered.lock().remove(primary);
    }

    /// Whether a create of this primary is in doubt. Primaries that are gone are forgotten as well.
    fn in_doubt(&self, primary: &ObjectKey, exists: impl Fn(&ObjectKey) -> bool) -> bool {
        let mut all = self.unanswered.lock();
        if all.is_empty() {
            return false;
        }
        all.retain(|key, _| exists(key));
        all.contains_key(primary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_create_is_in_doubt_until_it_is_answered_or_its_primary_goes() {
        let (a, b) = (ObjectKey::namespaced("shop", "a"), ObjectKey::namespaced("shop", "b"));
        let memory = Memory::default();
        assert!(!memory.in_doubt(&a, |_| true));
        memory.begin_create(&a, &());
        memory.begin_create(&b, &());
        assert!(memory.in_doubt(&a, |_| true));
        memory.settle(&a);
        assert!(!memory.in_doubt(&a, |_| true));
        assert!(!memory.in_doubt(&a, |key| *key != b));
        assert!(!memory.in_doubt(&b, |_| true), "what is gone is forgotten");
    }

    #[test]
    fn one_of_several_that_is_found_says_nothing_of_the_others() {
        let (primary, memory) = (ObjectKey::namespaced("shop", "a"), Memory::default());
        memory.begin_create(&primary, &1);
        memory.begin_create(&primary, &2);
        memory.found(&primary, &[1, 3]);
        assert!(memory.in_doubt(&primary, |_| true));
        memory.found(&primary, &[2]);
        assert!(!memory.in_doubt(&primary, |_| true));
    }
}
