//! All observers, and the only code that calls them.

use std::sync::Arc;

use super::{Observation, Observer};
use crate::environment::fenced;

/// All observers of an operator. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Observers(Arc<[Arc<dyn Observer>]>);

impl Observers {
    /// These observers, notified in this order.
    #[must_use]
    pub(crate) fn new(observers: Vec<Arc<dyn Observer>>) -> Self {
        Self(observers.into())
    }

    /// Notifies all of them. A panic of one is caught: it would end the task that reports, or abort the process during
    /// another panic.
    pub(crate) fn observe(&self, observation: &Observation<'_>) {
        for (position, observer) in self.0.iter().enumerate() {
            if fenced(|| observer.observe(observation)).is_err() {
                tracing::error!(
                    position,
                    "an observer panicked; it missed this observation, and gets the next ones"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Counts(AtomicUsize);

    impl Observer for Counts {
        fn observe(&self, _: &Observation<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[derive(Debug)]
    struct Panics;

    impl Observer for Panics {
        fn observe(&self, _: &Observation<'_>) {
            panic!("a bug of an observer")
        }
    }

    /// Observes when it is dropped, as the guards of runs do.
    struct Guard(Observers);

    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.observe(&STOPPED);
        }
    }

    const STOPPED: Observation<'_> =
        Observation::ProcessingStopped { controller: "web", queued: 0, primaries: 0 };

    #[test]
    fn a_panic_of_one_observer_is_neither_the_callers_nor_the_others() {
        let counts = Arc::new(Counts::default());
        let observers = Observers::new(vec![Arc::new(Panics), Arc::clone(&counts) as Arc<dyn Observer>]);
        observers.observe(&STOPPED);
        observers.observe(&STOPPED);
        assert_eq!(counts.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_panic_during_another_does_not_abort_the_process() {
        let guard = Guard(Observers::new(vec![Arc::new(Panics)]));
        let ended = fenced(move || {
            let _guard = guard;
            panic!("a bug of a reconciler")
        });
        assert!(ended.is_err());
    }
}
