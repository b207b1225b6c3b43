//! Counts what is kept for each primary. Anything that is left over when a primary is gone is a leak, and a test sees
//! it.

use std::{fmt, sync::Arc};

use parking_lot::Mutex;

use super::Environment;

/// Everything in one operator that is keyed by a primary, and how much of it is about primaries that don't exist.
#[derive(Clone, Default)]
pub(super) struct Keepers(Arc<Mutex<Vec<Keeper>>>);

struct Keeper {
    name: String,
    /// `None` when it doesn't exist any more.
    leftovers: Box<dyn Fn() -> Option<usize> + Send + Sync>,
}

impl fmt::Debug for Keepers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.lock().iter().map(|keeper| &keeper.name)).finish()
    }
}

impl Environment {
    /// Called when something is created that keeps entries for primaries. `leftovers` counts those about primaries that
    /// don't exist, and returns `None` once the thing itself doesn't exist; it must not hold on to it, nor to anything
    /// else that holds the environment. Every map of the library that is keyed by a primary is counted here, or by its
    /// event source; a test searches for others.
    pub(crate) fn keeps(
        &self,
        name: impl Into<String>,
        leftovers: impl Fn() -> Option<usize> + Send + Sync + 'static,
    ) {
        let mut keepers = self.kept.0.lock();
        // Conditional sources come and go.
        keepers.retain(|keeper| (keeper.leftovers)().is_some());
        keepers.push(Keeper { name: name.into(), leftovers: Box::new(leftovers) });
    }

    /// The number of entries about primaries that don't exist, by what keeps them; empty if nothing leaks.
    pub(crate) fn leftovers(&self) -> Vec<(String, usize)> {
        let keepers = self.kept.0.lock();
        let counted = keepers.iter().map(|keeper| (keeper.name.clone(), (keeper.leftovers)().unwrap_or(0)));
        counted.filter(|(_, leftovers)| *leftovers > 0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_left_over_is_counted_as_long_as_its_keeper_exists() {
        let environment = Environment::real();
        let entries = Arc::new(Mutex::new(vec!["a"]));
        let weak = Arc::downgrade(&entries);
        environment.keeps("names", move || Some(weak.upgrade()?.lock().len()));
        assert_eq!(environment.clone().leftovers(), [("names".to_owned(), 1)]);
        entries.lock().clear();
        assert!(environment.leftovers().is_empty());
        entries.lock().push("b");
        drop(entries);
        assert!(environment.leftovers().is_empty());
        environment.keeps("others", || Some(0));
        assert_eq!(environment.kept.0.lock().len(), 1, "what doesn't exist is not asked for ever");
    }
}
