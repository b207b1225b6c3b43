//! A controller that needs no reconciler: its workflow does everything.

use std::{fmt, marker::PhantomData};

use crate::{
    reconciler::{BoxError, Context, Reconciler, UpdateControl},
    resource::KubeObject,
};

/// Stands for the reconciler of a controller that has none. Made by [`Controller::of`](crate::Controller::of).
pub struct NoReconciler<P>(PhantomData<fn() -> P>);

impl<P> NoReconciler<P> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Reconciler for NoReconciler<P> {
    type Primary = P;

    async fn reconcile(&self, _: &P, _: &mut Context<P>) -> Result<UpdateControl<P>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

impl<P> fmt::Debug for NoReconciler<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoReconciler")
    }
}
