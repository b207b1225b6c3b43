//! Conditions of nodes: functions of the child, of the primary, or of both.

use std::{any::type_name, future::Future, marker::PhantomData, sync::Arc};

use futures::{FutureExt, future::BoxFuture};

use crate::{
    dependent::function::{Answered, Args, ByHand, Call, Failure, Given, Signature},
    reconciler::{BoxError, Context, DataType},
    resource::KubeObject,
    results::{NodeKey, ReconcileResult, Secondary, Verdict},
    workflow::conditions::condition::{self, AnyCondition, Asking},
};

/// The types that the function of a condition may return.
#[diagnostic::on_unimplemented(
    message = "a condition can't return `{Self}`",
    label = "a condition returns `bool`, `Verdict`, or a `Result` of one of these",
    note = "it returns `bool`, `Verdict`, or a `Result` of one of these"
)]
pub trait Answer {
    /// Its verdict.
    ///
    /// # Errors
    /// If it is an error.
    fn verdict(self) -> Result<Verdict, BoxError>;
}

#[diagnostic::do_not_recommend]
impl Answer for bool {
    fn verdict(self) -> Result<Verdict, BoxError> {
        Ok(Verdict::when(self, ""))
    }
}

#[diagnostic::do_not_recommend]
impl Answer for Verdict {
    fn verdict(self) -> Result<Verdict, BoxError> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl<A: Answer, E: Failure> Answer for Result<A, E> {
    fn verdict(self) -> Result<Verdict, BoxError> {
        self.map_err(Failure::boxed)?.verdict()
    }
}

/// The types of a condition's first argument. `M` distinguishes the two; the compiler infers it.
#[diagnostic::on_unimplemented(
    message = "a condition of this node can't be about `{Self}`",
    label = "its first argument should be the child, `&{K}`, or the primary, `&{P}`",
    note = "its first argument is the child, `&{K}`, or the primary, `&{P}`"
)]
pub trait Subject<P, K, M> {
    /// Whether it is the child.
    const IS_CHILD: bool;

    /// The argument; `None` if it is the child, and there is none.
    fn pick<'r>(child: Option<&'r Arc<K>>, primary: &'r Arc<P>) -> Option<&'r Arc<Self>>;
}

/// Marks conditions of the child.
#[derive(Debug)]
pub struct Child;
/// Marks conditions of the primary.
#[derive(Debug)]
pub struct OfPrimary;

impl<P, K> Subject<P, K, Child> for K {
    const IS_CHILD: bool = true;

    fn pick<'r>(child: Option<&'r Arc<K>>, _: &'r Arc<P>) -> Option<&'r Arc<K>> {
        child
    }
}

impl<P, K> Subject<P, K, OfPrimary> for P {
    const IS_CHILD: bool = false;

    fn pick<'r>(_: Option<&'r Arc<K>>, primary: &'r Arc<P>) -> Option<&'r Arc<P>> {
        Some(primary)
    }
}

/// A condition of a node that makes objects of type `K`. Implemented for functions; implement it yourself for a value
/// with its own state.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition of a node that makes `{K}`",
    label = "expected `fn(&{K}) -> bool`",
    note = "a condition is a function `fn(&{K}) -> bool`, or a value whose type implements `Condition<{P}, {K}>`"
)]
pub trait Condition<P: KubeObject, K: Send + Sync + 'static, M: 'static = ByHand>:
    Send + Sync + 'static
{
    /// Whether it takes the child, and not only the primary.
    #[doc(hidden)]
    const IS_OF_CHILD: bool = true;

    /// Whether it is met for this child, and if not, why. If the node has several, it is evaluated for each.
    ///
    /// # Errors
    /// If it can't be determined: then the node fails.
    fn check(
        &self,
        child: &Arc<K>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> impl Future<Output = Result<Verdict, BoxError>> + Send;

    /// The data that the run has to contain.
    #[doc(hidden)]
    #[must_use]
    fn needs() -> Vec<DataType> {
        Vec::new()
    }

    /// The same without its type.
    #[doc(hidden)]
    fn erased(self) -> ErasedCondition<P, K>
    where
        Self: Sized,
    {
        ErasedCondition(Box::new(ByValue(self, PhantomData::<fn() -> M>)))
    }
}

/// Marks functions.
#[derive(Debug)]
pub struct OfCondition<S, M>(PhantomData<(S, M)>);

impl<P, K, F, S: 'static, M: 'static> Condition<P, K, OfCondition<S, M>> for F
where
    P: KubeObject,
    K: Send + Sync + 'static,
    F: Signature<S, First: Subject<P, K, M> + Send + Sync, Args: Args<P>, Return: Answer>,
    F: Call<P, S>,
{
    const IS_OF_CHILD: bool = <F::First as Subject<P, K, M>>::IS_CHILD;

    async fn check(
        &self,
        child: &Arc<K>,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Verdict, BoxError> {
        match F::First::pick(Some(child), primary) {
            Some(first) => self.call(first, Given { primary, context }, Answer::verdict).get().await,
            None => Ok(Verdict::met()),
        }
    }

    fn needs() -> Vec<DataType> {
        <F::Args as Args<P>>::needs()
    }

    fn erased(self) -> ErasedCondition<P, K> {
        ErasedCondition(Box::new(ByFunction(self, PhantomData::<fn() -> (S, M)>)))
    }
}

/// A condition without its own type.
pub struct ErasedCondition<P: KubeObject, K>(Box<dyn CheckOf<P, K>>);

/// The part that is compiled for each condition.
trait CheckOf<P: KubeObject, K>: Send + Sync {
    fn check<'r>(
        &'r self,
        child: Option<&'r Arc<K>>,
        given: Given<'r, P>,
    ) -> Answered<'r, Result<Verdict, BoxError>>;
}

struct ByValue<C, M>(C, PhantomData<fn() -> M>);

impl<P, K, C, M> CheckOf<P, K> for ByValue<C, M>
where
    P: KubeObject,
    K: Send + Sync + 'static,
    C: Condition<P, K, M>,
    M: 'static,
{
    fn check<'r>(
        &'r self,
        child: Option<&'r Arc<K>>,
        given: Given<'r, P>,
    ) -> Answered<'r, Result<Verdict, BoxError>> {
        let Some(child) = child else { return Answered::Now(Ok(Verdict::met())) };
        Answered::Later(self.0.check(child, given.primary, given.context).boxed())
    }
}

