//! The actions of others: users, other operators, backups. They aren't ours.

use integration_tests::prelude::*;

use super::{
    judge::OPERATOR,
    log::{CONTROLLER, MARK, NODE, OWNER, is_going, references, uid},
    versions::{Kind, PARTS, SHARED, Spec},
    world::{HOMES, World},
};

const HOLD: &str = "example.com/hold";

/// How many kinds of acts there are.
pub(super) const ACTS: usize = 19;

/// Somebody does something.
pub(super) async fn act(world: &mut World) -> Result<()> {
    let act = world.random.below(ACTS);
    match act {
        0..=2 => copy(world, act == 2).await,
        3..=9 => edit(world, act).await,
        10 => foreign(world).await,
        11 => remove(world).await,
        12 => hold(world).await,
        13 => save(world).await,
        14 => restore(world).await,
        15 | 16 => respecify(world).await,
        _ => recreate(world).await,
    }
}

/// An object that a node has made, or any.
async fn any(world: &mut World) -> Result<Option<(Kind, Value)>> {
    let mut all = world.objects().await?;
    if world.random.chance(80) {
        all.retain(|(_, object)| world.known.get(uid(object)).is_some());
    }
    Ok((!all.is_empty()).then(|| world.random.pick(&all)))
}

fn name_of(object: &Value) -> (String, String) {
    let of = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    (of("namespace"), of("name"))
}

/// A name that no object has which nodes want, or one that they may want now or later.
fn some_name(world: &mut World, namespace: &str) -> String {
    if world.random.chance(40) {
        return format!("theirs-{}", world.number());
    }
    let part = if namespace == SHARED { "s" } else { world.random.pick(&PARTS) };
    let item = world.random.below(5);
    if item == 0 || namespace == SHARED { format!("one-{part}") } else { format!("one-{part}-{}", item - 1) }
}

/// `kubectl get -o yaml | kubectl apply` under another name; an heir has labels only.
async fn copy(world: &mut World, is_heir: bool) -> Result<()> {
    let Some((kind, object)) = any(world).await? else { return Ok(()) };
    let (namespace, _) = name_of(&object);
    let mut copy = as_new(&object);
    copy["metadata"]["name"] = json!(some_name(world, &namespace));
    if is_heir {
        copy["metadata"]["annotations"] = Value::Null;
        copy["metadata"]["ownerReferences"] = Value::Null;
    } else if world.random.chance(30) {
        copy["metadata"]["ownerReferences"] = Value::Null;
    }
    world.make(kind, copy).await.map(drop)
}

/// What somebody would create who has a copy of the object.
fn as_new(object: &Value) -> Value {
    let mut new = object.clone();
    let old = std::mem::replace(&mut new["metadata"], json!({}));
    for field in ["name", "namespace", "labels", "annotations", "ownerReferences"] {
        new["metadata"][field] = old[field].clone();
    }
    new
}

/// Marks, owners or contents change.
async fn edit(world: &mut World, act: usize) -> Result<()> {
    let Some((kind, object)) = any(world).await? else { return Ok(()) };
    let (namespace, name) = name_of(&object);
    let labels = [CONTROLLER, NODE, OWNER];
    let owners = |owner: Value| json!({ "metadata": { "ownerReferences": [owner] } });
    let edit = match act {
        3 => {
            let some: serde_json::Map<_, _> = labels
                .iter()
                .filter(|_| world.random.chance(60))
                .map(|label| ((*label).to_owned(), Value::Null))
                .collect();
            json!({ "metadata": { "labels": some } })
        }
        4 => {
            let declared = world.version.nodes.iter().map(|node| node.name);
            let nodes: Vec<_> = declared.chain(["other"]).collect();
            let (label, value) = match world.random.below(4) {
                0 => (CONTROLLER, "theirs"),
                1 => (OWNER, "somebody"),
                _ => (NODE, world.random.pick(&nodes)),
            };
            json!({ "metadata": { "labels": { label: value } } })
        }
        5 => {
            let mark = if world.random.chance(50) { json!("made up") } else { Value::Null };
            json!({ "metadata": { "annotations": { MARK: mark } } })
        }
        6 => json!({ "metadata": { "ownerReferences": null } }),
        7 => {
            let somebody = world.somebody(&namespace).await?;
            let owner = json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "somebody", "uid": somebody,
                "controller": true });
            owners(owner)
        }
        8 => {
            let somebody = world.somebody(&namespace).await?;
            let mut all = references(&object).to_vec();
            all.retain(|owner| owner["uid"] != *somebody);
            all.push(json!({ "apiVersion": "v1", "kind": "ConfigMap", "name": "somebody", "uid": somebody }));
            json!({ "metadata": { "ownerReferences": all } })
        }
        _ => match world.random.below(3) {
            0 => json!({ "data": { "value": "bXVkZGxl" } }),
            1 => json!({ "data": { "more": "bW9yZQ==" }, "metadata": { "labels": { "team": "blue" } } }),
            _ => json!({ "metadata": { "labels": null, "annotations": null } }),
        },
    };
    world.patch(kind, &namespace, &name, edit).await
}

