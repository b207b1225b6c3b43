//! Every field of Kubernetes' kinds set to wrong values and changed after creation, on both servers: the in-process
//! server must refuse what the real one refuses, with the same causes, and nothing else.
//!
//! ```text
//!  recorded types ─▶ walk: each field, in a valid object ─▶ wrong values ─▶ POST ─┐
//!                                                      └──▶ other values ─▶ PUT ──┴─▶ both servers ─▶ compared, counted
//! ```
//!
//! Everything is a dry run, so nothing depends on earlier requests. The same requests are sent each time.
//!
//! A fifth of the kinds is examined each day, and all of them every night. `FIELDS_KINDS` selects the kinds by name, or `all` of
//! them; `FIELDS_LIST` names a file for the list of all differences, and
//! `UPDATE_FIELDS=1` writes the page's table of what isn't checked.

mod ask;
mod bases;
mod samples;
mod share;
mod types;
mod walk;
mod wrong;

use std::sync::LazyLock;

use operator_core::testing::{ControlPlane, Part, TestCluster, seed_of_the_day};

use self::{share::Share, types::Types};

/// In so many days, all kinds have their day.
const DAYS: usize = 5;

static TYPES: LazyLock<Result<Types, String>> =
    LazyLock::new(|| Types::recorded().map_err(|error| error.to_string()));

fn types() -> anyhow::Result<&'static Types> {
    TYPES.as_ref().map_err(|error| anyhow::anyhow!("the recorded types: {error}"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stderr, reason = "the numbers are what one wants to see of it")]
async fn wrong_values_are_refused_alike() -> anyhow::Result<()> {
    // Both have the same addresses of services.
    let real = ControlPlane::builder().flag(Part::ApiServer, "--service-cluster-ip-range=10.96.0.0/16");
    let cluster = TestCluster::new(real.start().await?);
    let real = cluster.client()?;
    let chosen = std::env::var("FIELDS_KINDS").ok();
    let all = chosen.as_ref().is_some_and(|chosen| chosen == "all");
    let today = seed_of_the_day() as usize % DAYS;
    let is_chosen = |(at, kind): &(usize, &bases::Kind)| match &chosen {
        None => at % DAYS == today,
        Some(chosen) => all || chosen.split(',').any(|name| name == kind.name),
    };
    ask::prepare(&real).await?;
    let mut share = Share::default();
    for (_, kind) in bases::KINDS.iter().enumerate().filter(is_chosen) {
        let started = tokio::time::Instant::now();
        let results = ask::kind(types()?, &real, kind).await?;
        let line = share.add(kind, &results);
        eprintln!("{line} in {:.1?}", started.elapsed());
        if let Ok(file) = std::env::var("FIELDS_LIST") {
            std::fs::write(file, share.list())?;
        }
    }
    eprintln!("{}", share.total());
    if all || chosen.is_none() {
        share.keep_page()?;
    }
    if all {
        share.check_floor()?;
    }
    share.check_stricter()
}
