//! What a test can say to a server about its controllers.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{ClusterController, Node, Pace, Pods, queue::Listener};
use crate::in_process::{Controllers, InProcessServer, state::State};

impl InProcessServer {
    /// When the controllers work from now on. Steps that wait already are not changed, except that with
    /// [`Controllers::AtOnce`] they are taken now.
    pub fn set_controllers(&self, controllers: Controllers) {
        self.change(|state| state.controllers.set_mode(controllers));
    }

    /// From now on the controllers take each step after the time that `choose` returns for it.
    pub fn pace(&self, choose: impl Fn(ClusterController) -> Duration + Send + Sync + 'static) {
        self.change(|state| state.controllers.pace = Pace::Chosen(Arc::new(choose)));
    }

    /// From now on `listener` hears of each change of an object, before the controllers do: the moment since the server has
    /// started, the new state or the last one, and whether the object is gone. It must not use the server.
    #[doc(hidden)]
    pub fn on_change(&self, listener: impl Fn(Duration, &Value, bool) + Send + Sync + 'static) {
        self.change(|state| state.controllers.listener = Some(Listener(Arc::new(listener))));
    }

    /// One controller does nothing from now on, as if it were down.
    pub fn hold(&self, controller: ClusterController) {
        self.change(|state| state.controllers.held.insert(controller));
    }

    /// A controller that was held works again, beginning with what it has missed.
    pub fn release(&self, controller: ClusterController) {
        self.change(|state| state.controllers.held.remove(&controller));
    }

    /// What happens to the Pods.
    #[must_use]
    pub const fn pods(&self) -> Pods<'_> {
        Pods(self)
    }

    /// The node on which they run.
    #[must_use]
    pub const fn node(&self) -> Node<'_> {
        Node(self)
    }

    /// How many steps of the controllers wait, those of held ones included.
    #[must_use]
    pub fn steps_left(&self) -> usize {
        self.change(|state| state.controllers.left())
    }

    /// Changes something about the controllers, which then do what is due.
    pub(in crate::in_process) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        self.shared.with(|state| {
            let changed = change(state);
            state.settle();
            changed
        })
    }
}
