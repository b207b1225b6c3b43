//! The primary that a run starts with.

use crate::{
    event_source::PrimarySource,
    operations,
    processor::Run,
    reconciler::ControllerContext,
    resource::{AnyObject, Object},
};

/// The newest known state of the run's primary, or its last one if the run is to see its end; otherwise `None` if it is
/// gone or replaced.
pub(super) fn known(source: &PrimarySource, run: &Run) -> Option<AnyObject> {
    if let Some(departed) = &run.departed {
        return Some(AnyObject::clone(&departed.last));
    }
    source.informer().get(&run.key).filter(|primary| is_of(&**primary, run))
}

/// `known`, or the live state if `known` is in doubt:
/// - If a write of the primary was not answered: its effect may no longer be wanted.
/// - If an object that the primary owned is gone. The garbage collector deletes objects whose owner is gone,
///   or about to be removed. While the watch of the primaries is late, the cache doesn't show that yet. A run
///   would create everything again, the collector would delete it, and that would trigger a run: a loop.
/// - If a list has shown it in an older state than had been seen. After a restored backup, that is the actual state; if
///   the list came from a stale replica, a run would bring back old values, or deleted objects.
///
/// All of these are rare, and a read costs one request.
pub(super) async fn live_if_in_doubt(
    shared: &ControllerContext,
    run: &Run,
    known: Option<AnyObject>,
) -> Result<Option<AnyObject>, operations::Error> {
    let Some(known) = known else { return Ok(None) };
    let source = &shared.primary;
    if run.departed.is_some() {
        return left_or_gone(shared, run, known).await;
    }
    // The live state couldn't be decoded either.
    if source.is_undecodable(&run.key) {
        return Ok(Some(known));
    }
    // A primary that is known to be deleted waits for the end of the objects it owns anyway.
    if run.causes.include_owned_gone() && known.meta().deletion_timestamp.is_none() {
        source.doubt(&run.key);
    }
    if !source.is_in_doubt(&run.key) {
        return Ok(Some(known));
    }
    let live = operations::live(&shared.writer, source.informer(), &run.key).await?;
    source.looked_at(&run.key);
    Ok(live.filter(|live| is_of(&**live, run)).map(|live| {
        let same = live.meta().resource_version == known.meta().resource_version;
        if same {
            return known;
        }
        let live = source.informer().remember_answer(source.informer().answer_of(live));
        // While a list is being read, the cache may not take the answer: then the primary stays in doubt.
        let newest = source.informer().get(&run.key);
        if newest.is_some_and(|newest| newest.resource_version() < live.resource_version()) {
            source.doubt(&run.key);
        }
        live
    }))
}

/// The last state of a primary whose end was seen; `None` if it isn't gone but no longer matches the controller's
/// selectors.
async fn left_or_gone(
    shared: &ControllerContext,
    run: &Run,
    last: AnyObject,
) -> Result<Option<AnyObject>, operations::Error> {
    if !shared.primary.selects {
        return Ok(Some(last));
    }
    let live = operations::live(&shared.writer, shared.primary.informer(), &run.key).await?;
    Ok(if live.is_some_and(|live| is_of(&*live, run)) { None } else { Some(last) })
}

fn is_of(primary: &dyn Object, run: &Run) -> bool {
    primary.meta().uid.as_deref().unwrap_or_default() == run.uid.as_str()
}
