//! How a resource of another system is recognised.

use std::sync::Arc;

use super::cache::Set;

/// A resource of another system that knows its id. JOSDK: `ResourceIDProvider`.
///
/// Equality is what counts as a change, so that a field which changes by itself, such as the time of the last access, is
/// better left out of the type. Types that can't implement this are given to a source's `with_id` with a function.
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

/// Gives a resource its id; JOSDK's `ResourceIDMapper`.
pub(super) type IdOf<R, I> = Arc<dyn Fn(&R) -> I + Send + Sync>;

/// Resources by their ids.
pub(super) fn by_id<R, I: Ord>(resources: Vec<R>, id: &IdOf<R, I>) -> Set<R, I> {
    resources.into_iter().map(|resource| (id(&resource), Arc::new(resource))).collect()
}
