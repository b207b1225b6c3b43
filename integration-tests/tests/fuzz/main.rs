//! The in-process API server and the real one get the same requests: their answers must not differ.
//!
//! ```text
//!  seed ─▶ story: ten random requests to one object ─┬─▶ kube-apiserver ─┐
//!                                                    └─▶ in-process ─────┴─▶ compared, answer by answer, event by event
//! ```
//!
//! A difference ends the story, which is then shortened as long as the difference stays, and printed with the settings
//! that repeat it. Each day has other stories. `FUZZ_STORIES` is the number of stories of each kind, `FUZZ_TIMES`
//! multiplies the number in CI, `FUZZ_SEED` is the first seed, `FUZZ_KINDS` selects the kinds; `FUZZ_RECORD` names a
//! file for the real server's answers, which [`replay`] compares with the in-process server where there is no Go.
//! [`fields`] sets each field of Kubernetes' kinds to wrong values.

mod compare;
mod crowd;
mod fields;
mod kinds;
mod odd;
mod replay;
mod run;
mod small;
mod steps;
mod summary;
mod templates;
mod watch;

use futures::StreamExt;
use integration_tests::prelude::*;
use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use operator_core::testing::{ControlPlane, Controllers, InProcessServer, seed_of_the_day};

use crate::{
    kinds::{GROUP, KINDS, Kind},
    run::{Servers, random_story, shrink, tell},
    summary::Summary,
};

/// So many stories of each kind are told in CI, in less than half a minute.
const STORIES: u64 = 8;
/// As many of them compare so many answers to writes, at the least, without those of [`crowd`] and [`fields`].
const ANSWERS: usize = 2_300;
/// So many are told every night, or a multiple; fewer don't say what of a kind is compared.
const TELLING: u64 = 32;
/// So many stories are told at the same time: nearly all of the time is the real server's.
const IN_FLIGHT: usize = 24;
/// So many stories may differ once and not when they are told again, in CI; each is printed. Managed fields are in
/// the order of their times, so that it may matter whether a second begins between two writes.
const ONCE: u64 = 3;
/// A day has no more stories than this, so that the next one has others.
const STORIES_OF_A_DAY: u64 = 1_000;
const NAMESPACE: &str = "fuzz";

/// The definitions of the custom kinds: one with a status and one without.
fn definitions() -> [CustomResourceDefinition; 2] {
    let define = |kind: &str, plural: &str, scope: &str, subresources: Value| {
        let version = json!({
            "name": "v1", "served": true, "storage": true, "subresources": subresources,
            "schema": {"openAPIV3Schema": templates::sample_schema()},
        });
        let names = json!({"kind": kind, "plural": plural});
        let spec = json!({"group": GROUP, "scope": scope, "names": names, "versions": [version]});
        let definition = json!({"metadata": {"name": format!("{plural}.{GROUP}")}, "spec": spec});
        serde_json::from_value(definition).expect("a definition")
    };
    [
        define("Sample", "samples", "Namespaced", json!({"status": {}})),
        define("Plain", "plains", "Cluster", json!({})),
    ]
}

#[expect(clippy::disallowed_methods, reason = "a server by itself has the machine's clock")]
async fn prepare_in_process_with(controllers: Controllers) -> anyhow::Result<Client> {
    let client = InProcessServer::with_controllers(jiff::Timestamp::now, controllers).client();
    for definition in definitions() {
        Api::all(client.clone()).create(&PostParams::default(), &definition).await?;
    }
    make_namespace(&client).await?;
    Ok(client)
}

/// The real one runs without controllers, too.
async fn prepare_in_process() -> anyhow::Result<Client> {
    prepare_in_process_with(Controllers::Off).await
}

/// The real server, which ends with its cluster.
async fn prepare_real() -> anyhow::Result<(Client, TestCluster)> {
    let cluster = TestCluster::new(ControlPlane::builder().start().await?);
    cluster.install_crds(definitions()).await?;
    make_namespace(&cluster.client()?).await?;
    Ok((cluster.client()?, cluster))
}

async fn make_namespace(client: &Client) -> anyhow::Result<()> {
    let mut namespace = Namespace::default();
    namespace.metadata.name = Some(NAMESPACE.to_owned());
    Api::all(client.clone()).create(&PostParams::default(), &namespace).await?;
    Ok(())
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text:?} is not a number")))
}

