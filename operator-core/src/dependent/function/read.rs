//! Objects that others make.

use std::{marker::PhantomData, sync::Arc};

use super::{
    Shape, WantOf, Wanted,
    wanted::{Many, One},
};
use crate::dependent::want::Want;
use crate::{
    dependent::{
        Error,
        question::{Drafts, Sought},
    },
    reconciler::BoxError,
    resource::{KubeObject, Object, ObjectKey},
};

/// Returned by a function whose node only reads an object that others make: says which object. Nodes that come after it
/// wait until the object exists and is ready, unless the node is [`optional`](crate::Node::optional).
///
/// An object with a name or key needs no further word, whatever it belongs to and wherever it is: it is found in any event
/// source of the controller that sees it, and watched by itself otherwise. Its changes trigger the primary, whether it existed
/// before or not. Without a name, the objects have to be related to the primary: by owner references, which
/// [`owns`](crate::ControllerBuilder::owns) follows, by what primaries refer to, or by the mapper of
/// [`informer`](crate::Node::informer).
///
/// If a primary names no object, its function returns an `Option<Read<K>>` that is `None`.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
/// use operator_core::{dependent::Read, prelude::*};
///
/// fn certificate(pod: &Pod) -> Read<Secret> {
///     let name = pod.metadata.name.as_deref().unwrap_or_default();
///     Read::named(format!("{name}-tls"))
/// }
///
/// fn proxy(_: &Pod) -> ConfigMap {
///     ConfigMap::default()
/// }
///
/// let controller = Controller::of_existing::<Pod>().workflow((certificate, proxy.after(certificate)));
/// ```
#[must_use = "it has no effect unless a dependent returns it"]
pub struct Read<K> {
    sought: Sought,
    kind: PhantomData<fn() -> K>,
}

impl<K> Read<K> {
    fn of(sought: Sought) -> Self {
        Self { sought, kind: PhantomData }
    }
}

impl<K: KubeObject> Read<K> {
    /// The only object of type `K` that is related to the primary. Several such objects are an error, and so is a controller
    /// without an event source that relates any.
    pub fn only() -> Self {
        Self::of(Sought::default())
    }

    /// The object with that name: in the primary's namespace, or in none if its kind has none. A name that no object can
    /// have fails the node.
    pub fn named(name: impl Into<String>) -> Self {
        Self::of(Sought { name: Some(name.into()), ..Sought::default() })
    }

    /// The object with that key.
    pub fn key(key: ObjectKey) -> Self {
        Self::of(Sought { key: Some(key), ..Sought::default() })
    }
}

impl<K: KubeObject> Read<Vec<K>> {
    /// All objects of type `K` that are related to the primary; there may be none. A controller without an event source that
    /// relates any is a mistake of the declaration.
    pub fn all() -> Self {
        Self::of(Sought::default())
    }

    /// Only the objects for which this is true.
    pub fn filter(mut self, is_meant: impl Fn(&K) -> bool + Send + Sync + 'static) -> Self {
        let selects = move |object: &dyn Object| object.typed_ref().is_some_and(&is_meant);
        self.sought.selects = Some(Arc::new(selects));
        self
    }
}

debug_of!(Read<K> [K]: "Read", |it| sought: it.sought);

/// Marks an object that is only read.
#[derive(Debug)]
pub struct OnlyRead;
/// Marks any number of objects that are only read.
#[derive(Debug)]
pub struct OnlyReadSeveral;

fn nothing_desired<T>() -> Result<T, BoxError> {
    Err(Error::NothingDesired.boxed())
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject> Wanted<OnlyRead> for Read<K> {
    type Shape = One<K>;
    const READS: bool = true;

    fn wanted(self) -> WantOf<One<K>> {
        nothing_desired()
    }

    fn erased(self) -> Result<Want<Drafts>, BoxError> {
        Ok(Want::Is(Drafts::sought(self.sought)))
    }
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject> Wanted<OnlyReadSeveral> for Read<Vec<K>> {
    type Shape = Many<K>;
    const READS: bool = true;

    fn wanted(self) -> WantOf<Many<K>> {
        nothing_desired()
    }

    fn erased(self) -> Result<Want<Drafts>, BoxError> {
        Ok(Want::Is(Drafts::sought(self.sought)))
    }
}

/// If the primary names no object, there is nothing to read.
#[diagnostic::do_not_recommend]
impl<M, K, S> Wanted<Option<M>> for Option<Read<K>>
where
    Read<K>: Wanted<M, Shape = S>,
    S: Shape,
{
    type Shape = S;
    const OPTIONAL: bool = true;
    const READS: bool = true;

    fn wanted(self) -> WantOf<S> {
        nothing_desired()
    }

    fn erased(self) -> Result<Want<Drafts>, BoxError> {
        let Some(read) = self else { return Ok(Want::none("it is not wanted")) };
        read.erased()
    }
}
