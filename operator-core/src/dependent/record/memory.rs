//! What this process knows about records besides the written data: an id whose write hasn't succeeded yet, creates
//! without an answer, and the last state that the other system has shown.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::step::Doubt;
use crate::{
    environment::Now,
    event_source::{PrimaryScope, PrimaryScopes, ScopeSlot},
    resource::ObjectKey,
};

/// The records of one node. The knowledge about them is kept with their primaries.
pub(super) struct Memory<R> {
    slot: ScopeSlot,
    /// The scopes of the running controller.
    scopes: Mutex<Weak<PrimaryScopes>>,
    of: PhantomData<fn() -> R>,
}

/// The records of one primary, by their keys.
type Records<R> = BTreeMap<String, Known<R>>;

/// One record.
pub(super) struct Known<R> {
    /// The id, with the id that was written when this one became known: any other that has been written since is newer.
    pub(super) id: Option<ExternalId>,
    /// A create was sent, and was not answered.
    pub(super) unanswered: bool,
    /// When the attempt began whose create wasn't sent, even if its note may be written.
    pub(super) unsent: Option<String>,
    /// Everything that an earlier process may have done is known.
    pub(super) settled: bool,
    /// Since when an expected record has been missing.
    pub(super) missing_since: Option<Now>,
    /// The state that the other system showed last.
    pub(super) seen: Option<Arc<R>>,
    /// The id of a record that was deleted and is gone, even if a stale read still shows it.
    pub(super) gone: Option<String>,
    /// The other system has reported a change since.
    pub(super) stale: bool,
    /// The id by which it was seen.
    pub(super) by: Option<String>,
}

/// An id that the other system has returned, or a search has found.
#[derive(Clone, Debug)]
pub(super) struct ExternalId {
    pub(super) id: String,
    pub(super) before: Option<String>,
}

impl<R> Default for Memory<R> {
    fn default() -> Self {
        Self { slot: ScopeSlot::unique(), scopes: Mutex::default(), of: PhantomData }
    }
}

impl<R> Default for Known<R> {
    fn default() -> Self {
        Self {
            id: None,
            unanswered: false,
            unsent: None,
            settled: false,
            missing_since: None,
            seen: None,
            gone: None,
            stale: false,
            by: None,
        }
    }
}

impl<R> Known<R> {
    /// The id, and whether it still has to be written. `written` is the id that is written now.
    pub(super) fn id(&self, written: Option<&str>) -> Option<(String, bool)> {
        match (&self.id, written) {
            // Someone has written another id since, on purpose.
            (Some(found), Some(written)) if found.before.as_deref() != Some(written) => {
                Some((written.to_owned(), true))
            }
            (Some(found), _) => Some((found.id.clone(), false)),
            (None, written) => written.map(|id| (id.to_owned(), true)),
        }
    }

    /// Whether a record may exist that nobody here knows of. `noted`: a note of an attempt is open.
    pub(super) fn doubt(&self, several: bool, noted: bool) -> Doubt {
        match self.unanswered || noted {
            true => Doubt::Attempted,
            false if self.settled || several => Doubt::No,
            false => Doubt::Unknown,
        }
    }
}

