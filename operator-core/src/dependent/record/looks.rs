//! When a node reads its records: in each run, in periods, or when the other system reports a change.

use std::{collections::HashMap, sync::Arc, time::Duration};

use tokio::{sync::Mutex, time::Instant};

use super::{External, Pushes, memory::Memory};
use crate::{
    dependent::{DependentSource, System},
    event_source::{ExternalSource, external::PerResourcePollingEventSource},
    reconciler::{BoxError, Context},
    resource::{KubeObject, ObjectKey},
};

/// When records are read, as declared.
#[derive(Clone, Debug, Default)]
pub(super) enum Look {
    #[default]
    InEachRun,
    /// Those of each primary by itself, in this period.
    Each(Duration),
    /// Those of all primaries by one call, in this period.
    Together(Duration),
    /// When the other system reports a change.
    Pushed(Pushes),
}

/// The same while the controller runs.
pub(super) enum Looks {
    InEachRun,
    /// The event source with this name polls, and keeps the results.
    Polled(Arc<str>),
    Pushed,
}

/// The record under an id, as the event source has it.
struct Item<R> {
    id: String,
    resource: Arc<R>,
}

impl<R: PartialEq> PartialEq for Item<R> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id && *self.resource == *other.resource
    }
}

/// The result of the last call for all records, and its time.
type Snapshot<R> = Mutex<Option<(Instant, Arc<HashMap<String, Arc<R>>>)>>;

impl Look {
    /// How the engine reads, and the event source that polls for it.
    pub(super) fn declared<E: External<P>, P: KubeObject>(
        &self,
        name: &str,
        external: &Arc<E>,
        memory: &Arc<Memory<E::Resource>>,
        system: &System,
    ) -> (Looks, Option<DependentSource>) {
        let (period, together) = match self {
            Self::InEachRun => return (Looks::InEachRun, None),
            Self::Pushed(_) => return (Looks::Pushed, None),
            Self::Each(period) => (*period, None),
            Self::Together(period) => (*period, Some(Arc::new(Snapshot::<E::Resource>::default()))),
        };
        let name: Arc<str> = Arc::from(format!("{name} polls"));
        let (external, memory, system) = (Arc::clone(external), Arc::clone(memory), system.clone());
        let fetch = move |primary: Arc<P>| {
            let ids = memory.ids(&ObjectKey::of(&*primary));
            let (external, system, together) = (Arc::clone(&external), system.clone(), together.clone());
            async move {
                let all = match together {
                    Some(last) => Some(all_of(&*external, &system, &last, period / 2).await?),
                    None => None,
                };
                let mut found = Vec::new();
                for id in ids {
                    let resource = match &all {
                        Some(all) => all.get(&id).cloned(),
                        None => system.poll(&id, external.observe(&id)).await?.map(Arc::new),
                    };
                    found.extend(resource.map(|resource| Item { id, resource }));
                }
                Ok::<_, BoxError>(found)
            }
        };
        let id = |item: &Item<E::Resource>| item.id.clone();
        let source = PerResourcePollingEventSource::with_id(Arc::clone(&name), period, id, fetch);
        (Looks::Polled(name), Some(DependentSource::own(Arc::new(source))))
    }
}

/// All existing records, as of at most `fresh` ago.
async fn all_of<E: External<P>, P: KubeObject>(
    external: &E,
    system: &System,
    last: &Snapshot<E::Resource>,
    fresh: Duration,
) -> Result<Arc<HashMap<String, Arc<E::Resource>>>, BoxError> {
    let mut last = last.lock().await;
    if let Some((_, all)) = last.as_ref().filter(|(taken, _)| taken.elapsed() <= fresh) {
        return Ok(Arc::clone(all));
    }
    let all = system.poll("", external.observe_all()).await?;
    let all: Arc<HashMap<_, _>> =
        Arc::new(all.into_iter().map(|(id, found)| (id, Arc::new(found))).collect());
    *last = Some((Instant::now(), Arc::clone(&all)));
    Ok(all)
}

impl Looks {
    fn store<P: KubeObject, R: 'static>(&self, context: &Context<P>) -> Option<ExternalSource<Item<R>>> {
        match self {
            Self::Polled(name) => context.external_source(Some(name)),
            Self::InEachRun | Self::Pushed => None,
        }
    }

    /// The result of a poll for an id. If no poll has a result, the record is requested separately: the id may be newer.
    pub(super) async fn polled<P: KubeObject, R: 'static>(
        &self,
        context: &Context<P>,
        id: &str,
    ) -> Result<Option<Arc<R>>, BoxError> {
        let Some(store) = self.store::<P, R>(context) else { return Ok(None) };
        let known = store.fetch_now(context.primary_key()).await?;
        Ok(known.into_iter().find(|item| item.id == id).map(|item| Arc::clone(&item.resource)))
    }

    /// The run has found or created a record.
    pub(super) fn made<P: KubeObject, R: 'static>(&self, context: &Context<P>, id: &str, new: &Arc<R>) {
        if let Some(store) = self.store::<P, R>(context) {
            store.created(context.primary_key(), Arc::new(Item::of(id, new)));
        }
    }

    /// The run has changed a record.
    pub(super) fn changed<P: KubeObject, R: 'static>(
        &self,
        context: &Context<P>,
        id: &str,
        (previous, new): (&Arc<R>, &Arc<R>),
    ) {
        if let Some(store) = self.store::<P, R>(context) {
            store.updated(context.primary_key(), &Item::of(id, previous), Arc::new(Item::of(id, new)));
        }
    }

    /// The run has deleted a record, or found that it is gone.
    pub(super) fn gone<P: KubeObject, R: 'static>(&self, context: &Context<P>, id: &str, last: &Arc<R>) {
        if let Some(store) = self.store::<P, R>(context) {
            store.deleted(context.primary_key(), &Item::of(id, last));
        }
    }
}

impl<R> Item<R> {
    fn of(id: &str, resource: &Arc<R>) -> Self {
        Self { id: id.to_owned(), resource: Arc::clone(resource) }
    }
}
