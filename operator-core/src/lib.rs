//! An operator framework for Kubernetes: you return what should exist. The framework watches, applies, repairs, orders,
//! retries, cleans up and writes the status.
//!
#![cfg_attr(feature = "cli", doc = "```no_run")]
#![cfg_attr(not(feature = "cli"), doc = "```ignore")]
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::CustomResource;
//! use operator_core::prelude::*;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! #[kube(group = "example.com", version = "v1", kind = "Greeting", namespaced)]
//! struct GreetingSpec {
//!     text: String,
//! }
//!
//! fn map(greeting: &Greeting) -> ConfigMap {
//!     let data = [("text".to_owned(), greeting.spec.text.clone())];
//!     ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::process::ExitCode {
//!     let greetings = Controller::of::<Greeting>().workflow((map,));
//!     Operator::builder().register(greetings).main().await
//! }
//! ```
//!
//! This is a whole operator; it needs the feature `cli` for [`main`](OperatorBuilder::main). Each `Greeting` gets a
//! config map, which is repaired when someone changes it, and is deleted with its greeting. What a function may take
//! and return is described in [`Dependent`]; the order of several functions in [`Wire`]; a reconciler, for everything
//! that a function can't express, in [`Reconciler`].
//!
//! # Features
//!
//! - `http` (on by default): serves `/metrics`, `/healthz` and `/readyz`; see [`OperatorBuilder::metrics`] for other ways.
//! - `cli`: the commands of every operator's binary: `run`, `crd`, `graph` and, with `testing`, `dev`.
//! - `testing`: for the tests of an operator: dry runs of single runs, an API server inside the process, a real control
//!   plane on demand, faults and simulation.
//!
//! The library enables no version of [`k8s_openapi`]: your binary chooses one by a feature of that crate, such as `v1_36`.
//!
//! # Modules
//!
//! They are listed in the order in which an event travels:
//!
//! - [`resource`]: which object, of which kind, in which version, owned by which other object.
//! - [`environment`]: time, randomness and tasks, which are injected.
//! - [`observe`], [`metrics`]: one stream of what the library does, and the metrics made from it.
//! - [`client`]: the operator's connections to API servers.
//! - [`cache`]: lists and watches: what is known of the cluster, including the operator's own writes.
//! - [`status`]: what an object's status says about it, and conditions.
//! - [`event_source`]: changes become events of primaries.
//! - [`processor`]: events become runs: one at a time for each primary, with retry, timers and bounded concurrency.
//! - [`operations`]: every write.
//! - `results`: the state of each node of a workflow after a run.
//! - [`reconciler`]: what users write.
//! - `dispatcher`: one run, with finalizer, clean-up and status.
//! - [`dependent`]: what should exist for a primary.
//! - [`workflow`]: dependents in their order, with their conditions.
//! - [`controller`]: one primary type, wired together.
//! - [`configuration`]: settings from files, the environment and the command line.
//! - [`operator`]: many controllers in one process.
//! - [`prelude`]: the names that most operators use.
//! - `testing` and `cli`, with the features of these names.

/// Implements `Debug` for a type with parts that have none, or aren't to be shown: by its name, with the given fields.
macro_rules! debug_of {
    ($type:ty $([$($generics:tt)*])?: $name:literal) => {
        impl $(<$($generics)*>)? std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($name)
            }
        }
    };
    ($type:ty $([$($generics:tt)*])?: $name:literal, |$it:ident| $($field:tt: $value:expr),+) => {
        impl $(<$($generics)*>)? std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $it = self;
                f.debug_struct($name)$(.field(stringify!($field), &$value))+.finish_non_exhaustive()
            }
        }
    };
}

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

pub use crate::dependent::{set::objects::Objects, want::Want};
pub use crate::results::condition::Verdict;
pub use crate::workflow::declare::{
    builder::Workflow,
    condition::Condition,
    declared::{Node, node},
    reference::the,
    wire::Wire,
};
pub use cache::scopes::WatchScope;
pub use controller::{builder::ControllerBuilder, declaration::Controller, into::ControllerConfiguration};
pub use dependent::function::{
    dependent::Dependent,
    wanted::{FindObject, Many, Mixed, One},
};
pub use error::{BoxError, Permanent, Waiting};
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
pub use tracing::Level;

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
