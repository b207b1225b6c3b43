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
pub(super) mod target;

use std::sync::Arc;

use futures::{FutureExt, future::BoxFuture};

use self::{
    intent::{Intent, Lock, WriteMode},
    request::WriteRequest,
    target::{Target, live},
};
use super::error::Error;
use crate::{
    cache::Answer,
    resource::{AnyObject, Object, ObjectKey, ResourceVersion},
};

/// The number of states of an object that are tried before a conflict becomes an error.
pub(super) const ATTEMPTS: u32 = 10;

/// Returns the change to make to a state of an object; `None` if it can't be determined.
pub(super) type Differ<'d> = dyn FnMut(&dyn Object) -> Result<Option<Intent>, Error> + Send + 'd;

impl Target<'_> {
    /// Makes a write as `mode` says.
    ///
    /// Boxed, because most runs write nothing; see `Writer::send`.
    pub(super) fn write<'r>(
        &'r self,
        intent: &'r Intent,
        mode: WriteMode,
    ) -> BoxFuture<'r, Result<AnyObject, Error>> {
        self.try_write(intent, mode, None).boxed()
    }

    /// The same for a known state that doesn't match `intent`.
    pub(super) fn write_upon<'r>(
        &'r self,
        intent: &'r Intent,
        mode: WriteMode,
        unmet: AnyObject,
    ) -> BoxFuture<'r, Result<AnyObject, Error>> {
        self.try_write(intent, mode, Some(unmet)).boxed()
    }

    async fn try_write(
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
            let live = self.own_after(&error).await?;
            if lock.is_none() || intent.is_strict(mode) || !error.is_outdated() {
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
            let own = self.own_after(&error).await?;
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
            base = live;
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
                if found.is_none() {
                    self.run.findings.note_gone();
                } else {
                    self.run.findings.note_going();
                }
                Err(Error::OwnerGoes { kind: primaries.resource_type().clone(), key: key.clone() })
            }
        }
    }

    /// The live primary, if the write of it was refused: it may be gone, or replaced, and only the live object shows
    /// that.
    async fn own_after(&self, error: &Error) -> Result<Option<AnyObject>, Error> {
        match error.is_about_another_state() && self.is_own_primary {
            true => self.live().await.map(Some),
            false => Ok(None),
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
        let result = self.send_once(&write).await;
        if result.as_ref().err().is_none_or(Error::tells_that_nothing_was_written) {
            doubt.dispel();
        }
        result
    }

    pub(super) fn contended(&self) -> Error {
        Error::Contended { kind: self.kind().clone(), key: self.run.key.clone(), attempts: ATTEMPTS }
    }
}
