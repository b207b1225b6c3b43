//! How much memory a cached object takes, compared with its JSON.

#[path = "support/server.rs"]
mod server;
mod support;

use futures::future;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Container, ContainerPort, EnvVar},
};
use kube::{
    Resource,
    runtime::{reflector, watcher},
};
use operator_core::{
    ResourceType,
    bench::{BareInformer, InformerSettings},
    environment::Environment,
    resource::KubeObject,
};
use serde_json::{Value, json};
use server::Server;
use support::{MANAGER, actual, budget, measured};
use tokio::runtime::Builder;

const LISTED: u64 = 2_000;

/// What an informer of these objects holds, in bytes for each; `own_managers` are those whose managed fields it keeps.
fn held_for_each<K>(items: &[Value], own_managers: &[&str]) -> f64
where
    K: KubeObject + Resource<DynamicType = ()>,
{
    let server = Server::with(items);
    let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let mut settings = InformerSettings::new("bench", ResourceType::of::<K>());
    settings.own_managers = own_managers.iter().map(|manager| (*manager).to_owned()).collect();
    let mut kept = None;
    // All of it happens on this thread, which is the one that is counted.
    let counted = allocation_counter::measure(|| {
        let informer = runtime.block_on(async {
            let access = (server.client(), Environment::real());
            let informer = BareInformer::<K>::new(settings, None, None, access, |_| {});
            {
                let run = Box::pin(informer.run(future::pending()));
                future::select(run, Box::pin(informer.synced())).await;
            }
            informer
        });
        kept = Some(informer);
    });
    assert_eq!(kept.map(|informer| informer.sizes().store), Some(items.len()));
    counted.bytes_current as f64 / items.len() as f64
}

/// The mean length of the objects' JSON without managed fields.
fn json_for_each(items: &[Value]) -> f64 {
    let lengths = items.iter().map(|item| {
        let mut item = item.clone();
        item["metadata"].as_object_mut().expect("metadata is an object").remove("managedFields");
        item.to_string().len()
    });
    lengths.sum::<usize>() as f64 / items.len() as f64
}

/// What a store of kube-rs holds of them, in bytes for each, with all managed fields or without any.
fn held_by_kube_rs<K>(items: &[Value], managed_fields: bool) -> f64
where
    K: KubeObject + Resource<DynamicType = ()>,
{
    let (reader, mut writer) = reflector::store::<K>();
    let counted = allocation_counter::measure(|| {
        writer.apply_watcher_event(&watcher::Event::Init);
        for item in items {
            let mut object: K =
                serde_json::from_str(&item.to_string()).expect("an object as the server sends it");
            if !managed_fields {
                object.meta_mut().managed_fields = None;
            }
            writer.apply_watcher_event(&watcher::Event::InitApply(object));
        }
        writer.apply_watcher_event(&watcher::Event::InitDone);
    });
    assert_eq!(reader.len(), items.len());
    counted.bytes_current as f64 / items.len() as f64
}

fn compare<K>(what: &str, items: &[Value])
where
    K: KubeObject + Resource<DynamicType = ()>,
{
    let json = json_for_each(items);
    for (own_managers, which) in [(&[][..], "no managed fields"), (&[MANAGER][..], "its own managed fields")]
    {
        let held = held_for_each::<K>(items, own_managers);
        measured(&format!(
            "{what} of {json:.0} bytes of JSON, kept with {which}: {held:.0} bytes, {:.2} times its JSON: {:.2} times \
             and 300 bytes",
            held / json,
            (held - 300.0) / json,
        ));
    }
    for (managed_fields, which) in [(false, "cleared"), (true, "as they come")] {
        let held = held_by_kube_rs::<K>(items, managed_fields);
        measured(&format!(
            "    the same in a store of kube-rs, managed fields {which}: {held:.0} bytes, {:.2} times its JSON",
            held / json
        ));
    }
}

/// What the types of a deployment with so many variables take before any text is in them: whatever is absent has its
/// place all the same, and each of the four maps has a node for eleven entries.
fn types_of_deployment(variables: usize) -> usize {
    let map_node = 11 * 2 * size_of::<String>() + 2 * size_of::<usize>();
    size_of::<Deployment>()
        + size_of::<Container>()
        + size_of::<ContainerPort>()
        + variables * size_of::<EnvVar>()
        + 4 * map_node
}

fn main() {
    budget("memory per cached object: at most 1.1 times its JSON without managed fields, and 300 bytes");
    for variables in [0, 8, 64] {
        let items: Vec<Value> = (0..LISTED)
            .map(|number| actual(&format!("deployment-{number}"), variables, number + 1))
            .collect();
        compare::<Deployment>(&format!("deployment with {variables} variables"), &items);
        let (types, json) = (types_of_deployment(variables), json_for_each(&items));
        measured(&format!(
            "    its types alone, without any text: {types} bytes, {:.2} times its JSON (a deployment {}, a container {}, a \
             variable {})",
            types as f64 / json,
            size_of::<Deployment>(),
            size_of::<Container>(),
            size_of::<EnvVar>(),
        ));
    }
    let maps: Vec<Value> = (0..LISTED)
        .map(|number| {
            json!({
                "metadata": {
                    "name": format!("map-{number}"), "namespace": "shop", "resourceVersion": (number + 1).to_string(),
                    "uid": format!("1f0a7c3e-55aa-4d2b-9d0e-{number:012}"), "creationTimestamp": "2026-11-21T12:00:00Z",
                },
                "data": { "application.properties": "key=value\n".repeat(100) },
            })
        })
        .collect();
    compare::<ConfigMap>("config map", &maps);
}
