//! The default namespaces of all controllers, and changes of a running controller's namespaces.

use super::{Error, Operator, OperatorBuilder};
use crate::{
    controller::{Mistake, Mistakes},
    event_source::{Contradiction, WatchScope},
};

impl OperatorBuilder {
    /// The namespaces of all controllers that don't name their own by
    /// [`ControllerBuilder::namespaces`](crate::ControllerBuilder::namespaces); by default all. Event sources follow
    /// their controller. An external setting or `--namespaces` takes precedence over both. JOSDK:
    /// `settingNamespaces` for each registered reconciler.
    ///
    /// ```
    /// use operator_core::{Operator, WatchScope};
    ///
    /// let two = Operator::builder().namespaces(["shop", "bank"]);
    /// let own = Operator::builder().namespaces(WatchScope::Current);
    /// ```
    pub fn namespaces(mut self, scope: impl Into<WatchScope>) -> Self {
        self.settings.default_namespaces = Some(scope.into());
        self
    }

    /// The same, unless namespaces were set before.
    #[cfg(feature = "testing")]
    pub(crate) fn namespaces_by_default(mut self, scope: WatchScope) -> Self {
        self.settings.default_namespaces.get_or_insert(scope);
        self
    }
}

impl Operator {
    /// Changes the namespaces of `controller` while the operator runs. Event sources without namespaces of their own
    /// follow. JOSDK: `RegisteredController.changeNamespaces`.
    ///
    /// In a namespace that the controller leaves, nothing runs any more: retries, timers and all other state of its
    /// primaries are dropped, and a run in progress ends by itself. Its primaries keep their finalizers, because another
    /// operator may take care of them. Primaries in a new namespace run once everything that concerns them is synced, as
    /// after a start; this method doesn't wait for that: see [`Operator::synced`]. Other primaries aren't affected, even
    /// if the change is from some namespaces to all, or back. A standby replica changes its caches, and runs nothing.
    ///
    /// ```
    /// # async fn change(operator: &operator_core::Operator) -> Result<(), operator_core::Error> {
    /// use operator_core::WatchScope;
    ///
    /// let namespaces = ["shop", "bank"].map(str::to_owned).into();
    /// operator.change_namespaces("webpages", WatchScope::Namespaces(namespaces)).await?;
    /// operator.change_namespaces("webpages", WatchScope::All).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Declaration`] if there is no such controller, the list is empty or contains a name for all namespaces,
    /// or the scope is the current namespace, which has to be given by its name. [`Error::NotRunning`] if the operator
    /// isn't running, or no longer leads.
    pub async fn change_namespaces(&self, controller: &str, scope: WatchScope) -> Result<(), Error> {
        let mistakes = unknown(controller, self.controllers().iter().map(|controller| controller.name()));
        let mistakes = mistakes.into_iter().chain(wrong(&scope)).collect();
        Mistakes::check(mistakes)?;
        let running = self.running().await.ok_or(Error::NotRunning)?;
        let found = running.controllers.iter().find(|running| running.name() == controller);
        let changed = found.is_some_and(|running| running.change_namespaces(&scope));
        if !changed {
            return Err(Error::NotRunning);
        }
        tracing::info!(controller, ?scope, "the controller's namespaces have changed");
        Ok(())
    }
}

fn unknown<'n>(controller: &str, mut known: impl Iterator<Item = &'n str> + Clone) -> Option<Mistake> {
    if known.clone().any(|name| name == controller) {
        return None;
    }
    let known: Vec<String> = known.by_ref().map(|name| format!("`{name}`")).collect();
    Some(Mistake::new(
        format!("there is no controller called `{controller}`"),
        format!("the operator has {}", known.join(", ")),
        "the name of one of them",
    ))
}

/// The mistakes in these namespaces.
fn wrong(scope: &WatchScope) -> Option<Mistake> {
    if *scope == WatchScope::Current {
        return Some(Mistake::new(
            "the current namespace can't be set while the operator runs",
            "it is determined when the operator starts, and doesn't change",
            "its name, in `WatchScope::Namespaces(…)`; or `WatchScope::Current` in the declaration",
        ));
    }
    Contradiction::of_scope(scope).map(|wrong| Mistake::of(&wrong))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const N: usize>(names: [&str; N]) -> Option<String> {
        let scope = WatchScope::Namespaces(names.map(str::to_owned).into());
        wrong(&scope).map(|mistake| mistake.what())
    }

    #[test]
    fn mixtures_and_nothing_are_refused() {
        assert_eq!((of(["shop", "bank"]), wrong(&WatchScope::All)), (None, None));
        assert!(of([]).is_some_and(|what| what.contains("is empty")));
        assert!(of(["shop", "*"]).is_some_and(|what| what.contains("`*` is in the list")));
        assert!(of([""]).is_some() && wrong(&WatchScope::Current).is_some());
    }

    #[test]
    fn an_unknown_controller_is_told_with_those_that_are_known() {
        assert_eq!(unknown("web", ["web", "shop"].into_iter()), None);
        let mistake = unknown("wbe", ["web", "shop"].into_iter());
        assert!(mistake.is_some_and(|mistake| mistake.why().contains("`web`, `shop`")));
    }
}
