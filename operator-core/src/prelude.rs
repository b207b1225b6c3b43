//! What an operator's code names: `use operator_core::prelude::*`.

#[doc(no_inline)]
pub use crate::{
    controller::declaration::Controller,
    dependent::function::{
        dependent::Dependent,
        want::Want,
        wanted::{Many, One},
    },
    error::BoxError,
    operator::lifecycle::Operator,
    reconciler::{context::Context, data::Data, run::Run, workflow::condition::Verdict},
    workflow::{
        conditions::served::served,
        wired::{declared::node, reference::the, wire::Wire as _},
    },
};

/// The result of a dependent or a condition that may fail, with any error.
pub type Result<T, E = BoxError> = std::result::Result<T, E>;
