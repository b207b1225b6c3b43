//! How the objects of a set go that aren't wanted any more.

use std::sync::Arc;

use futures::FutureExt;
use kube::core::DynamicObject;

use super::{
    engine::{Made, SetEngine},
    followed::Kinds,
    kinds::{Defined, Ordered, is_definition},
    policies::{Policies, Reading},
    removal::{Fate, Unwanted, fates, removal},
    wanted::Wanted,
};
use crate::{
    dependent::{
        Asked, Error,
        items::{Items, Work},
        object::{Managed, holds_data},
    },
    event_source::InformerEventSource,
    operations::first_live,
    reconciler::BoxError,
    resource::{AnyObject, KindName, ObjectKey, ResourceType, label_value},
    results::Operation,
};

/// An object that isn't wanted any more.
pub(super) struct Going {
    managed: Arc<Managed>,
    object: AnyObject,
    policies: Policies,
    fate: Fate,
}

impl SetEngine {
    /// What becomes of these objects, without those that stay as they are.
    fn going(&self, asked: Asked<'_>, made: Made, why: Unwanted, prunes_data: bool) -> Vec<Going> {
        let rules = self.rules(asked);
        let all = made.into_iter().flat_map(|(managed, objects)| {
            objects.into_iter().map(move |object| (Arc::clone(&managed), object))
        });
        let mut unread = Vec::new();
        let going = all.map(|(managed, object)| {
            let Reading { policies, delete_fault, .. } = Reading::of(object.meta(), &rules);
            unread.push(delete_fault);
            Going { managed, object, policies, fate: Fate::Left }
        });
        let mut going: Vec<_> = going.collect();
        let ordered: Vec<_> = going.iter().map(Going::ordered).collect();
        let fates = fates(&ordered, |at| unread[at].is_some(), why, prunes_data);
        drop(ordered);
        for ((one, fate), unread) in going.iter_mut().zip(fates).zip(unread) {
            one.fate = fate;
            if fate == Fate::Left && one.object.meta().deletion_timestamp.is_none() {
                let keeps_data = why == Unwanted::Pruned && !prunes_data;
                one.warn(unread.as_deref(), keeps_data);
            }
        }
        going.retain(|one| one.fate != Fate::Left);
        going
    }

    /// What becomes of these objects that the node has made and no longer wants; and what stays until another node has said
    /// whether it wants them. An object that another node wants is that node's, and goes nowhere.
    pub(super) fn leftovers(
        &self,
        asked: Asked<'_>,
        mut made: Made,
        (why, prunes_data): (Unwanted, bool),
    ) -> Result<(Vec<Going>, Option<String>), BoxError> {
        let mut kept = None;
        if asked.primary.meta().deletion_timestamp.is_none() {
            for (managed, objects) in &mut made {
                let own = managed.of_primary(asked).map_err(Error::boxed)?;
                let (unwanted, open) = own.without_others(std::mem::take(objects));
                *objects = unwanted;
                kept = kept.or(open);
            }
        }
        Ok((self.going(asked, made, why, prunes_data), kept))
    }

    /// The same of what is no longer in the set.
    pub(super) fn pruned(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        kinds: &Kinds,
    ) -> Result<(Vec<Going>, Option<String>), BoxError> {
        let pruned = (Unwanted::Pruned, self.settings.objects.rules.prunes_data);
        self.leftovers(asked, self.unwanted(asked, wanted, kinds)?, pruned)
    }

    /// Lets those go that stay, and deletes those that come first. Returns whether others wait for their end.
    pub(super) async fn remove_next(
        &self,
        asked: Asked<'_>,
        going: &[Going],
    ) -> Result<(Items, bool), BoxError> {
        let mut items = Items::default();
        let (deleted, orphaned): (Vec<_>, Vec<_>) = going.iter().partition(|one| one.fate == Fate::Deleted);
        for one in orphaned {
            let own = one.managed.of_primary(asked).map_err(Error::boxed)?;
            own.let_go(&one.object).await.map_err(Error::boxed)?;
        }
        let ordered: Vec<_> = deleted.iter().map(|one| one.ordered()).collect();
        let stages = removal(&ordered);
        let Some((_, first)) = stages.first() else { return Ok((items, false)) };
        for rank in first {
            let work = rank.iter().filter_map(|at| deleted.get(*at));
            items.work(work.map(|one| self.removal_of(asked, &one.managed, &one.object))).await;
        }
        Ok((items, stages.len() > 1))
    }

