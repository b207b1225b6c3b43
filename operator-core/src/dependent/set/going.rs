//! How the objects of a set go that aren't wanted any more.

use std::sync::Arc;

use futures::FutureExt;
use kube::{
    Api,
    api::ListParams,
    core::{DynamicObject, TypeMeta},
};

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
    pub(super) fn going(&self, asked: Asked<'_>, made: Made, why: Unwanted) -> Vec<Going> {
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
        let fates = fates(&ordered, |at| unread[at].is_some(), why, self.settings.objects.prunes_data);
        drop(ordered);
        for ((one, fate), unread) in going.iter_mut().zip(fates).zip(unread) {
            one.fate = fate;
            if fate == Fate::Left && one.object.meta().deletion_timestamp.is_none() {
                let keeps_data = why == Unwanted::Pruned && !self.settings.objects.prunes_data;
                one.warn(unread.as_deref(), keeps_data);
            }
        }
        going.retain(|one| one.fate != Fate::Left);
        going
    }

    /// Whether there are objects that the node has made, no longer wants, and has to do something about.
    pub(super) fn has_leftovers(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        kinds: &Kinds,
    ) -> Result<bool, BoxError> {
        let unwanted = self.unwanted(asked, wanted, kinds)?;
        Ok(!self.going(asked, unwanted, Unwanted::Pruned).is_empty())
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
        let stages = removal(&ordered, &[]);
        let Some(first) = stages.first() else { return Ok((items, false)) };
        for rank in &first.ranks {
            let work = rank.iter().filter_map(|at| deleted.get(*at));
            items.work(work.map(|one| Self::removal_of(asked, &one.managed, &one.object))).await;
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
        for one in going.iter().filter(|one| one.fate == Fate::Deleted) {
            let Some(Defined::Kind { group, kind }) = one.defines() else { continue };
            let name = KindName::new(&group, &kind);
            let watch = format!("foreign {} of {}", name.as_str(), asked.context.primary_key());
            let found = match self.served(asked, &name, None).await?.filter(|_| blocked.is_none()) {
                Some(kind) => first_foreign(asked, &kind).await?.map(|foreign| (kind, foreign)),
                None => None,
            };
            let Some((kind, foreign)) = found else {
                asked.context.event_sources().remove(&watch);
                continue;
            };
            self.watch_foreign(asked, &kind, watch)?;
            blocked = Some(format!(
                "{} {foreign} isn't of this set: nothing is deleted while it exists, as its definition would go",
                kind.kind()
            ));
        }
        Ok(blocked)
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
        asked: Asked<'r>,
        managed: &'r Arc<Managed>,
        object: &'r AnyObject,
    ) -> (Option<String>, Work<'r>) {
        let label = format!("{} {}", managed.kind, ObjectKey::in_meta(object.meta()));
        let removal = async move {
            let own = managed.of_primary(asked).map_err(Error::boxed)?;
            own.remove_and_note(object).await.map_err(Error::boxed)?;
            Ok(Some((Operation::Deleted, managed.secondary(AnyObject::clone(object)))))
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
        let types = Some(TypeMeta { api_version: kind.api_version(), kind: kind.kind().to_owned() });
        let object = self.object.typed_ref::<DynamicObject>()?.clone();
        Defined::by(&DynamicObject { types, ..object })
    }
}

/// An object of that kind that doesn't belong to the primary, past all caches.
async fn first_foreign(asked: Asked<'_>, kind: &ResourceType) -> Result<Option<ObjectKey>, BoxError> {
    let shared = asked.context.shared();
    let uid = asked.primary.meta().uid.as_deref().unwrap_or_default();
    let selector = format!("{}!={}", shared.marks.names().owner(), label_value(uid));
    let all = Api::<DynamicObject>::all_with(shared.clients.reads.clone(), &kind.api_resource());
    match all.list_metadata(&ListParams::default().labels(&selector).limit(1)).await {
        Ok(found) => Ok(found.items.first().map(|object| ObjectKey::in_meta(&object.metadata))),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(error) => Err(error.into()),
    }
}
