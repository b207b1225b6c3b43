//! The load bench: our operator in two styles, kube-rs's own controller and a bare client do the same work on the same kube-apiserver,
//! one after the other, each in a process of its own. Each object has a child of each of four kinds: a ConfigMap, a Secret, a
//! Deployment and a Service. The bare client makes the same requests and nothing else, and only takes part in the first two
//! phases.
//!
//! `cargo bench -p integration-tests --bench load`, with `-- --objects 200` for a smaller one. Phases: a burst of new
//! objects, single updates, a restart of the operator, a foreign label on every config map, deletion of everything. Printed are
//! the requests of each operator by verb (from the API server's audit log), its CPU time and its peak memory, and how long
//! the objects took. Figures of one run are comparable with one another; those of two runs are not.
//!
//! `-- --objects 100 --foreign 10000` measures something else: the memory of an operator that was started beside so many
//! objects of others, and beside none.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

mod bare;
mod deployment;
mod kube_rs;
mod managed;
mod measure;
mod ours;
mod phases;
mod workload;

use anyhow::{Context, Result, bail};
use clap::Parser;
use kube::{
    Config, CustomResourceExt,
    config::{KubeConfigOptions, Kubeconfig},
};
use operator_core::testing::{ControlPlane, Part, TestCluster};

use measure::Subject;
use workload::TestResource;

#[derive(Parser)]
struct Arguments {
    /// How many objects there are.
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// How many of them are updated one by one.
    #[arg(long, default_value_t = 300)]
    updates: usize,
    /// In place of all that: what this many objects of others cost, half of them config maps and half of them Secrets.
    #[arg(long, default_value_t = 0)]
    foreign: usize,
    /// Internal: be this operator, in this namespace.
    #[arg(long, num_args = 2, hide = true)]
    subject: Option<Vec<String>>,
    /// What cargo passes to every bench.
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
    // Of the other controllers some would write the status of Deployments and make ReplicaSets and EndpointSlices, which load the
    // server more than the operators do.
    let plane = ControlPlane::builder()
        .controller_manager(true)
        .flag(Part::ControllerManager, "--controllers=garbage-collector-controller,serviceaccount-controller")
        .audit_log(true)
        .crds([TestResource::crd()]);
    let cluster = TestCluster::new(plane.start().await?);
    if arguments.foreign > 0 {
        return beside(&cluster, arguments).await;
    }
    println!("{} objects with four children each, {} single updates\n", arguments.objects, arguments.updates);
    // The order is turned around and back again, so that none of them always meets the warmer server.
    for name in ["ours", "managed", "kube-rs", "bare", "bare", "kube-rs", "managed", "ours"] {
        let subject = Subject::new(&cluster, name).await?;
        phases::run(subject, arguments.objects, arguments.updates).await?;
    }
    Ok(())
}

/// What objects of others cost the operators that own config maps.
async fn beside(cluster: &TestCluster, arguments: &Arguments) -> Result<()> {
    let (own, foreign) = (arguments.objects, arguments.foreign);
    println!("{own} objects with four children each, beside {foreign} objects of others\n");
    for name in ["managed", "kube-rs", "kube-rs", "managed"] {
        phases::beside(Subject::new(cluster, name).await?, own, foreign).await?;
    }
    Ok(())
}
