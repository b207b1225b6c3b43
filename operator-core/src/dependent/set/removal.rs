//! What becomes of objects that aren't wanted any more, and in which order they go. Pure.
//!
//! ```text
//! not wanted ─▶ fate: orphaned · stays, with a warning · deleted ─▶ wave −1 ─▶ wave 0 ─▶ …
//!                                                                            └ instances ▸ others ▸ definitions ▸ namespaces
//!                                                                              each when the one before is gone
//! ```
//!
//! # Guarantees
//! - Each object is in exactly one rank. A definition goes after all of its instances, and a namespace after all that is
//!   in it, even if the orders in their annotations say otherwise: those may be of different versions of the set.
//! - Data that can't be restored is deleted only with the whole set, or if the declaration requests it.
//! - What may be meant to stay isn't deleted: an object stays if its delete policy can't be read, and so does what it stands on.

use std::collections::BTreeMap;

use super::{
    kinds::{Ordered, all_defined, is_definition},
    policies::DeletePolicy,
};
use crate::dependent::object::holds_data;

/// Why objects aren't wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unwanted {
    /// They have left the set.
    Pruned,
    /// The whole set ends, with its primary or because its node is off.
    Ended,
}

/// What becomes of an object that isn't wanted any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It is deleted.
    Deleted,
    /// It stays, and loses the marks.
    Orphaned,
    /// It stays as it is, with a warning: data would be lost with it, which `prune_data` deletes, or its policy can't be read.
    Left,
}

/// What becomes of these objects. `is_unread`: whether the delete policy of that one can't be read.
pub(crate) fn fates(
    objects: &[Ordered<'_>],
    is_unread: impl Fn(usize) -> bool,
    why: Unwanted,
    prunes_data: bool,
) -> Vec<Fate> {
    let unread = || objects.iter().enumerate().filter(|(at, _)| is_unread(*at)).map(|(_, object)| object);
    let fate = |(at, object): (usize, &Ordered<'_>)| {
        let fate = fate(object.group, object.kind, object.policies.delete, why, prunes_data);
        let would_take_along = || object.is_ground() && unread().any(|other| other.stands_on(object));
        let stays = is_unread(at) || (fate == Fate::Deleted && would_take_along());
        if stays { Fate::Left } else { fate }
    };
    objects.iter().enumerate().map(fate).collect()
}

/// What becomes of an object of this kind with this policy.
pub(super) fn fate(group: &str, kind: &str, policy: DeletePolicy, why: Unwanted, prunes_data: bool) -> Fate {
    match (policy, why) {
        (DeletePolicy::Orphan, _)
        | (DeletePolicy::OrphanOnApply, Unwanted::Pruned)
        | (DeletePolicy::OrphanOnDelete, Unwanted::Ended) => Fate::Orphaned,
        (_, Unwanted::Pruned) if holds_data(group, kind) && !prunes_data => Fate::Left,
        _ => Fate::Deleted,
    }
}

/// The objects that go together, by their positions: their order, and in ranks. Each rank is sent when the one before was sent, and
/// none is empty.
type RemovalStage = (i16, Vec<Vec<usize>>);

/// Which stage of a wave.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum RemovalPart {
    Instances,
    Others,
    Definitions,
    Namespaces,
}

