//! The work on all records of a node.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures::FutureExt;

use super::{
    External, Found, Resources, Token, Wants,
    ids::Ids,
    looks::Looks,
    memory::Memory,
    note::Notes,
    one::{One, is_not_made, notes::change_notes},
    step::Done,
};
use crate::{
    dependent::{
        Asked, Deletion, Engine as AnyEngine, Error, System,
        erased::{Answer, Deleted},
        function::Want,
        items::{Items, Work},
        system::{CallError, CallKind, RecordId},
    },
    reconciler::{BoxError, Context, MemoKey},
    resource::{KubeObject, label_value},
    results::{ReconcileResult, Secondary},
};

/// Whether there may be any number of records.
pub(super) const fn several<E: External<P>, P: KubeObject>() -> bool {
    <<E::Want as Wants<E::Resource>>::Shape as Resources>::SEVERAL
}

type ByKey<E, P> = BTreeMap<String, <E as External<P>>::Resource>;

/// What is known about all records of the primary at the start of the run.
pub(super) struct Start {
    /// The ids that are written, by key.
    pub(super) ids: BTreeMap<String, String>,
    pub(super) notes: Notes,
    /// The attempt that a person wants to be forgotten.
    pub(super) forgotten: Option<String>,
    /// The former names of the node: records may have been created under them.
    pub(super) former: Vec<String>,
}

/// The records of one node, of all primaries.
pub(super) struct Engine<E: External<P>, P: KubeObject> {
    pub(super) external: Arc<E>,
    pub(super) ids: Ids<P>,
    pub(super) looks: Looks,
    pub(super) shows_within: Duration,
    pub(super) system: System,
    pub(super) memory: Arc<Memory<E::Resource>>,
    pub(super) memo: MemoKey,
    /// Whether the server was found to keep ids.
    pub(super) tried_out: AtomicBool,
}

impl<E: External<P>, P: KubeObject> Engine<E, P> {
    /// Before a create: whether ids can be written. The field of the status is the same for all primaries.
    pub(super) async fn try_out(&self, asked: Asked<'_>) -> Result<(), BoxError> {
        if !self.tried_out.load(Ordering::Relaxed) {
            let _one_at_a_time = asked.context.primary_writes.lock().await;
            self.ids.try_out(several::<E, P>(), asked).await?;
            self.tried_out.store(self.ids.field().is_some(), Ordering::Relaxed);
        }
        Ok(())
    }

    /// The wanted records, computed once.
    fn wanted(&self, asked: Asked<'_>, primary: &P) -> Result<Arc<Want<ByKey<E, P>>>, BoxError> {
        asked.context.memo().get_or_try(&self.memo, asked.primary, || {
            self.external.want(primary).wants()?.try_map(|all| {
                let mut by_key = BTreeMap::new();
                for (key, record) in all {
                    if several::<E, P>() && key.is_empty() {
                        return Err(Error::NoKey { node: asked.node.to_owned() }.boxed());
                    }
                    if by_key.insert(key.clone(), record).is_some() {
                        return Err(Error::KeyTwice { node: asked.node.to_owned(), key }.boxed());
                    }
                }
                Ok(by_key)
            })
        })
    }

    async fn start(&self, asked: Asked<'_>, primary: &P, context: &Context<P>) -> Result<Start, BoxError> {
        let any = context.any();
        any.remembered().lock().note_records_of(asked.node);
        let names = any.shared().marks.names();
        let newest = any.primary();
        let newest = newest.as_deref();
        let notes = newest.map(|newest| Notes::of(newest, names.attempts())).unwrap_or_default();
        let forgotten =
            newest.and_then(|newest| newest.meta().annotations.as_ref()?.get(names.forget_attempt()));
        let (ids, forgotten) = (self.ids.written(primary, asked)?, forgotten.cloned());
        let mut start = Start { ids, notes, forgotten, former: Vec::new() };
        self.succeed(asked, &mut start).await?;
        Ok(start)
    }

