//! Nodes that the controller no longer has, of a kind that no other node writes.

use futures::FutureExt;

use super::settings::{Managed, Settings};
use crate::{
    dependent::{
        AnyDependent, Asked, Capabilities, Engine, Error,
        erased::{Answer, Deleted, Pruning},
    },
    resource::{KubeObject, label_value},
    results::{ReconcileResult, Secondary},
};

/// The leftovers of such a node.
struct Retired(Managed);

/// Declares that there was a node of that name, whose objects were of type `K`.
pub(crate) fn retired<K: KubeObject>(name: &str, dynamic: &K::DynamicType) -> AnyDependent {
    let mut settings = Settings::<K>::new(name.into());
    settings.capabilities = Capabilities { deletes: true, ..Capabilities::READ_ONLY };
    let managed = settings.finish(dynamic.clone());
    AnyDependent::new(name, managed.declaration(), Retired(managed))
}

impl Engine for Retired {
    fn reconcile<'r>(&'r self, _: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async { Ok(ReconcileResult::nothing()) }.boxed()
    }

    fn delete<'r>(&'r self, _: Asked<'r>) -> Answer<'r, Deleted> {
        async { Ok(Deleted::NOTHING) }.boxed()
    }

    fn secondaries<'r>(&'r self, _: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning) -> Answer<'r, usize> {
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
