//! A controller that needs no reconciler: its workflow is all that there is to do.

use std::{convert::Infallible, fmt, marker::PhantomData, sync::Arc};

use crate::{
    reconciler::{Context, Reconciler, UpdateControl},
    resource::KubeObject,
};

/// Stands for the reconciler of a controller that has none. Made by [`Controller::of`](crate::Controller::of).
pub struct NoReconciler<P>(PhantomData<fn() -> P>);

impl<P> NoReconciler<P> {
    pub(super) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<P: KubeObject> Reconciler for NoReconciler<P> {
    type Primary = P;
    type Error = Infallible;

    async fn reconcile(&self, _: Arc<P>, _: &Context<P>) -> Result<UpdateControl<P>, Infallible> {
        Ok(UpdateControl::no_update())
    }
}

impl<P> fmt::Debug for NoReconciler<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NoReconciler")
    }
}
