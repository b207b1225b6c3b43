//! A node with objects of several kinds, as the workflow calls it.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use futures::FutureExt;
use parking_lot::Mutex;

use super::{
    act::{Act, Live, act},
    declared::SetSettings,
    followed::{Followed, Kinds, PATIENCE},
    policies::{Policies, ReconcilePolicy, Rules, UpdatePolicy},
    progress::Progressing,
    removal::Unwanted,
    wanted::{Wanted, WantedObject},
};
use crate::{
    dependent::{
        Asked, Deletion, Engine, Error, Pruning,
        erased::{Answer, Deleted},
        function::Want,
        items::{Items, Work},
        object::{Changes, Managed, OfPrimary},
        question::{Ask, Question},
    },
    event_source::Claimant,
    reconciler::{AnyContext, BoxError},
    resource::{
        AnyObject, Draft, KindName, Object, ObjectKey, ResourceType, Whose, has_succeeded, label_value,
    },
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

    /// How the annotations of its objects are read.
    pub(super) fn rules<'r>(&'r self, asked: Asked<'r>) -> Rules<'r> {
        let marks = asked.context.shared().marks.names();
        Rules { prefix: marks.prefix(), marks, defaults: &self.settings.defaults }
    }

    /// The wanted objects, computed once.
    async fn wanted(&self, asked: Asked<'_>) -> Result<Arc<Want<Wanted>>, BoxError> {
        let rules = self.rules(asked);
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
        let mut settings = self.settings.objects.untyped();
        settings.cluster_scoped = !kind.is_namespaced();
        settings.capabilities.updates = ways.updates;
        settings.rules.adoption = ways.adoption;
        match ways.update {
            UpdatePolicy::Replace => settings.rules.use_ssa = Some(false),
            UpdatePolicy::SsaOverride => settings.rules.takes_from = OTHER_TOOLS,
            UpdatePolicy::SsaMerge | UpdatePolicy::Recreate => {}
        }
        let managed = Arc::new(settings.finish(kind.api_resource()));
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
        let done = self.done(asked, wanted);
        // What was done with other content is forgotten before anything is made.
        self.remember(asked, &done).await?;
        let mut course =
            Course { items: Items::default(), progress: Progressing::default(), done, waits: None };
        let is_whole = self.go_through(asked, wanted, kinds, &mut course).await?;
        let Course { items, progress, done, waits } = course;
        self.remember(asked, &done).await?;
        let all = wanted.objects.len();
        let result = items.finish()?.desiring(all).over(progress.over);
        let mut leaves = false;
        if is_whole && result.failed().is_empty() {
            let (going, kept) = self.pruned(asked, wanted, kinds)?;
            leaves = !going.is_empty() || kept.is_some();
            if !leaves {
                self.forget_kinds(asked, wanted, kinds).await?;
            }
        }
        let progress = progress.of(all, waits, is_whole);
        Ok(result.leaving(leaves).progressing(progress))
    }

    /// Returns whether it came to the last object.
    async fn go_through(
        &self,
        asked: Asked<'_>,
        wanted: &Wanted,
        kinds: &Kinds,
        course: &mut Course,
    ) -> Result<bool, BoxError> {
        let mut left = wanted.waves.iter().map(|wave| wave.stages.len()).sum::<usize>();
        for wave in &wanted.waves {
            for stage in &wave.stages {
                left -= 1;
                let mut all = stage.iter().flatten().filter_map(|at| wanted.objects.get(*at));
                course.waits = all.find_map(|one| kinds.get(&one.kind)?.why_not(&one.kind));
                for rank in stage {
                    self.bring_rank_about(asked, wanted, rank, kinds, course).await;
                }
                if course.waits.is_some() {
                    return Ok(false);
                }
                if course.items.failures() > 0 || !course.progress.is_ready() {
                    return Ok(left == 0);
                }
            }
            course.waits = self.purge(asked, wanted, &wave.purged, kinds, course).await?;
            if course.waits.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
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
        let (progress, done) = (Mutex::new((&mut course.progress, Vec::new())), &course.done);
        let objects = rank.iter().filter_map(|at| Some((*at, wanted.objects.get(*at)?)));
        let work = objects.filter_map(|(at, object)| {
            let Some(Followed::Shown(managed)) = kinds.get(&object.kind) else { return None };
            let progress = &progress;
            let work = async move {
                let brought = self.bring_one_about(asked, &managed.kind, object, done).await;
                let key = || object.key(managed.kind.is_namespaced(), asked.context.primary_key());
                self.tell(asked, managed, key, &brought);
                let brought = brought?;
                let (progress, over) = &mut *progress.lock();
                match &brought {
                    Some((operation, seen)) => {
                        progress.see(at, (*operation, seen), &object.policies.hints, now);
                        if object.is_job() && seen.to_json().is_some_and(|job| has_succeeded(&job)) {
                            over.push(object.print());
                        }
                    }
                    None => {
                        progress.skip();
                        over.extend(object.may_be_over().then(|| object.print()));
                    }
                }
                Ok(brought)
            };
            Some((Some(object.told()), work.boxed() as Work<'_>))
        });
        let work: Vec<_> = work.collect();
        course.items.work(work).await;
        let (_, over) = progress.into_inner();
        course.done.extend(over);
    }

    async fn bring_one_about(
        &self,
        asked: Asked<'_>,
        kind: &ResourceType,
        wanted: &WantedObject,
        done: &BTreeSet<String>,
    ) -> Result<Option<(Operation, Secondary)>, BoxError> {
        let policies = &wanted.policies;
        let ways = Ways::of(policies);
        let managed = self.managed_as(kind, ways);
        let own = managed.of_primary(asked).map_err(Error::boxed)?.without_fields(&policies.ignore_fields);
        let mut draft: Box<dyn Draft> = Box::new(wanted.object.clone());
        let key = wanted.key(kind.is_namespaced(), asked.context.primary_key());
        // A namespace that was given to all of them says nothing of those that have none.
        draft.meta_mut().namespace = key.namespace().map(str::to_owned);
        for change in &self.settings.objects.rules.changes {
            (change.0)(&mut *draft, asked)?;
        }
        own.completed(&mut *draft, false).map_err(Error::boxed)?;
        if ObjectKey::in_meta(draft.meta_mut()) != key {
            let (kind, node, after) =
                (kind.clone(), asked.node.to_owned(), ObjectKey::in_meta(draft.meta_mut()));
            return Err(Error::Renamed { kind, node, before: key, after }.boxed());
        }
        if policies.reconcile == ReconcilePolicy::OnObjectOrComponentChange {
            let generation = asked.primary.meta().generation.unwrap_or_default().to_string();
            let name = asked.context.shared().marks.names().component_generation();
            draft.meta_mut().annotations.get_or_insert_default().insert(name, generation);
        }
        let desired = own.marked(draft).map_err(Error::boxed)?;
        let mut actual = own.there(&key);
        if matches!(actual, Err(Error::NotSynced { .. })) {
            // The source is shown to a primary with its own namespace, and this is another.
            let source = managed.source(asked.context).map_err(Error::boxed)?;
            drop(tokio::time::timeout(PATIENCE, source.informer().synced()).await);
            actual = own.there(&key);
        }
        let actual = actual.map_err(Error::boxed)?;
        let is_over = wanted.may_be_over() && done.contains(&wanted.print());
        let live = actual.as_ref().map(|actual| self.judged(asked, &own, wanted, (&*desired, &**actual)));
        let live = live.transpose().map_err(Error::boxed)?;
        let is_foreign = live.is_some_and(|live| live.whose == Whose::Foreign);
        match (act(live, policies, is_over), actual) {
            (Act::Nothing, None) => Ok(None),
            (Act::Create, None) if wanted.may_be_over() && self.was_done(asked, wanted).await? => Ok(None),
            (Act::Update(UpdatePolicy::Recreate), Some(actual)) => {
                own.remove_and_note(&actual).await.map_err(Error::boxed)?;
                Ok(Some((Operation::Deleted, managed.secondary(actual))))
            }
            // Its end wakes the primary. An error names whose it is if the node doesn't see that.
            (Act::Wait, Some(actual)) if live.is_some_and(|live| live.is_own()) => {
                Ok(Some((Operation::Matched, managed.secondary(actual))))
            }
            // Two owners would take it from each other for ever.
            (Act::Refuse, actual) if policies.adoption == Adoption::Always => {
                let managed = self.managed_as(kind, Ways { adoption: Adoption::Never, ..ways });
                let own = managed.of_primary(asked).map_err(Error::boxed)?;
                let done = own.bring_about(&*desired, actual).await.map_err(Error::boxed)?;
                Ok(done.map(|(operation, object)| (operation, managed.secondary(object))))
            }
            (_, actual) => {
                let done = own.bring_about(&*desired, actual).await.map_err(Error::boxed)?;
                if is_foreign && policies.adoption == Adoption::Always {
                    let taken = |taken: &mut Taken| taken.0.insert(wanted.told(), wanted.print());
                    asked.context.scope().slot(self.question.place).change(taken);
                }
                Ok(done.map(|(operation, object)| (operation, managed.secondary(object))))
            }
        }
    }

    /// An object that exists, as far as that has to be known before it is written: an update compares it itself.
    fn judged(
        &self,
        asked: Asked<'_>,
        own: &OfPrimary<'_>,
        wanted: &WantedObject,
        (desired, actual): (&dyn Object, &dyn Object),
    ) -> Result<Live, Error> {
        let whose = own.whose_wanted(actual);
        let is_recreated = wanted.policies.update == UpdatePolicy::Recreate;
        let place = asked.context.scope().slot(self.question.place);
        let was_taken = |taken: &mut Taken| taken.0.get(&wanted.told()) == Some(&wanted.print());
        Ok(Live {
            whose,
            is_going: actual.meta().deletion_timestamp.is_some(),
            differs: !is_recreated || matches!(whose, Whose::Mine { .. }) && own.differs(desired, actual)?,
            was_taken_back: whose == Whose::Foreign && place.look(was_taken) == Some(true),
        })
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
        items.work(left.iter().map(|(managed, live)| self.removal_of(asked, managed, live))).await;
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
        let mut keys = BTreeMap::<_, BTreeSet<_>>::new();
        for object in &wanted.objects {
            if let Some(Followed::Shown(managed)) = kinds.get(&object.kind) {
                let key = object.key(managed.kind.is_namespaced(), asked.context.primary_key());
                keys.entry(&object.kind).or_default().insert(key);
            }
        }
        self.made_but(asked, kinds, &|kind, key| keys.get(kind).is_some_and(|keys| keys.contains(key)))
    }

    /// The objects that the node has made.
    pub(super) fn made(&self, asked: Asked<'_>, kinds: &Kinds) -> Result<Made, BoxError> {
        self.made_but(asked, kinds, &|_, _| false)
    }

    /// The same without those of these kinds with these keys.
    fn made_but(
        &self,
        asked: Asked<'_>,
        kinds: &Kinds,
        is_wanted: &dyn Fn(&KindName, &ObjectKey) -> bool,
    ) -> Result<Made, BoxError> {
        let mut made = Made::new();
        for (kind, followed) in kinds {
            if let Followed::Shown(managed) = followed {
                let own = managed.of_primary(asked).map_err(Error::boxed)?;
                let objects = own.removable_but(&|key| is_wanted(kind, key)).map_err(Error::boxed)?;
                made.push((Arc::clone(managed), objects));
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
    progress: Progressing,
    /// The prints of what was there, and needn't be there again.
    done: BTreeSet<String>,
    /// What the rest waits for, unless what it has come to says so itself.
    waits: Option<String>,
}

impl Engine for SetEngine {
    fn add_change(&mut self, change: Changes) -> bool {
        self.settings.objects.rules.changes.push(change);
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
            let (going, kept) = self.pruned(asked, wanted, &kinds)?;
            let (items, waits) = self.remove_next(asked, &going).await?;
            Ok(items.finish()?.leaving(waits || kept.is_some()))
        }
        .boxed()
    }

    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>> {
        async move { Ok(self.wanted(asked).await?.answer()) }.boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
        async move {
            match self.settings.objects.capabilities.deletes {
                true => self.end(asked, (Unwanted::Ended, true)).await,
                false => Ok(Deleted::NOTHING),
            }
        }
        .boxed()
    }

    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning<'r>) -> Answer<'r, usize> {
        async move {
            let mut removed = 0;
            for followed in self.known_kinds(asked).await?.values() {
                if let Followed::Shown(managed) = followed {
                    removed += managed.prune(asked, pruning).await.map_err(Error::boxed)?;
                }
            }
            Ok(removed)
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
    /// Removes one stage of all that the node has made.
    pub(super) async fn end(&self, asked: Asked<'_>, why: (Unwanted, bool)) -> Result<Deleted, BoxError> {
        let mut kinds = self.known_kinds(asked).await?;
        let (nodes, label) = (asked.context.shared().marks.nodes(), label_value(asked.node));
        if !nodes.is_of_any_kind(&label) {
            // The node has objects of one kind now: those of that kind are its own.
            kinds.retain(|_, followed| {
                !matches!(followed, Followed::Shown(managed) if nodes.has_of(&label, &managed.kind))
            });
        }
        let syncing = |followed: &Followed| match followed {
            Followed::Syncing(trouble) => Some(trouble.reason.clone()),
            Followed::Shown(_) | Followed::Absent => None,
        };
        if let Some(why) = kinds.values().find_map(syncing) {
            // What can't be seen may be there. Its definition may be going, and then no event tells that.
            asked.context.remembered().lock().note_asked();
            return Ok(Deleted { found: 0, deletion: Deletion::Asked, kept: Some(why) });
        }
        let (going, kept) = self.leftovers(asked, self.made(asked, &kinds)?, why)?;
        let found = going.len();
        if let Some(why) = self.blocked(asked, &going).await? {
            return Ok(Deleted { found, deletion: Deletion::Asked, kept: Some(why) });
        }
        let (items, _) = self.remove_next(asked, &going).await?;
        items.deleted()?;
        if found > 0 || kept.is_some() {
            // Each stage goes when the one before is gone, and the primary when all are. The end of a definition takes the
            // source of its objects along, which may have had their last event.
            asked.context.remembered().lock().note_asked();
            let left = if found == 1 { "an object is" } else { &*format!("{found} objects are") };
            let kept = kept.or_else(|| Some(format!("{left} still there")));
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

    /// The kinds that the primary names, as far as they are served.
    async fn known_kinds(&self, asked: Asked<'_>) -> Result<Kinds, BoxError> {
        let named = self.ever_named(asked).into_iter().map(|name| (name, None));
        self.follow(asked, named.collect::<Vec<_>>()).await
    }
}