/// An object of somebody's under a name that a node may want.
async fn foreign(world: &mut World) -> Result<()> {
    let namespace = world.home();
    let kind = world.random.pick(&Kind::ALL);
    let name = some_name(world, namespace);
    let mut object =
        json!({ "metadata": { "name": name, "namespace": namespace }, "data": { "value": "dGhlaXJz" } });
    if world.random.chance(30) {
        object["metadata"]["labels"] = json!({ CONTROLLER: OPERATOR, NODE: "html", OWNER: "u-1" });
    }
    if world.random.chance(20) {
        object["metadata"]["annotations"] = json!({ "io.javaoperatorsdk/primary-name": "another" });
    }
    world.make(kind, object).await.map(drop)
}

async fn remove(world: &mut World) -> Result<()> {
    let Some((kind, object)) = any(world).await? else { return Ok(()) };
    let (namespace, name) = name_of(&object);
    world.remove(kind, &namespace, &name).await
}

/// A finalizer of somebody's keeps an object.
async fn hold(world: &mut World) -> Result<()> {
    let Some((kind, object)) = any(world).await? else { return Ok(()) };
    let (namespace, name) = name_of(&object);
    if is_going(&object) {
        return Ok(());
    }
    let held = json!({ "metadata": { "finalizers": [HOLD] } });
    world.patch(kind, &namespace, &name, held).await
}

/// Nothing is held any more.
pub(super) async fn release(world: &mut World) -> Result<()> {
    for (kind, object) in world.objects().await? {
        if object["metadata"]["finalizers"][0] == HOLD {
            let (namespace, name) = name_of(&object);
            world.patch(kind, &namespace, &name, json!({ "metadata": { "finalizers": null } })).await?;
        }
    }
    Ok(())
}

/// A backup.
async fn save(world: &mut World) -> Result<()> {
    let all = world.objects().await?;
    world.told.push("a backup is made".to_owned());
    world.saved = all.into_iter().filter(|(_, object)| !is_going(object)).collect();
    Ok(())
}

/// A backup brings back what is not there any more.
async fn restore(world: &mut World) -> Result<()> {
    for (kind, object) in world.saved.clone() {
        let (namespace, name) = name_of(&object);
        if world.log.stored(kind, &namespace, &name).is_some() {
            continue;
        }
        if let Some(copy) = world.make(kind, as_new(&object)).await? {
            world.known.insert_copy(copy, &object);
        }
    }
    Ok(())
}

/// A user wants something else of a primary.
async fn respecify(world: &mut World) -> Result<()> {
    let number = world.number();
    let spec = Spec::random(&mut world.random, number);
    let home = world.random.below(world.operators.len().max(1));
    world.specify(HOMES[home], &spec).await
}

/// A primary is deleted, and made again when it is gone. The collector may be kept from taking what it owned.
async fn recreate(world: &mut World) -> Result<()> {
    let home = HOMES[world.random.below(world.operators.len().max(1))];
    if world.random.chance(40) {
        hold(world).await?;
    }
    let orphans = world.random.chance(50);
    world.delete_primary(home, orphans).await?;
    if world.random.chance(60) {
        world.pass(30).await;
    }
    if world.random.chance(60) {
        let number = world.number();
        let spec = Spec::random(&mut world.random, number);
        world.specify(home, &spec).await?;
    }
    Ok(())
}
