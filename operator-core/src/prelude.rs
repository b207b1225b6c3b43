//! The names that most operators use: `use operator_core::prelude::*`.

#[doc(no_inline)]
pub use crate::{
    controller::{builder::ControllerBuilder, declaration::Controller, into::ControllerConfiguration},
    dependent::{Deletion, External, Read, Records, Token, function::wanted::FindObject as _, want::Want},
    error::Permanent,
    event_source::informer::InformerEventSource,
    operator::{builder::OperatorBuilder, lifecycle::Operator},
    processor::retry::GenericRetry,
    reconciler::{
        context::Context,
        control::{Removal, UpdateControl},
        data::Data,
        run::Run,
        traits::{Cleaner, Reconciler},
    },
    resource::key::ObjectKey,
    results::condition::Verdict,
    workflow::{
        conditions::served::served,
        declare::{declared::node, wire::Wire as _},
    },
};

#[doc(no_inline)]
pub use operator_macros::ControllerConfiguration;

use crate::error::BoxError;

/// The result of a function that may fail with any error.
pub type Result<T, E = BoxError> = std::result::Result<T, E>;
