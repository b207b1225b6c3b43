//! Where the order in which the real garbage collector looks at objects decides what becomes of one.
//!
//! ```text
//!  X ◀── c ◀── d      X is deleted: c and d are looked at side by side, in the order of a map in Go.
//!  └───────────┘      d first: c is still there, so d loses its reference to X, and is deleted after c.
//!                     c first: d has no owner left, and is deleted as it is, with both references.
//! ```
//!
//! If something holds d, one sees which of the two it was, and what X waits for may be different, too. There are more of
//! these:
//! - One request deletes an object and one of its owners: whether it still loses its reference depends on who comes first. So does
//!   whose word about its dependents counts, that of its finalizers or that of the request.
//! - Objects own each other in a circle, and wait for each other. The collector breaks the circle, and tries again a moment
//!   later: whether one of them still waits then depends on how fast it is.
//! - An owner waits for others, but not for this object, and is then held by something else: the object is deleted, or loses its
//!   reference, if it is looked at before the owner has stopped to wait, and stays as it is otherwise.

use integration_tests::prelude::*;

use http::Request;

use super::{ask::Ask, memory::Memory};
use crate::run::send;

/// An object that may own others and be owned.
#[derive(Debug)]
struct Owned {
    owners: Vec<String>,
    ends: bool,
    /// Its finalizers say what is to become of its dependents.
    foreground: bool,
    orphan: bool,
    /// Its dependents are deleted before it, for which they need not keep their references.
    waits: bool,
}

/// All objects of a story that may own each other, by identity.
#[derive(Debug, Default)]
pub(crate) struct Family(BTreeMap<String, Owned>);

impl Family {
    /// Those at `paths`, which have marks.
    pub(crate) async fn of(client: &Client, paths: &[String], memory: &Memory) -> anyhow::Result<Self> {
        let mut family = BTreeMap::new();
        for path in paths {
            let answer = send(client, Request::get(memory.fill(path)).body(Vec::new())?).await?;
            let objects = answer.body["items"].as_array().cloned().unwrap_or_else(|| vec![answer.body]);
            family.extend(objects.iter().filter_map(|object| owned(&object["metadata"])));
        }
        Ok(Self(family))
    }

    fn keeps(&self, uid: &String) -> bool {
        self.0.get(uid).is_some_and(|owner| !owner.waits)
    }

    /// Whether an object is one of its own owners, over others.
    fn is_in_circle(&self, uid: &str) -> bool {
        let (mut seen, mut next) = (BTreeSet::new(), vec![uid]);
        while let Some(from) = next.pop() {
            let owners = self.0.get(from).into_iter().flat_map(|object| &object.owners);
            for owner in owners.filter(|owner| *owner != from) {
                if owner == uid {
                    return true;
                }
                if seen.insert(owner) {
                    next.push(owner);
                }
            }
        }
        false
    }

    /// Whether what `request` has caused since `before` may end in another way, too.
    pub(crate) fn might_differ(&self, before: &Self, request: &Ask) -> bool {
        let mut objects = before.0.values();
        let foreground =
            request.is_foreground() || (request.is_deletion() && objects.any(|object| object.foreground));
        if foreground && before.0.keys().any(|uid| before.is_in_circle(uid)) {
            return true;
        }
        before.0.iter().any(|(uid, object)| {
            let now = self.0.get(uid);
            let waited = |owner: &String| {
                let is_held = |owner: &Owned| owner.ends && !owner.waits;
                owner != uid
                    && before.0.get(owner).is_some_and(|owner| !owner.waits)
                    && self.0.get(owner).is_some_and(is_held)
            };
            if foreground && object.owners.iter().any(|owner| waited(owner) && !owns(now, owner)) {
                return true;
            }
            let ends = !object.ends && now.is_none_or(|now| now.ends);
            let lost = |owner: &String| before.keeps(owner) && !self.keeps(owner);
            let said = request.deletes_many() && (object.foreground || object.orphan);
            let is_delicate = object.owners.len() > 1 || said || before.is_in_circle(uid);
            ends && is_delicate && object.owners.iter().any(lost)
        })
    }
}

/// Whether an object still has an owner, and doesn't end.
fn owns(object: Option<&Owned>, owner: &String) -> bool {
    object.is_some_and(|object| !object.ends && object.owners.contains(owner))
}

