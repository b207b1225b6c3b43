//! The requirements of event sources where the operator starts: the namespace that it runs in, and a server that shows
//! only a part of the objects.

use std::sync::Arc;

use super::{Error, Operator};
use crate::{
    cache::{InformerPool, knows_shards},
    client::{Clients, names_namespace},
    event_source::{MarkedKinds, NeededShard, Needs, Sharing},
    resource::MarkNames,
};

impl Operator {
    fn needs(&self) -> impl Iterator<Item = (&str, Needs)> {
        let elsewhere = self.settings.namespaces.is_some();
        self.settings.controllers.iter().flat_map(move |controller| {
            controller.needs(elsewhere).into_iter().map(|needs| (controller.name(), needs))
        })
    }

    /// Shared by the sources of several controllers.
    pub(super) fn sharing(&self) -> Sharing {
        let (names, mut marked) = (MarkNames::new(&self.settings.mark_prefix), MarkedKinds::default());
        for controller in &self.settings.controllers {
            controller.add_marked(&names, &mut marked);
        }
        Sharing { pool: InformerPool::default(), marked: Arc::new(marked) }
    }

    /// The namespace that the operator runs in must be known, if it is followed. A configuration that was given names
    /// it.
    pub(super) fn check_current_namespace(&self) -> Result<(), Error> {
        let needed = || self.needs().any(|(_, needs)| needs.current_namespace);
        if self.settings.config.is_some() || !needed() {
            return Ok(());
        }
        names_namespace().map_err(|context| Error::NoCurrentNamespace { context })
    }

    /// The server must know shard selectors, if there are some.
    pub(super) async fn check_shards(&self, clients: &Clients) -> Result<(), Error> {
        for (controller, Needs { shard, .. }) in self.needs() {
            let Some(NeededShard { kind, namespace }) = shard else { continue };
            let known = knows_shards(&clients.direct, &kind, namespace.as_deref()).await;
            let controller = controller.to_owned();
            known.map_err(|reason| Error::NotSharded { controller, kind, reason })?;
        }
        Ok(())
    }
}
