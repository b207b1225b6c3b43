//! The policies of an object, which it carries as annotations: how it is taken over, applied and deleted, and in which
//! order. Pure.
//!
//! | annotation | values, the default without a node's own first |
//! |---|---|
//! | `adoption-policy` | `never`, `if-unowned`, `always` |
//! | `reconcile-policy` | `on-object-change`, `on-object-or-component-change`, `once` |
//! | `update-policy` | `ssa-merge`, `ssa-override`, `replace`, `recreate` |
//! | `delete-policy` | `delete`, `orphan`, `orphan-on-apply`, `orphan-on-delete` |
//! | `reapply-interval` | a duration, without effect |
//! | `apply-order`, `delete-order`, `purge-order` | a whole number of 16 bits; 0, 0, never |
//! | `status-hint` | `has-observed-generation`, `has-ready-condition`, `conditions=A;B`, separated by commas |
//! | `ignore-fields` | JSON pointers, separated by commas |
//!
//! Values are in kebab case or in camel case. `default` means that the annotation isn't there, with a warning.
//!
//! # Guarantees
//! - No annotation is ignored silently: a value that isn't allowed is a fault that lists the allowed ones, and so is an
//!   annotation whose name is nearly a known one. Others are left alone.

use jiff::SignedDuration;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use crate::{
    resource::{MarkNames, cut, is_condition_type, nearest},
    results::Adoption,
};

/// The names of the annotations that aren't choices, without their prefix.
pub(super) const APPLY_ORDER: &str = "apply-order";
pub(super) const DELETE_ORDER: &str = "delete-order";
pub(super) const PURGE_ORDER: &str = "purge-order";
pub(super) const STATUS_HINT: &str = "status-hint";
pub(super) const IGNORE_FIELDS: &str = "ignore-fields";
const REAPPLY_INTERVAL: &str = "reapply-interval";

/// All of them.
const KNOWN: [&str; 10] = [
    Adoption::NAME,
    ReconcilePolicy::NAME,
    UpdatePolicy::NAME,
    DeletePolicy::NAME,
    REAPPLY_INTERVAL,
    APPLY_ORDER,
    DELETE_ORDER,
    PURGE_ORDER,
    STATUS_HINT,
    IGNORE_FIELDS,
];

/// What an object's annotations say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policies {
    pub(crate) adoption: Adoption,
    pub(crate) reconcile: ReconcilePolicy,
    pub(crate) update: UpdatePolicy,
    pub(crate) delete: DeletePolicy,
    /// The wave in which it is applied.
    pub(crate) apply_order: i16,
    /// The wave in which it is deleted.
    pub(crate) delete_order: i16,
    /// The wave of applying at whose end it is deleted, if it is.
    pub(crate) purge_order: Option<i16>,
    pub(crate) hints: Hints,
    /// JSON pointers to the fields that are left to others after its creation.
    pub(crate) ignore_fields: Vec<String>,
}

/// When an object that exists is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ReconcilePolicy {
    /// When it differs from what is wanted.
    #[default]
    OnObjectChange,
    /// Also when the component that it belongs to has changed.
    OnObjectOrComponentChange,
    /// Never: it is only created.
    Once,
}

/// How a change is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UpdatePolicy {
    /// Server-side apply.
    #[default]
    SsaMerge,
    /// The same after fields of `kubectl` and `helm` have been taken over, which go unless they are wanted.
    SsaOverride,
    /// A replacement of the whole object except for its finalizers.
    Replace,
    /// A deletion, and a new object.
    Recreate,
}

/// What becomes of an object that isn't wanted any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum DeletePolicy {
    /// It is deleted.
    #[default]
    Delete,
    /// It stays, and loses the marks.
    Orphan,
    /// It stays if it leaves the set, and is deleted with the whole set.
    OrphanOnApply,
    /// It is deleted if it leaves the set, and stays when the whole set ends.
    OrphanOnDelete,
}

/// What an object's status is known to have, beyond what is usual for its kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hints {
    pub(crate) observed_generation: bool,
    pub(crate) ready_condition: bool,
    /// The types of conditions that have to be true.
    pub(crate) conditions: Vec<String>,
}

