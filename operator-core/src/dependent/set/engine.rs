//! A node with objects of several kinds, as the workflow calls it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::FutureExt;
use kube::core::{ApiResource, DynamicObject};
use parking_lot::Mutex;

use super::{
    act::{Act, Live, act},
    declared::SetSettings,
    followed::{Followed, Kinds},
    policies::{Policies, ReconcilePolicy, Rules, UpdatePolicy},
    progress::Progress,
    removal::Unwanted,
    wanted::{Wanted, WantedObject},
};
use crate::{
    dependent::{
        Asked, Deletion, Engine, Error, ObjectSettings,
        erased::{Answer, Deleted},
        function::Want,
        items::{Items, Work},
        object::{Changes, Managed},
        question::{Ask, Question},
    },
    event_source::Claimant,
    reconciler::{AnyContext, BoxError},
    resource::{AnyObject, Draft, KindName, ObjectKey, ResourceType, Whose},
    results::{Adoption, Operation, ReconcileResult, Secondary},
};

/// The objects of several kinds that a node has for each primary.
pub(in crate::dependent) struct SetEngine {
    pub(super) question: Question,
    pub(super) settings: SetSettings,
    pub(super) claimant: Claimant,
    /// How the objects of a kind are managed: first without policies of their own. Made anew if the kind's place has changed.
    managed: Mutex<BTreeMap<KindName, ManagedWays>>,
}

/// How the objects of a kind are managed, by what their policies say.
type ManagedWays = Vec<(Ways, Arc<Managed>)>;

/// What the policies of an object say about writing it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ways {
    adoption: Adoption,
    updates: bool,
    update: UpdatePolicy,
}

impl Ways {
    fn of(policies: &Policies) -> Self {
        let updates = policies.reconcile != ReconcilePolicy::Once;
        Self { adoption: policies.adoption, updates, update: policies.update }
    }
}

/// The objects that were taken over from others, and for which content.
#[derive(Default)]
struct Taken(BTreeMap<String, String>);

/// The programs whose fields `ssa-override` takes over.
const OTHER_TOOLS: &[&str] = &["kubectl", "helm", "Helm"];

impl SetEngine {
    pub(super) fn new(ask: Box<dyn Ask>, settings: SetSettings) -> Self {
        let (question, claimant) = (Question::new(ask), Claimant::unique());
        Self { question, settings, claimant, managed: Mutex::default() }
    }

    /// The wanted objects, computed once.
    async fn wanted(&self, asked: Asked<'_>) -> Result<Arc<Want<Wanted>>, BoxError> {
        let marks = asked.context.shared().marks.names();
        let rules = Rules { prefix: marks.prefix(), marks, defaults: &self.settings.defaults };
        let only = self.settings.words.kinds.as_deref();
        let wanted =
            |objects| Wanted::of(objects, &rules, only).map_err(|faults| Error::Faulty { faults }.boxed());
        self.question.answer(asked, |drafts| wanted(drafts.into_mixed())).await
    }

    /// How the objects of a kind are managed that say nothing else.
    pub(super) fn managed(&self, kind: &ResourceType) -> Arc<Managed> {
        self.managed_as(kind, Ways::of(&self.settings.defaults))
    }

    fn managed_as(&self, kind: &ResourceType, ways: Ways) -> Arc<Managed> {
        let mut all = self.managed.lock();
        let known = all.entry(KindName::of(kind)).or_default();
        known.retain(|(_, known)| known.kind == *kind);
        if let Some((_, known)) = known.iter().find(|(of, _)| *of == ways) {
            return Arc::clone(known);
        }
        let set = &self.settings;
        let mut settings = ObjectSettings::<DynamicObject>::new(Arc::clone(&set.name));
        settings.cluster_scoped = !kind.is_namespaced();
        settings.capabilities = set.capabilities;
        settings.capabilities.updates = ways.updates;
        settings.use_ssa = if ways.update == UpdatePolicy::Replace { Some(false) } else { set.use_ssa };
        settings.adoption = ways.adoption;
        settings.prunes_data = set.prunes_data;
        settings.recreates = set.recreates;
        settings.takes_from = if ways.update == UpdatePolicy::SsaOverride { OTHER_TOOLS } else { &[] };
        settings.detects_version = set.detects_version;
        let managed = Arc::new(settings.finish(resource_of(kind)));
        known.push((ways, Arc::clone(&managed)));
        managed
    }

