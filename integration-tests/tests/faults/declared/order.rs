//! The order in which the nodes of a workflow are declared makes no difference: the same objects, and the same requests, in an
//! operator that meets leftovers of nodes that an earlier version had, and until the primary is gone.

use anyhow::Result;
use integration_tests::prelude::*;
use kube::core::{ApiResource, DynamicObject};
use operator_core::{
    dependent::{Read, Records},
    prelude::*,
    testing::{
        OtherSystem, seed_of_the_day,
        simulation::{Settings, Sim, explore},
    },
    workflow::WorkflowBuilder,
};

use super::telling;
use crate::simulated::{pass, scene, under};

/// The number of workflows, and that of the orders that each is declared in.
const WORKFLOWS: usize = 12;
const ORDERS: usize = 3;

fn map(primary: &TestResource) -> ConfigMap {
    let data = BTreeMap::from([("value".to_owned(), primary.spec.value.clone())]);
    ConfigMap { data: Some(data), ..ConfigMap::default() }
}

fn secret(_: &TestResource) -> Secret {
    Secret::default()
}

fn kept(primary: &TestResource) -> ConfigMap {
    map(primary)
}

fn unowned(primary: &TestResource) -> ConfigMap {
    map(primary)
}

fn made_once(primary: &TestResource) -> ConfigMap {
    map(primary)
}

fn replaced(primary: &TestResource) -> ConfigMap {
    map(primary)
}

fn kept_secret(_: &TestResource) -> Secret {
    Secret::default()
}

fn read(_: &TestResource) -> Read<ConfigMap> {
    Read::named("settings")
}

fn read_secret(_: &TestResource) -> Read<Secret> {
    Read::named("settings")
}

fn behind(primary: &TestResource) -> ConfigMap {
    map(primary)
}

fn sometimes(primary: &TestResource) -> Option<ConfigMap> {
    (primary.spec.value != "second").then(|| map(primary))
}

fn held(primary: &TestResource) -> Want<ConfigMap> {
    match &*primary.spec.value {
        "second" => Want::hold("Later", "it is too early"),
        _ => Want::of(map(primary)),
    }
}

fn several(primary: &TestResource) -> Vec<ConfigMap> {
    let each = ["x", "y"].into_iter().filter(|name| primary.spec.value == "first" || *name == "x");
    let named = each.map(|name| {
        let mut map = map(primary);
        map.metadata.name = Some(format!("{}-{name}", primary.name_any()));
        map
    });
    named.collect()
}

fn dynamic(_: &TestResource) -> DynamicObject {
    DynamicObject { types: None, metadata: Default::default(), data: json!({ "data": { "a": "b" } }) }
}

type Builder = WorkflowBuilder<TestResource>;

/// Adds one node.
type Part = fn(Builder, &[Words; 2]) -> Builder;

/// Nodes of each kind. None needs another one.
const PARTS: [(&str, Part); 15] = [
    ("map", |all, _| all.nodes((map,))),
    ("secret", |all, _| all.nodes((secret,))),
    ("kept", |all, _| all.nodes((node(kept).retained(),))),
    ("kept secret", |all, _| all.nodes((node(kept_secret).retained(),))),
    ("unowned", |all, _| all.nodes((node(unowned).without_owner(),))),
    ("made once", |all, _| all.nodes((node(made_once).create_only(),))),
    ("replaced", |all, _| all.nodes((node(replaced).use_ssa(false),))),
    ("read", |all, _| all.nodes((node(read).optional(),))),
    ("read secret", |all, _| all.nodes((node(read_secret).optional(),))),
    ("sometimes", |all, _| all.nodes((sometimes,))),
    ("held", |all, _| all.nodes((held,))),
    ("several", |all, _| all.nodes((several,))),
    ("dynamic", |all, _| all.nodes((dynamic.kind(ApiResource::erase::<ConfigMap>(&())),))),
    ("record in a map", |all, words| {
        all.nodes((Records::new(Word::new(&words[0])).id_in_config_map().named("word"),))
    }),
    ("record in a secret", |all, words| {
        all.nodes((Records::new(Word::unsearchable(&words[1])).id_in_secret().named("another_word"),))
    }),
];

