//! What the engine asks of a bulk dependent in the cluster.

use std::{collections::BTreeMap, sync::Arc};

use futures::FutureExt;

use super::BulkDesired;
use crate::{
    dependent::{
        Capabilities, Deletion, Engine, Error,
        erased::{Answer, Deleted},
        items::{Items, Work},
        kubernetes::Managed,
    },
    reconciler::{
        BoxError, Context, MemoKey,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::{KubeObject, ObjectKey},
};

/// Says which of a primary's objects are meant.
pub(super) type Selects<P, K> = Box<dyn Fn(&P, &K) -> bool + Send + Sync>;

/// Several objects for each primary.
pub(super) struct Several<D: BulkDesired<P>, P: KubeObject> {
    dependent: D,
    managed: Managed<D::Resource>,
    selects: Option<Selects<P, D::Resource>>,
    memo: MemoKey,
}

type ByKey<K> = BTreeMap<ObjectKey, K>;

impl<D: BulkDesired<P>, P: KubeObject> Several<D, P> {
    pub(super) fn new(
        dependent: D,
        managed: Managed<D::Resource>,
        selects: Option<Selects<P, D::Resource>>,
    ) -> Self {
        Self { dependent, managed, selects, memo: MemoKey::default() }
    }

    fn desired(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Arc<ByKey<D::Resource>>, BoxError> {
        context.memo().get_or_try(&self.memo, primary, || {
            let mut desired = BTreeMap::new();
            for object in self.dependent.desired(primary, context)? {
                let object = self.managed.marked(object, &**primary, context).map_err(Error::boxed)?;
                let key = ObjectKey::of(&object);
                if desired.insert(key.clone(), object).is_some() {
                    let kind = self.managed.kind.clone();
                    return Err(Error::DesiredTwice { kind, key }.boxed());
                }
            }
            Ok(desired)
        })
    }

    fn actual(&self, primary: &P, context: &Context<P>) -> Result<Vec<Arc<D::Resource>>, BoxError> {
        let mut actual = self.managed.all_actual(context).map_err(Error::boxed)?;
        if let Some(selects) = &self.selects {
            actual.retain(|object| selects(primary, object));
        }
        Ok(actual)
    }

    /// What it takes to delete these.
    fn deletions<'r>(
        &'r self,
        objects: impl IntoIterator<Item = Arc<D::Resource>> + 'r,
        context: &'r Context<P>,
    ) -> impl Iterator<Item = (Option<String>, Work<'r>)> + 'r {
        objects.into_iter().map(move |object| {
            let key = ObjectKey::of(&*object).to_string();
            let deletion = async move {
                self.managed.delete(&object, context).await.map_err(Error::boxed)?;
                Ok(Some((Operation::Deleted, self.managed.secondary(object))))
            };
            (Some(key), deletion.boxed())
        })
    }

    /// Creates or changes one object, as far as the dependent may.
    async fn bring_about(
        &self,
        key: &ObjectKey,
        desired: &D::Resource,
        primary: &P,
        context: &Context<P>,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let actual = self.managed.actual(key, primary, context).map_err(Error::boxed)?;
        let done = self.managed.bring_about(desired, actual, primary, context).await.map_err(Error::boxed)?;
        Ok(done.map(|(operation, object)| (operation, self.managed.secondary(object))))
    }
}

impl<D: BulkDesired<P>, P: KubeObject> Engine<P> for Several<D, P> {
    fn reconcile<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, ReconcileResult> {
        async move {
            let actual = self.actual(primary, context)?;
            if self.managed.capabilities == Capabilities::READ_ONLY {
                let found =
                    actual.into_iter().map(|object| (Operation::Matched, self.managed.secondary(object)));
                return Ok(ReconcileResult::aggregated(found.collect()));
            }
            let desired = self.desired(primary, context)?;
            let mut items = Items::default();
            if self.managed.capabilities.can_delete() {
                let unwanted =
                    actual.into_iter().filter(|object| !desired.contains_key(&ObjectKey::of(&**object)));
                items.work(self.deletions(unwanted.collect::<Vec<_>>(), context)).await;
            }
            let work = desired.iter().map(|(key, object)| {
                (Some(key.to_string()), self.bring_about(key, object, primary, context).boxed())
            });
            items.work(work).await;
            Ok(items.finish()?.desiring(desired.len()))
        }
        .boxed()
    }

    fn delete<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, Deleted> {
        async move {
            if !self.managed.capabilities.can_delete() {
                return Ok(Deleted::NOTHING);
            }
            let actual = self.actual(primary, context)?;
            let deletion = if actual.is_empty() { Deletion::Gone } else { Deletion::Asked };
            let mut items = Items::default();
            items.work(self.deletions(actual, context)).await;
            Ok(Deleted { found: items.deleted()?, deletion })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let actual = self.actual(primary, context)?;
            Ok(actual.into_iter().map(|object| self.managed.secondary(object)).collect())
        }
        .boxed()
    }
}
