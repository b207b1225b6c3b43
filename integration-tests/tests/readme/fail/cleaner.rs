//! A reconciler that is a cleaner as well, written as two traits.
#![allow(dead_code, unused_imports)]

use k8s_openapi::api::core::v1::Pod;
use operator_core::prelude::*;

struct Both;

impl Reconciler for Both { //~ conflicting implementations of trait `operator_core::Reconciler` for type `Both`
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>> {
        Ok(UpdateControl::no_update())
    }
}

impl Cleaner for Both { //~ not all trait items implemented, missing: `Primary`, `reconcile`
    async fn cleanup(&self, _: &Pod, _: &mut Context<Pod>) -> Result<Removal> {
        Ok(Removal::Done)
    }
}

fn main() {
    let _ = Controller::builder(Both);
}
