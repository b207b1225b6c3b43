//! Decisions are pure; tasks, clocks and writes have one place each.

use crate::sources::{self, Source};

/// Files and folders of operator-core that decide: no runtime, no client, no clock.
const PURE: &[&str] = &[
    "resource/",
    "observe/",
    "cache/change.rs",
    "cache/indexers.rs",
    "cache/text/mod.rs",
    "cache/text/own.rs",
    "cache/text/scan.rs",
    "cache/list_watch/failure.rs",
    "cache/list_watch/fsm.rs",
    "cache/overlay/",
    "cache/secondary_index.rs",
    "cache/list_watch/backoff.rs",
    "cache/list_watch/health.rs",
    "cache/shard.rs",
    "cache/store/full.rs",
    "cache/store/mod.rs",
    "cache/store/record.rs",
    "configuration/entry.rs",
    "configuration/keys.rs",
    "configuration/nearest.rs",
    "configuration/refused.rs",
    "configuration/resolve.rs",
    "configuration/values.rs",
    "configuration/variables.rs",
    "configuration/yaml.rs",
    "controller/check/",
    "controller/mistake.rs",
    "controller/names.rs",
    "dependent/object/written.rs",
    "dependent/set/act.rs",
    "dependent/set/faults.rs",
    "dependent/set/kinds.rs",
    "dependent/set/objects.rs",
    "dependent/set/policies.rs",
    "dependent/set/progress.rs",
    "dependent/set/removal.rs",
    "dependent/set/stages.rs",
    "dependent/set/wanted.rs",
    "dependent/set/yaml.rs",
    "dependent/system/backoff.rs",
    "dependent/system/call.rs",
    "dependent/system/circuit.rs",
    "event_source/conditional/claims.rs",
    "event_source/discovery/definition.rs",
    "event_source/external/cache.rs",
    "event_source/external/schedule.rs",
    "event_source/external/unconfirmed.rs",
    "event_source/parts.rs",
    "event_source/scope.rs",
    "operations/events/note.rs",
    "operations/matcher/",
    "operations/mend/drift.rs",
    "operations/mend/take.rs",
    "operations/send/body.rs",
    "operator/definitions/compare.rs",
    "operator/definitions/schema.rs",
    "operator/leader/machine.rs",
    "processor/governor.rs",
    "processor/machine/",
    "processor/rate_limit.rs",
    "processor/retry.rs",
    "status/",
    "workflow/error.rs",
    "workflow/declare/graph/",
    "workflow/mermaid/",
    "workflow/plan/",
];

/// The names that a pure file must not contain.
pub(crate) const IMPURE: &[&str] = &[
    "tokio",
    "kube::Client",
    "kube::Api",
    "kube::client",
    "kube::{Client",
    "kube::{Api",
    "crate::client",
    "Instant::",
    "SystemTime",
    "Timestamp::now",
    "Clock",
    "async ",
    ".await",
    "rand::",
];

/// The calls that start a task or a thread.
const SPAWNS: &[&str] = &[
    "tokio::spawn",
    "TaskTracker",
    "task::spawn",
    "spawn_blocking",
    "spawn_local",
    "thread::spawn",
    "JoinSet",
];

/// The calls that read the time of day, or a clock that a test can't pause.
const CLOCKS: &[&str] = &["Timestamp::now", "SystemTime", "std::time::Instant", "Utc::now", "Zoned::now"];

/// The calls that decide by chance, or by an order that differs in each process. A channel of `sync::watch` wakes its
/// readers in a random order.
const CHANCE: &[&str] =
    &["rand::", "fastrand", "sync::watch", "sync::{watch", "RandomState", "select_all", "future::select_ok"];

/// The calls that write to the API server.
const WRITES: &[&str] = &[
    "Method::POST",
    "Method::PUT",
    "Method::PATCH",
    "Method::DELETE",
    "Request::post",
    "Request::put",
    "Request::patch",
    "Request::delete",
    "PostParams",
    "PatchParams",
    "DeleteParams",
    "kube::Api",
    "kube::api",
    "kube::{Api",
];

/// The library's files without its tests and without what is for tests and the command line.
fn library() -> Vec<Source> {
    let for_users = |path: &str| path.starts_with("testing/") || path.starts_with("cli");
    let mut sources = sources::rust("operator-core/src");
    sources.retain(|source| !source.is_test() && !for_users(&source.path));
    sources
}

/// Where `words` stand in files that `concerns` picks.
fn found(words: &[&str], concerns: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for source in library().iter().filter(|source| concerns(&source.path)) {
        // An import of several lines names what it names, too.
        let code = source.code_without_tests().split_whitespace().collect::<Vec<_>>().join(" ");
        let code = code.replace("{ ", "{");
        for word in words.iter().filter(|word| code.contains(**word)) {
            found.push(format!("{} names `{word}`", source.path));
        }
    }
    found
}

#[test]
fn pure_files_name_no_runtime_no_client_and_no_clock() {
    let library = library();
    for pure in PURE {
        assert!(
            library.iter().any(|source| source.path.starts_with(pure)),
            "{pure} is gone; correct the list"
        );
    }
    let wrong = found(IMPURE, |path| PURE.iter().any(|pure| path.starts_with(pure)));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn only_the_environment_starts_tasks() {
    let wrong = found(SPAWNS, |path| !path.starts_with("environment/"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(!found(SPAWNS, |path| path == "environment/mod.rs").is_empty(), "the check finds what there is");
}

#[test]
fn only_the_environment_reads_the_time_of_day() {
    let wrong = found(CLOCKS, |path| !path.starts_with("environment/"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        !found(CLOCKS, |path| path == "environment/clock.rs").is_empty(),
        "the check finds what there is"
    );
}

#[test]
fn only_the_environment_rolls_dice() {
    let wrong = found(CHANCE, |path| !path.starts_with("environment/"));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        !found(CHANCE, |path| path == "environment/random.rs").is_empty(),
        "the check finds what there is"
    );
}

/// An unbiased `select!` polls its branches in random order, and a simulation couldn't repeat itself.
#[test]
fn each_select_says_which_branch_comes_first() {
    let mut unbiased = Vec::new();
    let mut biased = 0;
    for source in library() {
        let code = source.code_without_tests();
        for (at, _) in code.match_indices("select!") {
            match code[at..].split_once('{').map(|(_, body)| body.trim_start()) {
                Some(body) if body.starts_with("biased;") => biased += 1,
                _ => unbiased.push(source.path.clone()),
            }
        }
    }
    assert!(unbiased.is_empty(), "{unbiased:?}");
    assert!(biased > 3, "the check finds what there is");
}

#[test]
fn only_operations_write() {
    // The lease is the one exception: it has a client of its own.
    let lease = "operator/leader/lease.rs";
    let wrong = found(WRITES, |path| !path.starts_with("operations/") && path != lease);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(
        !found(WRITES, |path| path == "operations/send/request.rs").is_empty(),
        "the check finds what there is"
    );
}
