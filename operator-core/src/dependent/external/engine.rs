//! What is done about the resources of a dependent of the user's own.

use std::{borrow::Borrow, sync::Arc};

use futures::FutureExt;

use super::{
    Actual, Answer, Create, Delete, Desire, Keyed, Matches, Update, Wanted, memory::Memory, state::KeepsState,
};
use crate::{
    dependent::{
        Capabilities, Dependent, Engine,
        erased::Declaration,
        items::{Items, Work},
    },
    event_source::ExternalSource,
    reconciler::{
        BoxError, Context,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::KubeObject,
};

/// A dependent of the user's own with what it can do.
pub(in crate::dependent) struct Custom<C: Keyed<P>, P: KubeObject> {
    pub(in crate::dependent) name: Arc<str>,
    dependent: C,
    pub(in crate::dependent) desired: Option<Desire<C, P>>,
    pub(in crate::dependent) create: Option<Create<C, P>>,
    pub(in crate::dependent) update: Option<(Matches<C, P>, Update<C, P>)>,
    pub(in crate::dependent) delete: Option<Delete<C, P>>,
    pub(in crate::dependent) state: Option<Box<dyn KeepsState<C, P>>>,
    pub(in crate::dependent) memory: Memory<C::Key>,
}

impl<C: Keyed<P>, P: KubeObject> Custom<C, P> {
    /// Only reads.
    pub(in crate::dependent) fn new(name: Arc<str>, dependent: C) -> Self {
        Self {
            name,
            dependent,
            desired: None,
            create: None,
            update: None,
            delete: None,
            state: None,
            memory: Memory::default(),
        }
    }

    /// What it may do, as far as it is declared.
    pub(in crate::dependent) fn capabilities(&self) -> Capabilities {
        Capabilities {
            creates: self.create.is_some(),
            updates: self.update.is_some(),
            deletes: self.delete.is_some(),
            garbage_collected: false,
        }
    }

    /// Finishes the declaration.
    pub(in crate::dependent) fn finish(self) -> Dependent<P> {
        let declaration = Declaration {
            capabilities: self.capabilities(),
            event_sources: self.dependent.event_sources(),
            ..Declaration::default()
        };
        Dependent::new(Arc::clone(&self.name), declaration, self)
    }

    /// What is there now: by the other system's word where that is in doubt, else as the source remembers it.
    async fn look(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Actual<C, P>, BoxError> {
        self.memory.refresh::<P, C::Resource>(&self.name, context).await?;
        let actual = self.dependent.actual(primary, context).await?;
        self.memory.found(context.primary_key(), actual.keys());
        Ok(actual)
    }

    fn store(&self, context: &Context<P>) -> Result<Option<ExternalSource<C::Resource>>, BoxError> {
        self.memory.store(&self.name, context)
    }

    fn secondary(&self, key: &C::Key, resource: Arc<C::Resource>) -> Secondary {
        let id = self.dependent.id(key, &resource);
        Secondary::external(resource, id)
    }

    /// What is to be there; `None` where that makes no difference, as nothing could be done about it.
    fn desired(
        &self,
        actual: &Actual<C, P>,
        primary: &P,
        context: &Context<P>,
    ) -> Result<Option<Wanted<C, P>>, BoxError> {
        let may_create = self.create.is_some() && C::may_lack(actual);
        let may_update = self.update.is_some() && !actual.is_empty();
        let desire = self.desired.filter(|_| may_create || may_update);
        desire.map(|desire| desire(&self.dependent, primary, context)).transpose()
    }

    /// What it takes to delete these.
    fn deletions<'r>(
        &'r self,
        delete: Delete<C, P>,
        unwanted: Actual<C, P>,
        primary: &'r Arc<P>,
        context: &'r Context<P>,
    ) -> impl Iterator<Item = (Option<String>, Work<'r>)> + Send + 'r {
        unwanted.into_iter().map(move |(key, actual)| {
            let label = C::label(&key);
            let deletion = async move {
                delete(&self.dependent, &key, &actual, primary, context).await?;
                if let Some(source) = self.store(context)? {
                    source.deleted(context.primary_key(), &actual);
                }
                // Last, so that what still exists is not forgotten.
                if let Some(state) = &self.state {
                    state.delete(&self.dependent, &key, &actual, primary, context).await?;
                }
                Ok(Some((Operation::Deleted, self.secondary(&key, actual))))
            };
            (label, deletion.boxed())
        })
    }

    /// Creates or changes one, as far as the dependent may.
    async fn bring_about(
        &self,
        key: &C::Key,
        desired: Option<C::Desired>,
        actual: Option<Arc<C::Resource>>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let Some(actual) = actual else {
            let (Some(create), Some(desired)) = (self.create, desired) else { return Ok(None) };
            let created = self.create(create, key, desired, primary, context).await?;
            return Ok(Some((Operation::Created, self.secondary(key, created))));
        };
        self.keep_state(key, &actual, primary, context).await?;
        let (operation, resource) = match (desired, self.update) {
            (Some(desired), Some((matches, update)))
                if !matches(&self.dependent, &actual, desired.borrow(), primary, context) =>
            {
                let updated = update(&self.dependent, key, &actual, desired, primary, context).await?;
                if let Some(source) = self.store(context)? {
                    source.updated(context.primary_key(), &actual, Arc::clone(&updated));
                }
                (Operation::Updated, updated)
            }
            _ => (Operation::Matched, actual),
        };
        Ok(Some((operation, self.secondary(key, resource))))
    }

    async fn create(
        &self,
        create: Create<C, P>,
        key: &C::Key,
        desired: C::Desired,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Arc<C::Resource>, BoxError> {
        let of = context.primary_key();
        self.memory.begin_create(of, key);
        let created = create(&self.dependent, key, desired, primary, context).await?;
        self.memory.found(of, [key]);
        // Before the state is kept: should that fail, the next run still knows the resource.
        if let Some(source) = self.store(context)? {
            source.created(of, Arc::clone(&created));
        }
        self.keep_state(key, &created, primary, context).await?;
        Ok(created)
    }

    /// Sees to it that the object exists which keeps the resource's id.
    async fn keep_state(
        &self,
        key: &C::Key,
        resource: &C::Resource,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<(), BoxError> {
        match &self.state {
            Some(state) => state.ensure(&self.dependent, key, resource, primary, context).await,
            None => Ok(()),
        }
    }
}

impl<C: Keyed<P>, P: KubeObject> Engine<P> for Custom<C, P> {
    fn reconcile<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, ReconcileResult> {
        async move {
            let mut actual = self.look(primary, context).await?;
            let desired = self.desired(&actual, primary, context)?;
            let mut items = Items::default();
            if let (Some(desired), Some(delete)) = (&desired, self.delete) {
                let (wanted, unwanted) = actual.into_iter().partition(|(key, _)| desired.contains_key(key));
                items.work(self.deletions(delete, unwanted, primary, context)).await;
                actual = wanted;
            }
            // Where it makes no difference what is desired, all that is there is told as found.
            let all = match desired {
                Some(desired) => desired.into_iter().map(|(key, desired)| (key, Some(desired))).collect(),
                None => actual.keys().map(|key| (key.clone(), None)).collect::<Vec<_>>(),
            };
            let mut work: Vec<(Option<String>, Work<'_>)> = Vec::new();
            for (key, desired) in all {
                let actual = actual.remove(&key);
                let label = C::label(&key);
                let done = async move { self.bring_about(&key, desired, actual, primary, context).await };
                work.push((label, done.boxed()));
            }
            items.work(work).await;
            let result = items.finish()?;
            // Every create was answered, and what is not desired any more is not looked for.
            self.memory.settle(context.primary_key());
            Ok(result)
        }
        .boxed()
    }

    fn delete<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, ()> {
        async move {
            let Some(delete) = self.delete else { return Ok(()) };
            let all = self.look(primary, context).await?;
            let mut items = Items::default();
            items.work(self.deletions(delete, all, primary, context)).await;
            items.finish().map(drop)
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, primary: &'r Arc<P>, context: &'r Context<P>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let actual = self.look(primary, context).await?;
            Ok(actual.into_iter().map(|(key, resource)| self.secondary(&key, resource)).collect())
        }
        .boxed()
    }
}
