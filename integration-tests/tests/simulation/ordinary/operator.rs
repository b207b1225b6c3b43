//! A cache: what an operator ordinarily makes, with a workload that keeps data, and kinds whose controllers count and date.

use std::hash::{BuildHasher, RandomState};

use integration_tests::prelude::*;
use k8s_openapi::{
    api::{
        apps::v1::StatefulSet,
        autoscaling::v2::HorizontalPodAutoscaler,
        batch::v1::{CronJob, Job},
        policy::v1::PodDisruptionBudget,
    },
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{CustomResource, core::DynamicObject};
use operator_core::{
    Wire as _,
    prelude::{Context, Reconciler, Result, Run},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::faults::Fault;

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "caches.example.com", version = "v1", kind = "Cache", namespaced, status = "CacheStatus")]
pub(super) struct CacheSpec {
    pub(super) members: i32,
    pub(super) backups: Option<String>,
    pub(super) metrics: bool,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
pub(super) struct CacheStatus {
    #[serde(default)]
    pub(super) ready: i32,
    #[serde(default)]
    pub(super) runs: usize,
    #[serde(default)]
    pub(super) conditions: Vec<Condition>,
}

fn labels(cache: &Cache) -> Value {
    json!({ "cache": cache.name_any() })
}

/// Made once: each call makes another password.
fn password(_: &Cache) -> Secret {
    let password = format!("{:016x}", RandomState::new().hash_one("password"));
    Secret { string_data: Some([("password".to_owned(), password)].into()), ..Secret::default() }
}

pub(super) fn headless(cache: &Cache) -> Result<Service> {
    Ok(serde_json::from_value(json!({
        "spec": {
            "clusterIP": "None",
            "selector": labels(cache),
            "ports": [{ "name": "cache", "port": 6379, "protocol": "TCP" }],
        },
    }))?)
}

fn pod(cache: &Cache, args: &str) -> Value {
    json!({
        "name": "cache",
        "image": "cache:1",
        "args": [args],
        "env": [{
            "name": "PASSWORD",
            "valueFrom": { "secretKeyRef": { "name": format!("{}-password", cache.name_any()), "key": "password" } },
        }],
    })
}

fn members(cache: &Cache) -> Result<StatefulSet> {
    Ok(serde_json::from_value(json!({
        "spec": {
            "serviceName": format!("{}-headless", cache.name_any()),
            "replicas": cache.spec.members,
            "selector": { "matchLabels": labels(cache) },
            "template": {
                "metadata": { "labels": labels(cache) },
                "spec": { "containers": [pod(cache, "serve")] },
            },
            "volumeClaimTemplates": [{
                "metadata": { "name": "data" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": { "requests": { "storage": "1Gi" } },
                },
            }],
        },
    }))?)
}

fn budget(cache: &Cache) -> Result<PodDisruptionBudget> {
    let spec = json!({ "maxUnavailable": 1, "selector": { "matchLabels": labels(cache) } });
    Ok(serde_json::from_value(json!({ "spec": spec }))?)
}

fn scaler(cache: &Cache) -> Result<HorizontalPodAutoscaler> {
    let target = json!({ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": format!("{}-members", cache.name_any()) });
    let spec = json!({ "minReplicas": 1, "maxReplicas": 9, "scaleTargetRef": target });
    Ok(serde_json::from_value(json!({ "spec": spec }))?)
}

/// Joins the members, once for each number of them.
fn join(cache: &Cache) -> Result<Job> {
    let args = format!("join {}", cache.spec.members);
    Ok(serde_json::from_value(json!({
        "metadata": { "name": format!("{}-join-{}", cache.name_any(), cache.spec.members) },
        "spec": {
            "template": { "spec": { "restartPolicy": "Never", "containers": [pod(cache, &args)] } },
        },
    }))?)
}

fn backup(cache: &Cache) -> Result<Option<CronJob>> {
    let Some(schedule) = &cache.spec.backups else { return Ok(None) };
    let template = json!({ "spec": { "restartPolicy": "Never", "containers": [pod(cache, "save")] } });
    Ok(serde_json::from_value(json!({
        "spec": { "schedule": schedule, "jobTemplate": { "spec": { "template": template } } },
    }))?)
}

pub(super) fn monitor(cache: &Cache) -> Option<DynamicObject> {
    let data = json!({ "spec": { "selector": { "matchLabels": labels(cache) } } });
    cache.spec.metrics.then(|| DynamicObject { types: None, metadata: Default::default(), data })
}

fn status(cache: &Cache, run: &Run<Cache>) -> CacheStatus {
    let ready = run.get(members).and_then(|set| set.status.as_ref()?.ready_replicas);
    CacheStatus {
        ready: ready.unwrap_or(0),
        runs: run.data::<usize>().map_or(0, |runs| *runs),
        conditions: run.conditions(cache),
    }
}

/// What the reconciler does beside its workflow: it tells what it does, and has one fault or none.
pub(super) struct Caches {
    fault: Fault,
    counted: AtomicUsize,
}

impl Reconciler for Caches {
    type Primary = Cache;

    async fn reconcile(&self, cache: &Cache, cx: &mut Context<Cache>) -> Result<UpdateControl<Cache>> {
        cx.events().normal("Served", format!("{} members are wanted", cache.spec.members));
        self.fault.happens(&self.counted, cache, cx).await
    }
}

/// The operator with this fault.
pub(super) fn operator(fault: Fault) -> OperatorBuilder {
    Operator::builder().register(controller(fault))
}

pub(super) fn controller(fault: Fault) -> ControllerBuilder<Caches> {
    let monitor = monitor.kind(("monitoring.example.com/v1", "ServiceMonitor"));
    Controller::of::<Cache>()
        .reconciler(Caches { fault, counted: AtomicUsize::new(0) })
        .workflow((
            password.create_only(),
            headless,
            members.after(password).after(headless),
            budget,
            scaler.after(members),
            join.create_only().after(members),
            backup.after(members),
        ))
        .workflow((monitor.when_served().after(headless),))
        .owns::<ConfigMap>()
        .records_events(true)
        .puts::<usize>()
        .status(status)
}