struct ByFunction<F, S, M>(F, PhantomData<fn() -> (S, M)>);

impl<P, K, F, S, M> CheckOf<P, K> for ByFunction<F, S, M>
where
    P: KubeObject,
    K: Send + Sync + 'static,
    F: Call<P, S, First: Subject<P, K, M>, Return: Answer>,
{
    fn check<'r>(
        &'r self,
        child: Option<&'r Arc<K>>,
        given: Given<'r, P>,
    ) -> Answered<'r, Result<Verdict, BoxError>> {
        match F::First::pick(child, given.primary) {
            Some(first) => self.0.call(first, given, Answer::verdict),
            None => Answered::Now(Ok(Verdict::met())),
        }
    }
}

/// The question that a condition answers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Decides {
    Ready,
    Gone,
}

/// A condition of a node's objects, without their types: compiled for each pair of primary and child.
struct OfNode<P: KubeObject, K> {
    condition: ErasedCondition<P, K>,
    of_child: bool,
    decides: Decides,
    several: bool,
    name: &'static str,
}

/// Erases a condition.
pub(super) fn erase<P, K, C, M>(condition: C, decides: Decides, several: bool) -> Arc<dyn AnyCondition>
where
    P: KubeObject,
    K: Send + Sync + 'static,
    C: Condition<P, K, M>,
    M: 'static,
{
    let name = NodeKey::of::<C>().short().unwrap_or_default();
    let (condition, of_child) = (condition.erased(), C::IS_OF_CHILD);
    Arc::new(OfNode { condition, of_child, decides, several, name })
}

/// The name of a condition in outlines.
pub(super) fn name_of<C>() -> String {
    let name = type_name::<C>();
    if name.ends_with("{{closure}}") {
        "closure".to_owned()
    } else {
        crate::workflow::outline::short_name(name)
    }
}

impl<P: KubeObject, K: Send + Sync + 'static> OfNode<P, K> {
    async fn one(&self, child: Option<&Arc<K>>, given: Given<'_, P>) -> Result<Verdict, BoxError> {
        let verdict = self.condition.0.check(child, given).get().await?;
        if verdict.is_met() || !verdict.reason().is_empty() {
            return Ok(verdict);
        }
        Ok(verdict.with_reason(match self.name {
            "" => "its condition is not met".to_owned(),
            name => format!("`{name}` is not met"),
        }))
    }

    async fn each(
        &self,
        objects: &[Secondary],
        may_lack: bool,
        given: Given<'_, P>,
    ) -> Result<Verdict, BoxError> {
        if objects.is_empty() && self.decides == Decides::Ready && !self.several && !may_lack {
            return Ok(Verdict::not_met("it doesn't exist yet"));
        }
        for object in objects {
            object.check()?;
            let Some(child) = object.get::<K>() else { continue };
            let verdict = self.one(Some(&child), given).await?;
            if !verdict.is_met() {
                let of = if objects.len() > 1 { format!("{}: ", object.id()) } else { String::new() };
                let reason = format!("{of}{}", verdict.reason());
                return Ok(verdict.with_reason(reason));
            }
        }
        Ok(Verdict::met())
    }
}

impl<P: KubeObject, K: Send + Sync + 'static> AnyCondition for OfNode<P, K> {
    fn check<'r>(&'r self, asking: Asking<'r>) -> BoxFuture<'r, condition::Answer> {
        async move {
            let (primary, context) = asking.given.typed::<P>()?;
            let context = context.of_node(asking.dependent.name());
            let given = Given { primary: &primary, context: &context };
            if !self.of_child {
                return self.one(None, given).await;
            }
            let objects = match self.decides {
                Decides::Ready => asking.secondaries().await?,
                Decides::Gone => asking.dependent.left(asking.given).await?,
            };
            let has_none = asking.reconciled.is_some_and(ReconcileResult::has_nothing_to_show);
            let may_lack = asking.may_lack || has_none;
            self.each(&objects, may_lack, given).await
        }
        .boxed()
    }
}
