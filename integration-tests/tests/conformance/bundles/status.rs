//! What a bundle says about itself.

use std::time::Duration;

use integration_tests::{Package, PackageStatus, prelude::*};
use k8s_openapi::api::core::v1::Namespace;
use operator_component::{
    Bundle, BundleState, BundleStatus, Settings, bundle,
    generator::{LookupKey, RenderContext},
};
use operator_core::{BoxError, Objects, Run, testing::Profile};

use super::{named, objects_of};

/// What the words say, as in the other tests; `fails` is no object.
fn objects(cx: &RenderContext<'_, Package>) -> Result<Objects, BoxError> {
    let words: Vec<_> = cx.parameters()["value"].as_str().unwrap_or_default().split(' ').collect();
    if words.contains(&"fails") {
        return Err("there is nothing to install".into());
    }
    let known: Vec<_> = words.into_iter().filter(|word| word.starts_with(['c', 's', 'x'])).collect();
    Ok(objects_of(&known.join(" ")))
}

// ANCHOR: pack
/// A long time, so that nothing happens by itself; suspended by a word.
struct Calm;

impl Settings<Package> for Calm {
    fn requeue(&self, _: &Package) -> Duration {
        Duration::from_secs(3600)
    }

    fn is_suspended(&self, primary: &Package) -> bool {
        primary.spec.value.contains("pause")
    }
}

fn pack() -> Bundle<Package> {
    bundle("pack", objects).settings(Calm).inventory(2)
}

fn status(primary: &Package, run: &Run<Package>) -> PackageStatus {
    PackageStatus { bundle: Bundle::of(&pack(), primary, run) }
}
// ANCHOR_END: pack

async fn scene(name: &str) -> Result<Scene<Package>> {
    let cluster = cluster_with(Profile::Full).await?;
    cluster.install_crds([Package::crd()]).await?;
    Scene::on(cluster, name).await
}

async fn told(scene: &Scene<Package>) -> Result<BundleStatus> {
    Ok(scene.resources.get("one").await?.status.unwrap_or_default().bundle)
}

fn ready(status: &BundleStatus) -> String {
    let ready = status.conditions.iter().find(|condition| condition.type_ == "Ready");
    ready.map_or_else(String::new, |of| format!("{} {} {}", of.status, of.reason, of.message))
}

#[operator_test]
async fn a_bundle_says_how_far_it_is_and_writes_no_more_than_that() -> Result<()> {
    let scene = scene("bundles-status").await?;
    let controller = scene.controller(&Script::idle()).workflow((pack(),)).status(status);
    let operator = scene.start(controller).await?;
    scene.create("one", "c1 c2 s1").await?;
    let written = operator.settled().await?.written();
    let count = |what: &str| written.iter().filter(|line| line.contains(what)).count();
    assert_eq!((count("configmaps"), count("secrets")), (2, 1), "{written:?}");
    assert!((1..=3).contains(&count("/status")), "{written:?}");
    let first = told(&scene).await?;
    assert_eq!(ready(&first), "True Ready 3/3 ready");
    assert_eq!((first.state, first.revision), (Some(BundleState::Ready), Some(1)));
    assert_eq!((first.observed_generation, first.applied_generation), (Some(1), Some(1)));
    assert!(first.processing_since.is_none() && first.processing_digest == first.last_processing_digest);
    let kinds: Vec<_> =
        first.inventory.kinds.iter().map(|(kind, of)| (&**kind, of.total, of.ready)).collect();
    assert_eq!(kinds, [("ConfigMap", 2, 2), ("Secret", 1, 1)]);
    assert_eq!(first.inventory.objects.len(), 2, "as many as it names");

    let asked = json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "1" } } });
    scene.patch("one", asked).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "nothing is new");

    scene.patch("one", json!({ "spec": { "value": "c1 pause" } })).await?;
    operator.settled().await?;
    let suspended = told(&scene).await?;
    assert_eq!(ready(&suspended), "Unknown Suspended the bundle is suspended");
    assert!(scene.api::<Secret>().get_opt("s1").await?.is_some(), "nothing changes");

    scene.patch("one", json!({ "spec": { "value": "c1" } })).await?;
    operator.settled().await?;
    let second = told(&scene).await?;
    assert_eq!((ready(&second).as_str(), second.applied_generation), ("True Ready 1/1 ready", Some(3)));
    assert_eq!(
        second.inventory.kinds.values().map(|of| of.total).sum::<u32>(),
        1,
        "what has gone isn't counted"
    );
    assert!(second.revision > Some(1) && second.last_applied_at != first.last_applied_at);
    assert!(scene.api::<Secret>().get_opt("s1").await?.is_none());

    scene.failures.expect("there is nothing to install");
    scene.patch("one", json!({ "spec": { "value": "fails" } })).await?;
    operator.settled().await?;
    let failed = told(&scene).await?;
    assert!(ready(&failed).starts_with("False Error"), "{}", ready(&failed));
    assert_eq!((failed.state, failed.applied_generation), (Some(BundleState::Error), Some(3)));
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(scene.api::<ConfigMap>().get_opt("c1").await?.is_none());
    Ok(())
}

