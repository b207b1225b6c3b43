//! The operator's own writes that the other system has not shown yet. Pure.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::cache::{Set, same};

/// The number of writes that are remembered in addition to one for each existing resource. Without a limit, a source that
/// never gets a full set again would remember its writes forever; and all that a primary creates in one go must fit.
const SPARE: usize = 1024;

/// The writes to the resources of one primary since its last full update, the newest last.
#[derive(Debug)]
pub(super) struct Unconfirmed<R, I>(VecDeque<(I, Replaced<R>)>);

/// The state that a write has replaced; none if it created the resource.
type Replaced<R> = Option<Arc<R>>;

impl<R, I> Default for Unconfirmed<R, I> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<R: PartialEq, I: Ord> Unconfirmed<R, I> {
    /// A write has replaced `replaced`; there are `resources` now.
    pub(super) fn wrote(&mut self, id: I, replaced: Replaced<R>, resources: usize) {
        self.0.push_back((id, replaced));
        while self.0.len() > SPARE + resources {
            self.0.pop_front();
        }
    }

    /// The other system itself has reported something about a resource since.
    pub(super) fn confirm(&mut self, id: &I) {
        self.0.retain(|(written, _)| written != id);
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Corrects a full set if it is behind the writes: a resource that was written and is missing, or is shown in a
    /// state that a write has replaced, is as `known`. Any other state was written by someone else and stays. The
    /// writes are forgotten: the next full set is taken unchanged.
    pub(super) fn settle(&mut self, mut shown: Set<R, I>, known: &Set<R, I>) -> Set<R, I>
    where
        I: Clone,
    {
        let mut written: BTreeMap<I, Vec<Arc<R>>> = BTreeMap::new();
        for (id, replaced) in self.0.drain(..) {
            written.entry(id).or_default().extend(replaced);
        }
        for (id, replaced) in written {
            let behind = match (shown.get(&id), known.get(&id)) {
                (None, _) => true,
                (Some(shown), Some(known)) if same(&**shown, &**known) => false,
                (Some(shown), _) => replaced.iter().any(|replaced| same(&**replaced, &**shown)),
            };
            if !behind {
                continue;
            }
            match known.get(&id) {
                Some(known) => shown.insert(id, Arc::clone(known)),
                None => shown.remove(&id),
            };
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_that_nothing_ever_confirms_are_forgotten_in_the_end() {
        let mut writes = Unconfirmed::<u32, u32>::default();
        for id in 0..10_000 {
            writes.wrote(id, Some(Arc::new(id)), 7);
        }
        assert_eq!(writes.len(), SPARE + 7);
    }
}
