//! How a write leaves the operator: what is written, where, how, and the one way out.
//!
//! ```text
//! Intent  what ───┐
//! Target  where ──┼─▶ Target::write ──▶ WriteRequest ──▶ Writer::send ──▶ answer ──▶ cache
//! WriteMode  how ─┘    (one algorithm)   (body, lock)     (the only one)
//! ```
//!
//! # Guarantees
//! - An object that a run finds without its owner gets it back only if the primary isn't being deleted at that time. If
//!   a collector has removed the owner, it did so after the deletion, which the live primary therefore shows.

pub(super) mod body;
pub(super) mod intent;
pub(super) mod request;

use std::sync::{Arc, OnceLock};

use futures::{FutureExt, future::BoxFuture};
use kube::{Api, api::ListParams, core::DynamicObject};
use serde::de::Error as _;

use self::{
    intent::{Intent, Lock, WriteMode},
    request::{WriteRequest, Writer, WritingRun},
};
use super::{
    error::Error,
    matcher::{Desired, Part, Seen},
};
use crate::{
    cache::{Answer, AnyWrite, Informer, TextObject, read_live},
    event_source::{AnySecondary, PrimarySource, RustType, SecondaryWrite},
    resource::{AnyObject, Object, ObjectKey, ResourceType, ResourceVersion},
};

/// The number of states of an object that are tried before a conflict becomes an error.
pub(super) const ATTEMPTS: u32 = 10;

/// Returns the change to make to a state of an object; `None` if it can't be determined.
pub(super) type Differ<'d> = dyn FnMut(&dyn Object) -> Result<Option<Intent>, Error> + Send + 'd;

/// The source that knows the objects of one type.
#[derive(Debug)]
enum WriteSource<'c> {
    Primary(&'c PrimarySource),
    Secondary(Arc<AnySecondary>),
}

/// The target of the writes of one object.
#[derive(Debug)]
pub(in crate::operations) struct Target<'c> {
    source: WriteSource<'c>,
    pub(in crate::operations) run: WritingRun<'c>,
    /// Whether the object is the run's own primary, so that its writes carry the uid.
    pub(in crate::operations) is_own_primary: bool,
    /// The node of the run that writes it, if a node does, and not user code.
    pub(in crate::operations) node: Option<&'c str>,
}

/// A write in progress, and how its echo is treated.
pub(in crate::operations) enum Window<'c> {
    /// Of the run's own primary: it triggers nothing.
    Primary(AnyWrite),
    /// Of a secondary: its answer triggers the other primaries that it concerns.
    Secondary(SecondaryWrite<'c>),
    /// Of another primary, which has to be reconciled: its echo counts like any other change.
    OtherPrimary(&'c Informer),
}

impl Window<'_> {
    pub(in crate::operations) fn wrote(self, answer: Answer) -> AnyObject {
        match self {
            Self::Primary(mut write) => write.answered(answer),
            Self::Secondary(write) => write.answered(answer),
            Self::OtherPrimary(informer) => informer.remember_answer(answer),
        }
    }
}

/// The doubt whether a write of the run's own primary has taken effect: raised if it isn't resolved, for example
/// because the run is dropped.
#[must_use]
pub(in crate::operations) struct Doubt<'r>(Option<(&'r PrimarySource, &'r ObjectKey)>);

impl Doubt<'_> {
    pub(in crate::operations) fn dispel(mut self) {
        self.0 = None;
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some((source, primary)) = self.0 {
            source.doubt(primary);
        }
    }
}

impl<'c> Target<'c> {
    /// The run's own primary.
    pub(in crate::operations) fn of_primary(run: WritingRun<'c>, source: &'c PrimarySource) -> Self {
        Self { source: WriteSource::Primary(source), run, is_own_primary: true, node: None }
    }

