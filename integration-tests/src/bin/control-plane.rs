//! A real control plane in the foreground, for trying things out with kubectl.

use std::{
    io::{self, Write},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use anyhow::{Context, bail};
use clap::{Args, Parser, Subcommand, ValueEnum};
use operator_core::testing::{Assets, ControlPlane, ControlPlaneBuilder, Part};
use tokio::signal::unix::{SignalKind, signal};

/// A real control plane, on demand.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Starts a control plane, prints how to use it, and stops it on Ctrl-C.
    Up(Up),
    /// Only builds the binaries, and prints their folder.
    Build,
    /// Runs kubectl, on the control plane that `KUBECONFIG` leads to.
    Kubectl {
        /// What kubectl is told.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}

#[derive(Args)]
struct Up {
    /// Runs everything: the controllers, the scheduler and a fake node.
    #[arg(long, conflicts_with = "with")]
    full: bool,
    /// What to run beside etcd and the API server.
    #[arg(long, value_delimiter = ',')]
    with: Vec<Extra>,
    /// Writes an audit log, and prints where.
    #[arg(long)]
    audit: bool,
    /// Copies the kubeconfig to this file, and removes it at the end.
    #[arg(long)]
    kubeconfig: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Extra {
    /// kube-controller-manager.
    ControllerManager,
    /// kube-controller-manager and kube-scheduler.
    Controllers,
    /// A node on which every Pod becomes ready, and the controllers that it needs.
    Kwok,
}

impl Up {
    fn builder(&self) -> ControlPlaneBuilder {
        let has = |extra| self.with.contains(&extra);
        let builder = ControlPlane::builder().audit_log(self.audit);
        let builder = if has(Extra::ControllerManager) { builder.controller_manager(true) } else { builder };
        let builder = if has(Extra::Controllers) { builder.controllers(true) } else { builder };
        builder.kwok(self.full || has(Extra::Kwok))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    match Cli::parse().command {
        Action::Up(options) => up(options).await,
        Action::Build => {
            let assets = tokio::task::spawn_blocking(|| Assets::locate(&[Part::Kwok])).await??;
            say(&format!("{}\n", assets.folder().display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Action::Kubectl { args } => {
            let assets = tokio::task::spawn_blocking(|| Assets::locate(&[])).await??;
            // kubectl takes this process's place, so that signals and the terminal are its own.
            Err(Command::new(assets.kubectl()?).args(args).exec()).context("could not run kubectl")
        }
    }
}

async fn up(options: Up) -> anyhow::Result<ExitCode> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut asked_to_stop = std::pin::pin!(async {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    });
    let plane = tokio::select! {
        plane = options.builder().start() => plane?,
        () = &mut asked_to_stop => return Ok(ExitCode::SUCCESS),
    };
    let Some(kubeconfig) = plane.kubeconfig() else {
        bail!("USE_EXISTING_CLUSTER is set: there is nothing to start");
    };
    let kubeconfig = match &options.kubeconfig {
        Some(copy) => {
            std::fs::copy(&kubeconfig, copy)
                .with_context(|| format!("could not write {}", copy.display()))?;
            copy.clone()
        }
        None => kubeconfig,
    };
    say(&introduction(&plane, &kubeconfig, options.audit))?;
    let failure = tokio::select! {
        failure = plane.failed() => Some(failure),
        () = asked_to_stop => None,
    };
    plane.stop().await;
    if let Some(copy) = &options.kubeconfig {
        // It leads nowhere now; that someone else has removed it is as good.
        let _ = std::fs::remove_file(copy);
    }
    match failure {
        Some(failure) => Err(failure.into()),
        None => Ok(ExitCode::SUCCESS),
    }
}

fn introduction(plane: &ControlPlane, kubeconfig: &Path, audit: bool) -> String {
    let mut text =
        format!("Kubernetes {} is ready.\n\n  export KUBECONFIG={}\n", plane.version(), kubeconfig.display());
    if let Some(kubectl) = plane.assets().and_then(|assets| assets.kubectl().ok()) {
        text += &format!("  alias kubectl={}\n", kubectl.display());
    }
    if let Some(folder) = plane.folder() {
        text += &format!("\nlogs: {}\n", folder.join("logs").display());
        if audit {
            text += &format!("audit log: {}\n", folder.join("audit.log").display());
        }
    }
    let processes: Vec<_> = plane.processes().iter().map(u32::to_string).collect();
    text += &format!("processes: {}\n", processes.join(" "));
    text + "\nCtrl-C stops it.\n"
}

fn say(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