/// In a namespace that nobody has made yet, which is named after that of the primary.
struct Elsewhere;

impl Settings<Package> for Elsewhere {
    fn namespace(&self, primary: &Package) -> Option<String> {
        primary.metadata.namespace.as_ref().map(|namespace| format!("{namespace}-apps"))
    }
}

fn elsewhere() -> Bundle<Package> {
    bundle("elsewhere", objects).settings(Elsewhere)
}

#[operator_test]
async fn a_missing_namespace_is_made_and_stays() -> Result<()> {
    let scene = scene("bundles-elsewhere").await?;
    let status =
        |primary: &Package, run: &Run<Package>| PackageStatus { bundle: elsewhere().of(primary, run) };
    let place = format!("{}-apps", scene.namespace);
    let controller = scene.controller(&Script::idle()).workflow((elsewhere(),)).status(status);
    let operator = scene.start(controller.namespaces([&scene.namespace, &place])).await?;
    scene.create("one", "c1").await?;
    operator.settled().await?;
    let maps = Api::<ConfigMap>::namespaced(scene.client.clone(), &place);
    assert!(maps.get_opt("c1").await?.is_some(), "{:?}", told(&scene).await?);
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    assert!(maps.get_opt("c1").await?.is_none());
    let namespaces = Api::<Namespace>::all(scene.client.clone());
    let left = namespaces.get(&place).await?;
    assert!(
        left.metadata.deletion_timestamp.is_none()
            && left.labels().keys().all(|key| !key.contains("operator-core"))
    );
    namespaces.delete(&place, &Default::default()).await?;
    Ok(())
}

/// What it makes has the value of an object that others have made.
struct Looking;

impl operator_component::generator::Generator<Package> for Looking {
    async fn generate(&self, cx: &RenderContext<'_, Package>) -> Result<Objects, BoxError> {
        let key = LookupKey {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: cx.namespace().unwrap_or_default().to_owned(),
            name: "source".to_owned(),
        };
        let found = cx.lookup(&key).await?;
        let value = found.map_or_else(|| "absent".to_owned(), |map| map["data"]["value"].to_string());
        let mut objects = Objects::new();
        let data = Some([("value".to_owned(), value)].into());
        objects.push(ConfigMap { metadata: named("copy"), data, ..ConfigMap::default() });
        Ok(objects)
    }
}

fn looking() -> Bundle<Package> {
    bundle("looking", Looking).settings(Calm)
}

#[operator_test]
async fn what_was_looked_up_wakes_the_primary_when_it_changes() -> Result<()> {
    let scene = scene("bundles-lookup").await?;
    let status = |primary: &Package, run: &Run<Package>| PackageStatus { bundle: looking().of(primary, run) };
    let controller = scene.controller(&Script::idle()).workflow((looking(),)).status(status);
    let operator = scene.start(controller).await?;
    scene.create("one", "c1").await?;
    operator.settled().await?;
    let maps = scene.api::<ConfigMap>();
    let copied = async || {
        let data = maps.get("copy").await?.data.unwrap_or_default();
        Ok::<_, anyhow::Error>(data.get("value").cloned().unwrap_or_default())
    };
    assert_eq!(copied().await?, "absent");
    let asked = json!({ "metadata": { "annotations": { "operator-core.io/requested-at": "1" } } });
    scene.patch("one", asked).await?;
    assert!(operator.settled().await?.requests.is_empty(), "what is watched isn't read again");

    let data = Some([("value".to_owned(), "1".to_owned())].into());
    let source = ConfigMap { metadata: named("source"), data, ..ConfigMap::default() };
    maps.create(&Default::default(), &source).await?;
    operator.settled().await?;
    assert_eq!(copied().await?, "\"1\"");
    let other = json!({ "data": { "value": "2" } });
    maps.patch("source", &PatchParams::default(), &Patch::Merge(other)).await?;
    operator.settled().await?;
    assert_eq!(copied().await?, "\"2\"");
    maps.delete("source", &Default::default()).await?;
    operator.settled().await?;
    assert_eq!(copied().await?, "absent");
    Ok(())
}

/// Refers to a Secret, whose account is what is made.
struct Referring;

impl Settings<Package> for Referring {
    fn requeue(&self, _: &Package) -> Duration {
        Duration::from_secs(3600)
    }

    fn references(&self, primary: &Package) -> Vec<LookupKey> {
        vec![account(primary.metadata.namespace.as_deref())]
    }
}