    /// Takes over the notes and the object with ids that the node has left under another name. The notes are those of the
    /// same place of ids. The object is the node's if its system shows a record of it, and if no other node could have left it.
    async fn succeed(&self, asked: Asked<'_>, start: &mut Start) -> Result<(), BoxError> {
        let Some(place) = self.ids.place_of_notes() else { return Ok(()) };
        let nodes = asked.context.shared().marks.nodes();
        // Without a declaration it isn't known which nodes there are.
        if !nodes.has_records(&label_value(asked.node)) {
            return Ok(());
        }
        let is_former = |node: &&String| !nodes.has_records(&label_value(node));
        let mut former: BTreeSet<String> = start.notes.nodes_in(&place).filter(is_former).cloned().collect();
        if let Ids::Object(object) = &self.ids {
            if !start.ids.is_empty() || start.notes.has(asked.node) {
                return Ok(());
            }
            let mut left = BTreeMap::new();
            for (node, ids) in object.former(asked)? {
                let name = former.iter().find(|name| label_value(name) == *node).cloned();
                let name = name.unwrap_or_else(|| node.clone());
                match self.shows_one(asked, &name, &ids).await? {
                    true => drop(left.insert(name, (node, ids))),
                    false => drop(former.remove(&name)),
                }
            }
            former.extend(left.keys().cloned());
            if former.len() > 1 || (!former.is_empty() && object.has_rivals(asked)?) {
                let (node, former) = (asked.node.to_owned(), former.into_iter().collect());
                return Err(Error::FormerNames { node, former }.boxed());
            }
            if let Some((node, ids)) = left.into_values().next() {
                object.take_over(asked, &node).await?;
                start.ids = ids;
            }
        }
        let pass_on = |notes: &mut Notes| former.iter().for_each(|from| notes.pass_on(from, asked.node));
        if former.iter().any(|node| start.notes.has(node)) {
            change_notes(asked.context, pass_on).await?;
            pass_on(&mut start.notes);
        }
        start.former = former.into_iter().collect();
        Ok(())
    }

