//! Brings one object into the desired state.
//!
//! ```text
//! actual? ─ none ──▶ create, refused where it exists ──409, or no answer──▶ live? ─ none ─▶ error: the next run looks again
//!    │                                                                       ├─ may be written ─▶ it is the actual one now
//!    ├──▶ may be written? ─ no ─────────────────────────────────────────────▶├─ is going ───────▶ Error::Going
//!    └──▶ matches? ─ no ─▶ update, refused where it is another one ─────────▶└─ others' ────────▶ Error::Conflict
//!                               └─ refused as invalid ─▶ unblock: what others have put in the way, what can't be changed
//! ```

use std::sync::Arc;

use super::OfPrimary;
use crate::{
    dependent::{
        Error,
        matcher::{Match, Matcher},
    },
    operations::{self, DependentWriter, Desired, PutBack, Seen, matcher::merged},
    resource::{AnyObject, Object, ObjectKey},
    results::Operation,
};

/// The number of states of an object that are tried in one run.
const ATTEMPTS: u32 = 3;

impl OfPrimary<'_> {
    /// Creates or changes the object, as far as the dependent may; `None` if nothing exists and nothing may be
    /// created. `actual` is the object known under its name, whatever its owner.
    pub(in crate::dependent) async fn bring_about(
        &self,
        desired: &dyn Object,
        mut actual: Option<AnyObject>,
    ) -> Result<Option<(Operation, AnyObject)>, Error> {
        let context = self.asked.context;
        let operations = context.resource_operations().event_source(&self.managed.source.name);
        let mark = self.notes_what_is_applied().then(|| self.marks.of.names().mark());
        let writer = operations.dependent(self.managed.of, desired)?.noting_in(mark);
        let mut if_it_matches = Operation::Matched;
        let mut attempt = 1;
        if actual.as_ref().is_some_and(|known| !self.may_write(&**known)) {
            // The caches don't hold what others have written, which shows the owner; and the object may be gone.
            actual = self.look(&writer).await?.map(|live| writer.remember(live));
        }
        loop {
            let (result, operation) = match &actual {
                None if !self.managed.capabilities.can_create() => return Ok(None),
                None => (context.permitted(self.create(&writer)).await, Operation::Created),
                Some(actual) if self.is_as_desired(&writer, &**actual, desired)? => {
                    writer.matched();
                    return Ok(Some((if_it_matches, AnyObject::clone(actual))));
                }
                Some(actual) => {
                    (context.permitted(self.update(&writer, &**actual)).await, Operation::Updated)
                }
            };
            let error = match result {
                Ok(written) => return Ok(Some((operation, written))),
                Err(error) => error,
            };
            let unanswered = matches!(error, operations::Error::Unanswered { .. });
            let of_a_state = match &actual {
                None => unanswered || error.is_conflict(),
                Some(_) => error.is_about_another_state(),
            };
            if !of_a_state || attempt == ATTEMPTS {
                return Err(error.into());
            }
            attempt += 1;
            actual = match self.look(&writer).await? {
                // The write may still take effect, so it isn't repeated now.
                None if unanswered => return Err(error.into()),
                Some(live) if is_known_as(actual.as_deref(), &*live) && !error.is_conflict() => {
                    match context.permitted(self.unblock(&writer, &*live, error)).await? {
                        PutBack::Applied(applied) => return Ok(Some((Operation::Updated, applied))),
                        PutBack::Deleted => None,
                        PutBack::Overtaken => Some(writer.remember(live)),
                    }
                }
                live => live.map(|live| writer.remember(live)),
            };
            if unanswered {
                if_it_matches = Operation::Created;
            }
        }
    }

    /// The live object, with all of its content, if the node may write it.
    pub(super) async fn look(&self, writer: &DependentWriter<'_>) -> Result<Option<AnyObject>, Error> {
        match writer.live().await? {
            Some(live) if !self.may_write(&*live) => Err(self.refusal(&*live)),
            live => Ok(live),
        }
    }

    async fn create(&self, writer: &DependentWriter<'_>) -> Result<AnyObject, operations::Error> {
        if self.applies() { writer.apply_new().await } else { writer.create().await }
    }

    async fn update(
        &self,
        writer: &DependentWriter<'_>,
        actual: &dyn Object,
    ) -> Result<AnyObject, operations::Error> {
        if self.applies() {
            return writer.apply(actual).await;
        }
        let plain = actual.to_value().map_err(|source| writer.serialize(source))?;
        writer.replace(actual, merged(&plain, writer.body()?)).await
    }

    /// Handles a write of one of the node's objects that was refused as invalid.
    async fn unblock(
        &self,
        writer: &DependentWriter<'_>,
        live: &dyn Object,
        refused: operations::Error,
    ) -> Result<PutBack, operations::Error> {
        match refused.is_immutable() {
            _ if !self.is_mine(live) => Err(refused),
            true if self.managed.recreates && self.is_removable(live) => {
                writer.delete_to_recreate(live, refused).await
            }
            true => Err(refused.unless_recreated()),
            false if self.applies() => writer.put_back(live, refused).await,
            false => Err(refused),
        }
    }

    /// Whether there is nothing to do about `actual`.
    fn is_as_desired(
        &self,
        writer: &DependentWriter<'_>,
        actual: &dyn Object,
        desired: &dyn Object,
    ) -> Result<bool, operations::Error> {
        if !self.managed.capabilities.can_update() {
            return Ok(true);
        }
        // A matcher of the user's own knows nothing of the marks.
        if !self.marks.of.names().stand_as(desired.meta(), actual.meta()) {
            return Ok(false);
        }
        // Nor does it know the version in which the object was written.
        if !self.marks.of.names().same_api_version(desired.meta(), actual.meta()) {
            return Ok(false);
        }
        let mark = self.marks.of.names().mark_in(actual.meta()).unwrap_or_default();
        let seen = writer.seen(actual, self.told_apart(desired, mark));
        if seen.as_ref().is_some_and(Seen::has_matched) {
            return Ok(true);
        }
        if let Some(judge) = &self.managed.judge {
            actual.check().map_err(|source| writer.serialize(source))?;
            return Ok((judge.0)(actual, desired, self.asked));
        }
        let is_noted = self.notes_what_is_applied();
        let found = match is_noted {
            true => writer.was_applied_to(actual)?,
            false => {
                let (mut body, key) = (Arc::clone(writer.body()?), self.marks.of.names().mark());
                // A mark that an earlier version of the controller applied makes no difference to the content.
                if body["metadata"]["annotations"][key] != mark {
                    Arc::make_mut(&mut body)["metadata"]["annotations"][key] = mark.into();
                }
                let found = self.managed.matcher.matches(actual, desired, &body);
                found.map_err(|source| writer.serialize(source))?
            }
        };
        match &found {
            Match::Equal => {
                if let Some(seen) = &seen {
                    seen.note(is_noted && !self.managed.kind.is_sensitive());
                }
            }
            Match::Differs(paths) => {
                tracing::debug!(kind = %self.managed.kind, object = %ObjectKey::in_meta(desired.meta()), ?paths, "differs from the desired state");
            }
            Match::NeverApplied => {
                tracing::debug!(kind = %self.managed.kind, object = %ObjectKey::in_meta(desired.meta()), "was never applied by this manager");
            }
        }
        Ok(found.is_equal())
    }

    /// Whether the object's digest of the last apply decides, by comparison with the desired state.
    fn notes_what_is_applied(&self) -> bool {
        self.managed.judge.is_none() && matches!(self.managed.matcher, Matcher::Auto) && self.applies()
    }
}

impl OfPrimary<'_> {
    /// Distinguishes this desired state of this node from all others, for an object with that mark; `None` if the answer
    /// of the matcher may depend on more than the two objects.
    fn told_apart<'d>(&'d self, desired: &'d dyn Object, mark: &'d str) -> Desired<'d> {
        match self.managed.matcher {
            _ if self.managed.judge.is_some() => Desired::Known(None),
            Matcher::Custom(_) => Desired::Known(None),
            Matcher::Auto | Matcher::Generic(_) => Desired::Object([&self.marks.node, mark], desired),
        }
    }
}

/// Whether the live object is the one on which the write was based.
fn is_known_as(actual: Option<&dyn Object>, live: &dyn Object) -> bool {
    actual.is_some_and(|actual| actual.meta().uid == live.meta().uid)
}
