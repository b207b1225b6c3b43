//! Conditions made of conditions.

use std::sync::Arc;

use crate::{
    reconciler::{Context, workflow::ConditionResult},
    resource::{Access, KubeObject},
    workflow::{Activation, Cluster, Condition, NodeView, condition::Answer},
};

/// Combines conditions, or capabilities of the cluster; for everything that is one.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Secret};
/// use operator_core::workflow::{Condition, conditions::{ConditionExt, CrdPresent, Ready}};
///
/// fn exposed() -> impl Condition<ConfigMap> {
///     CrdPresent::named("routes.example.com").and(CrdPresent::named("ingresses.example.com").not()).or(Ready)
/// }
/// ```
pub trait ConditionExt: Sized {
    /// Met when both are. The second one is asked only where the first is met.
    fn and<C>(self, other: C) -> And<Self, C> {
        And(self, other)
    }

    /// Met when one of them is. The second one is asked only where the first is not met.
    fn or<C>(self, other: C) -> Or<Self, C> {
        Or(self, other)
    }

    /// Met when this one is not.
    fn not(self) -> Not<Self> {
        Not(self)
    }
}

impl<T> ConditionExt for T {}

/// See [`ConditionExt::and`]. The answer is that of the condition that decided.
#[derive(Clone, Copy, Debug)]
pub struct And<A, B>(A, B);

impl<P: KubeObject, A: Condition<P>, B: Condition<P>> Condition<P> for And<A, B> {
    async fn check(&self, node: &NodeView<'_, P>, primary: &Arc<P>, context: &Context<P>) -> Answer {
        let first = self.0.check(node, primary, context).await?;
        if first.is_met() { self.1.check(node, primary, context).await } else { Ok(first) }
    }

    fn access(&self) -> Vec<Access> {
        [self.0.access(), self.1.access()].concat()
    }
}

#[diagnostic::do_not_recommend]
impl<A: Activation, B: Activation> Activation for And<A, B> {
    async fn check(&self, cluster: &Cluster<'_>) -> Answer {
        let first = self.0.check(cluster).await?;
        if first.is_met() { self.1.check(cluster).await } else { Ok(first) }
    }

    fn access(&self) -> Vec<Access> {
        [self.0.access(), self.1.access()].concat()
    }
}

/// See [`ConditionExt::or`]. The answer is that of the condition that is met; where none is, the reasons of both.
#[derive(Clone, Copy, Debug)]
pub struct Or<A, B>(A, B);

impl<P: KubeObject, A: Condition<P>, B: Condition<P>> Condition<P> for Or<A, B> {
    async fn check(&self, node: &NodeView<'_, P>, primary: &Arc<P>, context: &Context<P>) -> Answer {
        let first = self.0.check(node, primary, context).await?;
        if first.is_met() {
            return Ok(first);
        }
        Ok(second_of(&first, self.1.check(node, primary, context).await?))
    }

    fn access(&self) -> Vec<Access> {
        [self.0.access(), self.1.access()].concat()
    }
}

#[diagnostic::do_not_recommend]
impl<A: Activation, B: Activation> Activation for Or<A, B> {
    async fn check(&self, cluster: &Cluster<'_>) -> Answer {
        let first = self.0.check(cluster).await?;
        if first.is_met() {
            return Ok(first);
        }
        Ok(second_of(&first, self.1.check(cluster).await?))
    }

    fn access(&self) -> Vec<Access> {
        [self.0.access(), self.1.access()].concat()
    }
}

/// The answer of two where the first one is not met.
fn second_of(first: &ConditionResult, second: ConditionResult) -> ConditionResult {
    if second.is_met() {
        return second;
    }
    let reasons: Vec<&str> =
        [first.reason(), second.reason()].into_iter().filter(|reason| !reason.is_empty()).collect();
    ConditionResult::not_met(reasons.join("; "))
}

/// See [`ConditionExt::not`]. What the condition says for itself becomes the reason where there is one.
#[derive(Clone, Copy, Debug)]
pub struct Not<C>(C);

impl<P: KubeObject, C: Condition<P>> Condition<P> for Not<C> {
    async fn check(&self, node: &NodeView<'_, P>, primary: &Arc<P>, context: &Context<P>) -> Answer {
        Ok(opposite(&self.0.check(node, primary, context).await?))
    }

    fn access(&self) -> Vec<Access> {
        self.0.access()
    }
}

#[diagnostic::do_not_recommend]
impl<C: Activation> Activation for Not<C> {
    async fn check(&self, cluster: &Cluster<'_>) -> Answer {
        Ok(opposite(&self.0.check(cluster).await?))
    }

    fn access(&self) -> Vec<Access> {
        self.0.access()
    }
}

fn opposite(answer: &ConditionResult) -> ConditionResult {
    let reason =
        if answer.reason().is_empty() { "a condition is met that must not be" } else { answer.reason() };
    ConditionResult::when(!answer.is_met(), reason)
}
