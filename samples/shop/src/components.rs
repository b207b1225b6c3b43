//! The components: what belongs together, in which order it starts, and when it is suspended.

use std::time::Duration;

use k8s_openapi::api::{
    apps::v1::{Deployment, StatefulSet},
    autoscaling::v2::HorizontalPodAutoscaler,
    batch::v1::Job,
    core::v1::{ConfigMap, Secret, Service},
    policy::v1::PodDisruptionBudget,
};
use operator_component::{Component, component, feature};
use operator_core::prelude::*;

use crate::{children, types::Shop};

/// How long a component may take. A real one takes minutes.
const GRACE: Duration = Duration::from_secs(20);

fn is_suspended(shop: &Shop) -> bool {
    shop.spec.suspended
}

fn password(_: &Shop) -> Secret {
    children::secret()
}

fn database(shop: &Shop) -> Result<StatefulSet> {
    Ok(children::stateful_set(shop)?)
}

fn peers(shop: &Shop) -> Result<Service> {
    Ok(children::service(shop, "database")?)
}

// ANCHOR: storage
/// The data, which stay while the shop is suspended.
pub(crate) fn storage() -> Component<Shop> {
    component("storage", (password.create_only(), peers.named("database-peers"), database.after(password)))
        .condition("DatabaseReady")
        .suspended_if(is_suspended)
        .grace(GRACE)
}
// ANCHOR_END: storage

fn migration(shop: &Shop) -> Result<Job> {
    Ok(children::job(shop)?)
}

fn version(shop: &Shop) -> String {
    shop.spec.version.clone()
}

// ANCHOR: schema
/// A Job for each version, which must succeed.
pub(crate) fn schema() -> Component<Shop> {
    component("schema", (migration.once_per(version),))
        .condition("MigrationReady")
        .starts_after(&storage())
        .suspended_if(is_suspended)
}
// ANCHOR_END: schema

pub(crate) fn address(shop: &Shop) -> Result<Service> {
    Ok(children::service(shop, "api")?)
}

// ANCHOR: settings
/// The API has to know its own address, which the cluster gives to the Service.
fn settings(_: &Shop, cx: &Context<Shop>) -> Result<Want<ConfigMap>> {
    let ip = cx.seen(address)?.and_then(|service| service.spec.as_ref()?.cluster_ip.clone());
    Ok(ip.map_or_else(
        || Want::wait("NoAddress", "the Service has no address yet"),
        |ip| Want::of(children::settings(&ip)),
    ))
}
// ANCHOR_END: settings

fn api(shop: &Shop) -> Result<Deployment> {
    Ok(children::deployment(shop, "api", shop.spec.replicas)?)
}

fn autoscaler(shop: &Shop) -> Result<HorizontalPodAutoscaler> {
    Ok(children::autoscaler(shop, "api")?)
}

fn budget(shop: &Shop) -> Result<PodDisruptionBudget> {
    Ok(children::budget(shop, "api")?)
}

// ANCHOR: front
/// Starts once there is something to serve. A later failure of the database doesn't keep a new version from it.
pub(crate) fn front() -> Component<Shop> {
    component("front", (address, settings.after(address), api.after(settings), autoscaler, budget))
        .condition("ApiReady")
        .starts_after(&storage())
        .starts_after(&schema())
        .auxiliary(autoscaler)
        .suspended_if(is_suspended)
        // It would scale up again.
        .deleted_on_suspend(autoscaler)
        .grace(GRACE)
}
// ANCHOR_END: front

fn exporter(shop: &Shop) -> Result<Deployment> {
    Ok(children::deployment(shop, "exporter", 1)?)
}

// ANCHOR: metrics
/// Metrics, from the version on that has them.
pub(crate) fn metrics() -> Component<Shop> {
    component("metrics", (exporter,))
        .only_if(|shop: &Shop| shop.spec.metrics)
        .only_if(feature(">=1.8", |shop: &Shop| &*shop.spec.version))
        .suspended_if(is_suspended)
}
// ANCHOR_END: metrics
