//! All that is wrong with a set of objects, before anything of it is touched. Pure.
//!
//! # Guarantees
//! - All faults are found at once, in the order of the set. Each names its object, and the document and line if it is from
//!   YAML.
//! - Without a fault, applying in waves meets no object that needs a later one, and nothing that should stay is deleted with
//!   its namespace or its definition.

use std::collections::HashMap;

use kube::core::DynamicObject;

use super::{
    kinds::{Ordered, is_definition},
    objects::{SetObject, described},
    removal::{Fate, Unwanted, fate},
};
use crate::resource::ResourceType;

/// How many bytes of JSON an object may have; etcd refuses 1.5 MiB with all that the server adds.
const LARGEST: usize = 1 << 20;

/// What is wrong with these objects, whose namespaces have been filled in. `only`: the kinds that the set may hold, if it was
/// declared.
pub(crate) fn faults(set: &[SetObject], only: Option<&[ResourceType]>) -> Vec<String> {
    let ordered: Vec<_> = set.iter().map(|one| Ordered::new(&one.object, &one.reading.policies)).collect();
    let ground: Vec<usize> = (0..set.len()).filter(|at| ordered[*at].is_ground()).collect();
    let mut first = HashMap::new();
    let mut faults = Vec::new();
    for (at, (one, object)) in set.iter().zip(&ordered).enumerate() {
        let mut wrong = own_faults(one, object);
        if let Some(only) = only.filter(|_| !object.kind.is_empty())
            && !only.iter().any(|kind| (kind.group(), kind.kind()) == (object.group, object.kind))
        {
            wrong.push("its kind is not among those that were declared with `kinds`".to_owned());
        }
        let identity = (object.group, object.kind, object.key.clone());
        let before = *first.entry(identity).or_insert(at);
        if before != at && !object.key.name().is_empty() {
            let place = set[before].place.map(|place| format!(", first in {place}")).unwrap_or_default();
            wrong.push(format!("it is in the set twice{place}"));
        }
        for on in ground.iter().filter(|on| **on != at && object.stands_on(&ordered[**on])) {
            wrong.extend(order_faults(object, &ordered[*on], &described(&set[*on].object)));
        }
        let place = one.place.map(|place| format!(" ({place})")).unwrap_or_default();
        let name = described(&one.object);
        faults.extend(wrong.into_iter().map(|what| format!("{name}{place}: {what}")));
    }
    faults
}

/// The warnings about these objects, each with its object.
pub(crate) fn warnings(set: &[SetObject]) -> Vec<String> {
    let of = |one: &SetObject| {
        let name = described(&one.object);
        one.reading.warnings.iter().map(move |what| format!("{name}: {what}")).collect::<Vec<_>>()
    };
    set.iter().flat_map(of).collect()
}

/// What is wrong with an object, whatever else there is.
fn own_faults(one: &SetObject, object: &Ordered<'_>) -> Vec<String> {
    let mut wrong: Vec<String> = one.broken.iter().cloned().collect();
    if object.kind.is_empty() || object.version.is_empty() {
        wrong.push("it has no `apiVersion` or no `kind`".to_owned());
    }
    if one.object.metadata.generate_name.as_ref().is_some_and(|name| !name.is_empty()) {
        wrong.push("it has `generateName`, but has to be found again: give it a `name`".to_owned());
    } else if object.key.name().is_empty() {
        wrong.push("it has no `name`".to_owned());
    }
    wrong.extend(one.reading.faults.iter().cloned());
    let is_ground = object.is_namespace() || is_definition(object.group, object.kind);
    if is_ground && object.policies.purge_order.is_some() {
        wrong.push("it can't be purged, because others would go with it".to_owned());
    }
    match size(&one.object) {
        Ok(size) if size > LARGEST => {
            wrong.push(format!("it has {size} bytes, {LARGEST} at most"));
        }
        Ok(_) => {}
        Err(error) => wrong.push(format!("it can't be serialized: {error}")),
    }
    wrong
}

