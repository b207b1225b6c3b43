//! Settings of when a reconciler is called.

use super::ControllerBuilder;
use crate::reconciler::Reconciler;

impl<R: Reconciler> ControllerBuilder<R> {
    /// Whether `reconcile` is called for everything that happens to a primary: also once it is marked for deletion, with
    /// or without a finalizer, and once it is gone. In that last run it gets the last known state, and
    /// [`Context::primary_is_deleted`](crate::Context::primary_is_deleted) is true; nothing can be written to the primary
    /// any more, and a reschedule is ignored. By default it is not. JOSDK: `triggerReconcilerOnAllEvents`.
    ///
    /// Filters, retries and limits hold as ever. The framework handles no finalizer then; the reconciler may do so by
    /// [`add_finalizer`](crate::operations::ResourceOperations::add_finalizer) and
    /// [`remove_finalizer`](crate::operations::ResourceOperations::remove_finalizer). Neither a [`Cleaner`](crate::Cleaner) nor a
    /// workflow of the controller goes with it.
    ///
    /// An end is told once, to a run that starts after it, before any run of an object that has taken the name. If all
    /// its attempts fail, the next event of a secondary or the maximum interval leads to another one, unless there is a
    /// successor. What goes while no operator works, or before the operator starts to work, is not told: what must not
    /// be missed needs a finalizer.
    pub fn trigger_on_all_events(mut self, all: bool) -> Self {
        self.said.settings.all_events = all;
        self
    }

    /// The share by which regular runs are spread, so that what began together doesn't stay together; by default 0.1.
    /// The maximum interval is shortened by at most this share of it, and a reschedule is lengthened by at most this
    /// share; 0 keeps both exact, and the most is 0.5. Delays after failures have their own.
    ///
    /// In an operator of tests ([`TestOperator`](crate::testing::TestOperator)) and in simulations the default is 0, and a
    /// dry run tells delays as they are before they are spread. JOSDK has no such thing.
    pub fn jitter(mut self, share: f64) -> Self {
        self.said.settings.spread = Some(share);
        self
    }
}
