//! The controller that tests of declarations begin with.

use k8s_openapi::api::core::v1::Pod;

use crate::{
    error::BoxError,
    reconciler::{Cleaner, Context, Reconciler, Removal, UpdateControl},
};

/// A reconciler that does nothing.
pub(crate) struct Pods;

impl Reconciler for Pods {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

impl Cleaner for Pods {
    async fn cleanup(&self, _: &Pod, _: &mut Context<Pod>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}
