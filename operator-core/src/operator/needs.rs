//! What event sources need where the operator starts: the namespace that it runs in, and a server that shows only a part
//! of the objects.

use super::{Error, Operator};
use crate::{
    cache::knows_shards,
    client::{Clients, names_namespace},
    event_source::{NeededShard, Needs},
};

impl Operator {
    fn needs(&self) -> impl Iterator<Item = (&str, Needs)> {
        let elsewhere = self.settings.namespaces.is_some();
        self.settings.controllers.iter().flat_map(move |controller| {
            controller.needs(elsewhere).into_iter().map(|needs| (controller.name(), needs))
        })
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
            let Some(NeededShard { kind, namespace, shard }) = shard else { continue };
            let known = knows_shards(&clients.direct, &kind, namespace.as_deref(), &shard).await;
            let controller = controller.to_owned();
            known.map_err(|reason| Error::NotSharded { controller, kind, reason })?;
        }
        Ok(())
    }
}