/// The stages in which these objects go, one after the other: each when all of the one before are gone.
pub(crate) fn removal(objects: &[Ordered<'_>]) -> Vec<RemovalStage> {
    let defined = all_defined(objects);
    let mut stages = BTreeMap::<(i16, RemovalPart), BTreeMap<u8, Vec<usize>>>::new();
    for (at, object) in objects.iter().enumerate() {
        let part = match is_definition(object.group, object.kind) {
            true => RemovalPart::Definitions,
            false if object.is_namespace() => RemovalPart::Namespaces,
            false if object.is_instance(&defined) => RemovalPart::Instances,
            false => RemovalPart::Others,
        };
        // Nothing stands on what stands on something, so one turn is enough.
        let carried = objects.iter().filter(|other| object.is_ground() && other.stands_on(object));
        let orders = carried.map(|other| other.policies.delete_order);
        let order = orders.fold(object.policies.delete_order, i16::max);
        stages.entry((order, part)).or_default().entry(rank(object)).or_default().push(at);
    }
    stages.into_iter().map(|((order, _), ranks)| (order, ranks.into_values().collect())).collect()
}

/// What others may still need while they go comes last.
fn rank(object: &Ordered<'_>) -> u8 {
    match (object.group, object.kind) {
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => 1,
        ("", "Service" | "ConfigMap" | "Secret") => 2,
        ("networking.k8s.io", "IngressClass")
        | ("node.k8s.io", "RuntimeClass")
        | ("scheduling.k8s.io", "PriorityClass")
        | ("storage.k8s.io", "StorageClass") => 3,
        _ => 0,
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

    fn at(delete_order: i16) -> Policies {
        Policies { delete_order, ..Policies::default() }
    }

    /// The names of the objects as they go: one text for each stage, `,` between ranks.
    fn going(set: &[(DynamicObject, Policies)]) -> Vec<(i16, String)> {
        let name = |at: &usize| set[*at].0.metadata.name.clone().expect("it has a name");
        let rank = |rank: &Vec<usize>| rank.iter().map(name).collect::<Vec<_>>().join(" ");
        let stage =
            |(order, ranks): RemovalStage| (order, ranks.iter().map(rank).collect::<Vec<_>>().join(", "));
        removal(&ordered(set)).into_iter().map(stage).collect()
    }

    fn operator() -> Vec<(DynamicObject, Policies)> {
        let of = |version: &str, kind: &str, name: &str| (object(version, kind, Some("n"), name), at(0));
        vec![
            of("v1", "Namespace", "n"),
            of("v1", "Namespace", "other"),
            of("apiextensions.k8s.io/v1", "CustomResourceDefinition", "pages"),
            of("storage.k8s.io/v1", "StorageClass", "class"),
            of("v1", "Secret", "secret"),
            of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "hook"),
            of("apps/v1", "Deployment", "web"),
            of("shop.io/v1", "Page", "page"),
            of("apiregistration.k8s.io/v1", "APIService", "api"),
            of("metrics.io/v1", "Metric", "metric"),
            of("v1", "Service", "service"),
        ]
    }

    #[test]
    fn instances_go_before_their_operator_then_definitions_then_namespaces() {
        let expected = ["page metric", "web, hook, secret service, class", "pages api", "n other"];
        assert_eq!(going(&operator()), expected.map(|stage| (0, stage.to_owned())));
        let page = vec![operator().remove(7), operator().remove(6)];
        assert_eq!(going(&page), [(0, "page web".to_owned())]);
    }

    #[test]
    fn waves_go_one_after_the_other() {
        let mut set = operator();
        set[6].1 = at(-1);
        set[1].1 = at(-2);
        let going = going(&set);
        assert_eq!(going[..2], [(-2, "other".to_owned()), (-1, "web".to_owned())]);
        assert_eq!(going[2], (0, "page metric".to_owned()));
    }

    #[test]
    fn nothing_goes_before_what_stands_on_it_whatever_the_orders_say() {
        let mut set = operator();
        set[7].1 = at(2);
        set[10].1 = at(3);
        let expected = [
            (0, "metric"),
            (0, "web, hook, secret, class"),
            (0, "api"),
            (0, "other"),
            (2, "page"),
            (2, "pages"),
            (3, "service"),
            (3, "n"),
        ];
        assert_eq!(going(&set), expected.map(|(order, stage)| (order, stage.to_owned())));
    }

    #[test]
    fn policies_and_data_decide_what_becomes_of_an_object() {
        use DeletePolicy::{Orphan, OrphanOnApply, OrphanOnDelete};
        use Fate::{Deleted, Left, Orphaned};
        use Unwanted::{Ended, Pruned};
        let map = |policy, why| fate("", "ConfigMap", policy, why, false);
        let table = [
            (DeletePolicy::Delete, Deleted, Deleted),
            (Orphan, Orphaned, Orphaned),
            (OrphanOnApply, Orphaned, Deleted),
            (OrphanOnDelete, Deleted, Orphaned),
        ];
        for (policy, pruned, ended) in table {
            assert_eq!((map(policy, Pruned), map(policy, Ended)), (pruned, ended), "{policy:?}");
        }
        let data = [
            ("", "Namespace"),
            ("", "PersistentVolumeClaim"),
            ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ];
        for (group, kind) in data {
            let of = |policy, why, prunes| fate(group, kind, policy, why, prunes);
            assert_eq!(of(DeletePolicy::Delete, Pruned, false), Left, "{kind}");
            assert_eq!(of(OrphanOnDelete, Pruned, false), Left, "{kind}");
            assert_eq!(of(DeletePolicy::Delete, Pruned, true), Deleted, "{kind}");
            assert_eq!(of(DeletePolicy::Delete, Ended, false), Deleted, "{kind}");
            assert_eq!(of(Orphan, Pruned, false), Orphaned, "{kind}");
        }
        assert_eq!(fate("other.io", "Namespace", DeletePolicy::Delete, Pruned, false), Deleted);
        assert_eq!(
            fate("apiregistration.k8s.io", "APIService", DeletePolicy::Delete, Pruned, false),
            Deleted
        );
    }

    #[test]
    fn an_object_whose_policy_cannot_be_read_stays_with_what_it_stands_on() {
        use Fate::{Deleted, Left, Orphaned};
        let names = |fates: Vec<Fate>, of: Fate| -> Vec<String> {
            let all = operator();
            let found = fates.iter().zip(&all).filter(|(fate, _)| **fate == of);
            found.filter_map(|(_, (object, _))| object.metadata.name.clone()).collect()
        };
        let set = operator();
        let of = |unread: usize, why| fates(&ordered(&set), |at| at == unread, why, true);
        for why in [Unwanted::Pruned, Unwanted::Ended] {
            assert_eq!(names(of(usize::MAX, why), Deleted).len(), set.len(), "all can be read");
            // A Page, whose definition is in the set. All of them name the namespace.
            assert_eq!(names(of(7, why), Left), ["n", "pages", "page"]);
            assert_eq!(names(of(6, why), Left), ["n", "web"]);
            assert_eq!(names(of(2, why), Left), ["n", "pages"], "its instances go");
        }
        let mut set = operator();
        set[0].1.delete = DeletePolicy::Orphan;
        let found = fates(&ordered(&set), |at| at == 6, Unwanted::Ended, false);
        assert_eq!((found[0], found[6]), (Orphaned, Left), "what is let go takes nothing along");
    }

    const LAST: [&[&str]; 3] = [
        &["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"],
        &["Service", "ConfigMap", "Secret"],
        &["IngressClass", "RuntimeClass", "PriorityClass", "StorageClass"],
    ];

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn each_pair_of_objects_goes_in_the_right_order(set in any_set()) {
            let stages = removal(&ordered(&set));
            let mut places = vec![Vec::new(); set.len()];
            for (stage, (_, one)) in stages.iter().enumerate() {
                for (rank, members) in one.iter().enumerate() {
                    prop_assert!(!members.is_empty() && members.is_sorted(), "the order of the set within a rank");
                    members.iter().for_each(|at| places[*at].push((stage, rank)));
                }
            }
            prop_assert!(places.iter().all(|places| places.len() == 1), "each goes once: {places:?}");
            let kind = |at: usize| types(&set[at].0);
            let needs = |a: usize, b: usize| {
                let (version, of) = kind(a);
                definer(version, of) == Some(kind(b).1)
                    || (kind(b).1 == "Namespace" && set[a].0.metadata.namespace == set[b].0.metadata.name)
            };
            let order = |at: usize| {
                let carried = (0..set.len()).filter(|other| needs(*other, at));
                carried.map(|other| set[other].1.delete_order).chain([set[at].1.delete_order]).max().expect("its own")
            };
            let part = |at: usize| match kind(at) {
                (_, "Namespace") => 3,
                (_, "CustomResourceDefinition" | "APIService") => 2,
                _ if (0..set.len()).any(|other| kind(other).1 != "Namespace" && needs(at, other)) => 0,
                _ => 1,
            };
            let rank = |at: usize| LAST.iter().position(|rank| rank.contains(&kind(at).1)).map_or(0, |rank| rank + 1);
            for a in 0..set.len() {
                for b in 0..set.len() {
                    let (first, second) = (places[a][0], places[b][0]);
                    if needs(a, b) {
                        prop_assert!(first.0 < second.0, "{a} needs {b}");
                    }
                    let stage = (order(a), part(a)).cmp(&(order(b), part(b)));
                    prop_assert_eq!(first.0.cmp(&second.0), stage, "stages of {} and {}", a, b);
                    if stage.is_eq() {
                        prop_assert_eq!(first.1.cmp(&second.1), rank(a).cmp(&rank(b)), "ranks of {} and {}", a, b);
                    }
                }
            }
        }
    }
}
