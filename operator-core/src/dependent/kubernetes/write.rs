//! Brings one object into the desired state.
//!
//! ```text
//! actual? ─ none ──▶ create, refused where it exists ──409, or no answer──▶ live? ─ none ─▶ error: the next run looks again
//!    │                                                                       ├─ ours ──▶ it is the actual one now
//!    └──▶ matches? ─ no ─▶ update, refused where it is another one ──────────▶└─ somebody else's ─▶ Error::Conflict
//!                               └─ refused as invalid ─▶ unblock: what others have put in the way, what can't be changed
//! ```

use std::sync::Arc;

use super::settings::Managed;
use crate::{
    dependent::{
        Error,
        matcher::{Match, Written, merged},
    },
    operations::{self, DependentWriter, PutBack},
    reconciler::{Context, workflow::Operation},
    resource::{KubeObject, ObjectKey},
};

/// How many states of an object are tried in one run.
const ATTEMPTS: u32 = 3;

impl<K: KubeObject> Managed<K> {
    /// Creates or changes the object, as far as the dependent may; `None` where there is nothing, and nothing may be
    /// created.
    pub(in crate::dependent) async fn bring_about<P: KubeObject>(
        &self,
        desired: &K,
        mut actual: Option<Arc<K>>,
        primary: &P,
        context: &Context<P>,
    ) -> Result<Option<(Operation, Arc<K>)>, Error> {
        let operations = context.resource_operations().event_source(&self.source.name);
        let writer = operations.dependent(desired)?;
        let mut if_it_matches = Operation::Matched;
        let mut attempt = 1;
        loop {
            let (result, operation) = match &actual {
                None if !self.capabilities.can_create() => return Ok(None),
                None => (context.permitted(self.create(&writer)).await, Operation::Created),
                Some(actual) if self.is_as_desired(&writer, actual, desired)? => {
                    writer.matched();
                    return Ok(Some((if_it_matches, Arc::clone(actual))));
                }
                Some(actual) => (context.permitted(self.update(&writer, actual)).await, Operation::Updated),
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
            actual = match writer.live().await? {
                // It may still take effect, so it is not repeated now.
                None if unanswered => return Err(error.into()),
                None => None,
                Some(live) if self.is_known_as(&actual, &live) && !error.is_conflict() => {
                    let is_ours = self.is_marked(&live, primary, context);
                    // Seldom, and large.
                    let unblocked = Box::pin(self.unblock(&writer, &live, error, is_ours));
                    match context.permitted(unblocked).await? {
                        PutBack::Applied(applied) => return Ok(Some((Operation::Updated, applied))),
                        PutBack::Deleted => None,
                        PutBack::Overtaken => Some(writer.remember(live)),
                    }
                }
                Some(live) if !self.is_marked(&live, primary, context) => {
                    return Err(Error::Conflict {
                        kind: self.kind.clone(),
                        key: ObjectKey::of(desired),
                        owner: self.whose(&live, context),
                    });
                }
                Some(live) => Some(writer.remember(live)),
            };
            if unanswered {
                if_it_matches = Operation::Created;
            }
        }
    }

    async fn create(&self, writer: &DependentWriter<'_, K>) -> Result<Arc<K>, operations::Error> {
        if !self.use_ssa {
            return writer.create().await;
        }
        if self.adopt_existing { writer.apply(None).await } else { writer.apply_new().await }
    }

    async fn update(&self, writer: &DependentWriter<'_, K>, actual: &K) -> Result<Arc<K>, operations::Error> {
        if self.use_ssa {
            return writer.apply(actual.meta().uid.as_deref()).await;
        }
        let plain = serde_json::to_value(actual).map_err(|source| writer.serialize(source))?;
        writer.replace(merged(&plain, writer.body())).await
    }

    /// Does what can be done about a write of what is ours that was refused as invalid.
    async fn unblock(
        &self,
        writer: &DependentWriter<'_, K>,
        live: &K,
        refused: operations::Error,
        is_ours: bool,
    ) -> Result<PutBack<K>, operations::Error> {
        match DependentWriter::<K>::is_cured_anew(&refused) {
            _ if !is_ours => Err(refused),
            true if self.recreates => writer.delete_to_recreate(live, refused).await,
            true => Err(refused.unless_recreated()),
            false if self.use_ssa => writer.put_back(live, refused).await,
            false => Err(refused),
        }
    }

    /// Whether there is nothing to do about `actual`.
    fn is_as_desired(
        &self,
        writer: &DependentWriter<'_, K>,
        actual: &K,
        desired: &K,
    ) -> Result<bool, operations::Error> {
        if !self.capabilities.can_update() {
            return Ok(true);
        }
        let written = match self.use_ssa {
            true => Written::Applied { manager: writer.field_manager() },
            false => Written::Replaced,
        };
        let found = self.matcher.matches(actual, desired, writer.body(), written);
        let found = found.map_err(|source| writer.serialize(source))?;
        match &found {
            Match::Equal => {}
            Match::Differs(paths) => {
                tracing::debug!(kind = %self.kind, object = %ObjectKey::of(desired), ?paths, "differs from the desired state");
            }
            Match::NeverApplied => {
                tracing::debug!(kind = %self.kind, object = %ObjectKey::of(desired), "was never applied by this manager");
            }
        }
        Ok(found.is_equal())
    }

    /// Whether the live object is the one that was written upon.
    fn is_known_as(&self, actual: &Option<Arc<K>>, live: &K) -> bool {
        actual.as_ref().is_some_and(|actual| actual.meta().uid == live.meta().uid)
    }
}
