//! The work on the resources of a custom dependent.

use std::{
    borrow::Borrow,
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::FutureExt;

use super::{
    Actual, Answer, Create, Delete, Desire, KeepsState, Keyed, Matches, State, Update, Wanted, going::Going,
    memory::Memory,
};
use crate::{
    dependent::{
        AnyDependent, Asked, Capabilities, Declaration, Deletion, Engine, Reading,
        erased::Deleted,
        items::{Items, Work},
    },
    event_source::{ExternalSource, RustType},
    reconciler::{
        BoxError, Context,
        workflow::{Operation, ReconcileResult, Secondary},
    },
    resource::{KubeObject, ObjectKey},
};

/// A custom dependent with its capabilities.
pub(in crate::dependent) struct Custom<C: Keyed<P>, P: KubeObject> {
    pub(in crate::dependent) name: Arc<str>,
    dependent: C,
    pub(in crate::dependent) desired: Option<Desire<C, P>>,
    pub(in crate::dependent) create: Option<Create<C, P>>,
    pub(in crate::dependent) update: Option<(Matches<C, P>, Update<C, P>)>,
    pub(in crate::dependent) delete: Option<Delete<C, P>>,
    pub(in crate::dependent) state: Option<State<C, P>>,
    /// The type of the objects that keep ids.
    pub(in crate::dependent) state_type: Option<RustType>,
    pub(in crate::dependent) memory: Memory<C::Key>,
    going: Going<C::Key, C::Resource>,
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
            state_type: None,
            memory: Memory::default(),
            going: Going::default(),
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
    pub(in crate::dependent) fn finish(self) -> AnyDependent {
        let remembered = self
            .memory
            .source
            .clone()
            .map(|source| Reading::Resources { source, of: RustType::of::<C::Resource>() });
        let state = self.state_type.map(|of| Reading::State { of });
        let declaration = Declaration {
            capabilities: self.capabilities(),
            event_sources: self.dependent.event_sources(),
            several: C::SEVERAL,
            outside: true,
            reads: remembered.into_iter().chain(state).collect(),
            ..Declaration::default()
        };
        AnyDependent::new(Arc::clone(&self.name), declaration, self)
    }
}

/// One call of a dependent for a primary.
struct Call<'r, C: Keyed<P>, P: KubeObject> {
    of: &'r Custom<C, P>,
    primary: &'r Arc<P>,
    context: &'r Context<P>,
    /// A deletion was requested and isn't done.
    asked: AtomicBool,
}

impl<'r, C: Keyed<P>, P: KubeObject> Call<'r, C, P> {
    fn new(of: &'r Custom<C, P>, primary: &'r Arc<P>, context: &'r Context<P>) -> Self {
        Self { of, primary, context, asked: AtomicBool::new(false) }
    }

    /// The resources that exist now: as the other system reports them if that is in doubt, otherwise as the source
    /// remembers them.
    async fn look(&self) -> Result<Actual<C, P>, BoxError> {
        let memory = &self.of.memory;
        memory.refresh::<P, C::Resource>(&self.of.name, self.context).await?;
        let actual = self.of.dependent.actual(self.primary, self.context).await?;
        memory.found(self.context.primary_key(), actual.keys());
        Ok(actual)
    }

    /// Deletes the objects that keep the ids of resources that are gone since their deletion was requested.
    async fn forget_gone(&self, actual: &Actual<C, P>) -> Result<(), BoxError> {
        let (going, owner) = (&self.of.going, self.context.primary_key());
        let exists = |key: &_| self.context.any().shared().primary.informer().contains(key);
        for (key, resource) in going.gone(owner, |key| actual.contains_key(key), exists) {
            if let Some(state) = self.state(&key, &resource)? {
                state.delete(self.context).await?;
            }
            going.forget(owner, &key);
        }
        Ok(())
    }

    fn store(&self) -> Result<Option<ExternalSource<C::Resource>>, BoxError> {
        self.of.memory.store(&self.of.name, self.context)
    }

    fn secondary(&self, key: &C::Key, resource: Arc<C::Resource>) -> Secondary {
        let id = self.of.dependent.id(key, &resource);
        // The one resource of a primary has none, and then nothing has to be allocated.
        let id = if id.is_empty() { Arc::default() } else { Arc::<str>::from(id) };
        Secondary::external(resource, id)
    }

    /// What should exist; `None` if that makes no difference because nothing could be done about it.
    fn desired(&self, actual: &Actual<C, P>) -> Result<Option<Wanted<C, P>>, BoxError> {
        let may_create = self.of.create.is_some() && C::may_lack(actual);
        let may_update = self.of.update.is_some() && !actual.is_empty();
        let desire = self.of.desired.filter(|_| may_create || may_update);
        desire.map(|desire| desire(&self.of.dependent, self.primary, self.context)).transpose()
    }

    /// The object that keeps the resource's id, if there is one.
    fn state(
        &self,
        key: &C::Key,
        resource: &C::Resource,
    ) -> Result<Option<Box<dyn KeepsState<P>>>, BoxError> {
        let state = self.of.state;
        state.map(|state| state(&self.of.dependent, key, resource, self.primary, self.context)).transpose()
    }

