//! Everything that the server knows: the API server, and the controllers of the cluster that work on it.

use std::time::Duration;

use jiff::Timestamp;

use super::{
    api::{ApiServer, Reply},
    controllers::Controllers,
    failure::Failure,
    request::Request,
    steps::{ControllerManager, make_node},
};

/// The whole cluster. A copy shares the objects, which never change.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) api: ApiServer,
    pub(super) controllers: ControllerManager,
}

impl State {
    /// A cluster as it is right after its start, whose controllers work as `mode` says.
    pub(super) fn new(now: Timestamp, mode: Controllers) -> Self {
        let mut api = ApiServer::new(now, mode != Controllers::Off);
        // The node exists where there are controllers at once.
        if !matches!(mode, Controllers::Off | Controllers::Stepwise) {
            make_node(&mut api);
        }
        let mut state = Self { api, controllers: ControllerManager::new(mode) };
        state.settle();
        state
    }

    /// Answers one request, and lets the controllers do what it has caused. Returns what the answer warns of, too.
    pub(super) fn answer(&mut self, request: &Request) -> (Result<Reply, Failure>, Vec<String>) {
        let reply = self.api.answer(request);
        let warnings = std::mem::take(&mut self.api.warnings);
        self.settle();
        (reply, warnings)
    }

    /// Lets the controllers do what was caused, as far as it is due.
    pub(super) fn settle(&mut self) {
        self.controllers.settle(&mut self.api);
    }

    /// What has become due in the meantime, until `moment`, which is `now`.
    pub(super) fn advance(&mut self, now: Timestamp, moment: Duration) {
        self.controllers.advance(&mut self.api, now, moment);
    }

    /// Lets the controllers take one step, if they take steps one at a time; returns whether there was one.
    pub(super) fn step(&mut self) -> bool {
        let stepped = self.controllers.step(&mut self.api);
        self.settle();
        stepped
    }
}
