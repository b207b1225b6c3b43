//! How a resource of another system is recognised.

use std::sync::Arc;

use super::cache::Set;

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

/// Returns the id of a resource; JOSDK's `ResourceIDMapper`.
pub(super) type IdOf<R, I> = Arc<dyn Fn(&R) -> I + Send + Sync>;

/// Resources by their ids.
pub(super) fn by_id<R, I: Ord>(resources: Vec<R>, id: &IdOf<R, I>) -> Set<R, I> {
    resources.into_iter().map(|resource| (id(&resource), Arc::new(resource))).collect()
}