/// A policy that is one of a few values.
pub(super) trait Choice: Copy + PartialEq + 'static {
    /// The name of its annotation, without the prefix.
    const NAME: &'static str;
    /// Its values with their words.
    const VALUES: &'static [(&'static str, Self)];

    /// The value's word.
    fn word(self) -> &'static str {
        Self::VALUES.iter().find(|(_, value)| *value == self).map_or("default", |(word, _)| word)
    }
}

impl Choice for Adoption {
    const NAME: &'static str = "adoption-policy";
    const VALUES: &'static [(&'static str, Self)] =
        &[("if-unowned", Self::IfUnowned), ("never", Self::Never), ("always", Self::Always)];
}

impl Choice for ReconcilePolicy {
    const NAME: &'static str = "reconcile-policy";
    const VALUES: &'static [(&'static str, Self)] = &[
        ("on-object-change", Self::OnObjectChange),
        ("on-object-or-component-change", Self::OnObjectOrComponentChange),
        ("once", Self::Once),
    ];
}

impl Choice for UpdatePolicy {
    const NAME: &'static str = "update-policy";
    const VALUES: &'static [(&'static str, Self)] = &[
        ("ssa-merge", Self::SsaMerge),
        ("ssa-override", Self::SsaOverride),
        ("replace", Self::Replace),
        ("recreate", Self::Recreate),
    ];
}

impl Choice for DeletePolicy {
    const NAME: &'static str = "delete-policy";
    const VALUES: &'static [(&'static str, Self)] = &[
        ("delete", Self::Delete),
        ("orphan", Self::Orphan),
        ("orphan-on-apply", Self::OrphanOnApply),
        ("orphan-on-delete", Self::OrphanOnDelete),
    ];
}

/// How annotations are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'r> {
    /// What the keys of the policies begin with, without the slash.
    pub(crate) prefix: &'r str,
    /// The marks, which no policy may touch.
    pub(crate) marks: &'r MarkNames,
    /// What holds for an object without annotations.
    pub(crate) defaults: &'r Policies,
}

/// The policies in an object's annotations, and what is wrong with those.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) policies: Policies,
    pub(crate) faults: Vec<String>,
    /// The one among them that leaves open whether the object may be deleted.
    pub(crate) delete_fault: Option<String>,
    pub(crate) warnings: Vec<String>,
}

impl Reading {
    /// What the annotations in this metadata say. Where one is wrong, the default is in its place.
    pub(crate) fn of(meta: &ObjectMeta, rules: &Rules<'_>) -> Self {
        let mut reading = Self { policies: rules.defaults.clone(), ..Self::default() };
        for (key, value) in meta.annotations.iter().flatten() {
            let name = key.strip_prefix(rules.prefix).and_then(|rest| rest.strip_prefix('/'));
            if let Some(name) = name {
                let (fault, of) = match reading.read(name, value, rules) {
                    Ok(()) => continue,
                    Err(Wrong::Value(allowed)) => {
                        let value = cut(value.clone(), 100);
                        (format!("the annotation `{key}` is `{value}`, but must be {allowed}"), name)
                    }
                    Err(Wrong::Name(known)) => {
                        let meant = format!("{}/{known}", rules.prefix);
                        (format!("the annotation `{key}` is unknown; did you mean `{meant}`?"), known)
                    }
                    Err(Wrong::Default) => {
                        reading.warnings.push(format!(
                            "`default` is deprecated as a value of `{key}`: leave the annotation out"
                        ));
                        continue;
                    }
                };
                if of == DeletePolicy::NAME {
                    reading.delete_fault = Some(fault.clone());
                }
                reading.faults.push(fault);
            }
        }
        reading
    }