fn account(namespace: Option<&str>) -> LookupKey {
    LookupKey {
        api_version: "v1".to_owned(),
        kind: "Secret".to_owned(),
        namespace: namespace.unwrap_or_default().to_owned(),
        name: "account".to_owned(),
    }
}

struct Accounts;

impl operator_component::generator::Generator<Package> for Accounts {
    async fn generate(&self, cx: &RenderContext<'_, Package>) -> Result<Objects, BoxError> {
        let found = cx.lookup(&account(cx.namespace())).await?.ok_or("it is referred to")?;
        let value = found["data"]["name"].as_str().unwrap_or_default().to_owned();
        let mut objects = Objects::new();
        let data = Some([("value".to_owned(), value)].into());
        objects.push(ConfigMap { metadata: named("copy"), data, ..ConfigMap::default() });
        Ok(objects)
    }
}

fn referring() -> Bundle<Package> {
    bundle("referring", Accounts).settings(Referring)
}

#[operator_test]
async fn what_a_primary_refers_to_is_waited_for_and_begins_a_revision() -> Result<()> {
    let scene = scene("bundles-references").await?;
    let status =
        |primary: &Package, run: &Run<Package>| PackageStatus { bundle: referring().of(primary, run) };
    let controller = scene.controller(&Script::idle()).workflow((referring(),)).status(status);
    let operator = scene.start(controller).await?;
    scene.create("one", "c1").await?;
    operator.settled().await?;
    let waits = told(&scene).await?;
    assert_eq!((waits.state, waits.revision), (Some(BundleState::Pending), None));
    let what = format!("Secret {}/account (v1) not found: the primary refers to it", scene.namespace);
    assert!(ready(&waits).contains(&what), "{}", ready(&waits));

    let (maps, secrets) = (scene.api::<ConfigMap>(), scene.api::<Secret>());
    let secret = |name: &str| {
        let string_data = Some([("name".to_owned(), name.to_owned())].into());
        Secret { metadata: named("account"), string_data, ..Secret::default() }
    };
    secrets.create(&Default::default(), &secret("anna")).await?;
    operator.settled().await?;
    let first = told(&scene).await?;
    assert_eq!((first.state, first.revision), (Some(BundleState::Ready), Some(1)));

    // What doesn't belong to its content begins nothing.
    let labels = json!({ "metadata": { "labels": { "team": "blue" } } });
    secrets.patch("account", &PatchParams::default(), &Patch::Merge(labels)).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0]);

    let other = json!({ "stringData": { "name": "otto" } });
    secrets.patch("account", &PatchParams::default(), &Patch::Merge(other)).await?;
    operator.settled().await?;
    let second = told(&scene).await?;
    assert_eq!((second.state, second.revision), (Some(BundleState::Ready), Some(2)));
    assert_ne!(second.processing_digest, first.processing_digest);
    let copy = maps.get("copy").await?;
    assert_eq!(copy.data.and_then(|data| data.get("value").cloned()).as_deref(), Some("b3R0bw=="));

    // What exists stays, while it waits again.
    secrets.delete("account", &Default::default()).await?;
    assert_eq!(operator.settled().await?.written().len(), 1, "the status");
    let waits = told(&scene).await?;
    assert_eq!((waits.state, waits.revision), (Some(BundleState::Pending), Some(2)));
    maps.get("copy").await?;
    Ok(())
}

fn quiet() -> Bundle<Package> {
    bundle("quiet", |cx: &RenderContext<'_, Package>| -> Result<Objects, BoxError> {
        let mut objects = Objects::new();
        objects.push(ConfigMap { metadata: named(cx.name()), ..ConfigMap::default() });
        objects.push(Secret { metadata: named(cx.name()), ..Secret::default() });
        Ok(objects)
    })
    .settings(Calm)
}

/// Each is looked at every hour.
#[tokio::test(start_paused = true)]
async fn twenty_bundles_at_rest_write_nothing_for_a_day() -> Result<()> {
    let cluster = TestCluster::in_process();
    cluster.install_crds([Package::crd()]).await?;
    let scene = Scene::<Package>::on(cluster, "bundles-at-rest").await?;
    let status = |primary: &Package, run: &Run<Package>| PackageStatus { bundle: quiet().of(primary, run) };
    let controller = scene.controller(&Script::idle()).workflow((quiet(),)).status(status);
    let operator = scene.start(controller).await?;
    for number in 0..20 {
        scene.create(&format!("p{number}"), "").await?;
    }
    assert!(operator.settled().await?.written().len() >= 20 * 5);
    tokio::time::sleep(Duration::from_secs(24 * 3600)).await;
    let day = operator.settled().await?;
    assert_eq!(day.written(), [""; 0]);
    let runs = day.runs_of(&scene.key("p0"));
    assert!(runs >= 24, "it was looked at: {runs} runs");
    operator.stop().await;
    Ok(())
}
