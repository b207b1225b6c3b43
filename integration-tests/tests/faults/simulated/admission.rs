//! Webhooks and credentials. There are none inside the process, so their effects are applied to requests on the way there.

use integration_tests::prelude::*;
use operator_core::{client::TransportHook, environment::Environment};

use super::{TestResource, keeper, over, rest, said, saying, scene, under};

const DENIED: &str = "admission webhook \"maps.example.com\" denied the request: no maps on mondays";
const UNREACHABLE: &str = "Internal error occurred: failed calling webhook \"maps.example.com\": failed to call webhook: Post \
\"https://localhost:1/\": dial tcp 127.0.0.1:1: connect: connection refused";

/// Writes something else into each config map that is written, as a mutating webhook may.
fn defacing() -> TransportHook {
    TransportHook::around(|request, inner| async move {
        let is_write =
            *request.method() != http::Method::GET && request.uri().path().contains("/configmaps/");
        if !is_write {
            return inner.send(request).await;
        }
        let (parts, body) = request.into_parts();
        let mut body: Value = serde_json::from_slice(&body.collect_bytes().await?)?;
        if !body["data"].is_null() {
            body["data"]["value"] = "webhook".into();
        }
        inner.send(http::Request::from_parts(parts, body.to_string().into_bytes().into())).await
    })
}

#[tokio::test(start_paused = true)]
async fn f23_a_webhook_that_changes_each_write_leads_to_no_loop() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let builder = scene.operator().environment(|| Environment::real().with_seed(1)).transport(defacing());
    let operator = TestOperator::start(builder.register(keeper(&scene, &script)?)).await?;
    scene.create("one", "first").await?;
    rest(&operator).await?;
    let defaced = async || {
        let maps = scene.values().await?;
        assert!(maps.len() == 2 && maps.values().all(|value| value == "webhook"), "{maps:?}");
        anyhow::Ok(())
    };
    defaced().await?;
    // Each event from outside leads to one attempt more, and then there is peace again.
    let maps = scene.api::<ConfigMap>();
    for round in 0..5 {
        rest(&operator).await?;
        let label = json!({ "metadata": { "labels": { "round": round.to_string() } } });
        maps.patch("one-a", &PatchParams::default(), &Patch::Merge(label)).await?;
        let settled = rest(&operator).await?;
        assert!(settled.runs_of(&scene.key("one")) <= 2, "{}", settled.runs_of(&scene.key("one")));
        assert!(settled.written().len() <= 4, "{:?}", settled.written());
    }
    defaced().await?;
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f26_a_denial_is_said_with_the_webhook_s_name_and_heals_by_itself() -> Result<()> {
    for (answer, words) in [
        (StatusAnswer::forbidden(DENIED), "webhook maps.example.com refuses it: no maps on mondays"),
        (StatusAnswer::new(500, "InternalError", UNREACHABLE), "webhook maps.example.com can't be called"),
    ] {
        let scene = scene().await?;
        let script = saying().on_error(|_, _, error| said(chain_of(error)));
        let denial = Rule::writes().resource("configmaps").status(answer);
        let faults = Faults::new([denial.clone()]);
        let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
        scene.create("one", "first").await?;
        tokio::time::sleep(Duration::from_secs(300)).await;
        let one: TestResource = scene.resources.get("one").await?;
        let message = one.status.and_then(|status| status.message).unwrap_or_default();
        assert!(message.contains(words), "{message}");
        let (attempts, runs) = (denial.fired(), script.runs.count());
        assert!(
            (3..30).contains(&attempts) && runs <= 30,
            "{attempts} attempts, {runs} runs in five minutes"
        );
        // No event tells that a webhook has changed its mind: the retries find out.
        faults.off();
        rest(&operator).await?;
        assert!(scene.values().await?.values().all(|value| value == "first"));
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f28_credentials_that_are_refused_for_minutes_cost_no_restart() -> Result<()> {
    let scene = scene().await?;
    let script = saying();
    let unauthorized = StatusAnswer::new(401, "Unauthorized", "Unauthorized");
    let refusals = Rule::when("anything", |_| true).status(unauthorized);
    let faults = Faults::new([refusals.clone()]);
    faults.off();
    let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
    scene.create("one", "first").await?;
    rest(&operator).await?;
    faults.on();
    scene.set("one", "second").await?;
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert!((5..200).contains(&refusals.fired()), "{} requests in five minutes", refusals.fired());
    let map = scene.api::<ConfigMap>().get("one-a").await?;
    assert_eq!(value_of(&map), Some("first"), "nothing was written meanwhile");
    faults.off();
    rest(&operator).await?;
    assert!(scene.values().await?.values().all(|value| value == "second"));
    over(&operator, &scene, &["one"]).await
}
