//! The command itself, from its start to its end.

use super::{Workbench, server::Server, stage::Stage};
use crate::{
    cli::{DevArgs, Error, ExitStatus, LogForm, exit::Signals, log, output::Output},
    environment::Environment,
    operator::{OperatorBuilder, Stopped},
};

/// For `map_err`: what was tried in the development cluster.
pub(super) fn failed<E: std::error::Error + Send + Sync + 'static>(
    doing: &'static str,
) -> impl FnOnce(E) -> Error {
    move |source| Error::Cluster { doing, source: Box::new(source) }
}

pub(in crate::cli) async fn dev(
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
    let workbench = workbench.read(&args.apply, args.scenario.as_deref())?;
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
