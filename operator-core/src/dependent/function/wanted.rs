//! The types that a function may return.

use std::{error::Error as StdError, marker::PhantomData, sync::Arc};

use kube::core::{ApiResource, DynamicObject};

use super::{KindOf, OfType, Want};
use crate::{
    dependent::{
        question::Drafts,
        set::objects::{Objects, is_called},
    },
    reconciler::BoxError,
    resource::KubeObject,
    results::Secondary,
};

/// One object, or any number of them: what a dependent wants to exist, and what a run returns.
pub trait Shape: Send + Sync + 'static {
    /// The type of the objects.
    type Item: KubeObject;
    /// The wanted resources.
    type Content: Send;
    /// The form in which a run returns them.
    type Seen;
    /// Whether there may be several.
    const SEVERAL: bool;

    /// The wanted resources, without their type.
    fn drafts(content: Self::Content) -> Drafts;

    /// These resources in that form.
    fn seen(objects: &[Secondary]) -> Self::Seen;
}

/// The shape of a dependent with one object of type `K`. `run.get(…)` returns `Option<Arc<K>>`.
#[derive(Debug)]
pub struct One<K>(PhantomData<fn() -> K>);

/// The shape of a dependent with several objects of type `K`. `run.get(…)` returns `Vec<Arc<K>>`.
#[derive(Debug)]
pub struct Many<K>(PhantomData<fn() -> K>);

/// The shape of a dependent with objects of several kinds. `run.get(…)` returns `Vec<Arc<DynamicObject>>`.
#[derive(Debug)]
pub struct Mixed;

impl<K: KubeObject> Shape for One<K> {
    type Item = K;
    type Content = K;
    type Seen = Option<Arc<K>>;
    const SEVERAL: bool = false;

    fn drafts(content: K) -> Drafts {
        Drafts::one(content)
    }

    fn seen(objects: &[Secondary]) -> Option<Arc<K>> {
        objects.iter().find_map(Secondary::get)
    }
}

impl<K: KubeObject> Shape for Many<K> {
    type Item = K;
    type Content = Vec<K>;
    type Seen = Vec<Arc<K>>;
    const SEVERAL: bool = true;

    fn drafts(content: Vec<K>) -> Drafts {
        Drafts::several(content)
    }

    fn seen(objects: &[Secondary]) -> Vec<Arc<K>> {
        objects.iter().filter_map(Secondary::get).collect()
    }
}

impl Shape for Mixed {
    type Item = DynamicObject;
    type Content = Objects;
    type Seen = Vec<Arc<DynamicObject>>;
    const SEVERAL: bool = true;

    fn drafts(content: Objects) -> Drafts {
        Drafts::mixed(content)
    }

    fn seen(objects: &[Secondary]) -> Vec<Arc<DynamicObject>> {
        let typed = |one: &Secondary| {
            let mut object = one.get::<DynamicObject>()?;
            // One from a list doesn't say what it is.
            if let Some(kind) = one.kind().filter(|_| object.types.is_none()) {
                Arc::make_mut(&mut object).types = Some(kind.types());
            }
            Some(object)
        };
        objects.iter().filter_map(typed).collect()
    }
}

/// Objects of several kinds that exist, as `run.get(addon)` and `cx.seen(addon)` return them.
pub trait FindObject {
    /// The first object with this version, kind and name, in whatever namespace: `find("apps/v1", "Deployment", "web")`.
    fn find(&self, api_version: &str, kind: &str, name: &str) -> Option<&Arc<DynamicObject>>;
}

impl FindObject for [Arc<DynamicObject>] {
    fn find(&self, api_version: &str, kind: &str, name: &str) -> Option<&Arc<DynamicObject>> {
        self.iter().find(|object| is_called(object, api_version, kind, name))
    }
}

/// Shapes of objects whose kind is given in this way.
pub trait ShapeOf<T>: Shape {
    /// The kind; `None` if the objects are of any kinds.
    fn kind_of(said: T) -> Option<<Self::Item as kube::Resource>::DynamicType>;
}

impl<T, K: KindOf<T>> ShapeOf<T> for One<K> {
    fn kind_of(said: T) -> Option<K::DynamicType> {
        Some(K::kind_of(said))
    }
}

impl<T, K: KindOf<T>> ShapeOf<T> for Many<K> {
    fn kind_of(said: T) -> Option<K::DynamicType> {
        Some(K::kind_of(said))
    }
}

impl ShapeOf<OfType> for Mixed {
    fn kind_of(_: OfType) -> Option<ApiResource> {
        None
    }
}

/// What a dependent of this shape wants.
pub type WantOf<S> = Result<Want<<S as Shape>::Content>, BoxError>;

