//! Nodes that the controller has no more, of a kind that no other node writes.

use futures::FutureExt;

use super::settings::{Managed, Settings};
use crate::{
    dependent::{
        Asked, Capabilities, Dependent, Engine, Error,
        erased::{Answer, Deleted, Pruning},
    },
    reconciler::workflow::{ReconcileResult, Secondary},
    resource::{KubeObject, label_value},
};

/// What such a node has left behind.
struct Retired<K: KubeObject>(Managed<K>);

/// Declares that there was a node of that name, whose objects were of type `K`.
pub(crate) fn retired<K: KubeObject, P: KubeObject>(name: &str, dynamic: K::DynamicType) -> Dependent<P> {
    let mut settings = Settings::<K>::new(name.into(), dynamic);
    settings.capabilities = Capabilities::READ_ONLY.deletes();
    let managed = settings.finish();
    Dependent::new(name, managed.declaration(), Retired(managed))
}

impl<K: KubeObject, P: KubeObject> Engine<P> for Retired<K> {
    fn reconcile<'r>(&'r self, _: Asked<'r, P>) -> Answer<'r, ReconcileResult> {
        async { Ok(ReconcileResult::nothing()) }.boxed()
    }

    fn delete<'r>(&'r self, _: Asked<'r, P>) -> Answer<'r, Deleted> {
        async { Ok(Deleted::NOTHING) }.boxed()
    }

    fn secondaries<'r>(&'r self, _: Asked<'r, P>) -> Answer<'r, Vec<Secondary>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn prune<'r>(&'r self, asked: Asked<'r, P>, pruning: Pruning) -> Answer<'r, usize> {
        async move {
            let node = label_value(asked.node);
            let mut of_primary = self.0.of_primary(asked).map_err(Error::boxed)?;
            // It was declared, when there was such a node.
            of_primary.marks.beside = false;
            of_primary.prune(Some(&node), pruning.data).await.map_err(Error::boxed)
        }
        .boxed()
    }
}
