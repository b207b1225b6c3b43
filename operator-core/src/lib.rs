//! An operator framework for Kubernetes: the Java Operator SDK re-thought in Rust.
//!
//! The modules are listed in the order in which an event travels:
//!
//! - [`resource`]: names: which object, of which kind, in which version, owned by which other.
//! - [`environment`]: time, randomness and tasks, injected.
//! - [`observe`], [`metrics`]: one stream of what the library does, and the metrics made from it.
//! - [`client`]: the operator's connections to the API server.
//! - [`cache`]: lists and watches: what is known of the cluster, including the operator's own writes.
//! - [`status`]: what an object's status says about it, and conditions.
//! - [`event_source`]: changes become events of primaries.
//! - [`processor`]: events become runs: one at a time for each primary, with retry, timers and bounded concurrency.
//! - [`operations`]: every write.
//! - [`reconciler`]: what users write.
//! - `dispatcher`: one run, with finalizer, cleanup and status.
//! - [`dependent`]: what should exist for a primary.
//! - [`workflow`]: dependents in their order, with their conditions.
//! - [`controller`]: one primary type, wired together.
//! - [`configuration`]: settings from files, the environment and the command line.
//! - [`operator`]: many controllers, one process.
//! - [`prelude`]: the names that most operators use.
//! - `http` (feature, on by default): `/metrics`, `/healthz` and `/readyz`; see [`OperatorBuilder::metrics`] for other ways.
//! - `testing` (feature): a real control plane on demand, an operator inside a test, faults and simulation.
//! - `cli` (feature): the commands of every operator's binary.

mod error;
#[cfg(test)]
mod properties;
pub mod resource;

pub mod environment;
pub mod metrics;
pub mod observe;

pub mod client;

pub mod cache;
pub mod status;

pub mod event_source;
pub mod processor;

pub mod operations;

pub mod reconciler;
mod results;

mod dispatcher;

pub mod dependent;

pub mod workflow;

pub mod controller;

pub mod configuration;
pub mod operator;

pub mod prelude;

#[cfg(feature = "testing")]
pub mod testing;

#[cfg(feature = "cli")]
pub mod cli;

pub use crate::dependent::want::Want;
pub use crate::results::condition::Verdict;
pub use crate::workflow::declare::{
    builder::Workflow,
    condition::Condition,
    declared::{Node, node},
    reference::the,
    wire::Wire,
};
pub use cache::scopes::WatchScope;
pub use controller::{
    builder::ControllerBuilder, configuration::ControllerConfiguration, declaration::Controller,
};
pub use dependent::function::{
    dependent::Dependent,
    wanted::{Many, One},
};
pub use error::{BoxError, Permanent};
pub use event_source::{
    external::{
        CachingInboundEventSource, PerResourcePollingEventSource, PollingEventSource,
        SimpleInboundEventSource,
    },
    function::FunctionEventSource,
    informer::InformerEventSource,
    remote::RemoteCluster,
};
pub use operator::{
    builder::OperatorBuilder, error::Error, leader::LeaderElection, lifecycle::Operator, run::Exit,
};
pub use processor::retry::GenericRetry;
pub use reconciler::{
    context::Context,
    control::{Removal, UpdateControl},
    data::Data,
    run::Run,
    traits::{Cleaner, Reconciler},
};
pub use resource::{key::ObjectKey, kind::ResourceType};
pub use workflow::conditions::served::served;

#[doc = include_str!("docs/controller_configuration.md")]
pub use operator_macros::ControllerConfiguration;
#[cfg(feature = "testing")]
#[doc = include_str!("docs/sim_test.md")]
pub use operator_macros::sim_test;

pub use k8s_openapi;
pub use kube;

#[doc(hidden)]
pub mod bench;

/// What the derives expand to.
#[doc(hidden)]
pub mod __private {
    pub use crate::controller::derived::{
        Defined, Defines, Given, GivenOther, Probe, Undefined, configured, reconciled, with_workflow,
    };
    pub use crate::workflow::declare::value::wired;
}
