//! `dev`: runs the operator against its own API server, and shows what it does.
//!
//! ```text
//! API server ─▶ definitions ─▶ manifests, rights ─▶ operator ─▶ examples or scenario ─▶ until Ctrl-C, or settled
//!                                                       │ Observer        │ informers of the primaries
//!                                                       └──▶ feed ◀───────┘
//! ```
//!
//! # Guarantees
//! - The API server, real or inside the process, lives and dies with the command: nothing of it is left, even if the
//!   command is killed with SIGKILL.
//! - With manifests that contain a service account the operator runs as that account, so a missing rule shows up here
//!   and not in production.
//! - One line is one change. A run that changes nothing prints nothing.
//! - Nothing is written to a cluster that the command has not started itself.

mod actor;
mod feed;
mod lines;
mod nodes;
mod objects;
mod once;
mod ready;
mod rights;
mod scenario;
mod server;
mod stage;
mod step;
mod table;
mod workbench;

pub use ready::Readiness;
pub use scenario::Scenario;
pub use step::{Step, Target};
pub use workbench::Workbench;

use super::{DevArgs, Error, ExitStatus, LogForm, exit::Signals, log, output::Output};
use crate::{
    environment::Environment,
    operator::{OperatorBuilder, Stopped},
};
use server::Server;
use stage::Stage;

/// For `map_err`: what was tried in the development cluster.
fn failed<E: std::error::Error + Send + Sync + 'static>(doing: &'static str) -> impl FnOnce(E) -> Error {
    move |source| Error::Cluster { doing, source: Box::new(source) }
}

pub(super) async fn dev(
    builder: OperatorBuilder,
    workbench: Workbench,
    args: &DevArgs,
    output: Output,
) -> Result<ExitStatus, Error> {
    if std::env::var_os("USE_EXISTING_CLUSTER").is_some_and(|value| value == "true") {
        return Err(Error::NotOurs);
    }
    // The lines say what the framework does; the user's own events are logged beside them.
    let _log = log::start(LogForm::Human, "info,operator_core=off,kube_client=off", output);
    let environment = Environment::real();
    let workbench = workbench.with_files(&args.apply)?;
    let server = Server::start(builder.crds(), args.control_plane).await?;
    // Not before: until here a signal ends the process, and what it has started with it.
    let mut signals = Signals::listen().map_err(Error::Signals)?;
    let cluster = &server.cluster;
    let lost = |error| Err(failed("keep the control plane running")(error));

    let stage = tokio::select! {
        biased;
        stage = Stage::set(builder, &workbench, &server, args, output, environment) => stage?,
        error = cluster.failed() => return lost(error),
        () = signals.any() => return Ok(ExitStatus::Success),
    };
    let result = tokio::select! {
        biased;
        result = stage.play(&workbench) => result,
        error = cluster.failed() => lost(error),
        () = signals.any() => Ok(ExitStatus::Success),
    };
    let stopped = tokio::select! {
        biased;
        stopped = stage.operator.stop() => stopped,
        () = signals.any() => return Ok(ExitStatus::Interrupted),
    };
    stage.feed.flush().await;
    match (result, stopped) {
        (Ok(ExitStatus::Success), Stopped::TimedOut) => Ok(ExitStatus::Terminated),
        (result, _) => result,
    }
}
