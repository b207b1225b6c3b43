//! What dependents outside the cluster know beside their type: the event source that remembers for them, and which creates
//! may have happened although nobody said so.

use std::{collections::BTreeSet, sync::Arc};

use parking_lot::Mutex;

use super::Error;
use crate::{
    event_source::ExternalSource,
    reconciler::{BoxError, Context},
    resource::{KubeObject, ObjectKey},
};

/// The memory of a dependent outside the cluster.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The event source that remembers the resources, where there is one.
    pub(super) source: Option<Arc<str>>,
    unanswered: Unanswered,
}

impl Memory {
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

    /// Before a look: has the source fetch what it has not fetched yet for this primary, and in any case after a create whose
    /// outcome nobody knows.
    pub(super) async fn refresh<P: KubeObject, R: 'static>(
        &self,
        dependent: &str,
        context: &Context<P>,
    ) -> Result<(), BoxError> {
        let key = context.primary_key();
        let in_doubt = self.unanswered.in_doubt(key, |key| context.primary_cache().get(key).is_some());
        if let Some(source) = self.store::<P, R>(dependent, context)? {
            if in_doubt {
                source.refetch(key).await?;
            } else {
                source.fetch_now(key).await?;
            }
        }
        Ok(())
    }

    /// A create is about to be sent. Noted before it is, so that a run which is dropped while it waits leaves the note behind.
    pub(super) fn begin_create(&self, primary: &ObjectKey) {
        self.unanswered.begin(primary);
    }

    /// What was created is known.
    pub(super) fn created(&self, primary: &ObjectKey) {
        self.unanswered.settled(primary);
    }
}

/// Creates an object that keeps an id, where it is missing.
pub(super) async fn ensure_state<P: KubeObject, S: KubeObject>(
    state: &S,
    context: &Context<P>,
) -> Result<(), BoxError> {
    if context.get::<S>(&ObjectKey::of(state)).is_some() {
        return Ok(());
    }
    match context.resource_operations().create(state).await {
        Ok(_) => Ok(()),
        // It was created by an attempt whose answer was lost.
        Err(error) if error.is_conflict() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The primaries for which a create was begun and not answered well. Nearly always empty.
#[derive(Debug, Default)]
struct Unanswered(Mutex<BTreeSet<ObjectKey>>);

impl Unanswered {
    fn begin(&self, primary: &ObjectKey) {
        self.0.lock().insert(primary.clone());
    }

    /// The create was answered, or its resource was looked for and is known by now.
    fn settled(&self, primary: &ObjectKey) {
        self.0.lock().remove(primary);
    }

    /// Whether a create of this primary is in doubt. Primaries that are gone are forgotten on the way.
    fn in_doubt(&self, primary: &ObjectKey, exists: impl Fn(&ObjectKey) -> bool) -> bool {
        let mut keys = self.0.lock();
        keys.retain(|key| exists(key));
        keys.contains(primary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_create_is_in_doubt_until_it_is_answered_or_its_primary_goes() {
        let (a, b) = (ObjectKey::namespaced("shop", "a"), ObjectKey::namespaced("shop", "b"));
        let unanswered = Unanswered::default();
        assert!(!unanswered.in_doubt(&a, |_| true));
        unanswered.begin(&a);
        unanswered.begin(&b);
        assert!(unanswered.in_doubt(&a, |_| true));
        unanswered.settled(&a);
        assert!(!unanswered.in_doubt(&a, |_| true));
        assert!(!unanswered.in_doubt(&a, |key| *key != b));
        assert!(!unanswered.in_doubt(&b, |_| true), "what is gone is forgotten");
    }
}
