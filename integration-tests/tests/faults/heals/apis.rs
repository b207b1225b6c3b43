//! An aggregated API that is down. Only the nodes whose kind is in it have to wait, and no run waits for it again and again.

use futures::FutureExt;
use http::{Response, StatusCode};
use http_body_util::{BodyExt, Full};
use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject};
use operator_core::client::TransportHook;

use super::telling;
use crate::simulated::{pass, scene, under_hooks};

/// What happens to questions about the API.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Api {
    Refuses,
    Hangs,
}

const PRIMARIES: usize = 20;

/// The API is down while `is_down`; `asked` counts the questions about it.
fn hook(api: Api, is_down: &Arc<AtomicBool>, asked: &Arc<AtomicUsize>) -> TransportHook {
    let (is_down, asked) = (Arc::clone(is_down), Arc::clone(asked));
    TransportHook::around(move |request, inner| {
        let is_it = request.uri().path().starts_with("/apis/metrics.k8s.io");
        if is_it {
            asked.fetch_add(1, Ordering::Relaxed);
        }
        let down = is_it && is_down.load(Ordering::Relaxed);
        async move {
            match api {
                _ if !down => inner.send(request).await,
                Api::Hangs => std::future::pending().await,
                Api::Refuses => {
                    let status = json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503,
                        "reason": "ServiceUnavailable", "message": "service unavailable" });
                    let body = Full::new(status.to_string().into()).map_err(|never| match never {}).boxed_unsync();
                    let answer = Response::builder().status(StatusCode::SERVICE_UNAVAILABLE);
                    Ok(answer.header("content-type", "application/json").body(body)?)
                }
            }
        }
        .boxed()
    })
}

async fn holds_up_only_who_needs_it(api: Api) -> Result<()> {
    let scene = scene().await?;
    let (is_down, asked) = (Arc::new(AtomicBool::new(true)), Arc::default());
    let kind = || ApiResource {
        group: "metrics.k8s.io".to_owned(),
        version: "v1beta1".to_owned(),
        api_version: "metrics.k8s.io/v1beta1".to_owned(),
        kind: "NodeMetrics".to_owned(),
        plural: "nodes".to_owned(),
    };
    let metrics = move |primary: &TestResource| {
        let mut metrics = DynamicObject::new(&primary.name_any(), &kind());
        metrics.metadata.namespace = primary.namespace();
        metrics
    };
    let metrics = node(metrics).named("metrics").kind(kind()).when_served();
    let workflow = Workflow::builder().nodes((wanted_map("a"), metrics)).build()?;
    let controller = telling(&scene, &workflow).max_concurrent_reconciles(2);
    let _operator = under_hooks([hook(api, &is_down, &asked)], &scene, controller).await?;
    for number in 0..PRIMARIES {
        scene.create(&format!("p-{number}"), "value").await?;
    }
    let ready = async || -> Result<Vec<String>> {
        let all = scene.resources.list(&ListParams::default()).await?.items;
        let ready = |one: &TestResource| {
            let conditions = one.status.as_ref().map(|status| &status.conditions[..]).unwrap_or_default();
            conditions.iter().find(|of| of.type_ == "Ready").map(|of| of.status.clone())
        };
        Ok(all.iter().filter_map(ready).collect())
    };
    // The first ones wait for an answer, no longer than ten seconds.
    pass(if api == Api::Hangs { 12 } else { 2 }).await;
    ensure!(scene.values().await?.len() == PRIMARIES, "{:?}", scene.values().await?);
    ensure!(ready().await? == ["False"; PRIMARIES], "each says that it is unknown: {:?}", ready().await?);
    pass(600).await;
    let questions = asked.load(Ordering::Relaxed);
    ensure!(questions < 30, "{questions} questions in ten minutes");
    is_down.store(false, Ordering::Relaxed);
    pass(120).await;
    ensure!(
        ready().await? == ["True"; PRIMARIES],
        "two minutes after there is an answer: {:?}",
        ready().await?
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn an_api_that_is_down_holds_up_only_who_needs_it() -> Result<()> {
    for api in [Api::Refuses, Api::Hangs] {
        holds_up_only_who_needs_it(api).await.with_context(|| format!("{api:?}"))?;
    }
    Ok(())
}
