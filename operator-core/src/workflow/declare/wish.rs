//! Whether a custom node should exist: the result of a function of the primary.

use std::{marker::PhantomData, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::condition::Answer;
use crate::{
    dependent::{
        Asked, Gate, Wishes,
        function::{Args, Call, Failure, Given, Judged, PrimaryIs, Want},
    },
    reconciler::BoxError,
    resource::KubeObject,
};

/// The types that the function of `only_if` may return.
#[diagnostic::on_unimplemented(
    message = "`only_if` can't take a function that returns `{Self}`",
    note = "it returns `bool`, `Verdict`, `Want<()>`, or a `Result` of one of these"
)]
pub trait Wish<W> {
    /// Whether it may say "hold".
    const HOLDS: bool;

    /// Its answer.
    ///
    /// # Errors
    /// If it is an error.
    fn wish(self) -> Result<Want<()>, BoxError>;
}

/// Marks results that mean yes or no.
#[derive(Debug)]
pub struct YesOrNo;
/// Marks results that may also say "hold".
#[derive(Debug)]
pub struct OrHold;
/// Marks results that may also fail.
#[derive(Debug)]
pub struct OrHoldFallible;

#[diagnostic::do_not_recommend]
impl<A: Answer> Wish<YesOrNo> for A {
    const HOLDS: bool = false;

    fn wish(self) -> Result<Want<()>, BoxError> {
        let verdict = self.verdict()?;
        Ok(if verdict.is_met() { Want::Is(()) } else { Want::None(verdict.reason().to_owned()) })
    }
}

#[diagnostic::do_not_recommend]
impl Wish<OrHold> for Want<()> {
    const HOLDS: bool = true;

    fn wish(self) -> Result<Want<()>, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<E: Failure> Wish<OrHoldFallible> for Result<Want<()>, E> {
    const HOLDS: bool = true;

    fn wish(self) -> Result<Want<()>, BoxError> {
        self.map_err(Failure::boxed)
    }
}

/// A function of the primary that says whether a node should exist.
pub(super) struct OfWish<P, F, S, W>(F, PhantomData<fn(P) -> (S, W)>);

impl<P, F, S, W> OfWish<P, F, S, W>
where
    P: KubeObject,
    S: 'static,
    W: 'static,
    F: Call<P, S, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>>,
{
    /// The function as a gate of a node.
    pub(super) fn gate(wanted: F) -> Gate {
        let before_order = F::AT_ONCE && <F::Args as Args<P>>::OF_PRIMARY;
        let judged =
            Judged { before_order, holds: <F::Return as Wish<W>>::HOLDS, optional: true, reads: false };
        Gate { judged, wishes: Arc::new(Self(wanted, PhantomData)) }
    }
}

impl<P, F, S, W> Wishes for OfWish<P, F, S, W>
where
    P: KubeObject,
    F: Call<P, S, First: PrimaryIs<P>, Return: Wish<W>>,
{
    fn wish<'r>(&'r self, asked: Asked<'r>) -> BoxFuture<'r, Result<Want<()>, BoxError>> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            let given = Given { primary: &primary, context: &context };
            let want = self.0.call(PrimaryIs::same(&primary), given, Wish::wish).get().await?;
            Ok(match want {
                Want::None(reason) if reason.is_empty() => Want::none("its condition is not met"),
                other => other,
            })
        }
        .boxed()
    }
}