/// What a dependent's function may return. `W` distinguishes the forms; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "a dependent can't return `{Self}`",
    label = "a dependent returns `K`, `Option<K>`, `Vec<K>`, `Objects`, `Want<K>`, `Read<K>`, or a `Result` of one of these",
    note = "it returns what should exist: `K`, `Option<K>`, `Vec<K>` or `Want<K>`, or what it reads, `Read<K>` or `Option<Read<K>>`, where `K` is an object of Kubernetes, or a `Result` of one of these with an error that converts into a `Box<dyn Error + Send + Sync>`"
)]
pub trait Wanted<W> {
    /// One object, or several.
    type Shape: Shape;
    /// Whether it may say "hold".
    const HOLDS: bool = false;
    /// Whether it may say that nothing should exist.
    const OPTIONAL: bool = false;
    /// Whether it returns something that is only read.
    const READS: bool = false;

    /// The wanted resources.
    ///
    /// # Errors
    /// If it is an error.
    fn wanted(self) -> WantOf<Self::Shape>;

    /// The same without its type: compiled for each type of answers, not for each function.
    ///
    /// # Errors
    /// If it is an error.
    fn erased(self) -> Result<Want<Drafts>, BoxError>
    where
        Self: Sized,
    {
        drafted::<Self::Shape>(self.wanted()?)
    }
}

pub(super) fn drafted<S: Shape>(want: Want<S::Content>) -> Result<Want<Drafts>, BoxError> {
    want.try_map(|content| Ok(S::drafts(content)))
}

/// Marks an object.
#[derive(Debug)]
pub struct Plain;
/// Marks an object that may be absent.
#[derive(Debug)]
pub struct Optional;
/// Marks any number of objects.
#[derive(Debug)]
pub struct Several;
/// Marks a [`Want`].
#[derive(Debug)]
pub struct Held;
/// Marks a `Result`.
#[derive(Debug)]
pub struct Fallible<W>(PhantomData<W>);

#[diagnostic::do_not_recommend]
impl<K: KubeObject> Wanted<Plain> for K {
    type Shape = One<K>;

    fn wanted(self) -> WantOf<One<K>> {
        Ok(Want::Is(self))
    }
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject> Wanted<Optional> for Option<K> {
    type Shape = One<K>;
    const OPTIONAL: bool = true;

    fn wanted(self) -> WantOf<One<K>> {
        Ok(self.map_or_else(|| Want::none("it is not wanted"), Want::Is))
    }
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject> Wanted<Several> for Vec<K> {
    type Shape = Many<K>;

    fn wanted(self) -> WantOf<Many<K>> {
        Ok(Want::Is(self))
    }
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject> Wanted<Held> for Want<K> {
    type Shape = One<K>;
    const HOLDS: bool = true;
    const OPTIONAL: bool = true;

    fn wanted(self) -> WantOf<One<K>> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<K: KubeObject> Wanted<Several> for Want<Vec<K>> {
    type Shape = Many<K>;
    const HOLDS: bool = true;
    const OPTIONAL: bool = true;

    fn wanted(self) -> WantOf<Many<K>> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl Wanted<Several> for Objects {
    type Shape = Mixed;

    fn wanted(self) -> WantOf<Mixed> {
        Ok(Want::Is(self))
    }
}

#[diagnostic::do_not_recommend]
impl Wanted<Several> for Option<Objects> {
    type Shape = Mixed;
    const OPTIONAL: bool = true;

    fn wanted(self) -> WantOf<Mixed> {
        Ok(self.map_or_else(|| Want::none("it is not wanted"), Want::Is))
    }
}

#[diagnostic::do_not_recommend]
impl Wanted<Several> for Want<Objects> {
    type Shape = Mixed;
    const HOLDS: bool = true;
    const OPTIONAL: bool = true;

    fn wanted(self) -> WantOf<Mixed> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<W, R: Wanted<W>, E: Failure> Wanted<Fallible<W>> for Result<R, E> {
    type Shape = R::Shape;
    const HOLDS: bool = R::HOLDS;
    const OPTIONAL: bool = R::OPTIONAL;
    const READS: bool = R::READS;

    fn wanted(self) -> WantOf<R::Shape> {
        self.map_err(Failure::boxed)?.wanted()
    }

    fn erased(self) -> Result<Want<Drafts>, BoxError> {
        self.map_err(Failure::boxed)?.erased()
    }
}

/// An error that a function may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an error that a dependent or a condition may return",
    note = "it needs `Into<Box<dyn Error + Send + Sync>>`: a `thiserror` enum, `anyhow::Error`, or the prelude's `Result<T>`"
)]
pub trait Failure {
    /// The error in its box.
    fn boxed(self) -> Box<dyn StdError + Send + Sync>;
}

#[diagnostic::do_not_recommend]
impl<E: Into<BoxError>> Failure for E {
    fn boxed(self) -> BoxError {
        self.into()
    }
}
