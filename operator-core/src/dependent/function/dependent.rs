//! A dependent: a function, or a value with its own state.

use std::{future::Future, marker::PhantomData, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use super::{Answered, Args, Call, Given, Judged, Shape, Signature, Want, WantOf, Wanted, wanted::drafted};
use crate::{
    dependent::{
        Asked,
        erased::Answer,
        question::{Ask, Drafts, Own},
    },
    reconciler::{BoxError, Context, DataType},
    resource::KubeObject,
    results::ReconcileResult,
};

/// Marks dependents that are values of a user's type. It is the default, so it need not be written.
#[derive(Debug)]
pub struct ByHand;
/// Marks functions.
#[derive(Debug)]
pub struct Function<S, W>(PhantomData<(S, W)>);

/// Computes what should exist for a primary of type `P`. It is implemented for functions. A value with its own state
/// implements it, and is wired in the same way:
///
/// ```
/// use std::sync::Arc;
///
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use operator_core::{Dependent, One, prelude::*};
///
/// struct Zone {
///     domain: String,
/// }
///
/// impl Dependent<Pod> for Zone {
///     type Shape = One<ConfigMap>;
///
///     async fn want(&self, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Want<ConfigMap>> {
///         let data = [("domain".to_owned(), self.domain.clone())];
///         Ok(Want::of(ConfigMap { data: Some(data.into()), ..ConfigMap::default() }))
///     }
/// }
///
/// let zone = Zone { domain: "example.com".to_owned() };
/// let controller = Controller::of_existing::<Pod>().workflow((zone.named("zone"),));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dependent of `{P}`",
    note = "a dependent is a function `fn(&{P}) -> K`, or a value whose type implements `Dependent<{P}>`"
)]
pub trait Dependent<P: KubeObject, M: 'static = ByHand>: Send + Sync + 'static {
    /// [`One<K>`](crate::One) or [`Many<K>`](crate::Many).
    type Shape: Shape;

    /// When it is called.
    #[doc(hidden)]
    const JUDGED: Judged = Judged { before_order: false, holds: true, optional: false, reads: false };

    /// What should exist. It is called once per run of the workflow, and only if everything that the node depends on is
    /// ready.
    ///
    /// # Errors
    /// If this can't be determined. The node fails, and its objects are not changed.
    fn want(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = WantOf<Self::Shape>> + Send;

    /// Brings its objects into the desired state. A custom implementation may do something before or after that, or
    /// instead of it, and returns what was done. Marks on objects, adoption and the deletion of unwanted objects are part
    /// of the default, [`Usual::reconcile`]. It isn't called for a dependent that only reads. JOSDK:
    /// `DependentResource.reconcile`.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
    /// use operator_core::{
    ///     BoxError, Dependent, One,
    ///     dependent::Usual,
    ///     prelude::*,
    ///     workflow::ReconcileResult,
    /// };
    ///
    /// struct Settings;
    ///
    /// impl Dependent<Pod> for Settings {
    ///     type Shape = One<ConfigMap>;
    ///
    ///     async fn want(&self, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Want<ConfigMap>> {
    ///         Ok(Want::of(ConfigMap::default()))
    ///     }
    ///
    ///     async fn reconcile(
    ///         &self,
    ///         pod: &Arc<Pod>,
    ///         _: &Context<Pod>,
    ///         usual: Usual<'_>,
    ///     ) -> Result<ReconcileResult, BoxError> {
    ///         let done = usual.reconcile().await?;
    ///         println!("{:?}: {:?}", pod.metadata.name, done.operation());
    ///         Ok(done)
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// If it fails, the node fails.
    fn reconcile(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
        usual: Usual<'_>,
    ) -> impl Future<Output = Result<ReconcileResult, BoxError>> + Send {
        let _ = (primary, context);
        usual.reconcile()
    }

    /// The data that the run has to contain.
    #[doc(hidden)]
    #[must_use]
    fn needs() -> Vec<DataType> {
        Vec::new()
    }

    /// The same without its type.
    #[doc(hidden)]
    fn erased(self) -> Erased<P>
    where
        Self: Sized,
    {
        Erased(Box::new(OfValue(self, PhantomData::<fn(P) -> M>)))
    }
}

/// The usual way in which a dependent is reconciled: see [`Dependent::reconcile`].
#[must_use = "nothing is reconciled unless it is called"]
pub struct Usual<'r>(BoxFuture<'r, Result<ReconcileResult, BoxError>>);

impl<'r> Usual<'r> {
    pub(in crate::dependent) fn new(way: BoxFuture<'r, Result<ReconcileResult, BoxError>>) -> Self {
        Self(way)
    }

