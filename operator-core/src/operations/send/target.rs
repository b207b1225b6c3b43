//! The target of writes of one type of object: which informer gets their answers, and whether they carry a uid; and the run
//! that makes them.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bytes::Bytes;
use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use serde::de::Error as _;

use super::request::{WriteRequest, Writer};
use crate::{
    cache::{Answer, AnyWrite, HeldObjects, Informer, read_live},
    environment::Now,
    event_source::{AnySecondary, PrimarySource, RustType, SecondaryWrite, Sources},
    operations::error::Error,
    resource::{AnyObject, Object, ObjectKey, ResourceType},
};

/// The run that writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritingRun<'c> {
    /// The primary of the run.
    pub(crate) key: &'c ObjectKey,
    /// Its incarnation.
    pub(crate) uid: &'c str,
    /// Whether the run has begun with a primary that is being deleted: a clean-up.
    pub(crate) is_cleanup: bool,
    /// The controller's finalizer, if it uses one.
    pub(crate) finalizer: Option<&'c str>,
    /// The annotation of the primary that records its Jobs: the framework's, not the reconciler's.
    pub(crate) done_jobs: &'c str,
    /// The fields of the primary's status that the framework writes itself: not a status function's either.
    pub(crate) own_fields: &'c [Arc<str>],
    /// What its writes find out about the primary.
    pub(crate) findings: &'c Findings,
    /// What bounded event sources hold in full for the run.
    pub(crate) held: &'c HeldObjects,
    pub(crate) primaries: &'c PrimarySource,
    pub(crate) sources: &'c Sources,
    pub(crate) writer: &'c Writer,
}

impl WritingRun<'_> {
    /// Sends a write, once, and records what its error says about the primary.
    pub(in crate::operations) async fn send(&self, write: &WriteRequest<'_>) -> Result<Bytes, Error> {
        self.noted(self.writer.send(self.key, write).await)
    }

    /// Records what an error says about the primary.
    pub(crate) fn noted<T>(&self, result: Result<T, Error>) -> Result<T, Error> {
        result.inspect_err(|error| self.findings.take(error, self.key, self.writer.environment.now()))
    }
}

/// The source that knows the objects of one type.
#[derive(Debug)]
enum Known<'c> {
    Primary(&'c PrimarySource),
    Secondary(Arc<AnySecondary>),
}

/// The target of the writes of one object.
#[derive(Debug)]
pub(in crate::operations) struct Target<'c> {
    known: Known<'c>,
    pub(in crate::operations) run: WritingRun<'c>,
    /// Whether the object is the run's own primary, so that its writes carry the uid.
    pub(in crate::operations) is_own_primary: bool,
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
        Self { known: Known::Primary(source), run, is_own_primary: true }
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
            Ok((Self { known: Known::Secondary(source), run, is_own_primary: false }, key))
        };
        if let Some(name) = name {
            let unknown = || Error::UnknownEventSource { name: name.to_owned(), kind: kind() };
            return secondary(run.sources.named_of(of, name, run.key).ok_or_else(unknown)?);
        }
        let mut sources = run.sources.of_object(of, object, run.key);
        let (first, further) = (sources.next(), sources.next());
        match (Some(run.primaries).filter(|primaries| primaries.of() == of), first) {
            (Some(primaries), source) => {
                let key = key_of(primaries.resource_type())?;
                let is_own_primary = key == *run.key;
                let known = match source {
                    Some(source) if !is_own_primary => Known::Secondary(source),
                    _ => Known::Primary(primaries),
                };
                Ok((Self { known, run, is_own_primary }, key))
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
        match &self.known {
            Known::Primary(source) => source.resource_type(),
            Known::Secondary(source) => source.resource_type(),
        }
    }

    /// Announces a write whose echo must not trigger the primary of the run that makes it.
    pub(in crate::operations) fn begin(&self, key: &ObjectKey) -> Window<'_> {
        match &self.known {
            Known::Primary(source) if self.is_own_primary => {
                Window::Primary(source.informer().begin_write(key))
            }
            Known::Primary(source) => Window::OtherPrimary(source.informer()),
            Known::Secondary(source) => Window::Secondary(source.begin_write(key, self.run.key)),
        }
    }

    /// Takes the answer to a write whose echo is treated like any other change.
    pub(in crate::operations) fn remember_answer(&self, answer: Answer) -> AnyObject {
        match &self.known {
            Known::Primary(source) => source.informer().remember_answer(answer),
            Known::Secondary(source) => source.remember(answer),
        }
    }

    /// The same for a live object.
    pub(in crate::operations) fn remember(&self, live: AnyObject) -> AnyObject {
        self.remember_answer(self.informer().answer_of(live))
    }

    /// Sends a write, once, and reads the object in its answer.
    pub(in crate::operations) async fn send_once(&self, write: &WriteRequest<'_>) -> Result<Answer, Error> {
        self.understand(write, &self.run.send(write).await?)
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
        match &self.known {
            Known::Primary(source) if self.is_own_primary => Doubt(Some((source, self.run.key))),
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
        match &self.known {
            Known::Secondary(source) => Ok(source.informer().lazy(key)),
            Known::Primary(_) => self.newest(key),
        }
    }

    /// The newest known state of the run's own primary.
    pub(in crate::operations) fn own_primary(&self) -> Result<AnyObject, Error> {
        let newest = self.informer().get(self.run.key).filter(|newest| self.is_same(&**newest));
        newest.ok_or_else(|| self.gone())
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

    /// The uid that a write must carry.
    pub(in crate::operations) fn uid(&self) -> Option<&'c str> {
        self.is_own_primary.then_some(self.run.uid)
    }

    /// The source, if the object is not a primary.
    pub(in crate::operations) const fn secondary(&self) -> Option<&Arc<AnySecondary>> {
        match &self.known {
            Known::Primary(_) => None,
            Known::Secondary(source) => Some(source),
        }
    }

    pub(in crate::operations) fn informer(&self) -> &Informer {
        match &self.known {
            Known::Primary(source) => source.informer(),
            Known::Secondary(source) => source.informer(),
        }
    }

    fn is_same(&self, object: &dyn Object) -> bool {
        object.uid() == Some(self.run.uid)
    }

    fn gone(&self) -> Error {
        self.run.findings.note_gone();
        Error::Gone { kind: self.kind().clone(), key: self.run.key.clone() }
    }
}

