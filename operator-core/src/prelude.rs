//! The names that most operators use: `use operator_core::prelude::*`.

#[doc(no_inline)]
pub use crate::{
    controller::{configuration::ControllerConfiguration, declaration::Controller},
    dependent::function::{
        dependent::Dependent,
        want::Want,
        wanted::{Many, One},
    },
    error::{BoxError, Permanent},
    operator::lifecycle::Operator,
    reconciler::{
        context::Context,
        control::{Removal, UpdateControl},
        data::Data,
        run::Run,
        traits::{Cleaner, Reconciler},
        workflow::condition::Verdict,
    },
    resource::key::ObjectKey,
    workflow::{
        conditions::served::served,
        wired::{declared::node, reference::the, wire::Wire as _},
    },
};

#[doc(no_inline)]
pub use operator_macros::ControllerConfiguration;

/// The result of a function that may fail with any error.
pub type Result<T, E = BoxError> = std::result::Result<T, E>;