/// What is wrong between an object and what it can't exist without, its namespace or its definition.
fn order_faults(object: &Ordered<'_>, on: &Ordered<'_>, name: &str) -> Vec<String> {
    let (own, other) = (object.policies, on.policies);
    let mut wrong = Vec::new();
    if own.apply_order < other.apply_order {
        let (own, other) = (own.apply_order, other.apply_order);
        wrong.push(format!("its `apply-order` {own} is before that of {name}, {other}"));
    }
    if own.delete_order > other.delete_order {
        let (own, other) = (own.delete_order, other.delete_order);
        wrong.push(format!("its `delete-order` {own} is after that of {name}, {other}"));
    }
    let outlives = |why| {
        let becomes = |one: &Ordered<'_>| fate(one.group, one.kind, one.policies.delete, why, true);
        becomes(object) == Fate::Orphaned && becomes(on) == Fate::Deleted
    };
    if outlives(Unwanted::Pruned) || outlives(Unwanted::Ended) {
        wrong.push(format!("its `delete-policy` can't keep it when {name} is deleted"));
    }
    wrong
}

/// How many bytes it has as JSON.
fn size(object: &DynamicObject) -> serde_json::Result<usize> {
    Ok(serde_json::to_vec(object)?.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::{
        dependent::set::{
            objects::Objects,
            policies::{DeletePolicy, Policies, Reading, Rules},
            removal::removal,
            samples_tests::{any_set, ordered},
            stages::stages,
        },
        resource::MarkNames,
    };

    fn read(yaml: &str) -> Vec<SetObject> {
        let (marks, defaults) = (MarkNames::default(), Policies::default());
        let objects = Objects::from_yaml(yaml).unwrap_or_else(|error| panic!("{error}: {yaml}"));
        objects.read(&Rules { prefix: "shop.io", marks: &marks, defaults: &defaults })
    }

    fn of(yaml: &str) -> Vec<String> {
        faults(&read(yaml), None)
    }

    /// A document: its kind, name, namespace and policies.
    fn document(kind: &str, name: &str, namespace: &str, policies: &str) -> String {
        let spec = "spec: {group: shop.io, version: v1, names: {kind: Page}}";
        let version = match kind {
            "CustomResourceDefinition" => "apiextensions.k8s.io/v1",
            "APIService" => "apiregistration.k8s.io/v1",
            "Page" => "shop.io/v1",
            _ => "v1",
        };
        format!(
            "---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}, annotations: {{{policies}}}}}\n{spec}\n"
        )
    }

    #[test]
    fn all_faults_are_told_at_once_in_the_order_of_the_set() {
        let yaml = "
apiVersion: v1
kind: ConfigMap
---
{apiVersion: v1, kind: ConfigMap, metadata: {generateName: a-}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: n}}
---
{apiVersion: v1, kind: Secret, metadata: {name: a, namespace: n, annotations: {shop.io/apply-order: x, shop.io/delete-ordr: '1'}}}
---
{apiVersion: v2, kind: ConfigMap, metadata: {name: a, namespace: n}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: m}}
---
{apiVersion: shop.io/v1, kind: ConfigMap, metadata: {name: a, namespace: n}}
";
        let expected = [
            "ConfigMap without a name (document 1, line 2): it has no `name`",
            "ConfigMap a-… (document 2, line 5): it has `generateName`, but has to be found again: give it a `name`",
            "Secret n/a (document 4, line 9): the annotation `shop.io/apply-order` is `x`, but must be a whole number from -32768 to 32767",
            "Secret n/a (document 4, line 9): the annotation `shop.io/delete-ordr` is unknown; did you mean `shop.io/delete-order`?",
            "ConfigMap n/a (document 5, line 11): it is in the set twice, first in document 3, line 7",
        ];
        assert_eq!(of(yaml), expected);
    }

    #[test]
    fn objects_from_code_have_faults_without_a_place() {
        let without =
            |value: serde_json::Value| serde_json::from_value::<DynamicObject>(value).expect("an object");
        let mut objects = Objects::new();
        objects.push(without(json!({ "metadata": { "name": "a" } })));
        objects.push(without(json!({ "apiVersion": "v1", "kind": "A", "metadata": { "name": "a" } })));
        objects.push(without(json!({ "apiVersion": "v1", "kind": "A", "metadata": { "name": "a" } })));
        let (marks, defaults) = (MarkNames::default(), Policies::default());
        let set = objects.read(&Rules { prefix: "shop.io", marks: &marks, defaults: &defaults });
        assert_eq!(
            faults(&set, None),
            ["object a: it has no `apiVersion` or no `kind`", "A a: it is in the set twice"]
        );
    }

    #[test]
    fn an_object_that_cannot_be_serialized_or_is_too_large_is_a_fault() {
        let mut set = read("{apiVersion: v1, kind: A, metadata: {name: a}, data: ''}");
        let without = size(&set[0].object).expect("it can be serialized");
        set[0].object.data["data"] = "x".repeat(LARGEST - without).into();
        assert_eq!(faults(&set, None), Vec::<String>::new(), "as large as possible");
        set[0].object.data["data"] = "x".repeat(LARGEST - without + 1).into();
        assert_eq!(faults(&set, None), ["A a (document 1, line 1): it has 1048577 bytes, 1048576 at most"]);
        set[0].object.data = json!({});
        set[0].broken = Some("it can't be serialized: too odd".to_owned());
        assert_eq!(faults(&set, None), ["A a (document 1, line 1): it can't be serialized: too odd"]);
    }

    #[test]
    fn only_declared_kinds_may_be_there_if_some_are_declared() {
        let set = read(
            "{apiVersion: v1, kind: Secret, metadata: {name: a}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n{apiVersion: x.io/v1, kind: Secret, metadata: {name: a}}",
        );
        let secrets = [ResourceType::of::<k8s_openapi::api::core::v1::Secret>()];
        let expected = ["ConfigMap a (document 2, line 3)", "Secret a (document 3, line 5)"];
        let expected = expected
            .map(|name| format!("{name}: its kind is not among those that were declared with `kinds`"));
        assert_eq!(faults(&set, Some(&secrets)), expected);
        assert_eq!(faults(&set, Some(&[])).len(), 3, "none at all");
        assert_eq!(faults(&set, None).len(), 0);
    }

    #[test]
    fn what_others_stand_on_is_never_purged() {
        for kind in ["Namespace", "CustomResourceDefinition", "APIService"] {
            let faults = of(&document(kind, "a", "", "shop.io/purge-order: '0'"));
            assert_eq!(
                faults,
                [format!(
                    "{kind} a (document 1, line 2): it can't be purged, because others would go with it"
                )]
            );
        }
        assert_eq!(of(&document("Page", "a", "n", "shop.io/purge-order: '0'")), Vec::<String>::new());
    }

    #[test]
    fn nothing_comes_before_or_goes_after_its_definition_or_namespace() {
        for (ground, name) in
            [("CustomResourceDefinition", "pages"), ("APIService", "pages"), ("Namespace", "n")]
        {
            let both = |own: &str, other: &str| {
                of(&(document("Page", "a", "n", own) + &document(ground, name, "", other)))
            };
            let fault = |what: &str| [format!("Page n/a (document 1, line 2): {what}")];
            assert_eq!(both("", ""), Vec::<String>::new());
            let before = format!("its `apply-order` -1 is before that of {ground} {name}, 0");
            assert_eq!(both("shop.io/apply-order: '-1'", ""), fault(&before));
            assert_eq!(both("shop.io/apply-order: '1'", "shop.io/apply-order: '1'"), Vec::<String>::new());
            let after = format!("its `delete-order` 1 is after that of {ground} {name}, 0");
            assert_eq!(both("shop.io/delete-order: '1'", ""), fault(&after));
            assert_eq!(both("shop.io/delete-order: '1'", "shop.io/delete-order: '2'"), Vec::<String>::new());

            let outlives = format!("its `delete-policy` can't keep it when {ground} {name} is deleted");
            let [delete, orphan, on_apply, on_delete] =
                ["delete", "orphan", "orphan-on-apply", "orphan-on-delete"]
                    .map(|it| format!("shop.io/delete-policy: {it}"));
            for (own, other) in [
                (&orphan, &delete),
                (&on_apply, &delete),
                (&on_delete, &delete),
                (&orphan, &on_apply),
                (&orphan, &on_delete),
                (&on_apply, &on_delete),
                (&on_delete, &on_apply),
            ] {
                assert_eq!(both(own, other), fault(&outlives), "{own}, {other}");
            }
            for (own, other) in [
                (&delete, &delete),
                (&delete, &orphan),
                (&orphan, &orphan),
                (&on_apply, &orphan),
                (&on_apply, &on_apply),
                (&on_delete, &on_delete),
                (&delete, &on_delete),
            ] {
                assert_eq!(both(own, other), Vec::<String>::new(), "{own}, {other}");
            }
        }
        let elsewhere =
            document("Page", "a", "m", "shop.io/apply-order: '-1'") + &document("Namespace", "n", "", "");
        assert_eq!(of(&elsewhere), Vec::<String>::new(), "another namespace");
    }

    #[test]
    fn warnings_name_their_objects() {
        let set = read(&document("Page", "a", "n", "shop.io/delete-policy: default"));
        let expected = "Page n/a: `default` is deprecated as a value of `shop.io/delete-policy`: leave the annotation out";
        assert_eq!((faults(&set, None).len(), warnings(&set)), (0, vec![expected.to_owned()]));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// Whatever has no fault is applied after what it stands on, goes before it, and nothing waits for a lower order.
        #[test]
        fn without_a_fault_nothing_is_sent_before_what_it_stands_on(set in any_set()) {
            let judged: Vec<_> = set
                .iter()
                .map(|(object, policies)| SetObject {
                    object: object.clone(),
                    place: None,
                    broken: None,
                    reading: Reading { policies: policies.clone(), ..Reading::default() },
                })
                .collect();
            let faults = faults(&judged, None);
            let ordered = ordered(&set);
            let mut sent = vec![(0, 0); set.len()];
            for (wave, one) in stages(&ordered).iter().enumerate() {
                let ranks = one.stages.iter().flatten().enumerate();
                ranks.for_each(|(rank, members)| members.iter().for_each(|at| sent[*at] = (wave, rank)));
            }
            let stages = removal(&ordered);
            let moved = stages.iter().flat_map(|(order, ranks)| ranks.iter().flatten().map(|at| (*at, *order)));
            let is_moved = moved.into_iter().any(|(at, order)| order != set[at].1.delete_order);
            let pairs = || (0..set.len()).flat_map(|a| (0..set.len()).map(move |b| (a, b)));
            let needs = |(a, b): &(usize, usize)| ordered[*a].stands_on(&ordered[*b]);
            let is_early = pairs().filter(needs).any(|(a, b)| sent[a] <= sent[b]);
            let told = |what: &str| faults.iter().any(|fault| fault.contains(what));
            prop_assert_eq!(is_early, told("`apply-order`"), "{:?}", faults);
            prop_assert_eq!(is_moved, told("`delete-order`"), "{:?}", faults);
            let outlives = pairs().filter(needs).any(|(a, b)| {
                let (own, other) = (set[a].1.delete, set[b].1.delete);
                // What each keeps: when it is pruned, and at the end.
                let kept = |delete| match delete {
                    DeletePolicy::Delete => (false, false),
                    DeletePolicy::Orphan => (true, true),
                    DeletePolicy::OrphanOnApply => (true, false),
                    DeletePolicy::OrphanOnDelete => (false, true),
                };
                (kept(own).0 && !kept(other).0) || (kept(own).1 && !kept(other).1)
            });
            prop_assert_eq!(outlives, told("`delete-policy`"), "{:?}", faults);
        }
    }
}
