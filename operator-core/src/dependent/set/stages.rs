//! The order in which the objects of a set are applied. Pure.
//!
//! ```text
//! wave −1 ─▶ wave 0 ─▶ … ─▶ the last one: each when all before is ready
//!            ├ (a) the rest, rank by rank: namespaces ▸ webhooks ▸ definitions, classes, roles ▸ configuration, bindings ▸ others
//!            ├ (b) APIServices            when (a) is ready
//!            ├ (c) instances of kinds that the set defines            when (b) is ready
//!            └ at its end, when all of it is ready: what is purged then
//! ```
//!
//! # Guarantees
//! - Each object is in exactly one rank. Within a rank the order is that of the set.
//! - What is purged is purged in a wave in which it exists, and at the end of the last one at the latest.

use std::collections::BTreeMap;

use super::kinds::{Ordered, all_defined, is_api_service, is_definition};

/// The objects of a wave, by their positions in the set.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wave {
    pub(crate) order: i16,
    /// One after the other: each is sent when the one before is ready. None of them is empty.
    pub(crate) stages: Vec<ApplyStage>,
    /// What is deleted when all stages are ready.
    pub(crate) purged: Vec<usize>,
}

/// The objects that wait for the same, in ranks: each is sent when the one before was sent. None of them is empty.
type ApplyStage = Vec<Vec<usize>>;

/// Which stage of a wave.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum ApplyPart {
    Others,
    ApiServices,
    Instances,
}

