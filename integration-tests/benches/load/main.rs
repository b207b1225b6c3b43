//! The load bench: our operator in two styles, kube-rs's own controller and a bare client do the same work on the same kube-apiserver,
//! one after the other, each in a process of its own. Each object has a child of each of four kinds: a ConfigMap, a Secret, a
//! Deployment and a Service.
//!
//! `cargo bench -p integration-tests --bench load` runs all of it in some forty minutes, with
//! `-- --objects 200 --cold 500 --rounds 1` a smaller version in two. There are two parts, each in rounds in which the operators take turns:
//!
//! - `--objects 1000`: a burst of new objects, `--updates 300` single updates, a restart of the operator, a foreign
//!   label on every child, deletion of everything. Each round begins with an empty cluster. The bare client only makes
//!   the requests that have to be made, and takes no part in steps for which a memory is needed.
//! - `--cold 10000`: this number of objects of each operator is created once. In each round the operator is started anew and finds all of
//!   them as they should be, then one child of each is labelled. In the end, once: a start beside `--foreign 10000` objects of
//!   others, half of them config maps and half of them Secrets, and the deletion of everything.
//!
//! 0 leaves a part out. For each turn, the bench prints the requests by verb (from the API server's audit log), the CPU
//! time, the peak memory, and how long the objects took; and in the end a table of the medians with the allowed ratios
//! to kube-rs's. Numbers of one run can be compared with one another; those of two runs can't.
//!
//! Of kube-controller-manager only the garbage collector runs, and what a control plane needs to start. Others would
//! write the status of Deployments and make ReplicaSets, EndpointSlices and config maps of their own, which load the
//! server more than the operators do.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod bare;
mod cost;
mod deployment;
mod kube_rs;
mod managed;
mod measure;
mod ours;
mod phases;
mod report;
mod rounds;
mod waiting;
mod workload;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use kube::{
    Config, CustomResourceExt,
    config::{KubeConfigOptions, Kubeconfig},
};
use operator_core::testing::{ControlPlane, Part, TestCluster};

use report::Report;
use workload::TestResource;

#[derive(Parser)]
struct Arguments {
    /// How many objects the first part has.
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// How many of them are updated one by one.
    #[arg(long, default_value_t = 300)]
    updates: usize,
    /// How many objects the second part has.
    #[arg(long, default_value_t = 10_000)]
    cold: usize,
    /// How many objects of others there are in its end; by default as many as it has itself.
    #[arg(long)]
    foreign: Option<usize>,
    /// How often each operator has its turn.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Internal: be this operator, in this namespace.
    #[arg(long, num_args = 2, hide = true)]
    subject: Option<Vec<String>>,
    /// An argument that cargo passes to every bench.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match arguments.subject.as_deref() {
            None => compare(&arguments).await,
            Some([subject, namespace]) => be(subject, namespace).await,
            Some(_) => bail!("--subject takes an operator and a namespace"),
        }
    })
}

/// Runs one operator until it is told to stop.
async fn be(subject: &str, namespace: &str) -> Result<()> {
    let kubeconfig = Kubeconfig::read().context("the bench passes KUBECONFIG")?;
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    config.auth_info.impersonate = Some(subject.to_owned());
    config.auth_info.impersonate_groups = Some(vec!["system:masters".to_owned()]);
    match subject {
        "ours" => ours::run(config, namespace).await,
        "managed" => managed::run(config, namespace).await,
        "kube-rs" => kube_rs::run(config, namespace).await,
        "bare" => bare::run(config, namespace).await,
        other => bail!("there is no operator called {other}"),
    }
}

async fn compare(arguments: &Arguments) -> Result<()> {
    ensure!(arguments.rounds > 0, "without a round there are no figures");
    let mut report = Report::default();
    let (rounds, objects, cold) = (arguments.rounds, arguments.objects, arguments.cold);
    if objects > 0 {
        let updates = arguments.updates.min(objects);
        rounds::from_the_beginning(&cluster().await?, &mut report, rounds, objects, updates).await?;
    }
    if cold > 0 {
        let foreign = arguments.foreign.unwrap_or(cold);
        rounds::on_many(&cluster().await?, &mut report, rounds, cold, foreign).await?;
    }
    report.print();
    Ok(())
}

/// Each part has a control plane of its own, which knows nothing of the other's objects.
async fn cluster() -> Result<TestCluster> {
    let plane = ControlPlane::builder()
        .controller_manager(true)
        .audit_log(true)
        .crds([TestResource::crd()])
        .flag(Part::ControllerManager, "--controllers=garbage-collector-controller,serviceaccount-controller")
        // The server marks several objects at a time for deletion, so that it is the operators that are measured.
        .flag(Part::ApiServer, "--delete-collection-workers=8")
        // In place of 2 GiB: all rounds write some hundred thousand versions of objects.
        .flag(Part::Etcd, "--quota-backend-bytes=8589934592");
    Ok(TestCluster::new(plane.start().await?))
}
