//! How the primaries of a controller are listed, and what is kept of them.

use super::ControllerBuilder;
use crate::{cache::option_methods, event_source::WatchScope, reconciler::Reconciler};

impl<R: Reconciler> ControllerBuilder<R> {
    option_methods!(said.settings.options, said.settings.primary_type: R::Primary, "primaries");

    /// Watches these namespaces instead of all: `["shop", "bank"]`, or a [`WatchScope`] such as
    /// [`WatchScope::Current`], the one that the operator runs in. By default those of the operator:
    /// [`OperatorBuilder::namespaces`](crate::OperatorBuilder::namespaces).
    pub fn namespaces(mut self, scope: impl Into<WatchScope>) -> Self {
        self.said.settings.scope = Some(scope.into());
        self
    }
}