    /// The target of `object`, whose key `key_of` returns once its type is known: the event source called `name`, or
    /// else that of the primaries for the run's own one, else the first one of its kind, else that of the primaries.
    pub(in crate::operations) fn find(
        run: WritingRun<'c>,
        name: Option<&str>,
        of: RustType,
        object: &dyn Object,
        key_of: impl Fn(&ResourceType) -> Result<ObjectKey, Error>,
    ) -> Result<(Self, ObjectKey), Error> {
        let kind = || of.name().to_owned();
        let secondary = |source: Arc<AnySecondary>| {
            let key = key_of(source.resource_type())?;
            let source = WriteSource::Secondary(source);
            Ok((Self { source, run, is_own_primary: false, node: None }, key))
        };
        if let Some(name) = name {
            let unknown = || Error::UnknownEventSource { name: name.to_owned(), kind: kind() };
            return secondary(run.sources.named_of(of, name, run.key).ok_or_else(unknown)?);
        }
        let mut sources = run.sources.of_object(of, object, run.key);
        let (first, further) = (sources.next(), sources.next());
        match (Some(run.primaries).filter(|primaries| primaries.of == of), first) {
            (Some(primaries), source) => {
                let key = key_of(primaries.resource_type())?;
                let is_own_primary = key == *run.key;
                let known = match source {
                    Some(source) if !is_own_primary => WriteSource::Secondary(source),
                    _ => WriteSource::Primary(primaries),
                };
                Ok((Self { source: known, run, is_own_primary, node: None }, key))
            }
            (None, Some(source)) => {
                if further.is_some() {
                    tracing::warn!(
                        kind = %source.resource_type(), source = source.informer().name(),
                        "several event sources of this type: the first is written to; name one with `.event_source(…)`"
                    );
                }
                secondary(source)
            }
            (None, None) => Err(Error::NoEventSource { kind: kind() }),
        }
    }

    pub(in crate::operations) fn kind(&self) -> &ResourceType {
        self.informer().resource_type()
    }

    /// Announces a write whose echo must not trigger the primary of the run that makes it.
    pub(in crate::operations) fn begin(&self, key: &ObjectKey) -> Window<'_> {
        // Our managers may own the same fields afterwards, with other values.
        if let Some(known) = self.informer().kept(key) {
            known.verdict().forget();
        }
        match &self.source {
            WriteSource::Primary(source) if self.is_own_primary => {
                Window::Primary(source.informer().begin_write(key))
            }
            WriteSource::Primary(source) => Window::OtherPrimary(source.informer()),
            WriteSource::Secondary(source) => Window::Secondary(source.begin_write(key, self.run.key)),
        }
    }

    /// Takes the answer to a write whose echo is treated like any other change.
    pub(in crate::operations) fn remember_answer(&self, answer: Answer) -> AnyObject {
        match &self.source {
            WriteSource::Primary(source) => source.informer().remember_answer(answer),
            WriteSource::Secondary(source) => source.remember(answer),
        }
    }

    /// The same for a live object.
    pub(in crate::operations) fn remember(&self, live: AnyObject) -> AnyObject {
        self.remember_answer(self.informer().answer_of(live))
    }

    /// The object in an answer, in the form that caches keep.
    pub(in crate::operations) fn understand(
        &self,
        write: &WriteRequest<'_>,
        answer: &[u8],
    ) -> Result<Answer, Error> {
        let text = str::from_utf8(answer).map_err(serde_json::Error::custom);
        text.and_then(|text| self.informer().answer(text))
            .map_err(|source| Error::undecodable(write.kind.clone(), write.key.clone(), source))
    }

    /// Held while a write is in progress. Events of secondaries trigger the primary whatever they change, so an
    /// unexpected state of them is noticed.
    pub(in crate::operations) fn doubt(&self) -> Doubt<'_> {
        match &self.source {
            WriteSource::Primary(source) if self.is_own_primary => Doubt(Some((source, self.run.key))),
            _ => Doubt(None),
        }
    }

    /// Has a bounded event source hold the object in full, so that it can be compared with, and read afterwards.
    pub(in crate::operations) async fn hold(&self, key: &ObjectKey) -> Result<(), Error> {
        let informer = self.informer();
        if !informer.is_bounded() {
            return Ok(());
        }
        let held = self.run.held.hold(informer, vec![key.clone()]).boxed().await;
        held.map_err(|source| Error::NotFetched { kind: self.kind().clone(), key: key.clone(), source })
    }

    /// The newest known state. If it is the run's own primary, it must be known and still be the same object.
    pub(in crate::operations) fn newest(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        if self.is_own_primary {
            return self.own_primary().map(Some);
        }
        Ok(self.informer().try_get(key)?)
    }

    /// The same for a caller that only reads its metadata.
    pub(in crate::operations) fn newest_lazily(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        match &self.source {
            WriteSource::Secondary(source) => Ok(source.informer().lazy(key)),
            WriteSource::Primary(_) => self.newest(key),
        }
    }

    /// The newest known state of the run's own primary.
    pub(in crate::operations) fn own_primary(&self) -> Result<AnyObject, Error> {
        let newest = self.run.primaries.informer().get(self.run.key);
        newest.filter(|newest| self.is_same(&**newest)).ok_or_else(|| self.gone())
    }

    /// The live state of the run's own primary.
    pub(in crate::operations) async fn live(&self) -> Result<AnyObject, Error> {
        let found = self.look(self.run.key).await?;
        found.filter(|found| self.is_same(&**found)).ok_or_else(|| self.gone())
    }

    /// The live object with that key, past the cache.
    pub(in crate::operations) async fn look(&self, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
        self.run.noted(live(self.run.writer, self.informer(), key).await)
    }

    /// Whether the object with that key is the run's own primary, even if another event source shows it.
    pub(in crate::operations) fn is_of_run(&self, key: &ObjectKey) -> bool {
        let (kind, primaries) = (self.kind(), self.run.primaries.resource_type());
        key == self.run.key && (kind.group(), kind.plural()) == (primaries.group(), primaries.plural())
    }

    /// The uid that a write must carry.
    pub(in crate::operations) fn uid(&self) -> Option<&'c str> {
        self.is_own_primary.then_some(self.run.uid)
    }

    /// The source, if the object is not a primary.
    pub(in crate::operations) const fn secondary(&self) -> Option<&Arc<AnySecondary>> {
        match &self.source {
            WriteSource::Primary(_) => None,
            WriteSource::Secondary(source) => Some(source),
        }
    }

    pub(in crate::operations) fn informer(&self) -> &Informer {
        match &self.source {
            WriteSource::Primary(source) => source.informer(),
            WriteSource::Secondary(source) => source.informer(),
        }
    }

    /// A known state of the object, and what is desired.
    pub(in crate::operations) fn seen<'w>(
        &self,
        kept: Arc<TextObject>,
        part: Part,
        desired: Desired<'w>,
    ) -> Seen<'w>
    where
        'c: 'w,
    {
        let (manager, taken) = (&*self.run.writer.field_manager, OnceLock::new());
        Seen { kept, part, manager, desired, taken, keeps_words: !self.informer().is_checked() }
    }

    fn is_same(&self, object: &dyn Object) -> bool {
        object.uid() == Some(self.run.uid)
    }

    fn gone(&self) -> Error {
        self.run.findings.lock().primary_is_gone = true;
        Error::Gone { kind: self.kind().clone(), key: self.run.key.clone() }
    }
}

