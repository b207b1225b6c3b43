//! Owners that are named twice, in the same way or in another.

use integration_tests::prelude::*;

use super::{Ask, GROUP, NAMESPACE, Story, definition, path_of};

const REQUESTS: usize = 10;

pub(super) fn story(random: &mut Random, seed: &str) -> Story {
    let kind = format!("Owned{seed}");
    let is_custom = random.chance(50);
    let path = if is_custom { path_of(&kind) } else { format!("/api/v1/namespaces/{NAMESPACE}/configmaps") };
    let (api_version, name_of) = if is_custom {
        (format!("{GROUP}/v1"), kind.clone())
    } else {
        ("v1".to_owned(), "ConfigMap".to_owned())
    };
    let mut asks = Vec::new();
    for number in 0..REQUESTS {
        let name = format!("s{seed}-{}", number % 3);
        let owners = owners(random);
        let metadata = json!({"name": name, "ownerReferences": owners});
        let body = json!({"apiVersion": api_version, "kind": name_of, "metadata": metadata});
        let patch = json!({"metadata": {"ownerReferences": owners}});
        let dry = random.pick(&["", "", "&dryRun=All"]);
        let one = format!("{path}/{name}?fieldManager=m{dry}");
        asks.push(match random.below(6) {
            0 | 1 => Ask::new("POST", format!("{path}?fieldManager=m{dry}"), &body),
            2 => Ask::new("PUT", one, &body),
            3 => Ask::new("MERGE", one, &patch),
            4 => {
                let patch = json!([{"op": "add", "path": "/metadata/ownerReferences", "value": owners}]);
                Ask::new("JSON", one, &patch)
            }
            _ if random.chance(50) || is_custom => Ask::new("APPLY", format!("{one}&force=true"), &body),
            _ => Ask::new("STRATEGIC", one, &patch),
        });
    }
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    Story { definition: is_custom.then(|| definition(&kind, &schema, &json!({}))), asks, ..Story::default() }
}

fn owners(random: &mut Random) -> Value {
    let owner = |random: &mut Random| {
        let name = random.pick(&["a", "b"]);
        let mut owner =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": random.pick(&["u1", "u2"])});
        if random.chance(20) {
            owner["controller"] = random.pick(&[json!(true), json!(false), Value::Null]);
        }
        if random.chance(20) {
            owner["blockOwnerDeletion"] = random.pick(&[json!(true), json!(false), Value::Null]);
        }
        if random.chance(5) {
            owner["uid"] = json!("");
        }
        owner
    };
    let mut owners: Vec<Value> = (0..1 + random.below(3)).map(|_| owner(random)).collect();
    if random.chance(60) {
        owners.push(random.pick(&owners));
    }
    owners.into()
}
