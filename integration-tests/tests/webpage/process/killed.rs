//! F16: the process is killed after each single write of a page's life, before it gets the answer, and started again.

use futures::{StreamExt, TryStreamExt, stream};
use integration_tests::prelude::*;
use k8s_openapi::api::networking::v1::Ingress;
use webpage::WebPage;

use super::Scene;
use crate::support::{PATIENCE, Running, until};

/// How many lives are lived at the same time.
const AT_ONCE: usize = 4;

/// The outcome of a page's life.
#[derive(Debug)]
struct Life {
    /// The page and its children before its end.
    state: Vec<Value>,
    /// The writes that the API server took, sorted.
    done: Vec<String>,
    /// The first of all.
    first: String,
    /// How often the process was killed.
    kills: usize,
    /// Whether some child was replaced between beginning and end.
    has_replaced: bool,
}

#[tokio::test]
async fn f16_a_process_that_is_killed_after_any_write_goes_on_where_it_was() -> anyhow::Result<()> {
    let calm = life(None).await.context("without a kill")?;
    let is_kind = |kind: &str| calm.done.iter().any(|write| write.contains(kind));
    for kind in ["webpages/page ", "webpages/page/status ", "configmaps/", "deployments/", "services/"] {
        assert!(is_kind(kind), "nothing of {kind} is written, so nothing is tried: {:#?}", calm.done);
    }
    assert!(is_kind("DELETE ingresses/page"), "{:#?}", calm.done);
    assert!(calm.first.contains("webpages/page "), "the finalizer comes first: {}", calm.first);

    let lives = (1..=calm.done.len()).map(|last| async move {
        anyhow::Ok((last, Box::pin(life(Some(last))).await.with_context(|| format!("killed after {last}"))))
    });
    let lives: Vec<_> = stream::iter(lives).buffer_unordered(AT_ONCE).try_collect().await?;
    for (last, life) in lives {
        let at = format!("killed after write {last} of {:#?}", calm.done);
        // Whatever never came about is this test's to tell.
        let life = life.unwrap_or_else(|error| panic!("{at}: {error:#}"));
        assert_eq!(life.kills, 1, "{at}");
        assert_eq!(life.state, calm.state, "{at}");
        assert_eq!(life.done, calm.done, "what was done is not done again, {at}");
        assert_eq!(life.first, calm.first, "nothing is made before the finalizer is there, {at}");
        assert!(!life.has_replaced, "{at}");
    }
    Ok(())
}

/// Lives a page's life in a namespace of its own. The operator is killed after this number of writes.
async fn life(last: Option<usize>) -> anyhow::Result<Life> {
    let scene = Scene::new().await?;
    if let Some(last) = last {
        scene.gateway.stop_after(last);
    }
    let mut run = scene.cleaning("cleaning").await?;
    let mut kills = 0;
    let (state, has_replaced) = {
        let mut user = std::pin::pin!(user(&scene));
        loop {
            tokio::select! {
                biased;
                lived = &mut user => break lived?,
                () = scene.gateway.is_shut() => {
                    run = killed(&scene, run).await?;
                    kills += 1;
                }
            }
        }
    };
    if kills == 0 && last.is_some() {
        // The page was gone before the test heard that the last write of all was done.
        let shut = tokio::time::timeout(PATIENCE, scene.gateway.is_shut()).await;
        shut.context("there were fewer writes than without a kill")?;
        run = killed(&scene, run).await?;
        kills += 1;
    }
    run.signal("TERM").await?;
    let code = run.ended().await?.code();
    anyhow::ensure!(code == Some(0), "{code:?}: {:#?}", run.said);

    let namespace = format!("/namespaces/{}/", scene.namespace);
    let told = |path: &str| path.split_once(&namespace).map_or(path, |(_, path)| path).to_owned();
    let writes = scene.gateway.writes().into_iter().filter(|write| write.code < 300);
    let mut done: Vec<String> =
        writes.map(|write| format!("{} {} {}", write.method, told(&write.path), write.code)).collect();
    let first = done.first().cloned().unwrap_or_default();
    done.sort();
    Ok(Life { state, done, first, kills, has_replaced })
}

/// Kills the process and starts another one.
async fn killed(scene: &Scene, mut run: Running) -> anyhow::Result<Running> {
    run.signal("KILL").await?;
    anyhow::ensure!(run.ended().await?.code().is_none(), "it has ended by itself");
    scene.gateway.reopen();
    scene.cleaning("cleaning").await
}

/// The actions of the page's user. Returns the state before the page's end, and whether some child was replaced.
async fn user(scene: &Scene) -> anyhow::Result<(Vec<Value>, bool)> {
    scene.create_with("page", json!({ "html": "<p>first</p>", "exposed": true })).await?;
    scene.exists::<Ingress>("page").await?;
    scene.is_complete("page", "<p>first</p>").await?;
    let before = uids(scene).await?;
    scene.edit("page", "<p>second</p>").await?;
    scene.is_complete("page", "<p>second</p>").await?;
    scene.patch("page", json!({ "exposed": false })).await?;
    scene.is_gone::<Ingress>("page").await?;
    scene.is_seen("page").await?;
    scene.edit("page", "an error").await?;
    scene.is_seen("page").await?;
    scene.edit("page", "<p>third</p>").await?;
    scene.is_complete("page", "<p>third</p>").await?;
    let (state, after) = (state(scene).await?, uids(scene).await?);

    scene.api::<WebPage>().delete("page", &Default::default()).await?;
    scene.is_gone::<WebPage>("page").await?;
    scene.is_gone::<ConfigMap>("page-html").await?;
    until("the end of all children", async || scene.children().await.ok()?.is_empty().then_some(())).await?;
    Ok((state, !after.is_subset(&before)))
}

async fn uids(scene: &Scene) -> anyhow::Result<BTreeSet<String>> {
    Ok(scene.uids().await?.iter().map(ToString::to_string).collect())
}

/// The page and its children without what differs from one life to the next.
async fn state(scene: &Scene) -> anyhow::Result<Vec<Value>> {
    let mut objects = scene.list::<WebPage>().await?;
    objects.extend(scene.children().await?);
    let clean = |object: Value| {
        let metadata = &object["metadata"];
        let owners = metadata["ownerReferences"].as_array().cloned().unwrap_or_default();
        let managers = metadata["managedFields"].as_array().cloned().unwrap_or_default();
        let managers: BTreeSet<String> =
            managers.iter().map(|entry| format!("{} {}", entry["manager"], entry["operation"])).collect();
        let mut labels = metadata["labels"].clone();
        if let Some(owner) = labels.get_mut("operator-core.io/owner") {
            // By its name, as in the references.
            *owner = owners
                .iter()
                .find(|known| known["uid"] == *owner)
                .map_or(Value::Null, |known| known["name"].clone());
        }
        let mut spec = object["spec"].clone();
        if object["kind"] == "Service"
            && let Some(spec) = spec.as_object_mut()
        {
            spec.retain(|field, _| !field.starts_with("clusterIP"));
        }
        json!({
            "kind": object["kind"],
            "name": metadata["name"],
            "labels": labels,
            "finalizers": metadata["finalizers"],
            "owners": owners.iter().map(|owner| owner["name"].clone()).collect::<Vec<_>>(),
            "managers": managers,
            "spec": spec,
            "data": object["data"],
            // Of the children it is the cluster's.
            "status": if object["kind"] == "WebPage" { object["status"].clone() } else { Value::Null },
        })
    };
    Ok(objects.into_iter().map(clean).collect())
}
