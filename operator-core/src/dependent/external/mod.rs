//! The one algorithm for all custom dependents, which read and write their resources themselves. A bulk dependent has
//! resources by key; a single one is a bulk dependent with the key `()`.
//!
//! ```text
//! source remembers? ── fetched once for this primary ──▶ resources by key
//!        a create was not answered ──▶ refetch ─────────▶ resources by key
//!                                                            │
//!        ┌───────────────────────────────────────────────────┘
//!        ├─ not desired ──▶ delete ─ Gone ─▶ source forgets ──▶ the object that keeps its id goes
//!        │                    └ Asked ─▶ it counts as there, and is asked for again
//!        ├─ missing ──▶ create ──▶ source remembers ──▶ an object keeps its id
//!        └─ found ──▶ an object keeps its id ──▶ matches? ── no ──▶ update ──▶ source remembers
//! ```
//!
//! # Guarantees
//! - Before a create that follows one whose outcome is unknown, the other system is queried.
//! - The next run reads what was written, before any poll has shown it.
//! - An id is kept before anything else is done with a resource, and deleted after the resource is gone.

mod engine;
mod going;
mod memory;
mod state;
#[cfg(test)]
mod tests;

use std::{borrow::Borrow, collections::BTreeMap, future::Future, sync::Arc};

use super::{Deletion, DependentSource, erased::Answer};
use crate::{
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

pub(super) use engine::Custom;
use state::KeepsState;

/// The operations of a custom dependent, whatever its capabilities.
pub(super) trait Keyed<P: KubeObject>: Send + Sync + 'static {
    /// Distinguishes the resources of one primary.
    type Key: Ord + Clone + Send + Sync + 'static;
    /// What is managed.
    type Resource: Send + Sync + 'static;
    /// A desired resource, in the form that creates and updates take.
    type Desired: Borrow<Self::Resource> + Send + Sync + 'static;

    /// Whether there may be any number of resources.
    const SEVERAL: bool;

    /// The resources that exist now.
    fn actual(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Actual<Self, P>, BoxError>> + Send;

    /// Whether something may be desired that is not among these.
    fn may_lack(actual: &Actual<Self, P>) -> bool;

    /// The event sources that it provides.
    fn event_sources(&self) -> Vec<DependentSource>;

    /// The name of a resource in errors, if there are several.
    fn label(key: &Self::Key) -> Option<String>;

    /// Distinguishes a resource in results.
    fn id(&self, key: &Self::Key, resource: &Self::Resource) -> String;
}

type Key<C, P> = <C as Keyed<P>>::Key;
type Resource<C, P> = <C as Keyed<P>>::Resource;
type Desired<C, P> = <C as Keyed<P>>::Desired;

/// What exists.
pub(super) type Actual<C, P> = BTreeMap<Key<C, P>, Arc<Resource<C, P>>>;
/// What should exist.
pub(super) type Wanted<C, P> = BTreeMap<Key<C, P>, Desired<C, P>>;

// What a dependent can do is said by traits that it may lack, so the calls are kept as functions.

type Desire<C, P> = fn(&C, &Arc<P>, &Context<P>) -> Result<Wanted<C, P>, BoxError>;
type Create<C, P> = for<'r> fn(
    &'r C,
    &'r Key<C, P>,
    Desired<C, P>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, Arc<Resource<C, P>>>;
type Matches<C, P> = fn(&C, &Resource<C, P>, &Resource<C, P>, &P, &Context<P>) -> bool;
type Update<C, P> = for<'r> fn(
    &'r C,
    &'r Key<C, P>,
    &'r Arc<Resource<C, P>>,
    Desired<C, P>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, Arc<Resource<C, P>>>;
type Delete<C, P> = for<'r> fn(
    &'r C,
    &'r Key<C, P>,
    &'r Arc<Resource<C, P>>,
    &'r Arc<P>,
    &'r Context<P>,
) -> Answer<'r, Deletion>;

type State<C, P> =
    fn(&C, &Key<C, P>, &Resource<C, P>, &P, &Context<P>) -> Result<Box<dyn KeepsState<P>>, BoxError>;

/// What both declarations have in addition to their traits.
macro_rules! declaration {
    ($declaration:ident of $resource:ident) => {
        impl<D: $resource<P>, P: KubeObject> $declaration<D, P> {
            /// The engine of this dependent.
            pub(crate) fn declared(self) -> $crate::dependent::AnyDependent {
                self.0.finish()
            }

            /// Reads from the caching event source with that name, for resources outside the cluster. The source
            /// fetches what it doesn't know yet about a primary, and is notified of writes.
            pub fn remembered_by(mut self, event_source: impl Into<Arc<str>>) -> Self {
                self.0.memory.source = Some(event_source.into());
                self
            }
        }

        impl<D: $resource<P>, P: KubeObject> std::fmt::Debug for $declaration<D, P> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($declaration))
                    .field("name", &self.0.name)
                    .field("capabilities", &self.0.capabilities())
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(super) use declaration;
