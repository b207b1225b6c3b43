//! Stories about many objects: lists and their pages, owners and their objects, namespaces that end, rights, definitions
//! that change.
//!
//! ```text
//!  seed ─▶ story: requests with marks ─┬─▶ kube-apiserver ─▶ its memory ─┐
//!                                      └─▶ in-process ─────▶ its memory ─┴─▶ compared without their own names
//! ```
//!
//! Each story has namespaces of its own, so many stories run at the same time: nearly all of the time is spent in the
//! real server.

mod ask;
mod changed;
mod definitions;
mod lists;
mod memory;
mod order;
mod owners;
mod rights;
mod subjects;
mod telling;

use futures::StreamExt;
use integration_tests::prelude::*;
use operator_core::testing::seed_of_the_day;

use self::{
    ask::Ask,
    telling::{Both, Told, shrink, tell},
};
use crate::{IN_FLIGHT, STORIES_OF_A_DAY, setting};

/// So many differences are shown, and so many of them with the shortest story that has them.
const SHOWN: usize = 12;
const SHORTENED: usize = 2;

/// So many stories of a sort may differ once and not when they are told again, in CI; each is printed. The real server does
/// some things a moment later.
const ONCE: u64 = 1;

/// One sort of stories.
pub(crate) struct Sort {
    pub(crate) name: &'static str,
    pub(crate) story: fn(&mut Random) -> Vec<Ask>,
    /// How many of them are told in CI.
    pub(crate) stories: u64,
    /// So many answers of each are compared, at the least.
    pub(crate) answers: usize,
}

/// What is told of one sort.
#[expect(clippy::print_stderr, reason = "the numbers are what one wants to see of it")]
pub(crate) async fn tell_all(both: &Both, sort: &Sort) -> anyhow::Result<()> {
    let times = setting("FUZZ_TIMES").unwrap_or(1);
    let stories = sort.stories * times;
    let first = setting("FUZZ_SEED").unwrap_or_else(|| seed_of_the_day() * STORIES_OF_A_DAY);
    let stories = setting("FUZZ_STORIES").unwrap_or(stories);
    let started = tokio::time::Instant::now();
    let told = futures::stream::iter(first..first + stories).map(|seed| async move {
        let story = (sort.story)(&mut Random::new(seed));
        let told = tell(both, &format!("s{seed}"), &story).await;
        (seed, story, told)
    });
    let mut told = std::pin::pin!(told.buffered(IN_FLIGHT));
    let (mut sum, mut doubtful) = (Told::default(), Vec::new());
    while let Some((seed, story, told)) = told.next().await {
        let told = told?;
        sum.writes += told.writes;
        sum.reads += told.reads;
        told.skipped.iter().for_each(|(why, times)| *sum.skipped.entry(why).or_default() += times);
        told.codes.iter().for_each(|(code, times)| *sum.codes.entry(*code).or_default() += times);
        doubtful.extend(told.different.map(|(at, lines)| (seed, story, at, lines)));
    }
    let (mut report, mut different, mut once) = (Vec::new(), 0, 0);
    let mut known = BTreeSet::new();
    // Only now: the stories beside it would wait meanwhile, and their patience end.
    for (seed, story, at, lines) in doubtful {
        if tell(both, &format!("s{seed}again"), &story).await?.different.is_none() {
            eprintln!("{} {seed} differs once, and not again: {}", sort.name, lines.join("\n    "));
            once += 1;
            continue;
        }
        different += 1;
        // The same difference is told once, and the first few are enough to read.
        let seen = lines
            .first()
            .map_or_else(String::new, |line| line.replace(|letter: char| letter.is_ascii_digit(), ""));
        if report.len() < SHOWN && known.insert(seen) {
            let short = if report.len() < SHORTENED {
                shrink(both, &format!("s{seed}"), &story[..=at]).await?
            } else {
                (vec![story[at].clone()], Vec::new())
            };
            let lines = if short.1.is_empty() { lines } else { short.1 };
            report.push(describe(sort, seed, &short.0, &lines));
        }
    }
    eprintln!(
        "FUZZ_SEED={first} {}: {stories} stories, {} answers to writes and {} to reads compared, {different} stories differ, \
         skipped: {:?}; {:?} in {:.1?}",
        sort.name,
        sum.writes,
        sum.reads,
        sum.skipped,
        sum.codes,
        started.elapsed()
    );
    assert!(report.is_empty(), "the servers differ\n{}", report.join("\n"));
    assert!(once <= ONCE * times, "{}: {once} stories differ once, and not again", sort.name);
    let compared = sum.writes + sum.reads;
    let floor = sort.answers * usize::try_from(stories)?;
    assert!(compared >= floor, "{}: {compared} answers are fewer than {floor}", sort.name);
    Ok(())
}

fn describe(sort: &Sort, seed: u64, story: &[Ask], lines: &[String]) -> String {
    let asks: Vec<_> = story.iter().map(|ask| format!("  {}", ask.describe())).collect();
    let again =
        format!("FUZZ_SEED={seed} FUZZ_STORIES=1 cargo test --workspace --test fuzz -- crowd::{}", sort.name);
    format!("{}, told again by: {again}\n{}\n    {}", sort.name, asks.join("\n"), lines.join("\n    "))
}

/// As long as what is read from the real server's caches may be behind.
pub(crate) const SOON: Duration = Duration::from_secs(3);