    /// Deletes all of these, whether or not others fail.
    async fn delete(&self, delete: Delete<C, P>, unwanted: Actual<C, P>, items: &mut Items) {
        let mut work: Vec<(Option<String>, Work<'_>)> = Vec::new();
        for (key, actual) in unwanted {
            work.push((C::label(&key), self.delete_one(delete, key, actual).boxed()));
        }
        items.work(work).await;
    }

    async fn delete_one(
        &self,
        delete: Delete<C, P>,
        key: C::Key,
        actual: Arc<C::Resource>,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let owner = self.context.primary_key();
        let deletion = delete(&self.of.dependent, &key, &actual, self.primary, self.context);
        let deletion = self.context.any().permitted(deletion).await?;
        if deletion == Deletion::Asked {
            self.asked.store(true, Ordering::Relaxed);
            // Perhaps no event source tells when it is done.
            self.context.any().remembered().lock().note_asked();
            if self.of.state.is_some() {
                self.of.going.asked(owner, &key, &actual);
            }
            return Ok(Some((Operation::Deleted, self.secondary(&key, actual))));
        }
        if let Some(source) = self.store()? {
            source.deleted(owner, &actual);
        }
        // Last, so that what still exists is not forgotten.
        if let Some(state) = self.state(&key, &actual)? {
            state.delete(self.context).await?;
        }
        self.of.going.forget(owner, &key);
        Ok(Some((Operation::Deleted, self.secondary(&key, actual))))
    }

    /// Creates or changes one, as far as the dependent may.
    async fn bring_about(
        &self,
        key: C::Key,
        desired: Option<C::Desired>,
        actual: Option<Arc<C::Resource>>,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let (dependent, primary, context) = (&self.of.dependent, self.primary, self.context);
        let (memory, owner) = (&self.of.memory, context.primary_key());
        let Some(actual) = actual else {
            let (Some(create), Some(desired)) = (self.of.create, desired) else { return Ok(None) };
            let creation = async {
                memory.begin_create(owner, &key);
                create(dependent, &key, desired, primary, context).await
            };
            let created = context.any().permitted(creation).await?;
            memory.found(owner, [&key]);
            // Before the state is kept: should that fail, the next run still knows the resource.
            if let Some(source) = self.store()? {
                source.created(owner, Arc::clone(&created));
            }
            self.keep_state(&key, &created).await?;
            return Ok(Some((Operation::Created, self.secondary(&key, created))));
        };
        self.keep_state(&key, &actual).await?;
        let (operation, resource) = match (desired, self.of.update) {
            (Some(desired), Some((matches, update)))
                if !matches(dependent, &actual, desired.borrow(), primary, context) =>
            {
                let update = update(dependent, &key, &actual, desired, primary, context);
                let updated = context.any().permitted(update).await?;
                if let Some(source) = self.store()? {
                    source.updated(owner, &actual, Arc::clone(&updated));
                }
                (Operation::Updated, updated)
            }
            _ => (Operation::Matched, actual),
        };
        Ok(Some((operation, self.secondary(&key, resource))))
    }

    /// Makes sure that the object which keeps the resource's id exists.
    async fn keep_state(&self, key: &C::Key, resource: &C::Resource) -> Result<(), BoxError> {
        match self.state(key, resource)? {
            Some(state) => state.ensure(self.context).await,
            None => Ok(()),
        }
    }
}

impl<C: Keyed<P>, P: KubeObject> Engine for Custom<C, P> {
    fn leftovers(&self, exists: &dyn Fn(&ObjectKey) -> bool) -> usize {
        self.memory.leftovers(exists) + self.going.leftovers(exists)
    }

    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            let call = Call::new(self, &primary, &context);
            let mut actual = call.look().await?;
            call.forget_gone(&actual).await?;
            let desired = call.desired(&actual)?;
            let wanted = desired.as_ref().map(BTreeMap::len);
            let mut items = Items::default();
            if let (Some(desired), Some(delete)) = (&desired, self.delete) {
                let (wanted, unwanted) = actual.into_iter().partition(|(key, _)| desired.contains_key(key));
                call.delete(delete, unwanted, &mut items).await;
                actual = wanted;
            }
            let mut work: Vec<(Option<String>, Work<'_>)> = Vec::new();
            match desired {
                Some(desired) => {
                    for (key, desired) in desired {
                        let actual = actual.remove(&key);
                        work.push((C::label(&key), call.bring_about(key, Some(desired), actual).boxed()));
                    }
                }
                // Where it makes no difference what is desired, all that is there is told as found.
                None if self.state.is_none() => {
                    items.found(actual.into_iter().map(|(key, actual)| call.secondary(&key, actual)));
                }
                None => {
                    for (key, actual) in actual {
                        work.push((C::label(&key), call.bring_about(key, None, Some(actual)).boxed()));
                    }
                }
            }
            if !work.is_empty() {
                items.work(work).await;
            }
            let mut result = items.finish()?;
            if result.failed().is_empty() {
                // Every create was answered, and what is not desired any more is not looked for.
                self.memory.settle(asked.context.primary_key());
            }
            if let Some(wanted) = wanted {
                result = result.desiring(wanted);
            }
            Ok(result)
        }
        .boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            let call = Call::new(self, &primary, &context);
            let Some(delete) = self.delete else { return Ok(Deleted::NOTHING) };
            let actual = call.look().await?;
            call.forget_gone(&actual).await?;
            let mut items = Items::default();
            call.delete(delete, actual, &mut items).await;
            let found = items.deleted()?;
            let asked = call.asked.load(Ordering::Relaxed);
            Ok(Deleted { found, deletion: if asked { Deletion::Asked } else { Deletion::Gone } })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            let call = Call::new(self, &primary, &context);
            let actual = call.look().await?;
            Ok(actual.into_iter().map(|(key, resource)| call.secondary(&key, resource)).collect())
        }
        .boxed()
    }
}