    fn read(&mut self, name: &str, value: &str, rules: &Rules<'_>) -> Result<(), Wrong> {
        let policies = &mut self.policies;
        match name {
            Adoption::NAME => policies.adoption = choice(value)?,
            ReconcilePolicy::NAME => policies.reconcile = choice(value)?,
            UpdatePolicy::NAME => policies.update = choice(value)?,
            DeletePolicy::NAME => policies.delete = choice(value)?,
            APPLY_ORDER => policies.apply_order = order(value)?,
            DELETE_ORDER => policies.delete_order = order(value)?,
            PURGE_ORDER => policies.purge_order = Some(order(value)?),
            STATUS_HINT => policies.hints = hints(value)?,
            IGNORE_FIELDS => policies.ignore_fields = pointers(value, rules)?,
            REAPPLY_INTERVAL => match value.parse::<SignedDuration>() {
                Ok(interval) if !interval.is_negative() => {}
                _ => return Err(Wrong::Value("a duration, for example `10m` or `1h30m`".to_owned())),
            },
            other => return nearest(other, KNOWN).map_or(Ok(()), |known| Err(Wrong::Name(known))),
        }
        Ok(())
    }
}

enum Wrong {
    /// With what is allowed.
    Value(String),
    /// With the name that is meant.
    Name(&'static str),
    /// The value `default`.
    Default,
}

fn choice<C: Choice>(value: &str) -> Result<C, Wrong> {
    let kebab = kebab(value);
    if let Some((_, choice)) = C::VALUES.iter().find(|(word, _)| *word == kebab) {
        return Ok(*choice);
    }
    if kebab == "default" {
        return Err(Wrong::Default);
    }
    let words: Vec<_> = C::VALUES.iter().map(|(word, _)| format!("`{word}`")).collect();
    Err(Wrong::Value(format!("one of {}", words.join(", "))))
}

/// A word in kebab case, which may be in camel case.
fn kebab(word: &str) -> String {
    let mut kebab = String::new();
    for (at, c) in word.char_indices() {
        if at > 0 && c.is_ascii_uppercase() {
            kebab.push('-');
        }
        kebab.push(c.to_ascii_lowercase());
    }
    kebab
}

fn order(value: &str) -> Result<i16, Wrong> {
    let allowed = || format!("a whole number from {} to {}", i16::MIN, i16::MAX);
    value.parse().map_err(|_| Wrong::Value(allowed()))
}

fn hints(value: &str) -> Result<Hints, Wrong> {
    const ALLOWED: &str = "a list of `has-observed-generation`, `has-ready-condition` and `conditions=…` with types of conditions and `;` between them";
    let mut hints = Hints::default();
    for hint in value.split(',').map(str::trim) {
        let (name, types) = hint.split_once('=').map_or((hint, None), |(name, types)| (name, Some(types)));
        match (&*kebab(name), types) {
            ("has-observed-generation", None) => hints.observed_generation = true,
            ("has-ready-condition", None) => hints.ready_condition = true,
            ("conditions", Some(types)) if types.split(';').all(is_condition_type) => {
                hints.conditions.extend(types.split(';').map(str::to_owned));
            }
            _ => return Err(Wrong::Value(ALLOWED.to_owned())),
        }
    }
    Ok(hints)
}

fn pointers(value: &str, rules: &Rules<'_>) -> Result<Vec<String>, Wrong> {
    let pointers = value.split(',').map(str::trim);
    if pointers.clone().all(|pointer| may_be_ignored(pointer, rules)) {
        return Ok(pointers.map(str::to_owned).collect());
    }
    let allowed = "a list of JSON pointers, for example `/spec/replicas`, that contain neither the object's identity nor its owner, marks or policies";
    Err(Wrong::Value(allowed.to_owned()))
}

/// Whether it is a pointer to a field that may be left to others.
fn may_be_ignored(pointer: &str, rules: &Rules<'_>) -> bool {
    let Some(path) = pointer.strip_prefix('/') else { return false };
    let is_escaped = path.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    let names: Vec<_> = path.split('/').map(|name| name.replace("~1", "/").replace("~0", "~")).collect();
    let is_ours = |key: &str| {
        let (marks, prefix) = (rules.marks, rules.prefix);
        key.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
            || [marks.controller(), marks.node(), marks.owner()].contains(&key)
            || marks.annotations().any(|mark| mark == key)
    };
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let is_touched = match names[..] {
        ["apiVersion" | "kind", ..] | ["metadata"] | ["metadata", "labels" | "annotations"] => true,
        ["metadata", "name" | "namespace" | "ownerReferences" | "finalizers", ..] => true,
        ["metadata", "labels" | "annotations", key, ..] => is_ours(key),
        _ => false,
    };
    // The items after it would get another position.
    let is_item = names.last().is_some_and(|name| name.parse::<usize>().is_ok());
    is_escaped && !is_touched && !is_item
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    const PREFIX: &str = "shop.io";

    fn read_as(annotations: &[(&str, &str)], defaults: &Policies) -> Reading {
        let pairs = annotations.iter().map(|(key, value)| (format!("{PREFIX}/{key}"), (*value).to_owned()));
        let annotations = Some(pairs.collect::<BTreeMap<_, _>>());
        let (marks, meta) = (MarkNames::default(), ObjectMeta { annotations, ..ObjectMeta::default() });
        Reading::of(&meta, &Rules { prefix: PREFIX, marks: &marks, defaults })
    }

    fn read(key: &str, value: &str) -> Reading {
        read_as(&[(key, value)], &Policies::default())
    }

    fn policies(key: &str, value: &str) -> Policies {
        let read = read(key, value);
        assert!(read.faults.is_empty() && read.warnings.is_empty(), "{key}: {value}: {read:?}");
        read.policies
    }

    /// The only fault of this annotation, whose default then holds.
    fn fault(key: &str, value: &str) -> String {
        let read = read(key, value);
        assert_eq!((&read.policies, read.warnings.len()), (&Policies::default(), 0), "{key}: {value}");
        let [fault] = &read.faults[..] else { panic!("{key}: {value}: {:?}", read.faults) };
        fault.clone()
    }

    /// As Go and others write it: `if-unowned` is `IfUnowned`.
    fn camel(kebab: &str, first_upper: bool) -> String {
        let mut upper = first_upper;
        let mut camel = String::new();
        for c in kebab.chars() {
            match c {
                '-' => upper = true,
                c => camel.push(if std::mem::take(&mut upper) { c.to_ascii_uppercase() } else { c }),
            }
        }
        camel
    }

    /// The table of the issue, by hand.
    fn table() -> Vec<(&'static str, &'static str, Policies)> {
        let usual = Policies::default;
        let adoption = |adoption| Policies { adoption, ..usual() };
        let reconcile = |reconcile| Policies { reconcile, ..usual() };
        let update = |update| Policies { update, ..usual() };
        let delete = |delete| Policies { delete, ..usual() };
        let hints = |observed_generation, ready_condition| Policies {
            hints: Hints { observed_generation, ready_condition, conditions: Vec::new() },
            ..usual()
        };
        vec![
            ("adoption-policy", "if-unowned", adoption(Adoption::IfUnowned)),
            ("adoption-policy", "never", adoption(Adoption::Never)),
            ("adoption-policy", "always", adoption(Adoption::Always)),
            ("reconcile-policy", "on-object-change", reconcile(ReconcilePolicy::OnObjectChange)),
            (
                "reconcile-policy",
                "on-object-or-component-change",
                reconcile(ReconcilePolicy::OnObjectOrComponentChange),
            ),
            ("reconcile-policy", "once", reconcile(ReconcilePolicy::Once)),
            ("update-policy", "ssa-merge", update(UpdatePolicy::SsaMerge)),
            ("update-policy", "ssa-override", update(UpdatePolicy::SsaOverride)),
            ("update-policy", "replace", update(UpdatePolicy::Replace)),
            ("update-policy", "recreate", update(UpdatePolicy::Recreate)),
            ("delete-policy", "delete", delete(DeletePolicy::Delete)),
            ("delete-policy", "orphan", delete(DeletePolicy::Orphan)),
            ("delete-policy", "orphan-on-apply", delete(DeletePolicy::OrphanOnApply)),
            ("delete-policy", "orphan-on-delete", delete(DeletePolicy::OrphanOnDelete)),
            ("status-hint", "has-observed-generation", hints(true, false)),
            ("status-hint", "has-ready-condition", hints(false, true)),
        ]
    }

    #[test]
    fn each_value_is_understood_in_kebab_and_in_camel_case() {
        for (key, value, expected) in table() {
            for spelling in [value.to_owned(), camel(value, false), camel(value, true)] {
                assert_eq!(policies(key, &spelling), expected, "{key}: {spelling}");
            }
        }
    }

    #[test]
    fn the_default_of_the_caller_holds_where_nothing_is_said() {
        let defaults =
            Policies { adoption: Adoption::IfUnowned, delete: DeletePolicy::Orphan, ..Policies::default() };
        assert_eq!(read_as(&[], &defaults).policies, defaults);
        let read = read_as(&[("delete-policy", "default"), ("adoption-policy", "Default")], &defaults);
        assert_eq!((read.policies, read.faults.len()), (defaults, 0));
        assert_eq!(
            read.warnings,
            ["adoption-policy", "delete-policy"].map(|key| format!(
                "`default` is deprecated as a value of `shop.io/{key}`: leave the annotation out"
            ))
        );
    }

    #[test]
    fn a_wrong_value_is_a_fault_that_lists_the_allowed_ones() {
        let cases = [
            ("adoption-policy", "IFUNOWNED", "one of `if-unowned`, `never`, `always`"),
            ("reconcile-policy", "", "one of `on-object-change`, `on-object-or-component-change`, `once`"),
            ("update-policy", "merge", "one of `ssa-merge`, `ssa-override`, `replace`, `recreate`"),
            ("delete-policy", "keep", "one of `delete`, `orphan`, `orphan-on-apply`, `orphan-on-delete`"),
            ("apply-order", "32768", "a whole number from -32768 to 32767"),
            ("delete-order", "1.5", "a whole number from -32768 to 32767"),
            ("purge-order", "never", "a whole number from -32768 to 32767"),
            ("reapply-interval", "often", "a duration, for example `10m` or `1h30m`"),
            ("reapply-interval", "-10m", "a duration, for example `10m` or `1h30m`"),
        ];
        for (key, value, allowed) in cases {
            assert_eq!(
                fault(key, value),
                format!("the annotation `shop.io/{key}` is `{value}`, but must be {allowed}")
            );
        }
        for value in [
            "",
            "ready",
            "has-ready-condition=true",
            "conditions",
            "conditions=",
            "conditions=A;",
            "conditions=a b",
            "has-ready-condition,",
        ] {
            assert!(fault("status-hint", value).contains("a list of `has-observed-generation`"), "{value}");
        }
        let long = fault("apply-order", &"1".repeat(1_000));
        assert!(long.len() < 300, "{long}");
    }

    #[test]
    fn numbers_durations_and_hints_are_read() {
        assert_eq!(policies("apply-order", "-32768").apply_order, i16::MIN);
        assert_eq!(policies("delete-order", "32767").delete_order, i16::MAX);
        assert_eq!(policies("purge-order", "0").purge_order, Some(0));
        for interval in ["10m", "1h30m", "1h30m10.5s", "500ms", "0s"] {
            assert_eq!(policies("reapply-interval", interval), Policies::default(), "{interval}");
        }
        let hints = policies("status-hint", "hasReadyCondition, conditions=A;shop.io/B").hints;
        let conditions = ["A", "shop.io/B"].map(str::to_owned).to_vec();
        assert_eq!(hints, Hints { observed_generation: false, ready_condition: true, conditions });
    }

    #[test]
    fn a_name_that_is_nearly_known_is_a_fault_and_others_are_left_alone() {
        for (wrong, known) in
            [("apply-ordr", "apply-order"), ("ignore-field", "ignore-fields"), ("statusHint", "status-hint")]
        {
            let fault = read(wrong, "1").faults;
            let expected =
                format!("the annotation `shop.io/{wrong}` is unknown; did you mean `shop.io/{known}`?");
            assert_eq!(fault, [expected]);
        }
        for (key, value, is_open) in
            [("delete-policy", "x", true), ("deletePolicy", "delete", true), ("adoption-policy", "x", false)]
        {
            let read = read(key, value);
            assert_eq!(read.delete_fault.as_ref(), read.faults.first().filter(|_| is_open), "{key}");
        }
        let marks = MarkNames::new(PREFIX);
        let ours = marks.annotations().filter_map(|key| key.strip_prefix("shop.io/").map(str::to_owned));
        let others =
            ["disable-events", "owner-id", "digest", "kinds", "restart-policy", ""].map(str::to_owned);
        for name in ours.chain(others) {
            assert_eq!(policies(&name, "1"), Policies::default(), "{name}");
        }
        let elsewhere =
            [("shop.io.example/apply-order", "x"), ("apply-order", "x"), ("shop.ioapply-order", "x")];
        let annotations = Some(elsewhere.map(|(key, value)| (key.to_owned(), value.to_owned())).into());
        let (marks, meta) = (MarkNames::default(), ObjectMeta { annotations, ..ObjectMeta::default() });
        let read =
            Reading::of(&meta, &Rules { prefix: PREFIX, marks: &marks, defaults: &Policies::default() });
        assert_eq!((read.policies, read.faults.len()), (Policies::default(), 0), "another prefix");
    }

    #[test]
    fn fields_that_identify_or_mark_an_object_cannot_be_left_to_others() {
        let fields = "/spec/replicas, /data/a~1b~0c,/metadata/annotations/other.io~1a,/metadata/labels/app";
        assert_eq!(
            policies("ignore-fields", fields).ignore_fields,
            ["/spec/replicas", "/data/a~1b~0c", "/metadata/annotations/other.io~1a", "/metadata/labels/app"]
        );
        let touching = [
            "spec/replicas",
            "",
            "/spec,",
            "/spec/a~2",
            "/spec/a~",
            "/apiVersion",
            "/kind",
            "/kind/x",
            "/metadata",
            "/metadata/name",
            "/metadata/namespace",
            "/metadata/ownerReferences/0",
            "/metadata/finalizers",
            "/metadata/labels",
            "/metadata/annotations",
            "/metadata/labels/operator-core.io~1controller",
            "/metadata/labels/operator-core.io~1node",
            "/metadata/labels/operator-core.io~1owner",
            "/metadata/annotations/operator-core.io~1mark",
            "/metadata/annotations/shop.io~1apply-order",
        ];
        for pointer in touching {
            let fault = fault("ignore-fields", pointer);
            assert!(fault.contains("must be a list of JSON pointers"), "{pointer}: {fault}");
        }
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn orders_are_read_back(apply in any::<i16>(), delete in any::<i16>(), purge in any::<i16>()) {
            let [apply_text, delete_text, purge_text] = [apply, delete, purge].map(|order| order.to_string());
            let read = read_as(
                &[("apply-order", &apply_text), ("delete-order", &delete_text), ("purge-order", &purge_text)],
                &Policies::default(),
            );
            let expected = Policies { apply_order: apply, delete_order: delete, purge_order: Some(purge), ..Policies::default() };
            prop_assert_eq!(read.policies, expected);
        }

        /// All annotations at once, each in either case.
        #[test]
        fn policies_are_read_independently_of_each_other(
            rows in prop::collection::vec((prop::sample::select(table()), 0..3_u8), 0..6),
        ) {
            let mut by_key = BTreeMap::new();
            for ((key, value, _), case) in &rows {
                let spelling = match case { 0 => (*value).to_owned(), case => camel(value, *case == 1) };
                by_key.insert(*key, (*value, spelling));
            }
            let annotations: Vec<_> = by_key.iter().map(|(key, (_, spelling))| (*key, spelling.as_str())).collect();
            let read = read_as(&annotations, &Policies::default());
            let alone = |key: &str| by_key.get(key).map(|(value, _)| policies(key, value)).unwrap_or_default();
            let expected = Policies {
                adoption: alone("adoption-policy").adoption,
                reconcile: alone("reconcile-policy").reconcile,
                update: alone("update-policy").update,
                delete: alone("delete-policy").delete,
                hints: alone("status-hint").hints,
                ..Policies::default()
            };
            prop_assert_eq!(read.policies, expected);
        }

        #[test]
        fn any_annotation_is_read_or_refused(key in "[a-z-]{0,14}", value in ".{0,20}") {
            drop(read(&key, &value));
        }
    }
}
