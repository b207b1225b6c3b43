//! Another system's resources: their ids, and how a run reads them and reports its own changes.

use std::sync::Arc;

use futures::future::BoxFuture;

use super::cache::Set;
use crate::{event_source::Error, resource::ObjectKey};

/// A running source of resources of another system, as returned by `Context::external_source`.
pub(crate) type ExternalSource<R> = Arc<dyn ExternalStore<R>>;

/// The known resources of type `R` of another system. All caching sources outside the cluster implement it. A
/// custom source may implement it, and is then passed to
/// [`Sources::add_external`](crate::event_source::Sources::add_external). JOSDK: `ExternalResourceCachingEventSource`
/// with its `RecentOperationCacheFiller`.
///
/// A run that writes to the other system reports it with [`created`](Self::created), [`updated`](Self::updated) or
/// [`deleted`](Self::deleted): the next run then sees the write, even if the next poll lags a little. None of the three
/// causes an event.
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::Pod;
/// use operator_core::{Context, event_source::Error};
/// # #[derive(PartialEq)]
/// # struct Bucket { name: String }
/// # async fn create_bucket(name: &str) -> Bucket { Bucket { name: name.to_owned() } }
///
/// async fn ensure_bucket(context: &Context<Pod>) -> Result<(), Error> {
///     let Some(buckets) = context.external_source::<Bucket>(None) else { return Ok(()) };
///     let primary = context.primary_key();
///     if buckets.fetch_now(primary).await?.is_empty() {
///         let bucket = create_bucket(primary.name()).await;
///         buckets.created(primary, Arc::new(bucket));
///     }
///     Ok(())
/// }
/// ```
pub trait ExternalStore<R>: Send + Sync {
    /// The event source's name, unique within the controller.
    fn name(&self) -> &str;

    /// The known resources of a primary, including the operator's own writes, in the order of the ids. Nothing is
    /// fetched.
    fn get(&self, primary: &ObjectKey) -> Vec<Arc<R>>;

    /// The resources of a primary. If they have not been fetched since the controller's start, they are fetched now,
    /// without an event. From then on calls answer from memory, even if nothing was found.
    ///
    /// # Errors
    /// If a needed fetch fails, or the primary is gone.
    fn fetch_now<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>>;

    /// The same, but always with a fetch: for a run that must be certain, for example because the answer to its last
    /// `create` was lost. A source that has one fetch for all primaries fetches all, and wakes the others as needed.
    ///
    /// # Errors
    /// If the fetch fails, or the primary is gone.
    fn refetch<'s>(&'s self, primary: &'s ObjectKey) -> BoxFuture<'s, Result<Vec<Arc<R>>, Error>>;

    /// The run has created a resource. If a poll has shown it already, the state from the poll stays.
    fn created(&self, primary: &ObjectKey, new: Arc<R>);

    /// The run has changed a resource, which it had seen as `previous`. If another state is known by now, that state
    /// stays.
    fn updated(&self, primary: &ObjectKey, previous: &R, new: Arc<R>);

    /// The run has deleted a resource; of `last`, only the id matters.
    fn deleted(&self, primary: &ObjectKey, last: &R);

    /// The number of primaries and resources about which something is kept.
    #[cfg(test)]
    fn kept(&self) -> usize {
        0
    }
}

/// A resource of another system that knows its id. JOSDK: `ResourceIDProvider`.
///
/// Equality decides what counts as a change, so a field which changes by itself, such as the time of the last access,
/// should be left out of the type. For types that can't implement this, pass a function to a source's `with_id`.
///
/// ```
/// use operator_core::event_source::ExternalResource;
///
/// #[derive(PartialEq)]
/// struct Bucket {
///     name: String,
///     versioned: bool,
/// }
///
/// impl ExternalResource for Bucket {
///     type Id = String;
///
///     fn id(&self) -> String {
///         self.name.clone()
///     }
/// }
/// ```
pub trait ExternalResource: PartialEq + Send + Sync + 'static {
    /// Distinguishes the resources of one primary.
    type Id: Ord + Clone + Send + Sync + 'static;

    /// The id. It stays the same for as long as the resource exists.
    fn id(&self) -> Self::Id;
}

/// A resource, as the sources keep it.
pub(super) trait ExternalItem: PartialEq + Send + Sync + 'static {}
impl<R: PartialEq + Send + Sync + 'static> ExternalItem for R {}

/// The id of one.
pub(super) trait ExternalItemId: Ord + Clone + Send + Sync + 'static {}
impl<I: Ord + Clone + Send + Sync + 'static> ExternalItemId for I {}

/// Returns the id of a resource; JOSDK's `ResourceIDMapper`.
pub(super) type IdOf<R, I> = Arc<dyn Fn(&R) -> I + Send + Sync>;

/// Resources by their ids.
pub(super) fn by_id<R, I: Ord>(resources: Vec<R>, id: &IdOf<R, I>) -> Set<R, I> {
    resources.into_iter().map(|resource| (id(&resource), Arc::new(resource))).collect()
}
