//! Generators of objects: a function of a primary and its parameters that returns all objects of a bundle.
//!
//! ```text
//! RenderContext: primary, namespace, name, parameters, revision, digest
//!       │
//!       ▼                    unknown lookups ─▶ read ─┐
//! map_parameters ─▶ render ──┤                        │ again, until none is unknown
//!                     ▲      └─ texts ─▶ Objects ─▶ map_objects ─▶ RenderCache
//!                     └───────────────────────────────┘
//! ```
//!
//! - A closure that takes a [`RenderContext`] is a generator.
//! - [`manifests!`](crate::manifests) embeds files of YAML, and [`templates!`](crate::templates) files that are rendered first.
//! - [`Generator::map_parameters`] changes what goes into a generator, and [`Generator::map_objects`] what comes out of it.
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use operator_component::generator::{Generator, RenderContext};
//! use operator_core::{BoxError, Objects};
//! use serde_json::json;
//!
//! fn labels(mut objects: Objects, cx: &RenderContext<'_, ConfigMap>) -> Result<Objects, BoxError> {
//!     for object in objects.iter_mut() {
//!         object.metadata.labels.get_or_insert_default().insert("instance".into(), cx.name().into());
//!     }
//!     Ok(objects)
//! }
//!
//! fn addon() -> impl Generator<ConfigMap> {
//!     operator_component::templates!("tests-data/templates")
//!         .map_parameters(|cx: &RenderContext<'_, ConfigMap>| -> Result<_, BoxError> {
//!             let replicas = cx.primary().data.as_ref().map_or(1, |data| data.len());
//!             Ok(json!({ "replicas": replicas, "image": "nginx:1.31", "ports": [80] }))
//!         })
//!         .map_objects(labels)
//! }
//! # let _ = addon();
//! ```
//!
//! # Guarantees
//! - The same context and the same objects in the cluster give the same objects.
//! - An error names a file and a line, and has no value of the parameters or of an object: they may be a Secret's.
//! - An error is [permanent](operator_core::Permanent) unless an object couldn't be looked up.
//!
//! # Assumptions
//! - A generator has no side effects.

mod cache;
mod combine;
mod context;
mod digest;
mod error;
mod lookup;
mod manifests;
mod templates;
#[cfg(test)]
mod tests;

pub use cache::RenderCache;
pub use context::RenderContext;
pub use digest::digest_of;
pub use error::Error;
pub use lookup::{Lookup, LookupKey};
pub use manifests::Manifests;
pub use templates::Templates;

use operator_core::{BoxError, Objects, resource::KubeObject};
use serde_json::Value;

use self::combine::{MapObjects, MapParameters};

/// Makes the objects of a bundle.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_component::generator::{Generator, RenderContext};
/// use operator_core::{BoxError, Objects};
///
/// struct Copies(usize);
///
/// impl Generator<ConfigMap> for Copies {
///     async fn generate(&self, cx: &RenderContext<'_, ConfigMap>) -> Result<Objects, BoxError> {
///         let copies = (0..self.0).map(|number| {
///             let mut copy = cx.primary().clone();
///             copy.metadata.name = Some(format!("{}-{number}", cx.name()));
///             copy
///         });
///         Ok(copies.collect::<Vec<_>>().into())
///     }
/// }
///
/// fn one(cx: &RenderContext<'_, ConfigMap>) -> Result<Objects, BoxError> {
///     Ok(vec![cx.primary().clone()].into())
/// }
///
/// fn is_a_generator(_: impl Generator<ConfigMap>) {}
/// is_a_generator(Copies(3));
/// is_a_generator(one);
/// ```
pub trait Generator<P: KubeObject>: Send + Sync + 'static {
    /// The objects, in the order in which they were written.
    ///
    /// # Errors
    /// Those of the implementation. Return [`Permanent`](operator_core::Permanent) if a retry can't help; the generators of this
    /// crate do, with an [`Error`] in it.
    fn generate(&self, cx: &RenderContext<'_, P>) -> impl Future<Output = Result<Objects, BoxError>> + Send;

    /// A digest of what the generator is made of, such as its files: it changes if an upgrade of the operator brings others.
    /// By default empty.
    fn identity(&self) -> String {
        String::new()
    }

    /// The same generator with the parameters that the function returns instead of those of the context.
    fn map_parameters<F, E>(self, f: F) -> impl Generator<P>
    where
        Self: Sized,
        F: Fn(&RenderContext<'_, P>) -> Result<Value, E> + Send + Sync + 'static,
        E: Into<BoxError>,
    {
        MapParameters(self, f)
    }

    /// The same generator, whose objects the function changes.
    fn map_objects<F, E>(self, f: F) -> impl Generator<P>
    where
        Self: Sized,
        F: Fn(Objects, &RenderContext<'_, P>) -> Result<Objects, E> + Send + Sync + 'static,
        E: Into<BoxError>,
    {
        MapObjects(self, f)
    }
}
