//! The forms of functions, each with up to four arguments after the first.

use std::{future::Future, sync::Arc};

use futures::FutureExt;

use super::{
    argument::{Arg, Args},
    signature::{Answered, ByRef, Call, Given, Later, Owned, Signature, Then},
};
use crate::{
    reconciler::{BoxError, DataType},
    resource::KubeObject,
};

/// Takes the arguments, or returns what is missing.
macro_rules! take {
    ($given:ident; $($arg:ident),*) => {
        $(let $arg = match $arg::take($given) {
            Ok(argument) => argument,
            Err(error) => return Answered::Now(Err(error)),
        };)*
    };
}

macro_rules! forms {
    ($start:ident; $($arg:ident),*) => {
        /// Names the future of an async function for one lifetime: that of `AsyncFn` can't be required to be `Send`.
        #[allow(non_snake_case)]
        pub trait $start<'r, A: 'r, $($arg,)*>: Sync {
            /// The answer.
            type Output;
            /// The future to wait for.
            type Future: Future<Output = Self::Output> + Send + 'r;
            /// Calls it.
            fn start(&'r self, first: &'r A, $($arg: $arg),*) -> Self::Future;
        }

        #[allow(non_snake_case)]
        impl<'r, F, A: 'r, $($arg,)* Fut> $start<'r, A, $($arg,)*> for F
        where
            F: Fn(&'r A, $($arg),*) -> Fut + Sync,
            Fut: Future + Send + 'r,
        {
            type Output = Fut::Output;
            type Future = Fut;

            fn start(&'r self, first: &'r A, $($arg: $arg),*) -> Fut {
                self(first, $($arg),*)
            }
        }

        impl<P: KubeObject, $($arg: Arg<P>),*> Args<P> for ($($arg,)*) {
            const OF_PRIMARY: bool = true $(&& $arg::OF_PRIMARY)*;

            fn needs() -> Vec<DataType> {
                let all: Vec<Option<DataType>> = vec![$($arg::needs()),*];
                all.into_iter().flatten().collect()
            }
        }

        impl<F, A, $($arg,)* R> Signature<Later<fn(A, $($arg),*) -> R>> for F
        where
            F: AsyncFn(&A, $($arg),*) -> R + Send + Sync + 'static,
        {
            type First = A;
            type Args = ($($arg,)*);
            type Return = R;
            const AT_ONCE: bool = false;
        }

        #[allow(non_snake_case, unused_variables)]
        impl<F, P: KubeObject, A: 'static, $($arg,)* R: 'static> Call<P, Later<fn(A, $($arg),*) -> R>> for F
        where
            F: AsyncFn(&A, $($arg),*) -> R
                + for<'r> $start<'r, A, $($arg::Item<'r>,)* Output = R>
                + Send
                + Sync
                + 'static,
            $($arg: Arg<P>,)*
        {
            fn call<'r, T: 'r>(
                &'r self,
                first: &'r Arc<A>,
                given: Given<'r, P>,
                then: Then<R, T>,
            ) -> Answered<'r, Result<T, BoxError>> {
                take!(given; $($arg),*);
                let answer = self.start(&**first, $($arg),*);
                Answered::Later(async move { then(answer.await) }.boxed())
            }
        }

        impl<F, A, $($arg,)* R> Signature<ByRef<fn(A, $($arg),*) -> R>> for F
        where
            F: Fn(&A, $($arg),*) -> R + Send + Sync + 'static,
        {
            type First = A;
            type Args = ($($arg,)*);
            type Return = R;
            const AT_ONCE: bool = true;
        }

        #[allow(non_snake_case, unused_variables)]
        impl<F, P: KubeObject, A, $($arg,)* R> Call<P, ByRef<fn(A, $($arg),*) -> R>> for F
        where
            F: Fn(&A, $($arg),*) -> R + for<'r> Fn(&A, $($arg::Item<'r>),*) -> R + Send + Sync + 'static,
            $($arg: Arg<P>,)*
        {
            fn call<'r, T: 'r>(
                &'r self,
                first: &'r Arc<A>,
                given: Given<'r, P>,
                then: Then<R, T>,
            ) -> Answered<'r, Result<T, BoxError>> {
                // A call of `self` is ambiguous between the two bounds; a call of a function with one bound isn't.
                fn inner<F: Fn(&A, $($arg),*) -> R, A, $($arg,)* R>(f: &F, first: &A, $($arg: $arg),*) -> R {
                    f(first, $($arg),*)
                }
                take!(given; $($arg),*);
                Answered::Now(then(inner(self, &**first, $($arg),*)))
            }
        }

        impl<F, A, $($arg,)* Fut> Signature<Owned<fn(A, $($arg),*) -> Fut>> for F
        where
            F: Fn(Arc<A>, $($arg),*) -> Fut + Send + Sync + 'static,
            Fut: Future,
        {
            type First = A;
            type Args = ($($arg,)*);
            type Return = Fut::Output;
            const AT_ONCE: bool = false;
        }

        #[allow(non_snake_case, unused_variables)]
        impl<F, P: KubeObject, A, $($arg,)* Fut> Call<P, Owned<fn(A, $($arg),*) -> Fut>> for F
        where
            F: Fn(Arc<A>, $($arg),*) -> Fut
                + for<'r> Fn(Arc<A>, $($arg::Item<'r>),*) -> Fut
                + Send
                + Sync
                + 'static,
            Fut: Future + Send + 'static,
            $($arg: Arg<P>,)*
        {
            fn call<'r, T: 'r>(
                &'r self,
                first: &'r Arc<A>,
                given: Given<'r, P>,
                then: Then<Fut::Output, T>,
            ) -> Answered<'r, Result<T, BoxError>> {
                fn inner<F: Fn(A, $($arg),*) -> R, A, $($arg,)* R>(f: &F, first: A, $($arg: $arg),*) -> R {
                    f(first, $($arg),*)
                }
                take!(given; $($arg),*);
                let answer = inner(self, Arc::clone(first), $($arg),*);
                Answered::Later(async move { then(answer.await) }.boxed())
            }
        }
    };
}

forms!(Start0;);
forms!(Start1; A1);
forms!(Start2; A1, A2);
forms!(Start3; A1, A2, A3);
forms!(Start4; A1, A2, A3, A4);
