//! Workflows that a reconciler runs in ways that can't work, and kinds without a definition.
#![allow(dead_code, unused_imports)]

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Service};
use operator_core::prelude::*;

fn map(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

struct Pods;

impl Reconciler for Pods {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, cx: &mut Context<Pod>) -> Result<UpdateControl<Pod>> {
        let first = cx.run();
        let second = cx.run(); //~ cannot borrow `*cx` as mutable more than once at a time
        first.await?;
        second.await?;
        Ok(UpdateControl::no_update())
    }
}

async fn a_part_beside_the_whole(cx: &mut Context<Pod>) -> Result<()> {
    let part = cx.run_only((map,));
    let whole = cx.run(); //~ cannot borrow `*cx` as mutable more than once at a time
    part.await?;
    whole.await?;
    Ok(())
}

async fn two_parts(cx: &mut Context<Pod>) -> Result<()> {
    let first = cx.run_only((map,));
    let second = cx.run_only((map,)); //~ cannot borrow `*cx` as mutable more than once at a time
    first.await?;
    second.await?;
    Ok(())
}

async fn parts(cx: &mut Context<Pod>) -> Result<()> {
    cx.run_only(map).await?; //~ is not a part of a workflow of `Pod`
    cx.run_only(("map",)).await?; //~ `(&str,)` is not a part of a workflow of `Pod`
    Ok(())
}

fn without_a_definition() {
    let _ = Controller::of::<Service>(); //~ Service` doesn't include the definition of its kind
    let _ = Controller::of_existing::<Service>().reconciler(Pods); //~ type mismatch resolving `<Pods as Reconciler>::Primary == Service`
}

fn main() {}