    /// Why nothing of the set may be touched, if that is so: the end of a definition would be that of other people's objects.
    /// The primary is triggered when these change.
    pub(super) async fn blocked(
        &self,
        asked: Asked<'_>,
        going: &[Going],
    ) -> Result<Option<String>, BoxError> {
        let mut blocked = None;
        // What serves an APIService goes before it, and with that what it has served.
        let is_served = going.iter().any(|one| one.defines().is_none());
        let deleted: Vec<_> = going.iter().filter(|one| one.fate == Fate::Deleted).collect();
        let mut all: Vec<_> = deleted.iter().filter_map(|one| one.defines()).collect();
        if !deleted.is_empty() {
            all.extend(self.settings.words.managed_types(asked.primary));
        }
        for defined in all {
            for kind in self.defined(asked, &defined).await? {
                let watch = format!("foreign {} of {}", kind.full_name(), asked.context.primary_key());
                let found = match blocked {
                    None => first_foreign(asked, &kind, is_served).await?,
                    Some(_) => None,
                };
                let Some(foreign) = found else {
                    asked.context.event_sources().remove(&watch);
                    continue;
                };
                self.watch_foreign(asked, &kind, watch)?;
                blocked = Some(format!(
                    "{} {foreign} isn't of this set: nothing is deleted while it exists, as what defines it would go",
                    kind.kind()
                ));
            }
        }
        Ok(blocked)
    }

    /// The kinds that are defined, as far as they are served.
    async fn defined(&self, asked: Asked<'_>, defined: &Defined) -> Result<Vec<ResourceType>, BoxError> {
        match defined {
            Defined::Kind { group, kind } => {
                let served = self.served(asked, &KindName::new(group, kind), None).await?;
                Ok(served.into_iter().collect())
            }
            Defined::Version { group, version } => {
                let (discovery, _) = asked.context.shared().workflows.discovery()?;
                Ok(discovery.kinds_of(group, version).await?)
            }
        }
    }

    /// Triggers the primary when objects of that kind change.
    fn watch_foreign(&self, asked: Asked<'_>, kind: &ResourceType, name: String) -> Result<(), BoxError> {
        let primary = asked.context.primary_key().clone();
        let source = InformerEventSource::<DynamicObject>::of_type(kind.api_resource()).name(name);
        let source = source.metadata_only().map_to_primary(move |_| vec![primary.clone()]);
        let source = if kind.is_namespaced() { source } else { source.cluster_scoped() };
        let sources = asked.context.shared().sources.conditional();
        let started = sources.start_late(Arc::new(source), asked.context.scope(), self.claimant);
        started.map(drop).map_err(|trouble| trouble.reason.into())
    }

    /// What is needed to delete an object.
    pub(super) fn removal_of<'r>(
        &'r self,
        asked: Asked<'r>,
        managed: &'r Arc<Managed>,
        object: &'r AnyObject,
    ) -> (Option<String>, Work<'r>) {
        let label = format!("{} {}", managed.kind, ObjectKey::in_meta(object.meta()));
        let removal = async move {
            let own = managed.of_primary(asked).map_err(Error::boxed)?;
            let removed = own.remove_and_note(object).await.map_err(Error::boxed);
            let done =
                removed.map(|()| Some((Operation::Deleted, managed.secondary(AnyObject::clone(object)))));
            self.tell(asked, managed, || ObjectKey::in_meta(object.meta()), &done);
            done
        };
        (Some(label), removal.boxed())
    }
}

impl Going {
    /// Says that it is left behind, and why.
    fn warn(&self, unread: Option<&str>, keeps_data: bool) {
        let kind = &self.managed.kind;
        let why = match unread {
            Some(fault) => format!("{fault}; it says whether the object stays: correct it"),
            None if keeps_data && holds_data(kind.group(), kind.kind()) => {
                "data would be lost with it; delete it by hand, or set `.prune_data()`".to_owned()
            }
            None => "the delete policy of an object that would go with it can't be read".to_owned(),
        };
        let object = ObjectKey::in_meta(self.object.meta());
        tracing::warn!(%kind, %object, "left behind although it is no longer in the set: {why}");
    }

    fn ordered(&self) -> Ordered<'_> {
        let kind = &self.managed.kind;
        Ordered {
            group: kind.group(),
            version: kind.version(),
            kind: kind.kind(),
            key: ObjectKey::in_meta(self.object.meta()),
            policies: &self.policies,
            defines: self.defines(),
        }
    }

    /// The kind that it defines.
    fn defines(&self) -> Option<Defined> {
        let kind = &self.managed.kind;
        if !is_definition(kind.group(), kind.kind()) {
            return None;
        }
        // Objects in a list don't say their kind.
        let object = self.object.typed_ref::<DynamicObject>()?.clone();
        Defined::by(&DynamicObject { types: Some(kind.types()), ..object })
    }
}

/// An object of that kind that doesn't belong to the primary, past all caches.
async fn first_foreign(
    asked: Asked<'_>,
    kind: &ResourceType,
    is_served: bool,
) -> Result<Option<ObjectKey>, BoxError> {
    let shared = asked.context.shared();
    let uid = asked.primary.meta().uid.as_deref().unwrap_or_default();
    let selector = format!("{}!={}", shared.marks.names().owner(), label_value(uid));
    match first_live(&shared.writer, kind, &selector).await {
        Err(kube::Error::Api(status)) if status.code == 404 || (status.code == 503 && !is_served) => Ok(None),
        found => Ok(found?),
    }
}
