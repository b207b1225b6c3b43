//! A run is planned in one place, and a dry run is that run: there is no second way to find out what would be done.

use std::collections::BTreeSet;

use crate::sources::{self, Source};

/// The library without its tests.
fn library() -> impl Iterator<Item = Source> {
    sources::rust("operator-core/src").into_iter().filter(|source| !source.is_test())
}

/// The files that name one of `words`, without those below `own`.
fn named(words: &[&str], own: &str) -> BTreeSet<String> {
    let names = |source: &Source| {
        let code = source.code_without_tests();
        words.iter().any(|word| code.contains(word))
    };
    library()
        .filter(|source| !source.path.starts_with(own) && names(source))
        .map(|source| source.path)
        .collect()
}

fn files<const N: usize>(files: [&str; N]) -> BTreeSet<String> {
    files.map(str::to_owned).into()
}

#[test]
fn the_plan_of_a_workflow_has_one_caller() {
    let callers = named(&["Plan::reconcile(", "Plan::cleanup("], "workflow/plan/");
    assert_eq!(callers, files(["workflow/run/mod.rs", "workflow/run/part.rs"]));
}

#[test]
fn a_dry_run_is_a_run_of_the_dispatcher() {
    let calls = named(&["dispatch_in("], "dispatcher/");
    assert_eq!(calls, files(["testing/dry_run/run.rs"]));
    // It calls no part of a run by itself.
    let parts = ["workflow::plan", "dependent::Engine", ".reconcile(", "UserCode"];
    let reached = named(&parts, "none").into_iter().filter(|path| path.starts_with("testing/dry_run/"));
    assert_eq!(reached.collect::<BTreeSet<_>>(), BTreeSet::new());
}