    /// Whether the system shows one of these records, which a node has made under this name.
    async fn shows_one(
        &self,
        asked: Asked<'_>,
        node: &str,
        ids: &BTreeMap<String, String>,
    ) -> Result<bool, BoxError> {
        for (key, id) in ids {
            let token = Token::of(asked.context.run().uid.as_str(), node, key);
            if self.call(asked, &token, CallKind::Observe, self.external.observe(id)).await?.is_some() {
                return Ok(true);
            }
            let found = self.call(asked, &token, CallKind::Find, self.external.find(&token)).await?;
            if matches!(found, Found::Records(found) if !found.is_empty()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Makes a call about a record, within the limits of its system.
    async fn call<T>(
        &self,
        asked: Asked<'_>,
        token: &Token,
        kind: CallKind,
        call: impl Future<Output = Result<T, BoxError>>,
    ) -> Result<T, BoxError> {
        let record = RecordId { scope: asked.context.scope(), token: token.as_str() };
        let answer = self.system.call(record, kind, asked.context.wall_clock(), is_not_made, call).await;
        answer.map_err(CallError::boxed)
    }

    /// The keys of all records that may exist.
    fn keys(&self, asked: Asked<'_>, start: &Start) -> BTreeSet<String> {
        if !several::<E, P>() {
            return BTreeSet::from([String::new()]);
        }
        let mut keys = self.memory.keys(asked.context.scope());
        keys.extend(start.ids.keys().chain(start.notes.keys(asked.node)).cloned());
        keys
    }

    /// The keys of all records that may exist and aren't wanted.
    fn unwanted(&self, asked: Asked<'_>, start: &Start, wanted: &ByKey<E, P>) -> BTreeSet<String> {
        let mut keys = self.keys(asked, start);
        keys.retain(|key| !wanted.contains_key(key));
        keys
    }

    /// Does all that can be done about the records with these keys: wanted records exist, and no others. Also returns the
    /// number of records whose deletion takes time.
    async fn work(
        &self,
        asked: Asked<'_>,
        context: &Context<P>,
        start: &Start,
        keys: BTreeSet<String>,
        wanted: Option<&ByKey<E, P>>,
    ) -> (Items, usize) {
        let going = AtomicUsize::new(0);
        let mut work: Vec<(Option<String>, Work<'_>)> = Vec::new();
        for key in &keys {
            let want = wanted.and_then(|wanted| wanted.get(key));
            let going = &going;
            let work_on_it = async move {
                let completed = want.map(|want| self.external.complete(want, context)).transpose()?.flatten();
                let want = completed.as_ref().or(want);
                let left = One::new(self, asked, context, start, key, want).work().await?;
                if left.done == Done::Going {
                    going.fetch_add(1, Ordering::Relaxed);
                }
                Ok(left.resource.map(|(what, of)| (what, self.secondary(key, of))))
            };
            work.push((Self::label(key), work_on_it.boxed()));
        }
        let mut items = Items::default();
        items.work(work).await;
        (items, going.into_inner())
    }

    fn secondary(&self, key: &str, resource: Arc<E::Resource>) -> Secondary {
        Secondary::external(resource, if key.is_empty() { Arc::default() } else { Arc::<str>::from(key) })
    }

    fn label(key: &str) -> Option<String> {
        several::<E, P>().then(|| key.to_owned())
    }
}

impl<E: External<P>, P: KubeObject> AnyEngine for Engine<E, P> {
    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>> {
        async move {
            let (primary, _) = asked.typed::<P>()?;
            Ok(self.wanted(asked, &primary)?.answer())
        }
        .boxed()
    }

    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            let wanted = self.wanted(asked, &primary)?;
            let wanted = wanted.wanted().ok_or_else(|| Error::NothingDesired.boxed())?;
            let start = self.start(asked, &primary, &context).await?;
            let keys = wanted.keys().cloned().collect();
            let (items, _) = self.work(asked, &context, &start, keys, Some(wanted)).await;
            let leaves = !self.unwanted(asked, &start, wanted).is_empty();
            Ok(items.finish()?.desiring(wanted.len()).leaving(leaves))
        }
        .boxed()
    }

    fn sweep<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            let wanted = self.wanted(asked, &primary)?;
            let Some(wanted) = wanted.wanted() else { return Ok(ReconcileResult::nothing()) };
            let start = self.start(asked, &primary, &context).await?;
            let keys = self.unwanted(asked, &start, wanted);
            let (items, _) = self.work(asked, &context, &start, keys, None).await;
            items.finish()
        }
        .boxed()
    }

    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            let start = self.start(asked, &primary, &context).await?;
            let (items, going) = self.work(asked, &context, &start, self.keys(asked, &start), None).await;
            let found = items.deleted()?;
            let deletion = if going > 0 { Deletion::Asked } else { Deletion::Gone };
            Ok(Deleted { found, deletion, kept: None })
        }
        .boxed()
    }

    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        async move {
            let (primary, _) = asked.typed::<P>()?;
            let scope = asked.context.scope();
            let mut seen = self.memory.seen(scope);
            // Records that no run has read yet are read now, within the limits of their system.
            let ids = if asked.may_call { self.ids.written(&primary, asked)? } else { BTreeMap::new() };
            for (key, id) in ids {
                if seen.contains_key(&key) || self.memory.of(scope, &key, |known| known.settled) {
                    continue;
                }
                let token = Token::of(asked.context.run().uid.as_str(), asked.node, &key);
                let observed = self.external.observe(&id);
                if let Some(found) = self.call(asked, &token, CallKind::Observe, observed).await? {
                    let found = Arc::new(found);
                    self.memory.of(scope, &key, |known| known.seen = Some(Arc::clone(&found)));
                    seen.insert(key, found);
                }
            }
            Ok(seen.into_iter().map(|(key, found)| self.secondary(&key, found)).collect())
        }
        .boxed()
    }
}
