//! Ids that are kept in an object of the cluster.

use std::{collections::BTreeMap, sync::Arc};

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};

use crate::{
    dependent::{
        Asked, Declaration, Error, ObjectSettings,
        object::{Managed, OfPrimary},
    },
    operations,
    reconciler::BoxError,
    resource::{AnyObject, Draft, KubeObject, Object, ObjectKey},
};

/// The name of the only entry, if there is one record.
const ONLY: &str = "id";

/// An object with ids.
pub(super) trait Keeps: KubeObject<DynamicType: Default> {
    fn keeping(ids: BTreeMap<String, String>) -> Self;
    fn ids(&self) -> BTreeMap<String, String>;
}

impl Keeps for ConfigMap {
    fn keeping(ids: BTreeMap<String, String>) -> Self {
        Self { data: Some(ids), ..Self::default() }
    }

    fn ids(&self) -> BTreeMap<String, String> {
        self.data.clone().unwrap_or_default()
    }
}

impl Keeps for Secret {
    fn keeping(ids: BTreeMap<String, String>) -> Self {
        let bytes = ids.into_iter().map(|(key, id)| (key, ByteString(id.into_bytes())));
        Self { data: Some(bytes.collect()), ..Self::default() }
    }

    fn ids(&self) -> BTreeMap<String, String> {
        let text = |id: &ByteString| String::from_utf8(id.0.clone()).ok();
        let data = self.data.iter().flatten();
        data.filter_map(|(key, id)| Some((key.clone(), text(id)?))).collect()
    }
}

/// The objects of a node that keep its ids, one for each primary: `<primary>-<node>`, owned by the primary.
pub(super) struct IdObject {
    managed: Managed,
    make: fn(BTreeMap<String, String>) -> Box<dyn Draft>,
    read: fn(&dyn Object) -> Option<BTreeMap<String, String>>,
    several: bool,
}

impl IdObject {
    /// Objects of type `K`.
    pub(super) fn of<K: Keeps>(several: bool) -> Arc<Self> {
        Arc::new(Self {
            managed: ObjectSettings::<K>::new(Arc::from("")).finish(K::DynamicType::default()),
            make: |ids| Box::new(K::keeping(ids)),
            read: |object| object.typed_ref::<K>().map(K::ids),
            several,
        })
    }

    /// What is known about it before anything runs.
    pub(super) fn declaration(&self) -> Declaration {
        self.managed.declaration()
    }

    /// Its kind, for people.
    pub(super) fn kind(&self) -> &str {
        self.managed.kind.kind()
    }

    /// The ids, by key; none if the primary has no such object.
    pub(super) fn written(&self, asked: Asked<'_>) -> Result<BTreeMap<String, String>, BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let key = ObjectKey::in_meta(self.draft(&own, BTreeMap::new())?.meta());
        let Some(known) = own.actual(&key).map_err(Error::boxed)? else { return Ok(BTreeMap::new()) };
        drop(known);
        let source = self.managed.source(asked.context).map_err(Error::boxed)?;
        let known = source.get(&key).map_err(operations::Error::from)?;
        let ids = known.and_then(|known| (self.read)(&*known)).unwrap_or_default();
        Ok(match self.several {
            true => ids,
            false => ids.get(ONLY).map(|id| (String::new(), id.clone())).into_iter().collect(),
        })
    }

    /// Writes an id, or removes it.
    pub(super) async fn keep(&self, asked: Asked<'_>, key: &str, id: Option<&str>) -> Result<(), BoxError> {
        let own = self.managed.of_primary(asked).map_err(Error::boxed)?;
        let mut ids = match self.several {
            true => self.written(asked)?,
            false => BTreeMap::new(),
        };
        let entry = if self.several { key } else { ONLY };
        match id {
            Some(id) => drop(ids.insert(entry.to_owned(), id.to_owned())),
            None => drop(ids.remove(entry)),
        }
        let is_empty = ids.is_empty();
        let desired = self.draft(&own, ids)?;
        let there = own.there(&ObjectKey::in_meta(desired.meta())).map_err(Error::boxed)?;
        match (is_empty, there) {
            (true, Some(object)) => own.remove(&object).await.map(drop).map_err(Error::boxed)?,
            (true, None) => {}
            (false, there) => drop(own.bring_about(&*desired, there).await.map_err(Error::boxed)?),
        }
        Ok(())
    }

    fn draft(&self, own: &OfPrimary<'_>, ids: BTreeMap<String, String>) -> Result<AnyObject, BoxError> {
        let mut draft = (self.make)(ids);
        own.completed(&mut *draft, true).map_err(Error::boxed)?;
        own.marked(draft).map_err(Error::boxed)
    }
}