fn owned(metadata: &Value) -> Option<(String, Owned)> {
    let uid = metadata["uid"].as_str()?.to_owned();
    let owners = metadata["ownerReferences"].as_array().into_iter().flatten();
    let owners = owners.filter_map(|owner| Some(owner["uid"].as_str()?.to_owned())).collect();
    let ends = metadata["deletionTimestamp"].is_string();
    let finalizers = metadata["finalizers"].as_array();
    let has = |finalizer: &str| finalizers.is_some_and(|all| all.contains(&finalizer.into()));
    let (foreground, orphan) = (has("foregroundDeletion"), has("orphan"));
    Some((uid, Owned { owners, ends, foreground, orphan, waits: ends && foreground }))
}

#[test]
fn an_object_that_loses_two_owners_at_once_may_end_in_two_ways() {
    let family = |objects: Value| {
        let objects = objects.as_array().cloned().unwrap_or_default();
        Family(objects.iter().filter_map(owned).collect())
    };
    let alive = |uid: &str, owners: &[&str]| {
        let owners: Value = owners.iter().map(|uid| json!({"uid": uid})).collect();
        json!({"uid": uid, "ownerReferences": owners})
    };
    let with = |mut object: Value, field: &str, value: Value| {
        object[field] = value;
        object
    };
    let ending = |uid: &str, owners: &[&str]| with(alive(uid, owners), "deletionTimestamp", json!("now"));
    let waiting =
        |uid: &str, owners: &[&str]| with(ending(uid, owners), "finalizers", json!(["foregroundDeletion"]));
    let [x, y, e] = [alive("x", &[]), alive("y", &[]), alive("e", &["x", "y"])];
    let before = family(json!([x, y, alive("c", &["x"]), alive("d", &["x", "c"]), e]));
    let one = Ask::delete("/api/v1/namespaces/<s>-a/configmaps/x", Value::Null);
    let many = Ask::delete("/api/v1/namespaces/<s>-a/configmaps", Value::Null);
    let first =
        Ask::delete("/api/v1/namespaces/<s>-a/configmaps/x", json!({"propagationPolicy": "Foreground"}));
    let after = |objects: Value| family(objects).might_differ(&before, &one);
    let stays = alive("e", &["y"]);
    assert!(after(json!([y, ending("d", &["x", "c"]), stays])), "x is gone, and c with it");
    let both = [waiting("x", &[]), waiting("c", &["x"])];
    assert!(after(json!([y, both[0], both[1], ending("d", &["x", "c"]), stays])), "x waits for c and d");
    assert!(!after(json!([x, y, alive("d", &["x"]), e])), "only c is gone");
    assert!(!after(json!([x, y, alive("c", &["x"]), e])), "only d is gone");

    let before = family(json!([x, alive("c", &["x"])]));
    assert!(!family(json!([])).might_differ(&before, &many), "one owner says it all");
    let held = family(json!([ending("x", &[])]));
    assert!(held.might_differ(&before, &first), "x has waited, and something holds it");
    assert!(!held.might_differ(&before, &one), "x has never waited");
    assert!(!family(json!([waiting("x", &[])])).might_differ(&before, &first), "x still waits");
    let before = family(json!([ending("x", &[]), y, e]));
    assert!(family(json!([ending("x", &[]), y, stays])).might_differ(&before, &first), "x has ended before");
    let said = with(alive("c", &["x"]), "finalizers", json!(["orphan"]));
    let before = family(json!([x, said]));
    assert!(!family(json!([])).might_differ(&before, &one), "nobody else says something");
    assert!(family(json!([])).might_differ(&before, &many), "somebody has deleted both");

    let before =
        family(json!([alive("x", &["d"]), alive("c", &["x"]), alive("d", &["c"]), alive("e", &["e", "d"])]));
    assert!(family(json!([])).might_differ(&before, &one), "a circle");
    assert!(before.might_differ(&before, &first), "a circle, of which nothing has changed yet");
    let before = family(json!([alive("x", &["x"]), alive("c", &["x"])]));
    assert!(!family(json!([])).might_differ(&before, &one), "one that owns itself isn't a circle");
}