/// Those that come after `map`.
fn wired(all: Builder, has_map: bool) -> Builder {
    if has_map { all.nodes((behind.after(map),)) } else { all.nodes((behind,)) }
}

fn former(primary: &TestResource) -> ConfigMap {
    map(primary)
}

fn former_secret(_: &TestResource) -> Secret {
    Secret::default()
}

/// What there is at the end of each act: objects without what differs between any two servers, and the writes.
#[derive(Debug, PartialEq, Eq)]
struct Ending {
    objects: BTreeMap<String, Value>,
    writes: Vec<String>,
}

async fn objects(scene: &Scene) -> Result<BTreeMap<String, Value>> {
    let mut all = BTreeMap::new();
    let maps = scene.api::<ConfigMap>().list(&ListParams::default()).await?.items.into_iter();
    let maps = maps.map(|map| (format!("map {}", map.name_any()), serde_json::to_value(map)));
    let secrets = scene.api::<Secret>().list(&ListParams::default()).await?.items.into_iter();
    let secrets =
        secrets.map(|secret| (format!("secret {}", secret.name_any()), serde_json::to_value(secret)));
    let primaries = scene.resources.list(&ListParams::default()).await?.items.into_iter();
    let primaries = primaries.map(|one| (format!("primary {}", one.name_any()), serde_json::to_value(one)));
    for (name, object) in maps.chain(secrets).chain(primaries) {
        let mut object = object?;
        let metadata = &object["metadata"];
        let keys = |field: &str| -> Vec<String> {
            metadata[field].as_object().into_iter().flat_map(|all| all.keys().cloned()).collect()
        };
        let owners = metadata["ownerReferences"].as_array().map(|owners| owners.len());
        object["metadata"] = json!({
            "node": metadata["labels"]["operator-core.io/node"],
            "labels": keys("labels"),
            "annotations": keys("annotations"),
            "finalizers": metadata["finalizers"],
            "owners": owners,
        });
        if let Some(conditions) = object["status"]["conditions"].as_array_mut() {
            for condition in conditions {
                condition["lastTransitionTime"] = Value::Null;
                // The nodes are listed in the order of their declaration.
                let mut words: Vec<_> = condition["message"]
                    .as_str()
                    .unwrap_or_default()
                    .split("; ")
                    .map(str::to_owned)
                    .collect();
                words.sort();
                condition["message"] = words.join("; ").into();
            }
        }
        all.insert(name, object);
    }
    Ok(all)
}

/// An operator with these parts in this order meets what its earlier version has left, and a primary that changes and goes.
async fn played(parts: &[usize], has_behind: bool) -> Result<Vec<Ending>> {
    let scene = scene().await?;
    // Each with a system of its own, because a system counts its records.
    let words: [Words; 2] = [OtherSystem::new(), OtherSystem::new()];
    let start = async |workflow: Builder| -> Result<TestOperator> {
        let controller = Controller::of::<TestResource>().workflow(workflow).status(telling);
        under(&Faults::none(), &scene, controller.name("keeper").namespaces([&scene.namespace])).await
    };
    let earlier = start(Workflow::builder().nodes((former, former_secret))).await?;
    scene.create("one", "first").await?;
    earlier.settled().await?;
    earlier.stop().await;

    let has_map = parts.iter().any(|part| PARTS[*part].0 == "map");
    let mut workflow = Workflow::builder();
    for (at, part) in parts.iter().enumerate() {
        if has_behind && at == parts.len() / 2 {
            workflow = wired(workflow, has_map);
        }
        workflow = PARTS[*part].1(workflow, &words);
    }
    let operator = start(workflow).await?;
    let mut endings = Vec::new();
    for act in ["as it was", "second", "third", "gone"] {
        match act {
            "as it was" => {}
            "gone" => scene.delete("one").await?,
            value => drop(scene.set("one", value).await?),
        }
        pass(30).await;
        let mut writes = operator.settled().await?.written();
        writes.sort();
        endings.push(Ending { objects: objects(&scene).await?, writes });
    }
    let left = words.map(|words| words_in(&words));
    ensure!(left.iter().all(Vec::is_empty), "{left:?}");
    operator.stop().await;
    Ok(endings)
}