impl<R: Send + Sync + 'static> Memory<R> {
    /// The controller starts, with these scopes.
    pub(super) fn begin(&self, scopes: &Arc<PrimaryScopes>) {
        *self.scopes.lock() = Arc::downgrade(scopes);
    }

    /// Lets `read` read and change what is known about a record. Nothing is known for a run that has outlived its
    /// primary.
    pub(super) fn of<T>(
        &self,
        scope: PrimaryScope<'_>,
        key: &str,
        read: impl FnOnce(&mut Known<R>) -> T,
    ) -> T {
        scope
            .slot(self.slot)
            .change_anyway(|records: &mut Records<R>| read(records.entry(key.to_owned()).or_default()))
    }

    /// Forgets everything about a record.
    pub(super) fn forget(&self, scope: PrimaryScope<'_>, key: &str) {
        scope.slot(self.slot).look(|records: &mut Records<R>| records.remove(key));
    }

    /// The keys of a primary's records.
    pub(super) fn keys(&self, scope: PrimaryScope<'_>) -> BTreeSet<String> {
        scope
            .slot(self.slot)
            .look(|records: &mut Records<R>| records.keys().cloned().collect())
            .unwrap_or_default()
    }

    /// The states of a primary's records that the other system showed last, by key.
    pub(super) fn seen(&self, scope: PrimaryScope<'_>) -> BTreeMap<String, Arc<R>> {
        let seen = |records: &mut Records<R>| {
            let seen = records.iter().filter_map(|(key, known)| Some((key.clone(), known.seen.clone()?)));
            seen.collect()
        };
        scope.slot(self.slot).look(seen).unwrap_or_default()
    }

    /// The record with this id has changed. Returns its primary.
    ///
    /// Searches all primaries: a push is rare compared with what it costs the other system.
    pub(super) fn stale(&self, id: &str) -> Option<ObjectKey> {
        let scopes = self.scopes.lock().upgrade()?;
        scopes.find(self.slot, |primary, records: &mut Records<R>| {
            records.values_mut().find(|known| known.by.as_deref() == Some(id))?.stale = true;
            Some(primary.clone())
        })
    }

    /// The ids by which a primary's records were seen.
    pub(super) fn ids(&self, primary: &ObjectKey) -> Vec<String> {
        let Some(scopes) = self.scopes.lock().upgrade() else { return Vec::new() };
        let ids = |records: &mut Records<R>| records.values().filter_map(|known| known.by.clone()).collect();
        scopes.of(primary).slot(self.slot).look(ids).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resource::Uid;

    fn known(id: &str, before: Option<&str>) -> Known<()> {
        let found = ExternalId { id: id.to_owned(), before: before.map(str::to_owned) };
        Known { id: Some(found), ..Known::default() }
    }

    #[test]
    fn an_id_that_became_known_here_counts_until_another_one_is_written() {
        let id = |known: Known<()>, written: Option<&str>| known.id(written);
        let of = |id: &str, written: bool| Some((id.to_owned(), written));
        assert_eq!(id(Known::default(), None), None);
        assert_eq!(id(Known::default(), Some("a")), of("a", true));
        assert_eq!(id(known("b", None), None), of("b", false), "not written yet, or lost");
        assert_eq!(id(known("b", Some("a")), Some("a")), of("b", false), "the one before it");
        assert_eq!(id(known("b", None), Some("b")), of("b", true));
        assert_eq!(id(known("b", Some("a")), Some("c")), of("c", true), "somebody knows better");
    }

    #[test]
    fn what_is_known_is_of_one_incarnation_and_goes_with_it() {
        let (scopes, key) = (PrimaryScopes::default(), ObjectKey::namespaced("shop", "one"));
        let [memory, other] = [(); 2].map(|()| Memory::<()>::default());
        let uids = ["t", "u", "v"].map(Uid::new);
        let [t, u, v] = uids.each_ref().map(|uid| scopes.of_incarnation(&key, uid));
        let unanswered = |known: &mut Known<()>| std::mem::replace(&mut known.unanswered, true);
        scopes.seen(&key, "u");
        assert!(!memory.of(u, "", unanswered) && memory.of(u, "", unanswered));
        assert!(memory.keys(v).is_empty() && other.keys(u).is_empty());
        assert!(!memory.of(t, "", unanswered), "a run of an earlier one knows nothing, and changes nothing");
        assert_eq!(memory.keys(u).len(), 1);
        scopes.seen(&key, "v");
        assert!(!memory.of(v, "", unanswered));
        scopes.gone(&key);
        assert!(!memory.of(v, "", unanswered) && memory.keys(v).is_empty(), "nor does one that outlives it");
    }

    #[test]
    fn only_a_single_record_of_which_nothing_is_known_is_searched_for() {
        let fresh = || Known::<()>::default();
        assert_eq!(fresh().doubt(false, false), Doubt::Unknown);
        assert_eq!(fresh().doubt(true, false), Doubt::No, "each create of several is noted");
        assert_eq!(fresh().doubt(true, true), Doubt::Attempted);
        assert_eq!(Known { settled: true, ..fresh() }.doubt(false, false), Doubt::No);
        assert_eq!(
            Known { settled: true, unanswered: true, ..fresh() }.doubt(false, false),
            Doubt::Attempted
        );
    }
}
