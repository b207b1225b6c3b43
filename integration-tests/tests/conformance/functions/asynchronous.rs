//! Async functions, and data that the reconciler puts into the run.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::{Want, prelude::*};

use super::{a_secret, done, says};

/// What another system grants.
struct Quota {
    maps: usize,
    /// How often it was looked at.
    looks: Arc<AtomicUsize>,
    /// How often somebody has come to the keys.
    keys: Arc<AtomicUsize>,
}

/// Borrows its arguments over an await.
async fn granted(
    primary: &TestResource,
    quota: Data<Quota>,
    cx: &Context<TestResource>,
) -> Result<Want<ConfigMap>> {
    tokio::time::sleep(Duration::from_millis(5)).await;
    quota.looks.fetch_add(1, Ordering::SeqCst);
    if quota.maps == 0 {
        return Ok(Want::none(format!("{} has no quota", cx.primary_key().name())));
    }
    let data = [("value".to_owned(), format!("{} of {}", primary.spec.value, quota.maps))];
    Ok(Want::of(ConfigMap { data: Some(data.into()), ..ConfigMap::default() }))
}

/// Owns them.
async fn keys(primary: Arc<TestResource>, quota: Option<Data<Quota>>) -> Option<Secret> {
    tokio::task::yield_now().await;
    quota.as_ref().map(|quota| quota.keys.fetch_add(1, Ordering::SeqCst));
    (quota.is_some() && says(&primary, "locked")).then(a_secret)
}

async fn is_granted(map: &ConfigMap, quota: Data<Quota>) -> bool {
    tokio::task::yield_now().await;
    map.data.is_some() && quota.maps > 1
}

#[operator_test]
async fn data_of_the_run_reaches_async_functions_and_each_is_asked_once() -> Result<()> {
    let scene = Scene::new("functions-async").await?;
    let maps = Arc::new(AtomicUsize::new(1));
    let (looks, keys_asked) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let script = Script::new({
        let (maps, looks, keys) = (Arc::clone(&maps), Arc::clone(&looks), Arc::clone(&keys_asked));
        move |_, primary: Arc<TestResource>, context: &mut Context<TestResource>| {
            if !says(&primary, "no-quota") {
                context.put(Quota {
                    maps: maps.load(Ordering::SeqCst),
                    looks: Arc::clone(&looks),
                    keys: Arc::clone(&keys),
                });
            }
            Box::pin(async move {
                context.run().await?;
                Ok(UpdateControl::no_update())
            })
        }
    });
    let workflow =
        Workflow::builder().nodes((granted.ready(is_granted), keys.requires(granted))).explicit_invocation();
    let controller = script.controller().workflow(workflow).puts::<Quota>();
    let operator = scene.start(controller.namespaces([&scene.namespace])).await?;

    scene.create("one", "locked").await?;
    assert_eq!(done(&operator.settled().await?), ["PATCH configmaps/one-granted -> 201"], "not ready yet");
    assert_eq!(looks.swap(0, Ordering::SeqCst), 1, "it is asked once in a run");
    assert_eq!(keys_asked.load(Ordering::SeqCst), 0, "in order only");

    maps.store(2, Ordering::SeqCst);
    scene.patch("one", json!({ "spec": { "value": "locked again" } })).await?;
    let expected = ["PATCH configmaps/one-granted -> 200", "PATCH secrets/one-keys -> 201"];
    assert_eq!(done(&operator.settled().await?), expected);

    maps.store(0, Ordering::SeqCst);
    scene.patch("one", json!({ "spec": { "value": "locked" } })).await?;
    let expected = ["DELETE secrets/one-keys -> 200", "DELETE configmaps/one-granted -> 200"];
    assert_eq!(done(&operator.settled().await?), expected, "what isn't wanted goes with what requires it");

    let looked = looks.load(Ordering::SeqCst);
    scene.failures.expect("no `conformance::functions::asynchronous::Quota` has been put into this run");
    scene.patch("one", json!({ "spec": { "value": "no-quota" } })).await?;
    assert_eq!(done(&operator.settled().await?), [""; 0], "its node fails before anything is asked");
    assert_eq!(looks.load(Ordering::SeqCst), looked);
    Ok(())
}
