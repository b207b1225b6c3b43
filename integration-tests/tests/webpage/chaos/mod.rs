//! Eight clients do random things to 150 pages and their children, while the operator, a real process on a real
//! control plane, is killed and started again at random moments. Afterwards everything must be right, and then quiet.
//!
//! ```text
//!   seed ──▶ 8 clients: acts ──▶ API server ◀── operator, killed at random moments (keeper)
//!                │                   │
//!                └─▶ journal         └──▶ judge: pages and children, nothing left over; the audit log: no write any more
//! ```
//!
//! `CHAOS_SEED` is the seed of all choices, by default the day's; `CHAOS_SECONDS` is the duration, by default 15 s. The
//! machine decides when things happen, so a seed determines the acts and not their order: a failure reports both.

mod acts;
mod clients;
mod journal;
mod judge;
mod keeper;
mod kinds;
mod wanted;
mod world;

use std::{env, time::SystemTime};

use fastrand::Rng;
use integration_tests::prelude::*;
use operator_core::testing::{AuditReader, Part, Profile};
use webpage::WebPage;

use self::{journal::Journal, judge::Wrong, keeper::Keeper, world::World};
use crate::support::ONE_AT_A_TIME;

/// How many pages there may be.
const PAGES: usize = 150;
/// How many clients act at the same time.
const CLIENTS: usize = 8;
/// How long it may take until everything is right.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long nothing may be written then.
const QUIET: Duration = Duration::from_secs(10);
/// The pause between two checks.
const INTERVAL: Duration = Duration::from_millis(500);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_pages_are_right_whatever_was_done_to_them_and_to_the_operator() -> Result<()> {
    let (seed, seconds) = (number("CHAOS_SEED", today())?, number("CHAOS_SECONDS", 15)?);
    let again = format!("CHAOS_SEED={seed} CHAOS_SECONDS={seconds}");
    // Whatever comes of it, the seed is told at the start.
    let journal = Journal::new(seed);
    journal.note(&format!("begins with {again}"));
    let _turn = ONE_AT_A_TIME.lock().await;
    let outcome = chaos(seed, Duration::from_secs(seconds), &journal).await;
    if let Err(error) = &outcome {
        let saved = journal.save()?;
        let pages = error.downcast_ref::<Wrong>().map(Wrong::pages).unwrap_or_default();
        let acts = journal.about(&pages);
        panic!("{error:#}\n{again}; all that was done is in {}; of it this:\n{acts}", saved.display());
    }
    Ok(())
}

/// A number from the environment.
fn number(name: &str, default: u64) -> Result<u64> {
    match env::var(name) {
        Ok(text) => text.parse().with_context(|| format!("{name}={text} is no number")),
        Err(_) => Ok(default),
    }
}

/// The day, as a number that is different tomorrow.
#[allow(clippy::disallowed_methods, reason = "another seed each day, and nothing else depends on it")]
fn today() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.map_or(0, |since| since.as_secs() / (24 * 60 * 60))
}

async fn chaos(seed: u64, length: Duration, journal: &Journal) -> Result<()> {
    let mut rng = Rng::with_seed(seed);
    // One of its own: the garbage collector is to know the pages from its start, and nobody else is to be at work.
    let plane = Profile::Full.builder().crds([WebPage::crd()]);
    // By default it has addresses for some 250 services, those included that have just been deleted.
    let plane = plane.flag(Part::ApiServer, "--service-cluster-ip-range=10.0.0.0/16").start().await?;
    let cluster = TestCluster::new(plane);
    let (style, _) = webpage::STYLES[rng.usize(..webpage::STYLES.len())];
    let world = World::new(&cluster, journal, style != "low-level").await?;
    journal.note(&format!("the operator is the {style} one, in the namespace {}", world.namespace));
    let mut keeper = Keeper::new(&cluster, &world.namespace, style, rng.fork(), journal)?;

    let deadline = Instant::now() + length;
    let clients = (0..CLIENTS).map(|number| clients::run(&world, number, rng.fork(), deadline));
    let (_, kept) = tokio::join!(futures::future::join_all(clients), keeper.until(deadline));
    kept?;
    journal.note("the clients have left, and the operator lives on");
    world.enough_has_happened(keeper.kills())?;

    let mut audit = cluster.audit_from_now()?;
    all_is_right(&world, &mut keeper).await?;
    audit.read()?;
    stays_quiet(&mut audit, journal).await?;
    judge::wrong(&world).await?.map_or(Ok(()), Err).context("it was right, and nothing was written since")?;
    journal.note(&format!(
        "left over, after they had lost what says whose they are: {}",
        judge::left_behind(&world).await?
    ));
    keeper.is_well()
}

/// Waits until everything is right.
async fn all_is_right(world: &World<'_>, keeper: &mut Keeper<'_>) -> Result<()> {
    let begin = Instant::now();
    loop {
        ensure!(keeper.is_running()?, "the operator has ended by itself");
        match judge::wrong(world).await? {
            None => {
                world.journal.note(&format!("all is right after {:.1} s", begin.elapsed().as_secs_f64()));
                return Ok(());
            }
            Some(wrong) if begin.elapsed() > PATIENCE => {
                return Err(wrong).with_context(|| format!("not right after {} s", PATIENCE.as_secs()));
            }
            Some(_) => tokio::time::sleep(INTERVAL).await,
        }
    }
}

/// Checks that the operator writes nothing.
async fn stays_quiet(audit: &mut AuditReader, journal: &Journal) -> Result<()> {
    let end = Instant::now() + QUIET;
    while Instant::now() < end {
        tokio::time::sleep(INTERVAL).await;
        let all = audit.read()?;
        let ours = all.iter().filter(|event| event.user == keeper::ACCOUNT);
        let writes: Vec<_> = ours
            .filter(|event| !matches!(event.verb.as_str(), "get" | "list" | "watch"))
            .map(|event| format!("{} {} -> {}", event.verb, event.uri, event.code))
            .collect();
        if !writes.is_empty() {
            bail!("all was right, and it writes on: {writes:#?}");
        }
    }
    journal.note(&format!("it has written nothing for {} s", QUIET.as_secs()));
    Ok(())
}
