//! What this process knows of records beside what is written: an id whose write hasn't succeeded yet, creates without an
//! answer, and what the other system has shown last.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use parking_lot::Mutex;

use super::step::Doubt;
use crate::{environment::Now, event_source::PrimaryFollower, resource::ObjectKey};

/// The records of all primaries of a controller, by the primaries' keys.
pub(super) struct Memory<R>(Mutex<BTreeMap<ObjectKey, Records<R>>>);

/// Those of one primary, of this uid.
struct Records<R> {
    uid: String,
    by_key: BTreeMap<String, Known<R>>,
}

/// One record.
pub(super) struct Known<R> {
    /// The id, with the one that was written when it became known: any other that is written by now is newer.
    pub(super) id: Option<Found>,
    /// A create was sent, and there was no answer.
    pub(super) unanswered: bool,
    /// All that an earlier process may have done is known.
    pub(super) settled: bool,
    /// Since when nothing was found where something was expected.
    pub(super) missing_since: Option<Now>,
    /// What the other system has shown last.
    pub(super) seen: Option<Arc<R>>,
    /// The id of what was deleted and is gone, whatever a read that lags behind shows.
    pub(super) gone: Option<String>,
    /// The other system says that it has changed since.
    pub(super) stale: bool,
    /// The id by which it was seen.
    pub(super) by: Option<String>,
}

/// An id that the other system has answered, or a search has found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    pub(super) id: String,
    pub(super) before: Option<String>,
}

impl<R> Default for Memory<R> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<R> Default for Known<R> {
    fn default() -> Self {
        Self {
            id: None,
            unanswered: false,
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
    /// The id, and whether it still has to be written. `written` is the one that is.
    pub(super) fn id(&self, written: Option<&str>) -> Option<(String, bool)> {
        match (&self.id, written) {
            // Somebody has written another one since, and means it.
            (Some(found), Some(written)) if found.before.as_deref() != Some(written) => {
                Some((written.to_owned(), true))
            }
            (Some(found), _) => Some((found.id.clone(), false)),
            (None, written) => written.map(|id| (id.to_owned(), true)),
        }
    }

    /// Whether a record may exist that nobody here knows. `noted`: a note of an attempt is open.
    pub(super) fn doubt(&self, several: bool, noted: bool) -> Doubt {
        match self.unanswered || noted {
            true => Doubt::Attempted,
            false if self.settled || several => Doubt::No,
            false => Doubt::Unknown,
        }
    }
}

impl<R> Memory<R> {
    /// Has `read` look at what is known of a record, and change it. `lives` is called to check that this incarnation of the
    /// primary still exists: what a run adds that outlives its primary would never be removed, and would hide what is known of
    /// the one that has taken its name.
    pub(super) fn of<T>(
        &self,
        (primary, uid): (&ObjectKey, &str),
        key: &str,
        lives: impl FnOnce() -> bool,
        read: impl FnOnce(&mut Known<R>) -> T,
    ) -> T {
        let mut all = self.0.lock();
        let is_known = all.get(primary).is_some_and(|records| records.uid == uid);
        if !is_known {
            if !lives() {
                return read(&mut Known::default());
            }
            all.insert(primary.clone(), Records::of(uid));
        }
        let records = all.entry(primary.clone()).or_insert_with(|| Records::of(uid));
        read(records.by_key.entry(key.to_owned()).or_default())
    }

    /// Nothing is known of a record any more.
    pub(super) fn forget(&self, (primary, uid): (&ObjectKey, &str), key: &str) {
        if let Some(records) = self.0.lock().get_mut(primary).filter(|records| records.uid == uid) {
            records.by_key.remove(key);
        }
    }

    /// The keys of a primary's records.
    pub(super) fn keys(&self, (primary, uid): (&ObjectKey, &str)) -> BTreeSet<String> {
        let all = self.0.lock();
        let records = all.get(primary).filter(|records| records.uid == uid);
        records.into_iter().flat_map(|records| records.by_key.keys().cloned()).collect()
    }

    /// What the other system has shown last of a primary's records, by key.
    pub(super) fn seen(&self, (primary, uid): (&ObjectKey, &str)) -> BTreeMap<String, Arc<R>> {
        let all = self.0.lock();
        let records = all.get(primary).filter(|records| records.uid == uid);
        let records = records.into_iter().flat_map(|records| &records.by_key);
        records.filter_map(|(key, known)| Some((key.clone(), Arc::clone(known.seen.as_ref()?)))).collect()
    }

    /// The same for whatever incarnation is known.
    pub(super) fn seen_of(&self, primary: &ObjectKey) -> Vec<Arc<R>> {
        let all = self.0.lock();
        let records = all.get(primary).into_iter().flat_map(|records| records.by_key.values());
        records.filter_map(|known| known.seen.clone()).collect()
    }

    /// The record with this id has changed. Returns its primary.
    ///
    /// Looks at all: a push is rare beside what it costs the other system.
    pub(super) fn stale(&self, id: &str) -> Option<ObjectKey> {
        let mut all = self.0.lock();
        let mut of_all = all
            .iter_mut()
            .flat_map(|(primary, records)| records.by_key.values_mut().map(move |known| (primary, known)));
        let (primary, known) = of_all.find(|(_, known)| known.by.as_deref() == Some(id))?;
        known.stale = true;
        Some(primary.clone())
    }

    /// The ids by which a primary's records were seen.
    pub(super) fn ids(&self, primary: &ObjectKey) -> Vec<String> {
        let all = self.0.lock();
        let records = all.get(primary).into_iter().flat_map(|records| records.by_key.values());
        records.filter_map(|known| known.by.clone()).collect()
    }

    /// A new start of the controller knows nothing.
    pub(super) fn clear(&self) {
        let all = std::mem::take(&mut *self.0.lock());
        drop(all);
    }

    /// The number of primaries that don't exist and have entries.
    pub(super) fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.0.lock().keys().filter(|primary| !exists(primary)).count()
    }
}

impl<R> Records<R> {
    fn of(uid: &str) -> Self {
        Self { uid: uid.to_owned(), by_key: BTreeMap::new() }
    }
}

impl<R: Send + Sync> PrimaryFollower for Memory<R> {
    fn primary_gone(&self, primary: &ObjectKey) {
        self.0.lock().remove(primary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(id: &str, before: Option<&str>) -> Known<()> {
        let found = Found { id: id.to_owned(), before: before.map(str::to_owned) };
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
        let (memory, key) = (Memory::<()>::default(), ObjectKey::namespaced("shop", "one"));
        memory.of((&key, "u"), "", || true, |known| known.unanswered = true);
        assert!(memory.of((&key, "u"), "", || true, |known| known.unanswered));
        assert!(memory.keys((&key, "v")).is_empty());
        memory.of((&key, "t"), "", || false, |known| known.unanswered = true);
        assert!(
            memory.of((&key, "u"), "", || true, |known| known.unanswered),
            "a run of an earlier one changes nothing"
        );
        assert!(!memory.of((&key, "v"), "", || true, |known| known.unanswered));
        assert_eq!(memory.leftovers(&|_| false), 1);
        memory.primary_gone(&key);
        assert_eq!(memory.leftovers(&|_| false), 0);
        memory.of((&key, "v"), "", || false, |known| known.unanswered = true);
        assert_eq!(memory.leftovers(&|_| false), 0, "a run that outlives its primary leaves nothing");
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
