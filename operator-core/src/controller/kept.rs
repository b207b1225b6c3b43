//! What is kept for each primary outside the event sources, for tests of leaks.

use std::sync::Arc;

use crate::{
    event_source::{ConditionalSources, Wiring},
    reconciler::{Expectations, ManagedWorkflow, WorkflowSurroundings},
    resource::ObjectKey,
};

/// Counts the entries about primaries that don't exist, as that function returns; `None` if they are no longer kept.
type Count = dyn Fn(&dyn Fn(&ObjectKey) -> bool) -> Option<usize> + Send + Sync;

/// What is kept for each primary outside the event sources.
pub(super) fn count_kept(
    wiring: &Wiring,
    conditional: &Arc<ConditionalSources>,
    expectations: &Arc<Expectations>,
    workflows: &WorkflowSurroundings,
    workflow: Option<Arc<dyn ManagedWorkflow>>,
) {
    let keeps = |what: &str, count: Box<Count>| {
        // Whoever knows the primaries holds the environment, which must not hold them in turn: nothing of a controller that was
        // stopped would ever go.
        let primaries = Arc::downgrade(&wiring.primaries);
        wiring.environment.keeps(format!("{}, {what}", wiring.controller), move || {
            let primaries = primaries.upgrade()?;
            count(&|primary| primaries.contains(primary))
        });
    };
    let claims = Arc::downgrade(conditional);
    keeps("claims", Box::new(move |exists| Some(claims.upgrade()?.leftovers(exists))));
    let expected = Arc::downgrade(expectations);
    keeps("expectations", Box::new(move |exists| Some(expected.upgrade()?.leftovers(exists))));
    let results = Arc::downgrade(&workflows.latest);
    keeps("results", Box::new(move |exists| Some(results.upgrade()?.leftovers(exists))));
    let leaving = Arc::downgrade(&workflows.leaving);
    keeps("deletions", Box::new(move |exists| Some(leaving.upgrade()?.leftovers(exists))));
    if let Some(workflow) = workflow {
        keeps("dependents", Box::new(move |exists| Some(workflow.leftovers(exists))));
    }
}