fn shuffle(parts: &mut [usize], random: &mut Random) {
    for at in (1..parts.len()).rev() {
        parts.swap(at, random.below(at + 1));
    }
}

#[tokio::test(start_paused = true)]
async fn the_order_of_the_nodes_makes_no_difference() -> Result<()> {
    let mut random = Random::new(seed_of_the_day());
    for _ in 0..WORKFLOWS {
        let mut parts: Vec<usize> = (0..PARTS.len()).collect();
        shuffle(&mut parts, &mut random);
        parts.truncate(2 + random.below(5));
        let has_behind = random.chance(50);
        let first = played(&parts, has_behind).await?;
        for order in 0..ORDERS {
            let mut other = parts.clone();
            match order {
                0 => other.reverse(),
                _ => shuffle(&mut other, &mut random),
            }
            let names = |parts: &[usize]| parts.iter().map(|part| PARTS[*part].0).collect::<Vec<_>>();
            let second = played(&other, has_behind).await?;
            for (act, (first, second)) in first.iter().zip(&second).enumerate() {
                let of = format!("act {act} of {:?} and {:?}", names(&parts), names(&other));
                assert_eq!(first.writes, second.writes, "{of}");
                assert_eq!(first.objects, second.objects, "{of}");
            }
        }
    }
    Ok(())
}

/// What may not delete stands first.
#[tokio::test(start_paused = true)]
async fn a_leftover_goes_whatever_node_is_declared_first() -> Result<()> {
    let part = |name: &str| PARTS.iter().position(|(known, _)| *known == name).context("a part");
    for first in ["map", "kept", "read", "record in a map"] {
        let endings = played(&[part(first)?, part("several")?], false).await?;
        ensure!(
            !endings[0].objects.contains_key("map one-former"),
            "the object of a former node is still there beside `{first}`"
        );
    }
    Ok(())
}

/// Goes by the order of its nodes: in what it says, or in what it asks for.
fn by_order(says: bool) -> OperatorBuilder {
    let workflow =
        Workflow::builder().nodes((wanted_map("a"), wanted_map("b"))).build().expect("it is right");
    let first = workflow.node_names().next().unwrap_or_default().to_owned();
    let script = Script::new(move |_, primary: Arc<TestResource>, context| {
        let first = first.clone();
        Box::pin(async move {
            if !says && first == "b" {
                let maps: Api<ConfigMap> =
                    Api::namespaced(context.client().clone(), &primary.namespace().unwrap_or_default());
                maps.get_opt("any").await?;
            }
            Ok(Said::status(said(if says { first } else { String::new() })))
        })
    });
    let controller = script.defined().name("keeper").workflow(&workflow).namespaces(["default"]);
    Operator::builder().register(controller)
}

/// Each simulation has a run in which the nodes are the other way round.
#[test]
fn a_simulation_finds_what_depends_on_the_order_of_the_nodes() {
    for (says, found) in [(true, "and \"a\" in the calm run"), (false, "more times: get configmaps")] {
        let settings = Settings { threads: 1, ..Settings::schedules(0) };
        let story = move |sim: Sim| async move {
            sim.operator(move || by_order(says));
            sim.user(async |user| drop(user.apply(TestResource::named("one", "first")).await));
            sim.settle().await;
        };
        let failure = explore("order", settings, story).expect_err("it depends on the order").to_string();
        assert!(
            failure.contains("with its nodes the other way round") && failure.contains(found),
            "{failure}"
        );
    }
}
