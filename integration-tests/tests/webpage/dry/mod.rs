//! A dry run and a real run have the same writes with the same bodies, in a thousand worlds for each
//! style.
//!
//! ```text
//! pages and children with a past ─▶ what happens while nobody looks ─┬─▶ dry run of each page ─▶ planned
//!    (an operator that has stopped)   (edits, deletions, half ready)  └─▶ operator, its first runs ─▶ written
//! ```

mod recorder;
mod worlds;

use integration_tests::prelude::*;
use operator_core::{
    ControllerConfiguration as _,
    testing::{DryRun, InProcessServer},
};
use recorder::Recorder;
use webpage::{
    STYLES, WebPage,
    styles::{low_level, managed, standalone},
};
use worlds::Worlds;

use crate::support::until;

/// `DRY_WORLDS` is another number, for nightly.
const WORLDS: usize = 300;

type Dry = fn(&WebPage) -> DryRun<WebPage>;

#[tokio::test(start_paused = true)]
async fn what_is_planned_is_written_in_managed_style() -> Result<()> {
    what_is_planned_is_written("managed", 20, |page| managed::WebPages.controller().dry_run(page)).await
}

#[tokio::test(start_paused = true)]
async fn what_is_planned_is_written_in_standalone_style() -> Result<()> {
    let dry: Dry = |page| standalone::controller().expect("it is declared well").dry_run(page);
    what_is_planned_is_written("standalone", 20, dry).await
}

#[tokio::test(start_paused = true)]
async fn what_is_planned_is_written_in_low_level_style() -> Result<()> {
    what_is_planned_is_written("low-level", 14, |page| low_level::controller().dry_run(page)).await
}

/// `least`: more kinds of worlds than this come with each seed; the low-level style writes in fewer ways.
async fn what_is_planned_is_written(style: &str, least: usize, dry: Dry) -> Result<()> {
    let (_, declare) = STYLES.into_iter().find(|(name, _)| *name == style).context("no such style")?;
    let connect =
        |server: &InProcessServer| declare().config(server.config()).transport(server.clone().into());
    let number = std::env::var("DRY_WORLDS").map_or(Ok(WORLDS), |number| number.parse())?;
    let worlds = Worlds::with_a_past(number, connect).await?;

    let mut planned = BTreeMap::new();
    for (name, page, children) in worlds.read().await? {
        let mut run = dry(&page);
        for child in &children {
            run = run.known(child);
        }
        let run = run.await;
        let body = |write: &String| (write.clone(), run.body(write).clone());
        planned.insert(name, run.writes().iter().map(body).collect::<Vec<_>>());
    }

    let recorder = Recorder::default();
    let builder = connect(worlds.server()).transport(recorder.hook()).observer(recorder.observer());
    let operator = TestOperator::start(builder).await?;
    until("a run of each page", async || (recorder.finished() == number).then_some(())).await?;
    operator.stop().await;

    let mut kinds = BTreeMap::<Vec<String>, usize>::new();
    let mut differing = Vec::new();
    for (name, mut planned) in planned {
        let mut written = recorder.written(&name);
        // What goes out at the same time has no order.
        planned.sort_by_key(line);
        written.sort_by_key(line);
        let names = planned.iter().map(|(write, _)| write.replace(&name, "page")).collect();
        *kinds.entry(names).or_default() += 1;
        if planned != written {
            differing.push(format!("{name}\n planned {planned:#?}\n written {written:#?}"));
        }
    }
    assert!(differing.is_empty(), "{} of {number} differ, the first: {}", differing.len(), differing[0]);
    // Worlds in which nothing, or always the same is to be done, would show nothing.
    ensure!(kinds.len() > least && kinds.contains_key(&Vec::new()), "too few kinds of worlds: {kinds:#?}");
    Ok(())
}

fn line((write, body): &(String, Value)) -> String {
    format!("{write} {body}")
}
