use proptest::prelude::*;
use serde_json::json;

use super::*;

fn configmaps() -> Resource {
    Resource::new("", "configmaps")
}

fn path(name: &str) -> Path {
    Path::new(Some("shop"), name)
}

fn put(store: &mut Store, name: &str, value: u32) {
    store.put(&configmaps(), &path(name), json!({ "value": value }));
}

#[test]
fn paths_are_sorted_as_etcd_does() {
    let mut paths = [Path::new(Some("a"), "x"), Path::new(Some("a-b"), "x"), Path::new(None, "x")];
    paths.sort();
    assert_eq!(paths.map(|path| path.0), ["/x", "a-b/x", "a/x"]);
}

#[test]
fn all_resources_share_one_version() {
    let mut store = Store::default();
    put(&mut store, "one", 1);
    let secrets = Resource::new("", "secrets");
    let secret = store.put(&secrets, &path("two"), json!({}));
    assert_eq!(secret["metadata"]["resourceVersion"], "2");
    assert!(store.remove(&configmaps(), &path("one")).is_some());
    assert_eq!(store.version(), 3);
    assert!(store.remove(&configmaps(), &path("one")).is_none());
    assert_eq!(store.version(), 3, "nothing happened");
}

#[test]
fn what_was_compacted_is_refused() {
    let mut store = Store::default();
    put(&mut store, "one", 1);
    store.compact();
    put(&mut store, "one", 2);
    assert_eq!(store.after(0).err(), Some(Expired { oldest: 1 }));
    assert_eq!(store.list_at(&configmaps(), 0).err(), Some(Expired { oldest: 1 }));
    assert_eq!(store.after(1).map(Iterator::count), Ok(1));
}

proptest! {
    #![proptest_config(crate::seed::daily())]

    /// Whatever happened, the past can be listed, and its events lead from there to now.
    #[test]
    fn the_past_and_its_events_agree(changes in prop::collection::vec((0_u8..4, prop::option::of(0_u32..9)), 0..40)) {
        let mut store = Store::default();
        let mut states = vec![BTreeMap::new()];
        for (name, value) in changes {
            let name = format!("object-{name}");
            match value {
                Some(value) => put(&mut store, &name, value),
                None => drop(store.remove(&configmaps(), &path(&name))),
            }
            if states.len() as u64 == store.version() {
                let now = store.list(&configmaps(), None).map(|(path, object)| (path.clone(), Arc::clone(object)));
                states.push(now.collect());
            }
        }
        for (version, state) in (0_u64..).zip(&states) {
            let mut replayed = store.list_at(&configmaps(), version).expect("nothing was compacted");
            prop_assert_eq!(&replayed, state);
            for event in store.after(version).expect("nothing was compacted") {
                match &event.after {
                    Some(object) => replayed.insert(event.path.clone(), Arc::clone(object)),
                    None => replayed.remove(&event.path),
                };
            }
            prop_assert_eq!(&replayed, states.last().expect("there is a first one"));
        }
    }
}
