//! The arguments that a function may take after the first one.

use std::sync::Arc;

use super::signature::Given;
use crate::{
    reconciler::{BoxError, Context, Data, DataType},
    resource::KubeObject,
};

/// An argument after the first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be an argument of a dependent or a condition of `{P}`",
    label = "takes a `{Self}`, not `&Context<{P}>`, `Data<T>` or `Option<Data<T>>`",
    note = "after the first argument come `&Context<{P}>`, `Data<T>` or `Option<Data<T>>`; in a condition `&{P}` as well"
)]
pub trait Arg<P: KubeObject> {
    /// The argument in one call.
    type Item<'r>;

    /// Whether it stays the same as long as the primary does.
    const OF_PRIMARY: bool = false;

    /// The data that the run has to contain.
    #[must_use]
    fn needs() -> Option<DataType> {
        None
    }

    /// Takes it from the run.
    ///
    /// # Errors
    /// If it isn't there.
    fn take(given: Given<'_, P>) -> Result<Self::Item<'_>, BoxError>;
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Arg<P> for &Context<P> {
    type Item<'r> = &'r Context<P>;

    fn take(given: Given<'_, P>) -> Result<&Context<P>, BoxError> {
        Ok(given.context)
    }
}

/// For functions that own their arguments.
#[diagnostic::do_not_recommend]
impl<P: KubeObject> Arg<P> for Context<P> {
    type Item<'r> = Self;

    fn take(given: Given<'_, P>) -> Result<Self, BoxError> {
        Ok(Self::of_any(Arc::clone(given.context.any())))
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Arg<P> for &P {
    type Item<'r> = &'r P;
    const OF_PRIMARY: bool = true;

    fn take(given: Given<'_, P>) -> Result<&P, BoxError> {
        Ok(given.primary)
    }
}

/// For functions that own their arguments.
#[diagnostic::do_not_recommend]
impl<P: KubeObject> Arg<P> for Arc<P> {
    type Item<'r> = Self;
    const OF_PRIMARY: bool = true;

    fn take(given: Given<'_, P>) -> Result<Self, BoxError> {
        Ok(Self::clone(given.primary))
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, T: Send + Sync + 'static> Arg<P> for Data<T> {
    type Item<'r> = Self;

    fn needs() -> Option<DataType> {
        Some(DataType::of::<T>())
    }

    fn take(given: Given<'_, P>) -> Result<Self, BoxError> {
        Ok(given.context.any().data().get()?)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, T: Send + Sync + 'static> Arg<P> for Option<Data<T>> {
    type Item<'r> = Self;

    fn take(given: Given<'_, P>) -> Result<Self, BoxError> {
        Ok(given.context.data())
    }
}

/// All arguments after the first.
pub trait Args<P: KubeObject> {
    /// Whether they stay the same as long as the primary does.
    const OF_PRIMARY: bool;

    /// The data that the run has to contain.
    #[must_use]
    fn needs() -> Vec<DataType>;
}