/// What the writes of one run have found out about its primary; it is read when the run has ended. Kept separately from
/// their errors, because user code may wrap an error, return another one instead, or none.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    gone: AtomicBool,
    going: AtomicBool,
    incomplete: AtomicBool,
    namespace_ends: AtomicBool,
    not_before: Mutex<Option<Now>>,
}

impl Findings {
    /// Takes from the error of a write, or of a read, what it says about the run's `primary`.
    fn take(&self, error: &Error, primary: &ObjectKey, now: Now) {
        if let Some(asked) = error.retry_after() {
            let mut not_before = self.not_before.lock();
            *not_before = (*not_before).max(Some(now + asked));
        }
        if let Error::NamespaceTerminating { key, .. } = error
            && key.namespace() == primary.namespace()
        {
            self.namespace_ends.store(true, Ordering::Relaxed);
        }
    }

    /// The primary was found gone or replaced.
    pub(crate) fn note_gone(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Whether the primary is gone or replaced.
    pub(crate) fn primary_is_gone(&self) -> bool {
        self.gone.load(Ordering::Relaxed)
    }

    /// The primary was found to be in deletion, which its run didn't know.
    pub(super) fn note_going(&self) {
        self.going.store(true, Ordering::Relaxed);
    }

    /// Whether the primary is being deleted, which its run didn't know.
    pub(crate) fn primary_is_going(&self) -> bool {
        self.going.load(Ordering::Relaxed)
    }

    /// The status was written without a field that the installed definition lacks.
    pub(in crate::operations) fn note_incomplete(&self) {
        self.incomplete.store(true, Ordering::Relaxed);
    }

    /// Whether the status was written without a field, which is to be tried again.
    pub(crate) fn status_is_incomplete(&self) -> bool {
        self.incomplete.load(Ordering::Relaxed)
    }

    /// Whether the primary's own namespace is being terminated, so that the primary is about to be removed as well.
    pub(crate) fn namespace_ends(&self) -> bool {
        self.namespace_ends.load(Ordering::Relaxed)
    }

    /// When the server is ready for another request, if it has refused one for now.
    pub(crate) fn not_before(&self) -> Option<Now> {
        *self.not_before.lock()
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
    look(writer, informer, key).boxed()
}

async fn look(writer: &Writer, informer: &Informer, key: &ObjectKey) -> Result<Option<AnyObject>, Error> {
    let kind = informer.resource_type();
    let read = read_live(&writer.clients.reads, kind, key, "application/json").await;
    let Some(object) = read? else { return Ok(None) };
    // None of the object's values is repeated, whatever its kind.
    let whole = informer.view().whole(object.get());
    whole
        .map(Some)
        .map_err(|words| Error::undecodable(kind.clone(), key.clone(), serde_json::Error::custom(words)))
}
