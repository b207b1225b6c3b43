//! What a component says about itself and its nodes, as its group carries it.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use operator_core::{BoxError, workflow::GroupResult};

/// The types that the function of a component's `only_if` may return: `bool`, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "`only_if` of a component can't take a function that returns `{Self}`",
    note = "it is a function of the primary that returns `bool`, or a `Result` of it; `feature(…)` makes one"
)]
pub trait Answer {
    /// Whether the component is wanted.
    ///
    /// # Errors
    /// If that can't be told.
    fn answer(self) -> Result<bool, BoxError>;
}

impl Answer for bool {
    fn answer(self) -> Result<bool, BoxError> {
        Ok(self)
    }
}

impl<E: Into<BoxError>> Answer for Result<bool, E> {
    fn answer(self) -> Result<bool, BoxError> {
        self.map_err(Into::into)
    }
}

/// A function that says whether the component is wanted.
pub(super) type Gate<P> = Arc<dyn Fn(&P) -> Result<bool, BoxError> + Send + Sync>;

/// The rules of a component of primaries of type `P`.
pub(super) struct Rules<P> {
    /// The type of its condition.
    pub(super) condition: String,
    pub(super) grace: Option<Duration>,
    pub(super) gates: Vec<Gate<P>>,
    pub(super) suspended: Suspended<P>,
}

impl<P: 'static> Rules<P> {
    /// Those of a group, if it is a component.
    pub(super) fn of<'g>(group: &'g GroupResult<'_>) -> Option<&'g Self> {
        group.carried()
    }

    /// Whether the component is wanted, or why that can't be told.
    pub(super) fn gate(&self, primary: &P) -> Result<bool, String> {
        for gate in &self.gates {
            if !gate(primary).map_err(|error| error.to_string())? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

type Is<P> = Box<dyn Fn(&P) -> bool + Send + Sync>;

/// Whether a component is suspended. The changes of its nodes share it, whichever was declared first.
pub(super) struct Suspended<P>(Arc<OnceLock<Is<P>>>);

impl<P> Suspended<P> {
    /// Never, as long as nothing else is said.
    pub(super) fn never() -> Self {
        Self(Arc::default())
    }

    /// Once this is true. Returns `false` if it was said before.
    pub(super) fn set(&self, is: impl Fn(&P) -> bool + Send + Sync + 'static) -> bool {
        self.0.set(Box::new(is)).is_ok()
    }

    pub(super) fn is(&self, primary: &P) -> bool {
        self.0.get().is_some_and(|is| is(primary))
    }
}

impl<P> Clone for Suspended<P> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Said of a node: its health doesn't count.
#[derive(Debug)]
pub(super) struct Auxiliary;

/// Said of a node: it may count as healthy after the grace period without being so.
#[derive(Debug)]
pub(super) struct Quiet;

/// Said of a node: a change of its own suspends it.
#[derive(Debug)]
pub(super) struct ByHand;
