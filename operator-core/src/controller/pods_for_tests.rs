//! The controller that tests of declarations begin with.

use k8s_openapi::api::core::v1::Pod;

use crate::{
    error::BoxError,
    reconciler::{Context, Removal, UpdateControl, traits::Cleaner},
};

/// A reconciler that does nothing.
pub(crate) struct Pods;

impl Cleaner for Pods {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, _: &Pod, _: &mut Context<Pod>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}
