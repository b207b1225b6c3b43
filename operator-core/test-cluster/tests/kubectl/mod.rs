//! kubectl on the in-process server and on the real one: the same commands, and what they print compared byte by byte.
//!
//! ```text
//!  commands ─┬─▶ kubectl ─HTTPS─▶ in-process server ─┬─▶ masked: ages, times, uids, addresses, versions, hashes
//!            └─▶ kubectl ─HTTPS─▶ real control plane ┴─▶ compared: exit code, output, errors
//! ```
//!
//! One control plane serves all sections, which run side by side, each in its own namespace. A difference that is known is written beside its command with its reason; a
//! test counts them, and fails for one that is no longer there.

mod api;
mod apply;
mod custom;
mod deletion;
mod maps;
pub(crate) mod masks;
#[expect(clippy::disallowed_methods, reason = "kubectl is another process, which lives in real time")]
pub(crate) mod run;
pub(crate) mod script;
mod workloads;

use run::{Servers, differences};
use script::Step;
use test_cluster::InProcessServer;

use crate::harness::{Tested, kubectl::kubectl, planes};

/// More differences than this are too many to know.
const MOST_KNOWN: usize = 5;
/// The commands that somebody who takes the one server for the other must not notice.
const NEVER_DIFFERENT: [&str; 5] = ["get", "apply", "diff", "wait", "delete"];

fn sections() -> [(&'static str, Vec<Step>); 6] {
    [
        ("api", api::steps()),
        ("maps", maps::steps()),
        ("apply", apply::steps()),
        ("custom", custom::steps()),
        ("deletion", deletion::steps()),
        ("workloads", workloads::steps()),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kubectl_says_the_same_on_both_servers() -> Tested {
    let plane = planes::busy().await;
    let listening = InProcessServer::new().listen().await?;
    let real = plane.kubeconfig().ok_or("a control plane of ours")?;
    let servers = Servers::new(kubectl()?, real, listening.kubeconfig())?;
    let chosen = std::env::var("KUBECTL_SECTION").ok();
    let is_chosen = |name: &str| chosen.as_ref().is_none_or(|chosen| chosen == name);
    let found: Vec<_> = sections()
        .into_iter()
        .filter(|(name, _)| is_chosen(name))
        .map(|(name, steps)| {
            let servers = servers.clone();
            tokio::task::spawn_blocking(move || differences(&servers, name, &steps))
        })
        .collect();
    let mut report = Vec::new();
    for section in found {
        report.extend(section.await?.map_err(|error| error.to_string())?);
    }
    assert!(report.is_empty(), "{} differences\n{}", report.len(), report.join("\n"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_needs_a_node_is_refused_by_name() -> Tested {
    let listening = InProcessServer::new().listen().await?;
    let servers = Servers::new(kubectl()?, listening.kubeconfig().to_owned(), listening.kubeconfig())?;
    let refused = |command: &'static str, subresource: &'static str| {
        let servers = servers.clone();
        tokio::task::spawn_blocking(move || {
            let output = servers.ours(&script::run(command)).map_err(|error| error.to_string())?;
            let named = output.contains(&format!("the subresource {subresource} of pods"));
            let refused = named && output.contains("the in-process server does not do this");
            refused.then_some(()).ok_or_else(|| format!("{command}: {output}"))
        })
    };
    refused("run one --image=one:1", "").await?.expect_err("it is created");
    refused("logs one", "log").await??;
    refused("exec one -- ls", "exec").await??;
    refused("cp one:/etc/hosts /tmp/hosts", "exec").await??;
    Ok(())
}

#[test]
fn at_least_forty_commands_are_compared_and_few_differences_known() {
    let steps: Vec<Step> = sections().into_iter().flat_map(|(_, steps)| steps).collect();
    assert!(steps.len() >= 40, "{}", steps.len());
    let known: Vec<&Step> = steps.iter().filter(|step| step.known.is_some()).collect();
    assert!(known.len() <= MOST_KNOWN, "{known:?}");
    for step in known {
        let command = step.command.split(' ').next().unwrap_or_default();
        assert!(!NEVER_DIFFERENT.contains(&command), "{step:?}");
    }
}