    /// The name of the source of a kind.
    pub(super) fn source_of(&self, name: &KindName) -> Option<Arc<str>> {
        self.managed.lock().get(name)?.first().map(|(_, managed)| Arc::clone(&managed.source.name))
    }

    /// Applies stage by stage, as far as it goes.
    async fn bring_about(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        kinds: &Kinds,
    ) -> Result<ReconcileResult, BoxError> {
        let before = self.done(asked, wanted);
        let mut course =
            Course { items: Items::default(), progress: Progress::default(), done: before, over: 0 };
        let waits = self.go_through(asked, wanted, kinds, &mut course).await?;
        let Course { items, progress, done, over } = course;
        self.remember(asked, &done).await?;
        let (all, is_whole) = (wanted.objects.len(), waits.is_none());
        let result = items.finish()?.desiring(all).over(over);
        let mut leaves = false;
        if is_whole && result.failed().is_empty() {
            leaves = self.has_leftovers(asked, wanted, kinds)?;
            if !leaves {
                self.forget_kinds(asked, wanted, kinds).await?;
            }
        }
        let waits = waits.filter(|reason| !reason.is_empty());
        Ok(result.leaving(leaves).progressing(progress.told(all, waits), is_whole))
    }

    /// Returns why it didn't come to the end, if it didn't: empty if what it has come to says so itself.
    async fn go_through(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        kinds: &Kinds,
        course: &mut Course,
    ) -> Result<Option<String>, BoxError> {
        let last = wanted.waves.iter().flat_map(|wave| &wave.stages).count();
        let mut number = 0;
        for wave in &wanted.waves {
            for stage in &wave.stages {
                number += 1;
                let mut all = stage.ranks.iter().flatten().filter_map(|at| wanted.objects.get(*at));
                let waits = all.find_map(|one| kinds.get(&one.kind)?.why_not(&one.kind));
                for rank in &stage.ranks {
                    self.bring_rank_about(asked, wanted, rank, kinds, course).await;
                }
                let goes_on = course.items.failures() == 0 && course.progress.is_ready();
                if waits.is_some() {
                    return Ok(waits);
                }
                if !goes_on && number < last {
                    return Ok(Some(String::new()));
                }
                if !goes_on {
                    return Ok(None);
                }
            }
            if let Some(why) = self.purge(asked, wanted, &wave.purged, kinds, course).await? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    /// Brings these about at the same time.
    async fn bring_rank_about(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        rank: &[usize],
        kinds: &Kinds,
        course: &mut Course,
    ) {
        let now = asked.context.wall_clock().now();
        let (progress, done, over) = (Mutex::new(&mut course.progress), &course.done, &mut course.over);
        let over = Mutex::new(over);
        let objects = rank.iter().filter_map(|at| Some((*at, wanted.objects.get(*at)?)));
        let work = objects.filter_map(|(at, object)| {
            let Some(Followed::Shown(managed)) = kinds.get(&object.kind) else { return None };
            let (progress, over) = (&progress, &over);
            let work = async move {
                let brought = self.bring_one_about(asked, &managed.kind, object, done).await?;
                match &brought {
                    Some((operation, seen)) => {
                        progress.lock().see(at, (*operation, seen), &object.policies.hints, now);
                    }
                    None => {
                        progress.lock().skip(1);
                        **over.lock() += 1;
                    }
                }
                Ok(brought)
            };
            Some((Some(object.told()), work.boxed() as Work<'_>))
        });
        let work: Vec<_> = work.collect();
        course.items.work(work).await;
    }

    async fn bring_one_about(
        &self,
        asked: Asked<'_>,
        kind: &ResourceType,
        wanted: &WantedObject,
        done: &BTreeSet<String>,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let managed = self.managed_as(kind, Ways::of(&wanted.policies));
        let own =
            managed.of_primary(asked).map_err(Error::boxed)?.without_fields(&wanted.policies.ignore_fields);
        let mut draft: Box<dyn Draft> = Box::new(wanted.object.clone());
        let key = wanted.key(kind.is_namespaced(), asked.context.primary_key());
        for change in &self.settings.changes {
            (change.0)(&mut *draft, asked)?;
        }
        own.completed(&mut *draft, false).map_err(Error::boxed)?;
        if ObjectKey::in_meta(draft.meta_mut()) != key {
            let (kind, node, after) =
                (kind.clone(), asked.node.to_owned(), ObjectKey::in_meta(draft.meta_mut()));
            return Err(Error::Renamed { kind, node, before: key, after }.boxed());
        }
        if wanted.policies.reconcile == ReconcilePolicy::OnObjectOrComponentChange {
            let generation = asked.primary.meta().generation.unwrap_or_default().to_string();
            let name = asked.context.shared().marks.names().component_generation();
            draft.meta_mut().annotations.get_or_insert_default().insert(name, generation);
        }
        let desired = own.marked(draft).map_err(Error::boxed)?;
        let actual = own.there(&key).map_err(Error::boxed)?;
        let is_over = wanted.may_be_over() && done.contains(&wanted.print());
        let place = asked.context.scope().slot(self.question.place);
        let (name, print) = (wanted.told(), wanted.print());
        let was_taken = |taken: &mut Taken| taken.0.get(&name) == Some(&print);
        let live = match &actual {
            None => None,
            Some(actual) => Some(Live {
                whose: own.whose_wanted(&**actual),
                is_going: actual.meta().deletion_timestamp.is_some(),
                differs: own.differs(&*desired, &**actual).map_err(Error::boxed)?,
                was_taken_back: wanted.policies.adoption == Adoption::Always
                    && place.look(was_taken) == Some(true),
            }),
        };
        match (act(live, &wanted.policies, is_over), actual) {
            (Act::Nothing, None) => Ok(None),
            (Act::Update(UpdatePolicy::Recreate), Some(actual)) => {
                own.remove_and_note(&actual).await.map_err(Error::boxed)?;
                Ok(Some((Operation::Deleted, managed.secondary(actual))))
            }
            (Act::Refuse, actual) if wanted.policies.adoption == Adoption::Always => {
                // Two owners would take it from each other for ever.
                let ways = Ways { adoption: Adoption::Never, ..Ways::of(&wanted.policies) };
                let managed = self.managed_as(kind, ways);
                let own = managed.of_primary(asked).map_err(Error::boxed)?;
                let done = own.bring_about(&*desired, actual).await.map_err(Error::boxed)?;
                Ok(done.map(|(operation, object)| (operation, managed.secondary(object))))
            }
            (act, actual) => {
                if act == Act::TakeOver && wanted.policies.adoption == Adoption::Always {
                    place.change(|taken: &mut Taken| taken.0.insert(name, print));
                }
                let done = own.bring_about(&*desired, actual).await.map_err(Error::boxed)?;
                Ok(done.map(|(operation, object)| (operation, managed.secondary(object))))
            }
        }
    }

    /// Removes what was needed only until now. Returns what is still there.
    async fn purge(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        purged: &[usize],
        kinds: &Kinds,
        course: &mut Course,
    ) -> Result<Option<String>, BoxError> {
        let mut left = Vec::new();
        for object in purged.iter().filter_map(|at| wanted.objects.get(*at)) {
            course.done.insert(object.print());
            let Some(Followed::Shown(managed)) = kinds.get(&object.kind) else { continue };
            let own = managed.of_primary(asked).map_err(Error::boxed)?;
            let key = object.key(managed.kind.is_namespaced(), asked.context.primary_key());
            let live = own.there(&key).map_err(Error::boxed)?;
            let is_ours = |live: &AnyObject| own.whose_wanted(&**live) == Whose::Mine { removable: true };
            left.extend(live.filter(is_ours).map(|live| (Arc::clone(managed), live)));
        }
        if left.is_empty() {
            return Ok(None);
        }
        // First of all: it isn't made again, whatever comes next.
        self.remember(asked, &course.done).await?;
        let told = left.first().map(|(managed, live)| {
            format!("{} {} is no longer needed, and goes", managed.kind, ObjectKey::in_meta(live.meta()))
        });
        let mut items = Items::default();
        items.work(left.iter().map(|(managed, live)| Self::removal_of(asked, managed, live))).await;
        items.finish()?.check()?;
        Ok(told)
    }

    /// The primary doesn't name kinds any more of which nothing is wanted, and nothing is left.
    async fn forget_kinds(&self, asked: Asked<'_>, wanted: &Wanted, kinds: &Kinds) -> Result<(), BoxError> {
        let needed = wanted.kinds();
        let is_over = |(name, followed): &(&KindName, &Followed)| {
            !needed.contains_key(*name) && !matches!(followed, Followed::Syncing(_))
        };
        let (over, kept): (Vec<_>, Vec<_>) = kinds.iter().partition(is_over);
        for (name, _) in over {
            self.release(asked, name);
        }
        self.name(asked, &kept.into_iter().map(|(name, _)| name.clone()).collect()).await
    }

    /// The objects that the node has made and that `wanted` doesn't contain.
    pub(super) fn unwanted(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        kinds: &Kinds,
    ) -> Result<Made, BoxError> {
        let mut keys = BTreeSet::new();
        for object in &wanted.objects {
            if let Some(Followed::Shown(managed)) = kinds.get(&object.kind) {
                let key = object.key(managed.kind.is_namespaced(), asked.context.primary_key());
                keys.insert((object.kind.clone(), key));
            }
        }
        let mut made = self.made(asked, kinds)?;
        for (managed, objects) in &mut made {
            let name = KindName::of(&managed.kind);
            objects.retain(|object| !keys.contains(&(name.clone(), ObjectKey::in_meta(object.meta()))));
        }
        Ok(made)
    }

    /// The objects that the node has made.
    pub(super) fn made(&self, asked: Asked<'_>, kinds: &Kinds) -> Result<Made, BoxError> {
        let mut made = Made::new();
        for followed in kinds.values() {
            if let Followed::Shown(managed) = followed {
                let own = managed.of_primary(asked).map_err(Error::boxed)?;
                made.push((Arc::clone(managed), own.removable().map_err(Error::boxed)?));
            }
        }
        Ok(made)
    }
}

/// Objects that exist, by how they are managed.
pub(super) type Made = Vec<(Arc<Managed>, Vec<AnyObject>)>;

/// How far a run has come.
struct Course {
    items: Items,
    progress: Progress,
    /// The prints of what was there, and needn't be there again.
    done: BTreeSet<String>,
    over: usize,
}

pub(super) fn resource_of(kind: &ResourceType) -> ApiResource {
    ApiResource {
        group: kind.group().to_owned(),
        version: kind.version().to_owned(),
        api_version: kind.api_version(),
        kind: kind.kind().to_owned(),
        plural: kind.plural().to_owned(),
    }
}

impl Engine for SetEngine {
    fn add_change(&mut self, change: Changes) -> bool {
        self.settings.changes.push(change);
        true
    }

    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let wanted = self.wanted(asked).await?;
            let wanted = wanted.wanted().ok_or_else(|| Error::NothingDesired.boxed())?;
            let named = self.ever_named(asked);
            if wanted.objects.is_empty() && !named.is_empty() && !self.settings.words.may_be_empty {
                return Err(Error::EmptySet.boxed());
            }
            let versions = wanted.kinds();
            let all: BTreeSet<_> = named.union(&versions.keys().cloned().collect()).cloned().collect();
            self.name(asked, &all).await?;
            let followed = all.iter().map(|name| (name.clone(), versions.get(name).cloned()));
            let kinds = self.follow(asked, followed.collect::<Vec<_>>()).await?;
            self.bring_about(asked, wanted, &kinds).await
        }
        .boxed()
    }

    fn sweep<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let wanted = self.question.known::<Wanted>(asked);
            let Some(wanted) = wanted.as_ref().and_then(|wanted| wanted.wanted()) else {
                return Ok(ReconcileResult::nothing());
            };
            let kinds = self.known_kinds(asked).await?;
            let going = self.going(asked, self.unwanted(asked, wanted, &kinds)?, Unwanted::Pruned);
            let (items, waits) = self.remove_next(asked, &going).await?;
            Ok(items.finish()?.leaving(waits))
        }
        .boxed()
    }

    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>> {
        async move { Ok(self.wanted(asked).await?.answer()) }.boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
        async move {
            if !self.settings.capabilities.can_delete() {
                return Ok(Deleted::NOTHING);
            }
            let kinds = self.known_kinds(asked).await?;
            let syncing = |followed: &Followed| match followed {
                Followed::Syncing(trouble) => Some(trouble.reason.clone()),
                Followed::Shown(_) | Followed::Absent => None,
            };
            if let Some(why) = kinds.values().find_map(syncing) {
                // What can't be seen may be there. Its definition may be going, and then no event tells that.
                asked.context.remembered().lock().note_asked();
                return Ok(Deleted { found: 0, deletion: Deletion::Asked, kept: Some(why) });
            }
            let going = self.going(asked, self.made(asked, &kinds)?, Unwanted::Ended);
            let found = going.len();
            if let Some(why) = self.blocked(asked, &going).await? {
                return Ok(Deleted { found, deletion: Deletion::Asked, kept: Some(why) });
            }
            let (items, _) = self.remove_next(asked, &going).await?;
            items.deleted()?;
            if found > 0 {
                // Each stage goes when the one before is gone, and the primary when all are. The end of a definition takes the
                // source of its objects along, which may have had their last event.
                asked.context.remembered().lock().note_asked();
                let kept = Some(format!("{found} objects are still there"));
                return Ok(Deleted { found, deletion: Deletion::Asked, kept });
            }
            for kind in kinds.keys() {
                self.release(asked, kind);
            }
            if asked.primary.meta().deletion_timestamp.is_none() {
                self.name(asked, &BTreeSet::new()).await?;
            }
            Ok(Deleted::NOTHING)
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let kinds = self.known_kinds(asked).await?;
            let made = self.made(asked, &kinds)?;
            let all = made.into_iter().flat_map(|(managed, objects)| {
                objects.into_iter().map(move |object| managed.secondary(object))
            });
            Ok(all.collect())
        }
        .boxed()
    }

    fn newest(&self, of: &Secondary, context: &AnyContext) -> Option<AnyObject> {
        let name = KindName::of(of.kind()?);
        let managed = Arc::clone(&self.managed.lock().get(&name)?.first()?.1);
        managed.newest(of, context)
    }

    fn wants(&self, kind: &ResourceType, key: &ObjectKey, asked: Asked<'_>) -> Option<bool> {
        let wanted = self.question.known::<Wanted>(asked)?;
        let name = KindName::of(kind);
        let all = wanted.wanted().map(|wanted| &wanted.objects);
        let mut all = all.into_iter().flatten().filter(|object| object.kind == name);
        let primary = asked.context.primary_key();
        Some(all.any(|object| object.key(kind.is_namespaced(), primary) == *key))
    }
}

impl SetEngine {
    /// The kinds that the primary names, as far as they are served.
    async fn known_kinds(&self, asked: Asked<'_>) -> Result<Kinds, BoxError> {
        let named = self.ever_named(asked).into_iter().map(|name| (name, None));
        self.follow(asked, named.collect::<Vec<_>>()).await
    }
}