/// The waves in which these objects are applied.
pub(crate) fn stages(objects: &[Ordered<'_>]) -> Vec<Wave> {
    let defined = all_defined(objects);
    let mut waves = BTreeMap::<i16, BTreeMap<ApplyPart, BTreeMap<u8, Vec<usize>>>>::new();
    for (at, object) in objects.iter().enumerate() {
        let part = match is_api_service(object.group, object.kind) {
            true => ApplyPart::ApiServices,
            false if object.is_instance(&defined) => ApplyPart::Instances,
            false => ApplyPart::Others,
        };
        let stages = waves.entry(object.policies.apply_order).or_default();
        stages.entry(part).or_default().entry(rank(object)).or_default().push(at);
    }
    let orders: Vec<i16> = waves.keys().copied().collect();
    let mut purged = BTreeMap::<i16, Vec<usize>>::new();
    for (at, object) in objects.iter().enumerate() {
        if let Some(order) = object.policies.purge_order {
            let earliest = order.max(object.policies.apply_order);
            let end = orders.iter().find(|wave| earliest <= **wave).or(orders.last());
            purged.entry(*end.unwrap_or(&earliest)).or_default().push(at);
        }
    }
    let ranks = |ranks: BTreeMap<u8, Vec<usize>>| ranks.into_values().collect();
    let wave = |(order, stages): (i16, BTreeMap<ApplyPart, _>)| Wave {
        order,
        stages: stages.into_values().map(ranks).collect(),
        purged: purged.remove(&order).unwrap_or_default(),
    };
    waves.into_iter().map(wave).collect()
}

/// What others usually need comes first.
fn rank(object: &Ordered<'_>) -> u8 {
    match (object.group, object.kind) {
        ("", "Namespace") => 0,
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => 1,
        ("networking.k8s.io", "IngressClass")
        | ("node.k8s.io", "RuntimeClass")
        | ("scheduling.k8s.io", "PriorityClass")
        | ("storage.k8s.io", "StorageClass")
        | ("rbac.authorization.k8s.io", "ClusterRole" | "Role") => 2,
        (group, kind) if is_definition(group, kind) => 2,
        ("", "ConfigMap" | "Secret")
        | ("rbac.authorization.k8s.io", "ClusterRoleBinding" | "RoleBinding") => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use kube::core::DynamicObject;
    use proptest::prelude::*;

    use super::*;
    use crate::dependent::set::{
        policies::Policies,
        samples_tests::{any_set, definer, object, ordered, types},
    };

    fn at(apply_order: i16) -> Policies {
        Policies { apply_order, ..Policies::default() }
    }

    /// The names of the objects as they are sent: waves with ranks, `|` between stages.
    fn sent(set: &[(DynamicObject, Policies)]) -> Vec<(i16, String)> {
        let name = |at: &usize| set[*at].0.metadata.name.clone().expect("it has a name");
        let rank = |rank: &Vec<usize>| rank.iter().map(name).collect::<Vec<_>>().join(" ");
        let stage = |stage: &ApplyStage| stage.iter().map(rank).collect::<Vec<_>>().join(", ");
        let stages = |wave: Wave| (wave.order, wave.stages.iter().map(stage).collect::<Vec<_>>().join(" | "));
        super::stages(&ordered(set)).into_iter().map(stages).collect()
    }

    #[test]
    fn an_operator_with_its_definition_and_instances_is_applied_in_a_sensible_order() {
        let of = |version: &str, kind: &str, name: &str| (object(version, kind, Some("n"), name), at(0));
        let mut set = vec![
            of("shop.io/v1", "Page", "page"),
            of("apps/v1", "Deployment", "web"),
            of("apiregistration.k8s.io/v1", "APIService", "api"),
            of("v1", "Secret", "secret"),
            of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "pages"),
            of("v1", "Service", "service"),
            of("v1", "Namespace", "n"),
            of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook"),
            of("metrics.io/v1", "Metric", "metric"),
            of("v1", "ConfigMap", "config"),
            of("rbac.authorization.k8s.io/v1", "ClusterRole", "role"),
        ];
        let expected = "n, hook, pages role, secret config, web service | api | page metric";
        assert_eq!(sent(&set), [(0, expected.to_owned())]);

        set[1].1 = at(-1);
        set[3].1 = at(1);
        let sent = sent(&set);
        assert_eq!(sent[0], (-1, "web".to_owned()));
        assert_eq!(sent[1], (0, "n, hook, pages role, config, service | api | page metric".to_owned()));
        assert_eq!(sent[2], (1, "secret".to_owned()));
    }

    #[test]
    fn what_is_purged_goes_at_the_end_of_its_wave_or_of_the_last_one() {
        let purged = |apply, purge| Policies { purge_order: purge, ..at(apply) };
        let orders =
            [(0, Some(0)), (0, Some(1)), (0, Some(9)), (2, Some(-5)), (2, None), (4, Some(i16::MAX))];
        let set = orders.map(|(apply, purge)| (object("batch/v1", "Job", None, "a"), purged(apply, purge)));
        let waves = super::stages(&ordered(&set));
        let ends: Vec<_> = waves.into_iter().map(|wave| (wave.order, wave.purged)).collect();
        assert_eq!(ends, [(0, vec![0]), (2, vec![1, 3]), (4, vec![2, 5])]);
    }

    const RANKS: [&[&str]; 4] = [
        &["Namespace"],
        &["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"],
        &[
            "CustomResourceDefinition",
            "IngressClass",
            "RuntimeClass",
            "PriorityClass",
            "StorageClass",
            "ClusterRole",
            "Role",
        ],
        &["ConfigMap", "Secret", "ClusterRoleBinding", "RoleBinding"],
    ];

    /// What would be sent next, by looking through all that wasn't sent yet.
    fn oracle(set: &[(DynamicObject, Policies)]) -> Vec<Vec<Vec<Vec<usize>>>> {
        let kinds: Vec<_> = set.iter().map(|(object, _)| types(object)).collect();
        let part = |at: usize| match kinds[at] {
            (_, "APIService") => 1,
            (version, kind)
                if definer(version, kind).is_some_and(|it| kinds.iter().any(|kind| kind.1 == it)) =>
            {
                2
            }
            _ => 0,
        };
        let rank = |at: usize| match kinds[at] {
            ("shop.io/v1", _) => RANKS.len(),
            (_, kind) => RANKS.iter().position(|rank| rank.contains(&kind)).unwrap_or(RANKS.len()),
        };
        let keys: Vec<_> = (0..set.len()).map(|at| (set[at].1.apply_order, part(at), rank(at))).collect();
        let mut waves: Vec<Vec<Vec<Vec<usize>>>> = Vec::new();
        let mut last = None;
        while let Some(next) = keys.iter().filter(|key| last.is_none_or(|last| **key > last)).min() {
            let (wave, part, _) = *next;
            if last.is_none_or(|(before, _, _)| before != wave) {
                waves.push(Vec::new());
            }
            let stages = waves.last_mut().expect("one was added");
            if last.is_none_or(|(before, other, _)| (before, other) != (wave, part)) {
                stages.push(Vec::new());
            }
            let members = (0..set.len()).filter(|at| keys[*at] == *next).collect();
            stages.last_mut().expect("one was added").push(members);
            last = Some(*next);
        }
        waves
    }

    /// Walks through the waves and purges what is there and due.
    fn purges(set: &[(DynamicObject, Policies)], waves: &[i16]) -> Vec<Vec<usize>> {
        let mut gone = vec![false; set.len()];
        let mut ends = Vec::new();
        for (step, wave) in waves.iter().enumerate() {
            let mut end = Vec::new();
            for (at, (_, policies)) in set.iter().enumerate() {
                let Some(purge) = policies.purge_order else { continue };
                let is_due = purge <= *wave || step + 1 == waves.len();
                if !gone[at] && policies.apply_order <= *wave && is_due {
                    gone[at] = true;
                    end.push(at);
                }
            }
            ends.push(end);
        }
        ends
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn objects_are_sent_as_somebody_would_choose_one_after_the_other(set in any_set()) {
            let waves = super::stages(&ordered(&set));
            let shape: Vec<Vec<_>> = waves.iter().map(|wave| wave.stages.clone()).collect();
            prop_assert_eq!(shape, oracle(&set));
            let orders: Vec<_> = waves.iter().map(|wave| wave.order).collect();
            let purged: Vec<_> = waves.into_iter().map(|wave| wave.purged).collect();
            prop_assert_eq!(purged, purges(&set, &orders));
        }
    }
}
