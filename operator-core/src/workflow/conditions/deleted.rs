//! Whether a node's resource is gone.

use std::sync::Arc;

use crate::{
    dependent::AnyDependent,
    reconciler::{AnyGiven, Context},
    resource::{KubeObject, ObjectKey},
    results::Verdict,
    workflow::{conditions::condition::Answer, declare::Condition},
};

/// Met once nothing of the node exists any more: an object with a finalizer stays for a while after it was deleted.
/// JOSDK's `KubernetesResourceDeletedCondition`.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceDeleted;

#[diagnostic::do_not_recommend]
impl<P: KubeObject, K: KubeObject> Condition<P, K> for ResourceDeleted {
    async fn check(&self, child: &Arc<K>, _: &Arc<P>, _: &Context<P>) -> Answer {
        Ok(Verdict::not_met(format!("{} still exists", ObjectKey::of(&**child))))
    }
}

/// Whether nothing of the dependent exists any more.
pub(in crate::workflow) async fn is_deleted(dependent: &AnyDependent, given: AnyGiven<'_>) -> Answer {
    let left = dependent.left(given).await?;
    let Some(first) = left.first() else { return Ok(Verdict::met()) };
    let kind = first.kind().map(|kind| format!("{} ", kind.kind())).unwrap_or_default();
    let further = match left.len() {
        1 => String::new(),
        all => format!(", and {} more", all - 1),
    };
    Ok(Verdict::not_met(format!("{kind}{} still exists{further}", first.id())))
}
