//! Removing what a node has made. Only the marks say what that is: `desired` is never asked, and no mapper.

use std::sync::Arc;

use super::OfPrimary;
use crate::{
    dependent::Error,
    resource::{KubeObject, ObjectKey, ResourceType},
};

impl<K: KubeObject, P: KubeObject> OfPrimary<'_, K, P> {
    /// Removes an object that the node has made, and that isn't wanted.
    pub(in crate::dependent) async fn remove(&self, object: &K) -> Result<(), Error> {
        self.remove_if(object, |live| self.is_removable(live)).await
    }

    /// Removes what the node has made for the primary under other names than this one.
    pub(super) async fn remove_all_but(&self, wanted: &ObjectKey) -> Result<(), Error> {
        for object in self.removable()? {
            if ObjectKey::of(&*object) != *wanted && self.may_forget(&object, self.managed.prunes_data) {
                self.remove(&object).await?;
            }
        }
        Ok(())
    }

    /// Removes what nodes have made that the controller has no more; `node` says which, if not all of them. Says how many
    /// objects that were.
    pub(super) async fn prune(&self, node: Option<&str>, prunes_data: bool) -> Result<usize, Error> {
        let former = |object: &K| {
            let by = self.marks.former_node(object.meta());
            by.is_some_and(|by| node.is_none_or(|node| node == by))
        };
        let mut removed = 0;
        for object in self.of_former_nodes()? {
            if former(&object) && self.may_forget(&object, prunes_data) {
                if object.meta().deletion_timestamp.is_none() {
                    tracing::info!(
                        kind = %self.managed.kind, object = %ObjectKey::of(&*object),
                        node = self.marks.former_node(object.meta()),
                        "removed, as the controller has the node no more that has made it"
                    );
                }
                self.remove_if(&object, former).await?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    async fn remove_if(&self, object: &K, is_ours: impl Fn(&K) -> bool + Send + Sync) -> Result<(), Error> {
        let context = self.asked.context;
        let operations = context.resource_operations().event_source(&self.managed.source.name);
        Ok(context.permitted(operations.remove(object, is_ours)).await?)
    }

    /// Whether an object may go because it has been forgotten: what holds data goes only where that was said.
    fn may_forget(&self, object: &Arc<K>, prunes_data: bool) -> bool {
        let may = prunes_data || !holds_data(&self.managed.kind);
        if !may && object.meta().deletion_timestamp.is_none() {
            tracing::warn!(
                kind = %self.managed.kind, object = %ObjectKey::of(&**object),
                "left behind, as data would be lost with it: it is wanted no more; delete it by hand, or say `.prune_data()`"
            );
        }
        may
    }
}

/// Whether data is lost with an object of this kind that nobody can make again.
fn holds_data(kind: &ResourceType) -> bool {
    matches!(
        (kind.group(), kind.kind()),
        ("", "PersistentVolumeClaim" | "Namespace") | ("apiextensions.k8s.io", "CustomResourceDefinition")
    )
}
