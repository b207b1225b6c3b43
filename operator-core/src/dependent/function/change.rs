//! Functions that change what another function wants.

use super::{Arg, Args, Failure, Given};
use crate::{reconciler::BoxError, resource::KubeObject};

/// A change of what a node wants: a function of the object, `&mut K`, and of up to four further arguments, such as the primary,
/// `&P`, and `&Context<P>`. It returns nothing, or a `Result<(), E>`. `M` distinguishes the forms; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't change a `{K}` that a node of `{P}` wants",
    label = "expected `fn(&mut {K}, &{P})`",
    note = "a change is a function of `&mut {K}`, and after that of `&{P}`, `&Context<{P}>`, `Data<T>` or `Option<Data<T>>`; it returns nothing, or a `Result<(), E>`; a closure needs the types of its arguments"
)]
pub trait Change<P: KubeObject, K, M>: Send + Sync + 'static {
    /// All arguments after the first, as a tuple.
    type Args: Args<P>;

    /// Changes the object.
    ///
    /// # Errors
    /// If an argument isn't there, or the function fails.
    fn change(&self, object: &mut K, given: Given<'_, P>) -> Result<(), BoxError>;
}

/// What a change may return.
pub trait Done {
    /// Whether it was done.
    ///
    /// # Errors
    /// If it is an error.
    fn done(self) -> Result<(), BoxError>;
}

impl Done for () {
    fn done(self) -> Result<(), BoxError> {
        Ok(())
    }
}

#[diagnostic::do_not_recommend]
impl<E: Failure> Done for Result<(), E> {
    fn done(self) -> Result<(), BoxError> {
        self.map_err(Failure::boxed)
    }
}

macro_rules! changes {
    ($($arg:ident),*) => {
        #[allow(non_snake_case, unused_variables)]
        impl<F, P: KubeObject, K, $($arg,)* R: Done> Change<P, K, fn($($arg),*) -> R> for F
        where
            F: Fn(&mut K, $($arg),*) -> R + for<'r> Fn(&mut K, $($arg::Item<'r>),*) -> R + Send + Sync + 'static,
            $($arg: Arg<P>,)*
        {
            type Args = ($($arg,)*);

            fn change(&self, object: &mut K, given: Given<'_, P>) -> Result<(), BoxError> {
                // A call of `self` is ambiguous between the two bounds; a call of a function with one bound isn't.
                fn inner<F: Fn(&mut K, $($arg),*) -> R, K, $($arg,)* R>(f: &F, object: &mut K, $($arg: $arg),*) -> R {
                    f(object, $($arg),*)
                }
                $(let $arg = $arg::take(given)?;)*
                inner(self, object, $($arg),*).done()
            }
        }
    };
}

changes!(A1);
changes!(A1, A2);
changes!(A1, A2, A3);
changes!(A1, A2, A3, A4);