fn chosen(kind: &Kind) -> bool {
    std::env::var("FUZZ_KINDS").map_or(true, |kinds| kinds.split(',').any(|name| name == kind.name))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stderr, reason = "the numbers are what one wants to see of it")]
async fn two_servers_give_the_same_answers() -> anyhow::Result<()> {
    let (real, _cluster) = prepare_real().await?;
    let servers = Servers { real, model: prepare_in_process().await?, namespace: NAMESPACE.to_owned() };
    let stories = setting("FUZZ_STORIES")
        .unwrap_or_else(|| setting("FUZZ_TIMES").map_or(STORIES, |times| times * TELLING));
    let first = setting("FUZZ_SEED").unwrap_or_else(|| seed_of_the_day() * STORIES_OF_A_DAY);
    eprintln!("FUZZ_SEED={first} FUZZ_STORIES={stories}");
    let mut records = Vec::new();
    let mut report = Vec::new();
    let mut thin = Vec::new();
    let (mut answers, mut kinds, mut once) = (0, 0, 0);
    for kind in KINDS.iter().filter(|kind| chosen(kind)) {
        let started = tokio::time::Instant::now();
        let told = futures::stream::iter(first..first + stories).map(|seed| {
            let servers = &servers;
            async move {
                let story = random_story(kind, seed);
                let outcome = tell(servers, kind, &format!("s{seed}"), &story).await;
                (seed, story, outcome)
            }
        });
        let mut told = std::pin::pin!(told.buffered(IN_FLIGHT));
        let mut summary = Summary::default();
        while let Some((seed, story, outcome)) = told.next().await {
            let outcome = outcome?;
            summary.add(&outcome);
            let mut different = outcome.different;
            if let Some((_, lines)) = &different
                && tell(&servers, kind, &format!("s{seed}-anew"), &story).await?.different.is_none()
            {
                eprintln!("{} {seed} differs once, and not again: {}", kind.name, lines.join("\n    "));
                once += 1;
                different = None;
            }
            if let Some((at, lines)) = different {
                summary.different += 1;
                // The first few stories of a kind are enough to read.
                if summary.different <= 3 {
                    let told = &story[..(at + 1).min(story.len())];
                    let (short, shorter) = shrink(&servers, kind, &format!("s{seed}"), told).await?;
                    let lines = if shorter.is_empty() { lines } else { shorter };
                    report.push(describe(kind, seed, &short, &lines));
                }
            }
            records.extend(outcome.record);
        }
        eprintln!("{}: {summary} in {:.1?}", kind.name, started.elapsed());
        answers += summary.compared();
        kinds += 1;
        if stories >= TELLING {
            thin.extend(summary.thin(stories).map(|why| format!("{}: {why}", kind.name)));
        }
    }
    let floor = ANSWERS * usize::try_from(stories / STORIES)?;
    eprintln!(
        "{answers} answers to writes of {kinds} kinds compared, {floor} are the least of all {}",
        KINDS.len()
    );
    if kinds == KINDS.len() && answers < floor {
        thin.push(format!("{answers} answers to writes are fewer than {floor}"));
    }
    if let Ok(file) = std::env::var("FUZZ_RECORD") {
        replay::write(&file, &records)?;
    }
    assert!(report.is_empty(), "the servers differ\n{}", report.join("\n"));
    let times = (stories / TELLING).max(1);
    assert!(once <= ONCE * times, "{once} stories differ once, and not again");
    assert!(thin.is_empty(), "too little was compared\n{}", thin.join("\n"));
    Ok(())
}

fn describe(kind: &Kind, seed: u64, story: &[steps::Step], lines: &[String]) -> String {
    let steps: Vec<_> = story.iter().map(|step| format!("  {}", step.describe())).collect();
    let again = format!(
        "FUZZ_KINDS={} FUZZ_SEED={seed} FUZZ_STORIES=1 cargo test --workspace --test fuzz",
        kind.name
    );
    format!("{}, told again by: {again}\n{}\n    {}", kind.name, steps.join("\n"), lines.join("\n    "))
}
