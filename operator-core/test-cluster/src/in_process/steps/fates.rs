//! What a test says about the node and its Pods: that they wait, don't become ready, or crash.

use serde_json::Value;

use crate::{
    error::Error,
    in_process::{InProcessServer, selector::Selector},
};

/// What happens to Pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// The node does nothing with them.
    Held,
    /// They don't become ready.
    NeverReady,
    /// They are not ready, even if they were.
    Unready,
    /// Their containers end as soon as they have started.
    Crash,
}

/// All that a test has said.
#[derive(Clone, Debug, Default)]
pub(super) struct Fates {
    rules: Vec<(String, Selector, Fate)>,
    /// Whether the node takes no more Pods.
    pub(super) is_full: bool,
}

impl Fates {
    /// Whether one of the rules applies to a Pod.
    pub(super) fn has(&self, pod: &Value, fate: Fate) -> bool {
        self.rules.iter().any(|(_, selector, of)| *of == fate && selector.matches(pod))
    }
}

/// The Pods of a cluster: a test says what happens to them. Each rule is for the Pods that a label selector selects, as
/// `app=web`; the empty one selects all. It applies to those that exist and to future ones, until it is taken back.
///
/// ```
/// # use test_cluster::InProcessServer;
/// # fn main() -> Result<(), test_cluster::Error> {
/// let server = InProcessServer::new();
/// server.pods().never_ready("app=web")?;
/// // A Deployment whose Pods have this label doesn't become available now.
/// server.pods().release("app=web")?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Pods<'s>(pub(in crate::in_process) &'s InProcessServer);

impl Pods<'_> {
    /// The node does nothing with them: those that have a node are not started, and those that are being deleted stay.
    ///
    /// # Errors
    /// If the selector can't be read.
    pub fn hold(&self, selector: &str) -> Result<(), Error> {
        self.add(selector, Fate::Held)
    }

    /// They run, but those that aren't ready yet don't become so.
    ///
    /// # Errors
    /// If the selector can't be read.
    pub fn never_ready(&self, selector: &str) -> Result<(), Error> {
        self.add(selector, Fate::NeverReady)
    }

    /// They aren't ready, and those that are become unready.
    ///
    /// # Errors
    /// If the selector can't be read.
    pub fn unready(&self, selector: &str) -> Result<(), Error> {
        self.add(selector, Fate::Unready)
    }

    /// Their containers end with exit code 1 as soon as they have started, and are started again after 10 s, 20 s, and
    /// so on up to 5 min. A Pod that is not to be restarted fails.
    ///
    /// # Errors
    /// If the selector can't be read.
    pub fn crash_loop(&self, selector: &str) -> Result<(), Error> {
        self.add(selector, Fate::Crash)
    }

    /// Takes back all that was said with the same selector; with the empty one, all that was said about Pods.
    ///
    /// # Errors
    /// If the selector can't be read.
    pub fn release(&self, selector: &str) -> Result<(), Error> {
        read(selector)?;
        self.0.change(|state| {
            state.controllers.fates.rules.retain(|(of, _, _)| !selector.is_empty() && of != selector);
            state.controllers.look_at_pods(&state.api.store);
        });
        Ok(())
    }

    fn add(&self, selector: &str, fate: Fate) -> Result<(), Error> {
        let rule = (selector.to_owned(), read(selector)?, fate);
        self.0.change(|state| {
            state.controllers.fates.rules.push(rule);
            state.controllers.look_at_pods(&state.api.store);
        });
        Ok(())
    }
}

fn read(selector: &str) -> Result<Selector, Error> {
    Selector::of_labels(selector).map_err(|why| Error::Selector { selector: selector.to_owned(), why })
}

/// The node of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Node<'s>(pub(in crate::in_process) &'s InProcessServer);

impl Node<'_> {
    /// It takes no more Pods: new ones wait.
    pub fn full(&self) {
        self.0.change(|state| state.controllers.fates.is_full = true);
    }

    /// It takes Pods again.
    pub fn release(&self) {
        self.0.change(|state| {
            state.controllers.fates.is_full = false;
            state.controllers.route_node(&state.api.store);
        });
    }
}
