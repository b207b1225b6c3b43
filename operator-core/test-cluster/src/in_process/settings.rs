//! What a test can say to a server: what it has besides an API server, how busy it is, and what its controllers do.

use std::time::Duration;

use serde_json::Value;

use super::{
    Controllers, InProcessServer,
    state::State,
    steps::{ClusterController, Node, Pods, become_complete},
};

impl InProcessServer {
    /// Lets definitions be stored whose parts this server doesn't do, such as a conversion webhook, with one warning in
    /// the answer (`Warning: 299`). Otherwise they are refused with 501. Objects of other versions are then converted
    /// as if the strategy were `None`.
    #[must_use]
    pub fn lenient(self) -> Self {
        self.shared.state.lock().api.discovery.be_lenient();
        self
    }

    /// Gives each new pod an account (`default`, if it names none) and the token of that account, as clusters do; a pod
    /// whose account doesn't exist is refused with 403. Without it pods stay as they were written, as they do in
    /// [`ControlPlane`](crate::ControlPlane), unless its builder's `service_accounts` asks for the same.
    #[must_use]
    pub fn service_accounts(self) -> Self {
        self.shared.state.lock().api.admission.give_accounts();
        self
    }

    /// Adds what every real cluster has, and few tests want to see: Events of the controllers, the ConfigMap
    /// `kube-root-ca.crt` in each namespace, the Service `kubernetes`, and its endpoints. [`listen`](Self::listen) does
    /// the same, because who comes from outside expects a cluster. Nothing of it goes away again.
    #[must_use]
    pub fn complete(self) -> Self {
        self.change(|state| become_complete(&mut state.controllers, &mut state.api));
        self
    }

    /// Refuses the next requests, this many, as the real server does when too many are in flight: with 429 and
    /// `Retry-After: 1`. Zero ends it.
    pub fn throttle(&self, requests: u64) {
        self.shared.pressure.refuse(requests);
    }

    /// Lets watches that are opened from now on vary by a seed. Those without a timeout of their own end after 30 to 60
    /// minutes, bookmarks come every 45 to 75 seconds, and an answer's pieces are parts of lines or several lines. As
    /// long as this isn't called, that is 30 minutes, 60 seconds, and a piece for each line.
    pub fn vary_watches(&self, seed: u64) {
        self.shared.pressure.vary(seed);
    }

    /// When the controllers work from now on. Steps that wait already are not changed, except that with
    /// [`Controllers::AtOnce`] they are taken now.
    pub fn set_controllers(&self, controllers: Controllers) {
        self.change(|state| state.controllers.set_mode(controllers));
    }

    /// From now on the controllers take each step after the time that `choose` returns for it.
    pub fn pace(&self, choose: impl Fn(ClusterController) -> Duration + Send + Sync + 'static) {
        self.change(|state| state.controllers.set_pace(choose));
    }

    /// From now on `listener` hears of each change of an object, before the controllers do: the moment since the server has
    /// started, the new state or the last one, and whether the object is gone. It must not use the server.
    #[doc(hidden)]
    pub fn on_change(&self, listener: impl Fn(Duration, &Value, bool) + Send + Sync + 'static) {
        self.change(|state| state.controllers.tell(listener));
    }

    /// One controller does nothing from now on, as if it were down.
    pub fn hold(&self, controller: ClusterController) {
        self.change(|state| state.controllers.hold(controller));
    }

    /// A controller that was held works again, beginning with what it has missed.
    pub fn release(&self, controller: ClusterController) {
        self.change(|state| state.controllers.release(controller));
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
        self.change(|state| state.controllers.steps_left())
    }

    /// Changes something about the controllers, which then do what is due.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        self.shared.with(|state| {
            let changed = change(state);
            state.settle();
            changed
        })
    }
}
