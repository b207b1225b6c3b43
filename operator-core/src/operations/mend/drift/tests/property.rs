//! Whatever somebody makes of the ports of a service: after one patch an apply of ours is taken, and who isn't in its way stays.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;

use super::{Drift, decided, entry, live_service, ports, service};

type Ports = Vec<(&'static str, u16)>;

/// Ports with names and numbers of their own.
fn some_ports(most: usize) -> impl Strategy<Value = Ports> {
    let names = Just(vec!["a", "b", "c", "d", "e"]).prop_shuffle();
    let numbers = Just((1..9).collect::<Vec<u16>>()).prop_shuffle();
    (names, numbers, 1..=most)
        .prop_map(|(names, numbers, n)| names.into_iter().zip(numbers).take(n).collect())
}

/// What the server says about an apply of `ours`: which names stand twice, each cited at the second one. An item is merged by its
/// number; theirs comes before what of ours follows it. The model knows which of the two it cites by chance only.
fn refused(ours: &Ports, live: &Ports, cites_ours: bool) -> Vec<String> {
    let order = merged_as_seen(ours, live);
    let mut causes = Vec::new();
    for (at, (name, number)) in order.iter().enumerate() {
        let twin = order.iter().position(|(other, of)| other == name && of != number);
        let is_ours = ours.iter().any(|(_, port)| port == number);
        if twin.is_some() && is_ours == cites_ours {
            causes.push(format!("spec.ports[{at}].name"));
        }
    }
    causes
}

fn merged_as_seen(ours: &Ports, live: &Ports) -> Ports {
    let set = serde_json::json!({ "k:{\"port\":1}": {} });
    let fields = crate::operations::mend::drift::items::KeyFields::of(set.as_object().unwrap()).unwrap();
    let keys = |ports: &Ports| -> Vec<_> {
        ports.iter().map(|(_, port)| fields.of_item(&serde_json::json!({ "port": port })).unwrap()).collect()
    };
    let merged = crate::operations::mend::drift::merged::merged(&keys(live), &keys(ours));
    merged.iter().map(|item| item.desired.map_or_else(|| live[item.live.unwrap()], |at| ours[at])).collect()
}

fn patched(live: &Value, drift: &Drift) -> BTreeMap<u16, String> {
    let patch: json_patch::Patch = serde_json::from_value(drift.operations.clone().into()).unwrap();
    let mut patched = live.clone();
    json_patch::patch(&mut patched, &patch).unwrap();
    let ports = patched["spec"]["ports"].as_array().unwrap();
    let port =
        |port: &Value| (port["port"].as_u64().unwrap() as u16, port["name"].as_str().unwrap().to_owned());
    let by_number: BTreeMap<_, _> = ports.iter().map(port).collect();
    assert_eq!(by_number.len(), ports.len(), "no number twice");
    by_number
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn an_apply_is_taken_after_the_patch_and_nobody_else_goes(
        ours in some_ports(4), live in some_ports(5), cites_ours: bool,
    ) {
        let causes = refused(&ours, &live, cites_ours);
        prop_assume!(!causes.is_empty());
        let causes: Vec<_> = causes.iter().map(|field| (&**field, "FieldValueDuplicate")).collect();
        let numbers: Vec<_> = live.iter().map(|(_, number)| *number).collect();
        let entries = [entry("ed", "Update", &ports(&numbers))];
        let object = live_service(&live);
        let drift = decided(&service(&ours), &object, &entries, &causes);
        let left = patched(&object, &drift);
        // The apply: ours, and what of the others is left.
        let mut all = left.clone();
        all.extend(ours.iter().map(|(name, number)| (*number, (*name).to_owned())));
        let mut names: Vec<_> = all.values().collect();
        names.sort();
        names.dedup();
        prop_assert_eq!(names.len(), all.len(), "{:?} {:?}", drift, all);
        for (name, number) in &live {
            let is_in_the_way = ours.iter().any(|(our, port)| our == name && port != number);
            let is_ours = ours.iter().any(|(_, port)| port == number);
            if !is_in_the_way && !is_ours {
                prop_assert_eq!(left.get(number).map(String::as_str), Some(*name), "it stays");
            }
        }
    }
}
