//! Faults of a server itself, on both servers if the one inside the process supports them. The names of the
//! tests begin with their rows.

mod authorities;
mod canary;
mod components;
mod connections;
mod definitions;
mod desired;
mod fights;
mod finalizers;
mod leases;
mod namespaces;
mod objects;
mod rights;
mod scrapes;
mod servers;
mod webhook_server;
mod webhooks;

use integration_tests::prelude::*;
use k8s_openapi::NamespaceResourceScope;
use kube::core::object::HasStatus;

/// A reconciler that keeps a config map with the primary's value, reports it in the status, and errors as well.
fn keeping<K>() -> Script<K>
where
    K: TestObject + HasStatus<Status = TestStatus>,
{
    Script::new(|_, primary: Arc<K>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, primary.value());
            context.resource_operations().server_side_apply(&map).await?;
            Ok(Said::status(said(primary.value())))
        })
    })
    .on_error(|_, _, error| said(chain_of(error)))
}

/// Its controller, which retries soon and often.
fn keeper<K>(scene: &Scene<K>, script: &Script<K>) -> Result<ControllerBuilder<Script<K>>>
where
    K: TestObject + HasStatus<Status = TestStatus> + Resource<Scope = NamespaceResourceScope>,
{
    Ok(script
        .controller()
        .owns::<ConfigMap>()
        .retry(GenericRetry::linear(Duration::from_millis(200), 1_000)?)
        .namespaces([&scene.namespace]))
}

/// Waits until the config map with that name holds a value.
async fn kept<K>(scene: &Scene<K>, name: &str, value: &str) -> Result<ConfigMap>
where
    K: TestObject + Resource<Scope = NamespaceResourceScope>,
{
    let what = format!("{value:?} in the config map {name}");
    scene.until_other(&what, name, |map: &ConfigMap| value_of(map) == Some(value)).await
}

/// Waits until the status has a text.
async fn says<K>(scene: &Scene<K>, name: &str, words: &str) -> Result<String>
where
    K: TestObject + HasStatus<Status = TestStatus> + Resource<Scope = NamespaceResourceScope>,
{
    let message = |one: &K| one.status().and_then(|status| status.message.clone()).unwrap_or_default();
    let what = format!("{words:?} in the status of {name}");
    Ok(message(&scene.until(&what, name, |one| message(one).contains(words)).await?))
}
