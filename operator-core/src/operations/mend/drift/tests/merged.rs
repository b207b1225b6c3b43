//! The order of merged lists, as a real server has shown it by the positions that it cites.

use proptest::prelude::*;
use serde_json::json;

use crate::operations::mend::drift::{
    items::{Key, KeyFields},
    merged::merged,
};

fn keys(numbers: &[u16]) -> Vec<Key> {
    let set = json!({ "k:{\"port\":1}": {} });
    let fields = KeyFields::of(set.as_object().unwrap()).unwrap();
    numbers.iter().map(|number| fields.of_item(&json!({ "port": number })).unwrap()).collect()
}

/// The numbers in their merged order.
fn order(live: &[u16], desired: &[u16]) -> Vec<u16> {
    let merged = merged(&keys(live), &keys(desired));
    merged
        .iter()
        .map(|item| item.desired.map_or_else(|| live[item.live.unwrap()], |at| desired[at]))
        .collect()
}

#[test]
fn items_of_others_come_as_early_as_they_can() {
    for (live, desired, expected) in [
        (&[81][..], &[80][..], &[81, 80][..]),
        (&[70, 81, 90], &[80, 90], &[70, 81, 80, 90]),
        (&[90, 81], &[80, 90], &[80, 90, 81]),
        (&[11, 2, 33], &[1, 2, 3], &[11, 1, 2, 33, 3]),
        (&[3, 2, 11], &[1, 2, 3], &[1, 2, 11, 3]),
        (&[7, 4, 22, 1, 33], &[1, 2, 3, 4], &[7, 22, 1, 33, 2, 3, 4]),
        (&[], &[1], &[1]),
        (&[1], &[], &[1]),
    ] {
        assert_eq!(order(live, desired), expected, "{live:?} {desired:?}");
    }
}

fn some() -> impl Strategy<Value = Vec<u16>> {
    Just((0..8).collect::<Vec<u16>>())
        .prop_shuffle()
        .prop_flat_map(|all| (0..all.len()).prop_map(move |n| all[..n].to_vec()))
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn each_item_is_there_once_and_both_orders_are_kept(live in some(), desired in some()) {
        let order = order(&live, &desired);
        let mut all: Vec<_> = live.iter().chain(&desired).copied().collect();
        all.sort_unstable();
        all.dedup();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert_eq!(sorted, all);
        let only = |of: &dyn Fn(&u16) -> bool| order.iter().copied().filter(|one| of(one)).collect::<Vec<_>>();
        prop_assert_eq!(only(&|one| desired.contains(one)), desired.clone());
        let others: Vec<_> = live.iter().copied().filter(|one| !desired.contains(one)).collect();
        prop_assert_eq!(only(&|one| !desired.contains(one)), others);
    }
}