impl Target<'_> {
    /// Makes a write as `mode` says.
    ///
    /// Boxed, because most runs write nothing; see `Writer::send`.
    pub(super) fn write<'r>(
        &'r self,
        intent: &'r Intent,
        mode: WriteMode,
    ) -> BoxFuture<'r, Result<AnyObject, Error>> {
        self.write_upon(intent, mode, None).boxed()
    }

    /// The same, not boxed; `unmet` is a known state that doesn't match `intent`.
    pub(super) async fn write_upon(
        &self,
        intent: &Intent,
        mode: WriteMode,
        unmet: Option<AnyObject>,
    ) -> Result<AnyObject, Error> {
        let (kind, manager) = (self.kind(), &*self.run.writer.field_manager);
        let mut is_unmet = unmet.is_some();
        let mut base = match unmet {
            Some(unmet) => Some(unmet),
            None if mode.matches() => self.newest(&intent.key)?,
            // Nothing but its metadata is looked at.
            None => self.newest_lazily(&intent.key)?,
        };
        let mut lock = intent.lock(mode, base.as_deref(), kind)?;
        for _ in 0..ATTEMPTS {
            if mode.matches()
                && !std::mem::take(&mut is_unmet)
                && let Some(actual) = &base
                && intent.is_met_by(&**actual, kind, manager)?
            {
                let subresource = intent.part.subresource();
                self.run.writer.matched(self.run.key, kind, &intent.key, subresource);
                return Ok(Arc::clone(actual));
            }
            if let Some(base) = &base {
                self.may_own(intent, Some(&**base)).await?;
            }
            let result = match &lock {
                Some(lock) => self.write_locked(intent, lock).await,
                None => self.write_openly(intent).await,
            };
            let error = match result {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let live = self.own_after(&error, intent.part).await?;
            if lock.is_none() || intent.is_strict(mode) || !error.is_outdated() {
                // The caller makes it again from this state.
                if let Some(live) = live {
                    self.remember(live);
                }
                return Err(error);
            }
            match live {
                // A status doesn't carry the uid, so what keeps it from a replaced primary is its lock.
                Some(live) => {
                    lock = live.meta().resource_version.clone().map(Lock::Version);
                    base = Some(live);
                }
                // The change that came in between wakes the primary, and so does this.
                None => {
                    self.may_own(intent, None).await?;
                    return self.write_openly(intent).await;
                }
            }
        }
        Err(self.contended())
    }

    /// Makes a write that is a difference between two states of the object: `differ` returns it, for the state that it
    /// is applied to; `None` if it can't be determined. `given` is the state that the caller started from.
    ///
    /// It is locked to the state that it was made from, and made again from the live one after a conflict.
    pub(super) async fn write_difference(
        &self,
        key: &ObjectKey,
        given: &dyn Object,
        mode: WriteMode,
        differ: &mut Differ<'_>,
    ) -> Result<AnyObject, Error> {
        let kind = self.kind();
        let is_same = |known: &AnyObject| given.meta().uid.is_none() || known.meta().uid == given.meta().uid;
        let known = self.newest(key)?.filter(is_same);
        let is_strict = mode == WriteMode::FilterWithOptimisticLocking;
        let mut base = known.filter(|_| !is_strict).unwrap_or_else(|| given.cloned());
        for _ in 0..ATTEMPTS {
            let overtaken = || Error::Overtaken { kind: kind.clone(), key: key.clone() };
            let intent = differ(&*base)?.ok_or_else(overtaken)?;
            if mode.matches() && intent.is_met_by(&*base, kind, &self.run.writer.field_manager)? {
                self.run.writer.matched(self.run.key, kind, key, intent.part.subresource());
                return Ok(base);
            }
            let result = match intent.lock(mode, Some(&*base), kind)? {
                Some(lock) => self.write_locked(&intent, &lock).await,
                None => self.write_openly(&intent).await,
            };
            let error = match result {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            let own = self.own_after(&error, intent.part).await?;
            if is_strict || !error.is_outdated() {
                return Err(error);
            }
            let live = match own {
                Some(own) => Some(own),
                None => self.look(key).await?,
            };
            // Another object of that name is none of the caller's.
            let Some(live) = live.filter(|live| live.meta().uid == base.meta().uid) else {
                return Err(error);
            };
            base = if self.is_own_primary { self.remember(live) } else { live };
        }
        Err(self.contended())
    }

    /// Makes sure that the run's primary stays, if `intent` makes it the owner of an object that may exist without
    /// that. `base` is the state that the write is based on, if one is known.
    ///
    /// A deletion with `--cascade=orphan` removes the owner from the children first. A run whose caches show that, and not
    /// yet that the primary is being deleted, would add it again, and the collector would delete the child with the
    /// primary. So the live primary is read, as Kubernetes' own controllers do before they adopt an object
    /// (`RecheckDeletionTimestamp`). A run that has begun with a primary that is being deleted, a clean-up, isn't
    /// checked. A run that has begun before the deletion is, also if the cache has seen the deletion since then.
    pub(super) async fn may_own(&self, intent: &Intent, base: Option<&dyn Object>) -> Result<(), Error> {
        let uid = self.run.uid;
        if self.run.is_cleanup || !intent.names_owner(uid) || base.is_some_and(|base| base.is_owned_by(uid)) {
            return Ok(());
        }
        let (primaries, key) = (self.run.primaries.informer(), self.run.key);
        let is_this = |primary: &AnyObject| primary.uid() == Some(uid);
        let is_going = |primary: &AnyObject| primary.meta().deletion_timestamp.is_some();
        let known = primaries.get(key).filter(is_this).filter(is_going);
        let newest = match known {
            Some(going) => Some(going),
            None => self.run.noted(live(self.run.writer, primaries, key).await)?.filter(is_this),
        };
        match newest {
            Some(primary) if !is_going(&primary) => Ok(()),
            found => {
                let mut findings = self.run.findings.lock();
                findings.primary_is_gone |= found.is_none();
                findings.primary_is_going |= found.is_some();
                Err(Error::OwnerGoes { kind: primaries.resource_type().clone(), key: key.clone() })
            }
        }
    }

    /// The live primary, if the write of it was refused: it may be gone, or replaced, and only the live object shows
    /// that.
    async fn own_after(&self, error: &Error, part: Part) -> Result<Option<AnyObject>, Error> {
        if !(error.is_about_another_state() && self.is_own_primary) {
            return Ok(None);
        }
        let live = self.live().await?;
        // A server without this subresource says that the object isn't found.
        match error.is_not_found() && part == Part::Status {
            true => Err(Error::status_not_served(self.kind().clone(), self.run.key.clone())),
            false => Ok(Some(live)),
        }
    }

    /// One write to a known state, whose echo is filtered.
    pub(super) async fn write_locked(&self, intent: &Intent, lock: &Lock) -> Result<AnyObject, Error> {
        let version = match lock {
            Lock::Version(version) => Some(version.as_str()),
            Lock::Absence => None,
        };
        let window = self.begin(&intent.key);
        let answer = self.send(intent, version).await?;
        // Nothing changed, so the version in the answer is that of the state we built upon. That state may be somebody
        // else's, and the watch may still owe us its event, which must not be taken for our own.
        if version.is_some() && answer.version() == version {
            drop(window);
            return Ok(self.remember_answer(answer));
        }
        if let (Some(node), WriteSource::Secondary(source)) = (self.node, &self.source) {
            self.run.findings.lock().note_written(source, &intent.key, node);
        }
        Ok(window.wrote(answer))
    }

    /// One write to whatever exists. Its echo counts like any other change.
    async fn write_openly(&self, intent: &Intent) -> Result<AnyObject, Error> {
        Ok(self.remember_answer(self.send(intent, None).await?))
    }

    /// Sends a write once.
    pub(super) async fn send(&self, intent: &Intent, version: Option<&str>) -> Result<Answer, Error> {
        let write = WriteRequest {
            verb: intent.verb,
            kind: self.kind(),
            key: &intent.key,
            subresource: intent.part.subresource(),
            body: intent.bytes(self.uid(), version),
            base: version.filter(|version| *version != body::ABSENT).and_then(ResourceVersion::parse),
        };
        let doubt = self.doubt();
        let sent = self.run.send(&write).await;
        let result = sent.and_then(|answer| self.understand(&write, &answer));
        if result.as_ref().err().is_none_or(Error::tells_that_nothing_was_written) {
            doubt.dispel();
        }
        result
    }

    pub(super) fn contended(&self) -> Error {
        Error::Contended { kind: self.kind().clone(), key: self.run.key.clone(), attempts: ATTEMPTS }
    }
}

/// The live object, past all caches, complete, including the managed fields of others. `None` if it doesn't exist. Used
/// if the answer to a write, or the lack of one, leaves open what exists now.
///
/// Boxed, as in `Writer::send`.
pub(crate) fn live<'r>(
    writer: &'r Writer,
    informer: &'r Informer,
    key: &'r ObjectKey,
) -> BoxFuture<'r, Result<Option<AnyObject>, Error>> {
    async move {
        let kind = informer.resource_type();
        let read = read_live(&writer.clients.reads, kind, key, "application/json").await;
        let Some(object) = read? else { return Ok(None) };
        // None of the object's values is repeated, whatever its kind.
        let whole = informer.view().whole(object.get()).map_err(serde_json::Error::custom);
        whole.map(Some).map_err(|source| Error::undecodable(kind.clone(), key.clone(), source))
    }
    .boxed()
}

/// The key of an object of that kind whose labels are selected, past all caches: a list of one item. `None` if there is none.
pub(crate) async fn first_live(
    writer: &Writer,
    kind: &ResourceType,
    selector: &str,
) -> kube::Result<Option<ObjectKey>> {
    let all = Api::<DynamicObject>::all_with(writer.clients.reads.clone(), &kind.api_resource());
    let found = all.list_metadata(&ListParams::default().labels(selector).limit(1)).await?;
    Ok(found.items.first().map(|object| ObjectKey::in_meta(&object.metadata)))
}
