//! Whether the cluster has done what a node's objects ask for.

use std::sync::Arc;

use crate::{
    reconciler::{Context, workflow::ConditionResult},
    resource::KubeObject,
    status::kstatus,
    workflow::{Condition, NodeView, condition::Answer},
};

/// Met once all objects of the node are what they ask to be, by the rules of their kinds: a Deployment has its replicas, a
/// Job has succeeded, a claim is bound; any other kind by its conditions. The reason says what is missing, for example
/// `1/3 replicas ready`, and the detail is a [`Kstatus`](kstatus::Kstatus).
#[derive(Clone, Copy, Debug, Default)]
pub struct Ready;

impl<P: KubeObject> Condition<P> for Ready {
    async fn check(&self, node: &NodeView<'_, P>, primary: &Arc<P>, context: &Context<P>) -> Answer {
        let now = context.wall_clock().now();
        let secondaries = node.secondaries(primary, context).await?;
        let mut last = kstatus::Kstatus::not_found();
        for secondary in &secondaries {
            // What lives outside of the cluster has no status that could be read.
            let Some(object) = secondary.to_json() else { return Ok(ConditionResult::met()) };
            last = kstatus::compute(&object, now).unwrap_or_else(|error| kstatus::Kstatus::from(&error));
            if !last.is_current() {
                let of = if secondaries.len() > 1 { format!("{}: ", secondary.id()) } else { String::new() };
                return Ok(ConditionResult::not_met(format!("{of}{}", last.message)).with_detail(last));
            }
        }
        let found = !secondaries.is_empty();
        Ok(ConditionResult::when(found, last.message.clone()).with_detail(last))
    }
}