    /// Creates wanted objects that are missing, and changes those that differ. Returns what was done. Objects that are no
    /// longer wanted are deleted later, when everything behind the node was brought about.
    ///
    /// # Errors
    /// If the wanted objects can't be determined, or can't be written.
    pub fn reconcile(self) -> impl Future<Output = Result<ReconcileResult, BoxError>> + Send + 'r {
        self.0
    }
}

debug_of!(Usual<'_>: "Usual");

/// A dependent of primaries of type `P`, without its own type.
pub struct Erased<P: KubeObject>(Box<dyn AskOf<P>>);

/// The part that is compiled for each dependent: one small object.
trait AskOf<P: KubeObject>: Send + Sync {
    fn ask<'r>(&'r self, given: Given<'r, P>) -> Answered<'r, Result<Want<Drafts>, BoxError>>;

    /// The part of a value; `None` for a function.
    fn own(&self) -> Option<&dyn Own> {
        None
    }
}

struct OfValue<P, D, M>(D, PhantomData<fn(P) -> M>);

impl<P: KubeObject, M: 'static, D: Dependent<P, M>> AskOf<P> for OfValue<P, D, M> {
    fn ask<'r>(&'r self, given: Given<'r, P>) -> Answered<'r, Result<Want<Drafts>, BoxError>> {
        let wanted = async move { drafted::<D::Shape>(self.0.want(given.primary, given.context).await?) };
        Answered::Later(wanted.boxed())
    }

    fn own(&self) -> Option<&dyn Own> {
        Some(self)
    }
}

impl<P: KubeObject, M: 'static, D: Dependent<P, M>> Own for OfValue<P, D, M> {
    fn reconcile<'r>(&'r self, asked: Asked<'r>, usual: Usual<'r>) -> Answer<'r, ReconcileResult> {
        async move {
            let (primary, context) = asked.typed::<P>()?;
            self.0.reconcile(&primary, &context, usual).await
        }
        .boxed()
    }
}

struct OfFunction<F, S, W>(F, PhantomData<fn() -> (S, W)>);

impl<P, F, S, W> AskOf<P> for OfFunction<F, S, W>
where
    P: KubeObject,
    F: Call<P, S, First: PrimaryIs<P>, Return: Wanted<W>>,
{
    fn ask<'r>(&'r self, given: Given<'r, P>) -> Answered<'r, Result<Want<Drafts>, BoxError>> {
        self.0.call(PrimaryIs::same(given.primary), given, Wanted::erased)
    }
}

/// The same for primaries of any type: compiled once for each type of primaries.
impl<P: KubeObject> Ask for Erased<P> {
    fn ask<'r>(&'r self, asked: Asked<'r>) -> Answered<'r, Result<Want<Drafts>, BoxError>> {
        let answer = async move {
            let (primary, context) = asked.typed::<P>()?;
            self.0.ask(Given { primary: &primary, context: &context }).get().await
        };
        Answered::Later(answer.boxed())
    }

    fn own(&self) -> Option<&dyn Own> {
        self.0.own()
    }
}

/// Requires that a function's primary is the workflow's.
#[diagnostic::on_unimplemented(
    message = "this dependent takes `&{Self}`, but the workflow is one of `{P}`",
    label = "its first argument should be `&{P}`; `&Context<{P}>` and `Data<T>` may come after it"
)]
pub trait PrimaryIs<P>: KubeObject {
    /// The primary, which is of the same type.
    fn same(primary: &Arc<P>) -> &Arc<Self>;
}

impl<P: KubeObject> PrimaryIs<P> for P {
    fn same(primary: &Arc<P>) -> &Arc<P> {
        primary
    }
}

impl<P, F, S: 'static, W: 'static> Dependent<P, Function<S, W>> for F
where
    P: KubeObject,
    F: Signature<S, First: PrimaryIs<P>, Args: Args<P>, Return: Wanted<W>>,
    F: Call<P, S>,
{
    type Shape = <F::Return as Wanted<W>>::Shape;

    const JUDGED: Judged = Judged {
        before_order: F::AT_ONCE && <F::Args as Args<P>>::OF_PRIMARY,
        holds: <F::Return as Wanted<W>>::HOLDS,
        optional: <F::Return as Wanted<W>>::OPTIONAL,
        reads: <F::Return as Wanted<W>>::READS,
    };

    async fn want(&self, primary: &Arc<P>, context: &Context<P>) -> WantOf<Self::Shape> {
        self.call(PrimaryIs::same(primary), Given { primary, context }, Wanted::wanted).get().await
    }

    fn needs() -> Vec<DataType> {
        <F::Args as Args<P>>::needs()
    }

    fn erased(self) -> Erased<P> {
        Erased(Box::new(OfFunction(self, PhantomData::<fn() -> (S, W)>)))
    }
}
