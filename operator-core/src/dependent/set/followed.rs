//! The kinds of a set, as the cluster serves them, and the sources that follow them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use super::engine::SetEngine;
use crate::{
    dependent::{
        Asked, Error,
        object::{Managed, annotate},
    },
    event_source::{Late, Trouble},
    reconciler::BoxError,
    resource::{KindName, MadeKinds, Object, ResourceType, label_value},
};

/// How long a run waits until a kind's objects are listed. Without this, each kind's list would be followed by a run of its own.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// A kind, as far as this run can use it.
pub(super) enum Followed {
    /// Its source shows everything.
    Shown(Arc<Managed>),
    /// Its source doesn't yet.
    Syncing(Trouble),
    /// The cluster doesn't serve it: it has no objects.
    Absent,
}

impl Followed {
    /// Why nothing can be written of it yet.
    pub(super) fn why_not(&self, name: &KindName) -> Option<String> {
        match self {
            Self::Shown(_) => None,
            Self::Syncing(trouble) => Some(trouble.reason.clone()),
            Self::Absent => Some(format!("{} isn't served yet", name.as_str())),
        }
    }
}

/// The kinds that a node of a primary has named in this process: an annotation that somebody has taken away is written again.
#[derive(Default)]
struct Remembered(BTreeSet<KindName>);

/// The kinds of a node of a primary.
pub(super) type Kinds = BTreeMap<KindName, Followed>;

impl SetEngine {
    /// Follows these kinds from now on: each with its version, if one is wanted.
    pub(super) async fn follow(
        &self,
        asked: Asked<'_>,
        kinds: impl IntoIterator<Item = (KindName, Option<String>), IntoIter: Send> + Send,
    ) -> Result<Kinds, BoxError> {
        let mut started = Vec::new();
        for (name, version) in kinds {
            let kind = self.served(asked, &name, version).await?;
            if kind.is_none() {
                self.release(asked, &name);
            }
            // All of them, so that they are listed at the same time.
            started.push((name, kind.map(|kind| self.start(asked, &kind))));
        }
        let mut followed = Kinds::new();
        for (name, source) in started {
            let found = match source {
                None => Followed::Absent,
                Some((managed, None)) => Followed::Shown(managed),
                Some((managed, Some(Ok(late)))) => match late.shown(asked.context.scope(), PATIENCE).await {
                    Ok(()) => Followed::Shown(managed),
                    Err(trouble) => {
                        if trouble.is_failure {
                            let (discovery, _) = asked.context.shared().workflows.discovery()?;
                            discovery.doubt(name.parts().0).await;
                        }
                        Followed::Syncing(trouble)
                    }
                },
                Some((_, Some(Err(trouble)))) => Followed::Syncing(trouble),
            };
            followed.insert(name, found);
        }
        Ok(followed)
    }

    /// A kind, as the cluster serves it.
    pub(super) async fn served(
        &self,
        asked: Asked<'_>,
        name: &KindName,
        version: Option<String>,
    ) -> Result<Option<ResourceType>, BoxError> {
        let (discovery, subscriber) = asked.context.shared().workflows.discovery()?;
        let (group, kind) = name.parts();
        Ok(discovery.find((group, version.as_deref(), kind), subscriber).await?)
    }

    /// How a kind is managed, and its source, unless that runs as long as the controller.
    fn start(&self, asked: Asked<'_>, kind: &ResourceType) -> (Arc<Managed>, Option<Result<Late, Trouble>>) {
        let managed = self.managed(kind);
        let (sources, scope) = (&asked.context.shared().sources, asked.context.scope());
        let declared = managed.source.declared.as_ref().filter(|_| !sources.declares(&managed.source.name));
        let late = declared.map(|source| {
            let source = Arc::clone(&source.declaration);
            sources.conditional().start_late(source, scope, self.claimant)
        });
        (managed, late)
    }

    /// The node has nothing to do with that kind any more.
    pub(super) fn release(&self, asked: Asked<'_>, name: &KindName) {
        let Some(source) = self.source_of(name) else { return };
        asked.context.shared().sources.conditional().release(&source, asked.context.scope(), self.claimant);
    }

    /// The kinds that the primary names for the node.
    pub(super) fn named(&self, asked: Asked<'_>) -> BTreeSet<KindName> {
        let marks = &asked.context.shared().marks;
        MadeKinds::of(&*asked.newest(), marks).of_node(&label_value(asked.node), marks)
    }

    /// The same with those that it has named before, as far as this process knows.
    pub(super) fn ever_named(&self, asked: Asked<'_>) -> BTreeSet<KindName> {
        let mut all = self.named(asked);
        let place = asked.context.scope().slot(self.question.place);
        all.extend(place.look(|known: &mut Remembered| known.0.clone()).unwrap_or_default());
        all
    }

    /// Makes the primary name these kinds, and no others, for the node.
    pub(super) async fn name(&self, asked: Asked<'_>, kinds: &BTreeSet<KindName>) -> Result<(), BoxError> {
        let place = asked.context.scope().slot(self.question.place);
        place.change(|known: &mut Remembered| known.0.clone_from(kinds));
        if self.named(asked) == *kinds {
            return Ok(());
        }
        let (context, node) = (asked.context, label_value(asked.node));
        let marks = &*context.shared().marks;
        let mut change = |state: &dyn Object| {
            let mut named = MadeKinds::of(state, marks);
            named.note(&node, kinds, marks);
            named.text()
        };
        annotate(context, marks.names().kinds(), &mut change).await.map_err(Error::boxed)
    }
}
