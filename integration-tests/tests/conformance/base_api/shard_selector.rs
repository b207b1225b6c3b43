//! Two operators with the halves of the uids' hashes: each resource is handled by exactly one of them. A server that
//! doesn't know the parameter is told at the start.

use futures::FutureExt;
use integration_tests::prelude::*;
use operator_core::{client::TransportHook, testing::Settled};

const ALL: u128 = 1 << 64;

fn selector(from: u128, to: u128) -> String {
    format!("shardRange(object.metadata.uid, '0x{from:016x}', '0x{to:016x}')")
}

/// The 64-bit FNV-1a hash of an object's uid.
fn hash(object: &impl ResourceExt) -> u128 {
    let uid = object.uid().unwrap_or_default();
    let hash = uid.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    u128::from(hash)
}

/// A number that splits these into halves; those of the in-process server are near each other.
fn middle(mut hashes: Vec<u128>) -> u128 {
    hashes.sort_unstable();
    hashes[hashes.len() / 2]
}

fn half(scene: &Scene, script: &Script, selector: &str) -> ControllerBuilder<Script> {
    scene.controller(script).name("half").cleaner(true).shard_selector(selector)
}

fn handled(settled: &Settled) -> BTreeSet<ObjectKey> {
    settled.runs.keys().cloned().collect()
}

#[operator_test]
async fn each_resource_is_handled_by_one_of_two_operators() -> Result<()> {
    let scene = Scene::on(cluster_with_shards().await?, "shard-selector").await?;
    let names: Vec<String> = (0..24).map(|number| format!("one-{number:02}")).collect();
    let (before, after) = names.split_at(12);
    let mut hashes = BTreeMap::new();
    for name in before {
        hashes.insert(scene.key(name), hash(&scene.create(name, "value").await?));
    }
    let split = middle(hashes.values().copied().collect());
    let (one, two) = (Script::idle(), Script::idle());
    let first = scene.start(half(&scene, &one, &selector(0, split))).await?;
    let second = scene.start(half(&scene, &two, &selector(split, ALL))).await?;
    for name in after {
        hashes.insert(scene.key(name), hash(&scene.create(name, "value").await?));
    }
    let (by_first, by_second) = (first.settled().await?, second.settled().await?);
    let (lower, upper) = (handled(&by_first), handled(&by_second));
    let of = |is: &dyn Fn(u128) -> bool| {
        hashes.iter().filter(|(_, hash)| is(**hash)).map(|(key, _)| key.clone()).collect::<BTreeSet<_>>()
    };
    assert!(lower.len() >= 6 && upper.len() >= 6, "{lower:?}, {upper:?}");
    assert_eq!((&lower, &upper), (&of(&|hash| hash < split), &of(&|hash| hash >= split)));
    assert!(by_first.runs.values().chain(by_second.runs.values()).all(|runs| *runs == 1));

    // Changes and ends are seen by the same one.
    for name in &names {
        scene.set(name, "changed").await?;
    }
    assert_eq!((handled(&first.settled().await?), handled(&second.settled().await?)), (lower, upper));
    for name in &names {
        scene.delete(name).await?;
    }
    for name in &names {
        scene.until_gone(name).await?;
    }
    first.settled().await?;
    second.settled().await?;
    assert_eq!(one.cleanups.count() + two.cleanups.count(), names.len());
    Ok(())
}

#[operator_test]
async fn a_source_may_follow_a_part_of_the_secondaries() -> Result<()> {
    let scene = Scene::on(cluster_with_shards().await?, "shard-source").await?;
    let source = |name: &str, part: &str| {
        InformerEventSource::<ConfigMap>::new().name(name).shard_selector(part).map_to_primary(|_| vec![])
    };
    let maps = scene.api::<ConfigMap>();
    let mut hashes = Vec::new();
    for number in 0..20 {
        let map: ConfigMap =
            integration_tests::from_json(&json!({ "metadata": { "name": format!("map-{number}") } }))?;
        hashes.push(hash(&maps.create(&PostParams::default(), &map).await?));
    }
    let split = middle(hashes);
    let counted = Arc::new(Mutex::new((0, 0, 0)));
    let counts = Arc::clone(&counted);
    let script = Script::new(move |_, _: Arc<TestResource>, context| {
        let counts = Arc::clone(&counts);
        Box::pin(async move {
            let of =
                |name: &str| context.event_source::<ConfigMap>(name).map_or(0, |of| of.cache().keys().len());
            let key = |number| {
                ObjectKey::namespaced(
                    context.primary_key().namespace().unwrap_or_default(),
                    &format!("map-{number}"),
                )
            };
            let mut found = 0;
            for number in 0..20 {
                found += usize::from(context.get::<ConfigMap>(&key(number))?.is_some());
            }
            *counts.lock() = (of("lower"), of("upper"), found);
            Ok(UpdateControl::no_update())
        })
    });
    let controller = scene
        .controller(&script)
        .watches(source("lower", &selector(0, split)))
        .watches(source("upper", &selector(split, ALL)));
    let operator = scene.start(controller).await?;
    scene.create("one", "value").await?;
    operator.settled().await?;
    let (lower, upper, found) = *counted.lock();
    assert!(lower >= 10 && upper >= 10, "{lower} and {upper}");
    // The root certificates of the namespace are a further one, where there is a controller that makes them.
    assert!(lower + upper >= 20 && found == 20, "{lower} and {upper}, {found}");
    Ok(())
}

/// As a server without the feature: the parameter is ignored.
fn without_the_feature(operator: OperatorBuilder) -> OperatorBuilder {
    operator.transport(TransportHook::around(|mut request, inner| {
        let (path, query) = (request.uri().path(), request.uri().query().unwrap_or_default());
        let kept: Vec<&str> = query.split('&').filter(|pair| !pair.starts_with("shardSelector=")).collect();
        let uri = format!("{path}?{}", kept.join("&"));
        if let (true, Ok(uri)) = (kept.len() < query.split('&').count(), uri.parse()) {
            *request.uri_mut() = uri;
        }
        async move { inner.send(request).await }.boxed()
    }))
}

#[operator_test]
async fn a_server_without_the_feature_is_told_at_the_start() -> Result<()> {
    let scene = Scene::new("shard-missing").await?;
    let script = Script::idle();
    scene.create("one", "value").await?;
    let operator =
        without_the_feature(scene.operator()).register(half(&scene, &script, &selector(0, ALL / 2)));
    // The start itself says so, before anything is listed.
    let Err(error) = TestOperator::start_unsynced(operator).await else { panic!("it must not start") };
    let words = format!("{:#}", anyhow::Error::from(error));
    assert!(words.contains("ignores the shard selector"), "{words}");
    assert!(words.contains("--feature-gates=ShardedListAndWatch=true") && words.contains("half"), "{words}");
    assert_eq!(script.runs.count(), 0, "nothing falls back to all objects");
    Ok(())
}
