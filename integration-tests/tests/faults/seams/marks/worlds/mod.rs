//! Random worlds: users, backups and other operators change an operator's objects, while the operator and its versions
//! continue. Judged by the requests to the server, and by the world's knowledge; never by the library's own statements.
//!
//! ```text
//!  seed ─▶ version ─▶ acts of others ─▶ newer version ─▶ acts ─▶ calm ─▶ the end
//!            │              │                 │
//!            └──── server, with a log at its door ──▶ judge: may this node write, or remove, this very object?
//!                           └─────────────────────▶ calm: is all there that is wanted, and nothing else that could go?
//! ```
//!
//! `WORLDS` is the number of worlds, `WORLDS_SEED` the first one: `WORLDS=1` and the seed that a failure names repeat it.

mod calm;
mod hands;
mod judge;
mod log;
mod others;
mod versions;
mod world;

use std::thread;

use integration_tests::prelude::*;
use operator_core::testing::seed_of_the_day;
use world::{Counts, World};

/// As many as some ten seconds allow.
const WORLDS: u64 = 150;
/// A day has no more than this, so that the next one has others.
const WORLDS_OF_A_DAY: u64 = 10_000;
/// Worlds in which a copy would go with the original (2, 10, 14), in which a node would take what another one still has (25, 32,
/// 136), and in which something would be written that the collector is about to take (83, 168, 410, 747), and in which
/// a backup is made between a write and its judgement (the last two).
const SHOWN: [u64; 12] = [2, 10, 14, 25, 32, 83, 136, 168, 410, 747, 202_611_240_509, 202_611_241_241];
/// How many failures are told.
const MOST: usize = 3;

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text:?} is not a number")))
}

/// Lives through one world; what it had in it, or what was wrong.
fn lived(seed: u64) -> Result<Counts, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let mut world = World::new(seed).await.map_err(|error| format!("{error:#}"))?;
        let lived: Result<()> = world.live().await;
        if let Err(error) = lived {
            world.wrongs.push(format!("the world has ended: {error:#}"));
        }
        match world.wrongs.is_empty() {
            true => Ok(world.counts),
            false => Err(format!(
                "{}\n    wrong:\n      {}",
                world.told.join("\n    "),
                world.wrongs.join("\n      ")
            )),
        }
    })
}

/// Lives through all of them on two threads; what they had in them. Fails where something was wrong, and tells how to see it again.
#[expect(clippy::print_stderr, reason = "the numbers are what one wants to see of it")]
fn live_through(seeds: &[u64]) -> Counts {
    let next = AtomicUsize::new(0);
    let work = || {
        let seeds = std::iter::from_fn(|| seeds.get(next.fetch_add(1, Ordering::Relaxed)));
        seeds.map(|seed| (*seed, lived(*seed))).collect::<Vec<_>>()
    };
    let mut lives: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("worlds don't panic")).collect()
    });
    lives.sort_by_key(|(seed, _)| *seed);
    let mut all = Counts::default();
    let mut wrong = Vec::new();
    for (seed, life) in lives {
        match life {
            Ok(counts) => all.add(counts),
            Err(told) => wrong.push(format!("WORLDS_SEED={seed} WORLDS=1\n    {told}")),
        }
    }
    eprintln!("{all:?}");
    let told = wrong.iter().take(MOST).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {} worlds are wrong\n{told}", wrong.len(), seeds.len());
    all
}

#[test]
#[expect(clippy::print_stderr, reason = "a seed that nobody knows repeats nothing")]
fn whatever_others_do_a_node_acts_upon_what_is_its_own_and_forgets_nothing() {
    let worlds = setting("WORLDS").unwrap_or(WORLDS);
    let first = setting("WORLDS_SEED").unwrap_or_else(|| seed_of_the_day() * WORLDS_OF_A_DAY);
    eprintln!("WORLDS_SEED={first} WORLDS={worlds}");
    let all = live_through(&(first..first + worlds).collect::<Vec<_>>());
    if worlds >= WORLDS {
        assert!(all.is_rich(), "too little has happened: {all:?}");
    }
}

/// Worlds that have shown something once, or show what the breaks named `13-worlds-…` break. Where worlds are
/// made in another way, others have to be looked for, with `WORLDS` and the break.
#[test]
fn worlds_that_have_shown_something() {
    live_through(&SHOWN);
}
