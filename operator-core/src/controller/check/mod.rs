//! The mistakes that a controller's declaration can have. Pure: equal declarations give equal mistakes, all of them.

mod nodes;
mod sources;
#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use super::{
    Mistake,
    draft::Draft,
    names::{check_field_manager, check_finalizer, check_name},
    settings::Settings,
};
use crate::{
    dependent,
    event_source::{Contradiction, SourceContents},
    resource::ResourceType,
};

/// The declaration, as far as it can contradict itself.
pub(super) struct Facts<'d> {
    pub(super) name: &'d str,
    pub(super) field_manager: &'d str,
    pub(super) draft: &'d Draft,
    pub(super) has_cleaner: bool,
    pub(super) sources: &'d [DeclaredSource],
}

/// An event source, declared on the controller or provided by a dependent.
#[derive(Clone, Debug)]
pub(super) struct DeclaredSource {
    pub(super) name: String,
    pub(super) contents: SourceContents,
    /// Its own mistakes.
    pub(super) contradictions: Vec<Contradiction>,
}

/// A dependent, in the controller's workflow or outside it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: Arc<str>,
    pub(super) declaration: Arc<dependent::Declaration>,
    /// Whether it has to be deleted before its primary is removed, and only the reconciler's own code does it.
    pub(super) cleaned_up_by_hand: bool,
}

impl Node {
    /// Whether it creates or changes objects in the cluster: then they have its marks.
    pub(super) fn writes(&self) -> bool {
        let capabilities = self.declaration.capabilities;
        (self.declaration.objects.is_some() || self.declaration.of_any_kind) && capabilities.can_write()
    }

    /// Its name, and the kind of the objects that it creates or changes in the cluster.
    pub(super) fn written(&self) -> Option<(&str, &ResourceType)> {
        let objects = self.declaration.objects.as_ref().filter(|_| self.writes())?;
        (self.declaration.outside.is_none()).then_some((&self.name, &objects.kind))
    }
}

/// All mistakes, in the order of the declaration.
pub(super) fn check(facts: &Facts<'_>) -> Vec<Mistake> {
    let (mut mistakes, settings) = (Vec::new(), &facts.draft.settings);
    mistakes.extend(check_name(facts.name));
    // By default it is the name, whose mistake is reported once.
    if facts.field_manager != facts.name {
        mistakes.extend(check_field_manager(facts.field_manager));
    }
    mistakes.extend(facts.draft.finalizer.as_deref().and_then(check_finalizer));
    mistakes.extend(numbers(settings));
    mistakes.extend(all_events(facts));
    mistakes.extend(settings.primaries.contradictions().iter().map(Mistake::of));
    mistakes.extend(sources::check(facts));
    mistakes.extend(nodes::check(facts));
    mistakes
}

/// Settings with which no run could start, or end successfully.
fn numbers(settings: &Settings) -> impl Iterator<Item = Mistake> {
    let is_zero = |time: Option<Duration>| time.is_some_and(|time| time.is_zero());
    let zeros = [
        (
            settings.machine.max_concurrent == 0,
            "it allows 0 runs at the same time",
            "no run could ever start",
            "`.max_concurrent_reconciles(1)` or more, or leave it out for 50",
        ),
        (
            is_zero(settings.reconcile_timeout),
            "a run may take 0 s",
            "every run would be dropped at once",
            "`.reconcile_timeout(Duration::from_secs(30))`, or leave it out for as long as it takes",
        ),
        (
            is_zero(settings.machine.max_reconciliation_interval),
            "the maximum interval between runs of a primary is 0 s",
            "each run would be followed by the next one at once",
            "`.max_reconciliation_interval(Duration::from_secs(600))`, or `None` for no limit",
        ),
    ];
    let too_wide = settings.spread.filter(|spread| !(0.0..=0.5).contains(spread)).map(|spread| {
        Mistake::new(
            format!("its jitter is {spread}"),
            "it is a share of the delay: 0.1 lets a maximum interval of ten hours end up to an hour early",
            "`.jitter(0.1)`, or any other share from 0 to 0.5",
        )
    });
    let zeros = zeros.into_iter().filter(|(is_zero, ..)| *is_zero);
    zeros.map(|(_, what, why, fix)| Mistake::new(what, why, fix)).chain(too_wide)
}

/// Settings that contradict a reconciler that handles deletions itself.
fn all_events(facts: &Facts<'_>) -> impl Iterator<Item = Mistake> {
    let beside = |what: &str, why: &str, fix: &str| {
        Mistake::new(
            format!("it is triggered on all events, and has {what}"),
            why,
            format!("`.trigger_on_all_events(true)` left out, or {fix}"),
        )
    };
    let all_events = facts.draft.settings.all_events;
    let cleaner = (all_events && facts.has_cleaner).then(|| {
        beside(
            "a cleaner",
            "`reconcile` is called for marked and deleted primaries then, and `cleanup` never would be",
            "`impl Reconciler` instead of `impl Cleaner`, with the clean-up in `reconcile`",
        )
    });
    let workflow = (all_events && facts.draft.settings.workflow.is_some()).then(|| {
        beside(
            "a workflow",
            "a workflow makes what a primary wants, and cleans up with a finalizer of the framework, while `reconcile` is called for marked and deleted primaries",
            "its nodes called by the reconciler, as `.dependent(&node.standalone())`",
        )
    });
    cleaner.into_iter().chain(workflow)
}
