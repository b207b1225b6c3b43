//! Operators that nobody here wrote run their life on both servers, and leave the same behind: one with kube-rs's own
//! `Controller`, one with controller-runtime in Go.
//!
//! The Go operator is built here from `go-operator`, which takes a while the first time; Go keeps what it has compiled.

use std::{
    error::Error,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, Event},
};
use kube::{
    Api, Client, CustomResourceExt, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
    runtime::wait::{Condition, await_condition},
};
use serde::de::DeserializeOwned;
use serde_json::json;
use test_cluster::{InProcessServer, install_crd};
use tokio::{
    process::{Child, Command},
    sync::Mutex,
    time::timeout,
};

use crate::{
    harness::{
        Tested,
        planes::{self, client_of},
    },
    plain_kube::{Greeting, GreetingSpec, run},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// A running operator, which ends when it is dropped.
enum Operator {
    Task(tokio::task::JoinHandle<()>),
    Process(Child),
}

impl Operator {
    async fn end(self) -> Tested {
        match self {
            Self::Task(task) => task.abort(),
            Self::Process(mut process) => process.kill().await?,
        }
        Ok(())
    }
}

/// Waits for the object.
async fn until<K>(api: &Api<K>, name: &str, what: &str, condition: impl Condition<K>) -> Tested
where
    K: Resource + Clone + std::fmt::Debug + DeserializeOwned + Send + 'static,
{
    let waited = timeout(PATIENCE, await_condition(api.clone(), name, condition)).await;
    waited.map_err(|_| format!("waited in vain for {what}"))??;
    Ok(())
}

/// The life of a greeting from its making to its end. Returns what is left.
async fn life(client: &Client, writes_note: bool) -> Result<Vec<String>, Box<dyn Error>> {
    let greetings = Api::<Greeting>::default_namespaced(client.clone());
    let maps = Api::<ConfigMap>::default_namespaced(client.clone());
    let mut told = Vec::new();
    let greeting = Greeting::new("hello", GreetingSpec { text: "good morning".to_owned() });
    greetings.create(&PostParams::default(), &greeting).await?;
    said(&greetings, &maps, "good morning").await?;
    told.extend(all(client).await?);

    let patch = Patch::Merge(json!({ "spec": { "text": "good night" } }));
    greetings.patch("hello", &PatchParams::default(), &patch).await?;
    said(&greetings, &maps, "good night").await?;

    let defaced = Patch::Merge(json!({ "data": { "text": "defaced" } }));
    maps.patch("hello", &PatchParams::default(), &defaced).await?;
    said(&greetings, &maps, "good night").await?;
    maps.delete("hello", &DeleteParams::default()).await?;
    said(&greetings, &maps, "good night").await?;
    told.extend(all(client).await?);

    greetings.delete("hello", &DeleteParams::default()).await?;
    until(&greetings, "hello", "the greeting's end", |found: Option<&Greeting>| found.is_none()).await?;
    until(&maps, "hello", "the map's end", |found: Option<&ConfigMap>| found.is_none()).await?;
    if writes_note {
        until(&maps, "hello-farewell", "the note", |found: Option<&ConfigMap>| found.is_some()).await?;
    }
    told.extend(all(client).await?);
    Ok(told)
}

/// Waits until the text is in the map and in the status.
async fn said(greetings: &Api<Greeting>, maps: &Api<ConfigMap>, text: &str) -> Tested {
    let in_map = |map: Option<&ConfigMap>| {
        map.and_then(|map| map.data.as_ref()?.get("text")).is_some_and(|found| found == text)
    };
    until(maps, "hello", &format!("a map with {text}"), in_map).await?;
    let in_status = |greeting: Option<&Greeting>| {
        greeting.and_then(|greeting| greeting.status.as_ref()).is_some_and(|status| status.said == text)
    };
    until(greetings, "hello", &format!("a status with {text}"), in_status).await
}

/// What is there, without what differs by nature.
async fn all(client: &Client) -> Result<Vec<String>, Box<dyn Error>> {
    let mut told = Vec::new();
    for map in Api::<ConfigMap>::default_namespaced(client.clone()).list(&ListParams::default()).await? {
        let metadata = &map.metadata;
        let name = metadata.name.as_deref().unwrap_or_default();
        // Each namespace has it where the controllers of the real cluster run.
        if name == "kube-root-ca.crt" {
            continue;
        }
        let owners = metadata.owner_references.iter().flatten();
        let owners: Vec<_> = owners.map(|owner| (&owner.kind, &owner.name, owner.controller)).collect();
        let fields = metadata.managed_fields.iter().flatten();
        let mut fields: Vec<_> = fields.map(|entry| (&entry.manager, &entry.operation)).collect();
        // Entries of one time have another order than those of two.
        fields.sort();
        told.push(format!("map {name} {:?} {owners:?} {fields:?}", map.data));
    }
    for greeting in Api::<Greeting>::default_namespaced(client.clone()).list(&ListParams::default()).await? {
        let (metadata, status) = (&greeting.metadata, &greeting.status);
        let fields = metadata.managed_fields.iter().flatten();
        let mut fields: Vec<_> =
            fields.map(|entry| (&entry.manager, &entry.operation, &entry.subresource)).collect();
        fields.sort();
        let (finalizers, generation) = (&metadata.finalizers, metadata.generation);
        told.push(format!("greeting {generation:?} {finalizers:?} {status:?} {fields:?}"));
    }
    for lease in Api::<Lease>::default_namespaced(client.clone()).list(&ListParams::default()).await? {
        let held = lease.spec.as_ref().is_some_and(|spec| spec.holder_identity.is_some());
        told.push(format!("lease {:?} {held}", lease.metadata.name));
    }
    Ok(told)
}

/// The events about greetings, which come in the background.
async fn events(client: &Client) -> Result<Vec<String>, Box<dyn Error>> {
    let events = Api::<Event>::default_namespaced(client.clone());
    let seen = async || -> Result<Vec<String>, kube::Error> {
        let events = events.list(&ListParams::default()).await?;
        let of_greetings =
            events.items.iter().filter(|event| event.involved_object.kind.as_deref() == Some("Greeting"));
        let mut told: Vec<String> = of_greetings
            .map(|event| format!("{:?} {:?} {:?}", event.type_, event.reason, event.message))
            .collect();
        told.sort();
        told.dedup();
        Ok(told)
    };
    let waited = timeout(PATIENCE, async {
        loop {
            let told = seen().await?;
            if told.len() >= 2 {
                return Ok::<_, kube::Error>(told);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    Ok(waited.await.map_err(|_| "waited in vain for events")??)
}

/// Runs the operator's life on the server of a kubeconfig.
async fn on(
    kubeconfig: &Path,
    start: impl AsyncFnOnce(&Path) -> Result<Operator, Box<dyn Error>>,
) -> Result<Vec<String>, Box<dyn Error>> {
    let client = client_of(kubeconfig).await?;
    install_crd(&client, &Greeting::crd()).await?;
    let operator = start(kubeconfig).await?;
    let is_go = matches!(operator, Operator::Process(_));
    let mut told = life(&client, is_go).await?;
    if is_go {
        told.extend(events(&client).await?);
    }
    operator.end().await?;
    clear(&client).await?;
    Ok(told)
}

/// Removes what outlives an operator, and what others would then find.
async fn clear(client: &Client) -> Tested {
    let maps = Api::<ConfigMap>::default_namespaced(client.clone());
    if maps.get_opt("hello-farewell").await?.is_some() {
        maps.delete("hello-farewell", &DeleteParams::default()).await?;
    }
    let leases = Api::<Lease>::default_namespaced(client.clone());
    leases.delete_collection(&DeleteParams::default(), &ListParams::default()).await?;
    Ok(())
}

async fn on_both(start: impl AsyncFn(&Path) -> Result<Operator, Box<dyn Error>>) -> Tested {
    // The one would take the objects of the other for its own.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::const_new(());
    let alone = ONE_AT_A_TIME.lock().await;
    let real = on(&planes::busy().await.kubeconfig().ok_or("no kubeconfig")?, &start).await?;
    drop(alone);
    let listening = InProcessServer::new().listen().await?;
    let ours = on(listening.kubeconfig(), &start).await?;
    assert_eq!(real, ours);
    Ok(())
}

#[tokio::test]
async fn a_controller_of_kube_rs_lives_the_same_life_on_both_servers() -> Tested {
    on_both(async |kubeconfig| {
        let client = client_of(kubeconfig).await?;
        Ok(Operator::Task(tokio::spawn(run(client))))
    })
    .await
}

#[tokio::test]
async fn an_operator_of_controller_runtime_lives_the_same_life_on_both_servers() -> Tested {
    let program = go_operator().await?;
    on_both(async |kubeconfig| {
        let mut command = Command::new(&program);
        command.env("KUBECONFIG", kubeconfig).stdin(Stdio::null()).kill_on_drop(true);
        // The server takes JSON only, as a real one does for custom kinds.
        command.env("CONTENT_TYPE", "application/json");
        Ok(Operator::Process(command.spawn()?))
    })
    .await
}

/// Builds the operator in Go, in the way of the control plane: the user's settings for other modules don't change it.
async fn go_operator() -> Result<PathBuf, Box<dyn Error>> {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/listen/go-operator");
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("greeter");
    let mut go = Command::new("go");
    go.args(["build", "-trimpath", "-buildvcs=false", "-o"]).arg(&program).arg(".").current_dir(sources);
    go.env("GOTOOLCHAIN", "local").env("GOWORK", "off").env("GOFLAGS", "").env("CGO_ENABLED", "0");
    go.env_remove("GOOS").env_remove("GOARCH");
    let built = go.output().await?;
    if !built.status.success() {
        return Err(format!("go build failed: {}", String::from_utf8_lossy(&built.stderr)).into());
    }
    Ok(program)
}
