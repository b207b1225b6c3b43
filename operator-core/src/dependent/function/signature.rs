//! Functions, in two stages. [`Signature`] only asks whether something is a function, and of what, so it is also found
//! for wrong functions; the arguments and the result are checked after that, each by a trait with its own message. With
//! everything in one trait, the compiler could only say "not satisfied".

use std::{marker::PhantomData, sync::Arc};

use futures::future::BoxFuture;

use crate::{
    reconciler::{BoxError, Context},
    resource::KubeObject,
};

/// A function of a reference and up to four more arguments, or an async function that owns them. `S` distinguishes the
/// forms; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a dependent or a condition",
    label = "a dependent is `fn(&P) -> K`, with a reference to the primary",
    note = "expected `fn(&P) -> K` or `async fn(&P) -> K`; after the first argument may come `&Context<P>` and `Data<T>`",
    note = "a closure needs the type of its argument: `|page: &WebPage| …`; a value with state needs `impl Dependent<P> for …`; an `External` is wired by `Records::new(…)`"
)]
pub trait Signature<S>: Send + Sync + 'static {
    /// The first argument, without its reference.
    type First;
    /// All other arguments, as a tuple.
    type Args;
    /// The answer, when it is available.
    type Return;
    /// Whether it returns at once.
    const AT_ONCE: bool;
}

/// A result: at once, or later.
pub enum Answered<'r, T> {
    /// Here it is.
    Now(T),
    /// It has to be awaited.
    Later(BoxFuture<'r, T>),
}

impl<T> Answered<'_, T> {
    /// Awaits it, if necessary.
    pub async fn get(self) -> T {
        match self {
            Self::Now(answer) => answer,
            Self::Later(answer) => answer.await,
        }
    }
}

/// Converts the result before anything is awaited, because only the converted result has to be `Send`. A plain
/// pointer: so it is compiled for each type of result and not for each function.
pub type Then<R, T> = fn(R) -> Result<T, BoxError>;

/// Calls a function with the arguments that it takes. If there is no [`Signature`], the compiler reports this trait,
/// which therefore has the same messages.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be a dependent or a condition",
    label = "a dependent is `fn(&P) -> K`, with a reference to the primary",
    note = "expected `fn(&P) -> K` or `async fn(&P) -> K`; after the first argument may come `&Context<P>` and `Data<T>`",
    note = "a closure needs the type of its argument: `|page: &WebPage| …`; a value with state needs `impl Dependent<P> for …`; an `External` is wired by `Records::new(…)`"
)]
pub trait Call<P: KubeObject, S>: Signature<S> {
    /// Calls it.
    fn call<'r, T: 'r>(
        &'r self,
        first: &'r Arc<Self::First>,
        run: Given<'r, P>,
        then: Then<Self::Return, T>,
    ) -> Answered<'r, Result<T, BoxError>>;
}

/// The values from which arguments are taken.
pub struct Given<'r, P: KubeObject> {
    /// The primary of the run.
    pub(crate) primary: &'r Arc<P>,
    /// The context of the run.
    pub(crate) context: &'r Context<P>,
}

impl<P: KubeObject> Clone for Given<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P: KubeObject> Copy for Given<'_, P> {}

/// Marks functions of a reference that return at once.
#[derive(Debug)]
pub struct ByRef<F>(PhantomData<F>);
/// Marks async functions that borrow their arguments.
#[derive(Debug)]
pub struct Later<F>(PhantomData<F>);
/// Marks async functions that own their arguments.
#[derive(Debug)]
pub struct Owned<F>(PhantomData<F>);
