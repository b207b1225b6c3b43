//! The primary that a run starts with.

use crate::{
    event_source::PrimarySource,
    operations,
    processor::Run,
    reconciler::ControllerContext,
    resource::{AnyObject, Object, ResourceVersion},
};

/// The newest known state of the run's primary, or its last one, if the run is to see its end; `None` if it is gone or
/// replaced otherwise.
pub(super) fn known(source: &PrimarySource, run: &Run) -> Option<AnyObject> {
    if let Some(departed) = &run.departed {
        return Some(AnyObject::clone(&departed.last));
    }
    source.informer().get(&run.key).filter(|primary| is_of(&**primary, run))
}

/// `known`, or the live state if that is in doubt:
/// - If a write of the primary was not answered: its effect may be one that is no longer wanted.
/// - If something that the primary owned is gone. The garbage collector deletes what belongs to an owner that is gone,
///   or is about to be removed. While the watch of the primaries is late, the cache doesn't show that yet, and a run
///   would create everything again only to have it deleted and to be triggered again: a loop as fast as the collector.
/// - If a list has shown it in an older state than had been seen. After a restored backup, that is the actual state; if
///   the list came from a replica that lags behind, a run would bring back old values, or deleted objects.
///
/// All are rare, and a read costs one request.
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
    // A primary that is known to be going waits for the end of what it owns anyway.
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
        // While a list is taken in, nothing is remembered that the one before it would have shown.
        let newest = source.informer().get(&run.key);
        if newest.is_some_and(|newest| version(&*newest) < version(&*live)) {
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
    if !shared.primary.selects() {
        return Ok(Some(last));
    }
    let live = operations::live(&shared.writer, shared.primary.informer(), &run.key).await?;
    Ok(if live.is_some_and(|live| is_of(&*live, run)) { None } else { Some(last) })
}

fn version(object: &dyn Object) -> Option<ResourceVersion> {
    object.meta().resource_version.as_deref().and_then(ResourceVersion::parse)
}

fn is_of(primary: &dyn Object, run: &Run) -> bool {
    primary.meta().uid.as_deref().unwrap_or_default() == run.uid.as_str()
}
