//! The decision against a model of it, which knows how each object came to be and never looks at its metadata.

use std::collections::BTreeSet;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ManagedFieldsEntry, ObjectMeta, OwnerReference};
use proptest::prelude::*;

use super::{ControllerMarks, MarkNames, Marks, Nodes, Whose, label_value, names::split_mark};
use crate::resource::{MappingAnnotations, ObjectKey, ResourceType};

const US: &str = "web-pages";
const UID: &str = "uid-now";

/// A reference to an owner.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Refers {
    Ours,
    Earlier,
    /// To the primary's namesake in the namespace of an object that is elsewhere, or to something else.
    Controller,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Nobody,
    Us,
    /// The primary as it was, or a node that there was.
    Earlier,
    Others,
}

/// How the mark came to be.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mark {
    None,
    /// Put on by the node that the label names (or by this one), for the primary as it is, or as it was.
    Own,
    OfEarlier,
    /// As `Own`, on an object of another name, and copied from there.
    Copied,
    MadeUp,
}

#[derive(Clone, Debug)]
struct Story {
    refers: Vec<Refers>,
    owner: Who,
    controller: Who,
    node: Who,
    mark: Mark,
    written_by_us: bool,
    annotated: Who,
    wanted: bool,
}

fn who() -> impl Strategy<Value = Who> {
    prop_oneof![
        2 => Just(Who::Nobody),
        4 => Just(Who::Us),
        1 => Just(Who::Earlier),
        1 => Just(Who::Others),
    ]
}

fn story() -> impl Strategy<Value = Story> {
    let refers = prop_oneof![
        Just(Refers::Ours),
        Just(Refers::Ours),
        Just(Refers::Earlier),
        Just(Refers::Controller),
        Just(Refers::Other)
    ];
    let mark = prop_oneof![
        3 => Just(Mark::Own),
        1 => Just(Mark::None),
        1 => Just(Mark::OfEarlier),
        1 => Just(Mark::Copied),
        1 => Just(Mark::MadeUp),
    ];
    let refers = proptest::collection::vec(refers, 0..3);
    (refers, who(), who(), who(), mark, any::<bool>(), who(), any::<bool>()).prop_map(
        |(refers, owner, controller, node, mark, written_by_us, annotated, wanted)| Story {
            refers,
            owner,
            controller,
            node,
            mark,
            written_by_us,
            annotated,
            wanted,
        },
    )
}

/// What a world of one controller, one primary and two nodes consists of.
struct World {
    of: ControllerMarks,
    elsewhere: ControllerMarks,
    owner: ObjectKey,
    owner_type: ResourceType,
    kind: ResourceType,
    annotations: MappingAnnotations,
}

impl World {
    fn new() -> Self {
        use k8s_openapi::api::core::v1::{ConfigMap, Pod};
        let kind = ResourceType::of::<ConfigMap>();
        let of = |controller: &str| {
            let nodes: Nodes = ["this", "another"].map(|name| (name, &kind)).into_iter().collect();
            ControllerMarks::new(MarkNames::default(), controller, BTreeSet::new(), nodes)
        };
        Self {
            of: of(US),
            elsewhere: of("shops"),
            owner: ObjectKey::namespaced("shop", "one"),
            owner_type: ResourceType::of::<Pod>(),
            kind,
            annotations: MappingAnnotations::default(),
        }
    }

    fn marks(&self, node: &str, uid: &'static str) -> Marks<'_> {
        Marks {
            of: &self.of,
            node: label_value(node),
            owner_value: label_value(uid),
            owner: self.owner.clone(),
            beside: false,
            keeps_ids: false,
            owner_type: &self.owner_type,
            uid,
            kind: &self.kind,
            annotations: &self.annotations,
            field_manager: "us",
        }
    }

    fn object(&self, story: &Story) -> ObjectMeta {
        let named = |name: &str| ObjectMeta {
            name: Some(name.to_owned()),
            namespace: Some("shop".to_owned()),
            ..ObjectMeta::default()
        };
        let mut meta = named("object");
        let by = match story.node {
            Who::Nobody | Who::Us => "this",
            Who::Earlier => "former",
            Who::Others => "another",
        };
        let mark_of = |uid, mut meta: ObjectMeta| {
            self.marks(by, uid).put_on(&mut meta);
            meta.annotations.unwrap_or_default().remove(self.of.names.mark()).unwrap_or_default()
        };
        let mark = match story.mark {
            Mark::None => None,
            Mark::Own => Some(mark_of(UID, meta.clone())),
            Mark::OfEarlier => Some(mark_of("uid-before", meta.clone())),
            Mark::Copied => Some(mark_of(UID, named("original"))),
            Mark::MadeUp => Some("made.up".to_owned()),
        };
        let labels = meta.labels.get_or_insert_default();
        let mut label = |key: &str, who, us: &str, earlier: &str, others: &str| {
            let value = match who {
                Who::Nobody => return,
                Who::Us => us,
                Who::Earlier => earlier,
                Who::Others => others,
            };
            labels.insert(key.to_owned(), value.to_owned());
        };
        label(self.of.names.owner(), story.owner, UID, "uid-before", "uid-of-others");
        label(self.of.names.controller(), story.controller, US, "shops", "shops");
        label(self.of.names.node(), story.node, "this", "former", "another");
        let annotations = meta.annotations.get_or_insert_default();
        annotations.extend(mark.map(|mark| (self.of.names.mark().to_owned(), mark)));
        let primary = match story.annotated {
            Who::Us => Some(self.owner.clone()),
            Who::Others => Some(ObjectKey::namespaced("shop", "two")),
            Who::Nobody | Who::Earlier => None,
        };
        annotations.extend(primary.iter().flat_map(|primary| self.annotations.of(primary, &self.owner_type)));
        let reference = |kind: &str, name: &str, uid: &str, controller| OwnerReference {
            api_version: "v1".to_owned(),
            kind: kind.to_owned(),
            name: name.to_owned(),
            uid: uid.to_owned(),
            controller: Some(controller),
            ..OwnerReference::default()
        };
        let references = story.refers.iter().map(|refers| match refers {
            Refers::Ours => reference("Pod", "one", UID, true),
            Refers::Earlier => reference("Pod", "one", "uid-before", true),
            Refers::Controller => reference("Pod", "two", "uid-of-two", true),
            Refers::Other => reference("Secret", "one", "uid-of-a-secret", false),
        });
        meta.owner_references = Some(references.collect());
        let manager = if story.written_by_us { "us" } else { "kubectl" };
        let entry = ManagedFieldsEntry { manager: Some(manager.to_owned()), ..ManagedFieldsEntry::default() };
        meta.managed_fields = Some(vec![entry]);
        meta
    }
}

/// What is right, by how the object came to be.
fn model(story: &Story) -> Whose {
    let refers = |to| story.refers.contains(&to);
    if refers(Refers::Controller) {
        return Whose::Foreign;
    }
    if refers(Refers::Earlier) && !refers(Refers::Ours) {
        return Whose::Going;
    }
    let recognised = story.wanted && story.written_by_us;
    let (us, nobody) = (Who::Us, Who::Nobody);
    if refers(Refers::Ours) || story.owner == us {
        let fits = story.mark == Mark::Own && story.owner == us && !refers(Refers::Earlier);
        return match (story.controller, story.node) {
            (Who::Us, Who::Us) => Whose::Mine { removable: fits },
            (Who::Us, Who::Earlier) if story.wanted => Whose::OfFormerNode,
            (Who::Us | Who::Nobody, Who::Us | Who::Nobody) if recognised => Whose::Mine { removable: false },
            _ => Whose::Foreign,
        };
    }
    if !story.refers.is_empty() {
        return Whose::Foreign;
    }
    match (story.controller, story.node, story.owner) {
        (Who::Us, Who::Us, Who::Earlier | Who::Others) => match story.mark {
            Mark::Own | Mark::OfEarlier => Whose::Orphan,
            Mark::None | Mark::Copied | Mark::MadeUp => Whose::Foreign,
        },
        (one, two, three) if (one, two, three) == (nobody, nobody, nobody) => match story.annotated {
            Who::Us if recognised => Whose::Mine { removable: false },
            Who::Us | Who::Others => Whose::Foreign,
            Who::Nobody | Who::Earlier => Whose::Nobodys,
        },
        _ => Whose::Foreign,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::properties::many(10_000), ..crate::properties::daily() })]

    #[test]
    fn an_object_is_whose_it_says_that_it_is(story in story()) {
        let world = World::new();
        let object = world.object(&story);
        let this = world.marks("this", UID);
        prop_assert_eq!(this.whose(&object, story.wanted), model(&story));
        let removable = this.whose(&object, story.wanted) == Whose::Mine { removable: true };
        let mut marked = object.clone();
        this.put_on(&mut marked);
        prop_assert!(!removable || marked == object, "what is removed has all of the marks");
        // A node that there is no more has made it, whatever is wanted.
        let former = story.node == Who::Earlier
            && (story.controller, story.owner, story.mark) == (Who::Us, Who::Us, Mark::Own)
            && !story.refers.contains(&Refers::Controller)
            && !story.refers.contains(&Refers::Earlier);
        prop_assert_eq!(this.former_node(&object).is_some(), former);
    }
}

#[test]
fn what_a_node_writes_is_its_own_and_no_other_s() {
    let world = World::new();
    let mut meta = ObjectMeta { name: Some("object".to_owned()), ..ObjectMeta::default() };
    meta.namespace = Some("shop".to_owned());
    world.marks("this", UID).put_on(&mut meta);
    let mine = Whose::Mine { removable: true };
    assert_eq!(world.marks("this", UID).whose(&meta, false), mine);
    assert_eq!(world.marks("another", UID).whose(&meta, true), Whose::Foreign);
    assert_eq!(world.marks("this", "uid-later").whose(&meta, true), Whose::Orphan);
    let elsewhere = Marks { of: &world.elsewhere, ..world.marks("this", UID) };
    assert_eq!(elsewhere.whose(&meta, true), Whose::Foreign, "of a controller of another name");
    let other = Marks { kind: &world.owner_type, ..world.marks("this", UID) };
    assert_eq!(other.whose(&meta, true), Whose::Mine { removable: false }, "of another kind");
}

#[test]
fn what_was_applied_last_makes_no_difference_to_whose_it_is() {
    let world = World::new();
    let named = ObjectMeta {
        name: Some("object".to_owned()),
        namespace: Some("shop".to_owned()),
        ..ObjectMeta::default()
    };
    let (mut desired, mut actual) = (named.clone(), named);
    world.marks("this", UID).put_on(&mut desired);
    world.marks("this", UID).put_on(&mut actual);
    let mark = actual.annotations.as_mut().and_then(|all| all.get_mut(world.of.names.mark())).unwrap();
    mark.push_str(".0f1e");
    assert_eq!(world.marks("this", UID).whose(&actual, false), Whose::Mine { removable: true });
    assert_eq!(world.marks("this", "uid-later").whose(&actual, true), Whose::Orphan);
    assert!(world.of.names.stand_as(&desired, &actual));
    assert_eq!(split_mark("a.b.c.d"), ("a.b", Some("c.d")));
    assert_eq!(split_mark("a.b"), ("a.b", None));
    assert_eq!(split_mark("edited"), ("edited", None));
}

#[test]
fn what_a_node_made_before_it_made_another_kind_is_a_former_node_s() {
    let world = World::new();
    let mut meta = ObjectMeta { name: Some("object".to_owned()), ..ObjectMeta::default() };
    meta.namespace = Some("shop".to_owned());
    let of = |node| Marks { kind: &world.owner_type, ..world.marks(node, UID) };
    of("another").put_on(&mut meta);
    assert_eq!(of("this").whose(&meta, true), Whose::OfFormerNode);
    assert_eq!(of("this").former_node(&meta), Some("another"));
    assert_eq!(world.marks("this", UID).former_node(&meta), None, "of the kind that it makes now");
}

#[test]
fn what_a_reconciler_makes_beside_its_nodes_is_never_a_former_node_s() {
    let world = World::new();
    let mut meta = ObjectMeta { name: Some("object".to_owned()), ..ObjectMeta::default() };
    let beside = Marks { beside: true, ..world.marks("beside", UID) };
    beside.put_on(&mut meta);
    assert_eq!(beside.whose(&meta, false), Whose::Mine { removable: true });
    assert_eq!(world.marks("this", UID).former_node(&meta), None);
}

#[test]
fn an_object_with_ids_is_of_a_node_of_records_alone() {
    let mut world = World::new();
    world.of.nodes.add_records("accounts", std::any::TypeId::of::<()>(), None);
    let records = |node| Marks { keeps_ids: true, ..world.marks(node, UID) };
    for maker in ["this", "former", "accounts"] {
        let mut meta = ObjectMeta { name: Some("object".to_owned()), ..ObjectMeta::default() };
        records(maker).put_on(&mut meta);
        for node in ["this", "another"] {
            assert_eq!(world.marks(node, UID).whose(&meta, true), Whose::Foreign, "{maker}, {node}");
            assert_eq!(world.marks(node, UID).former_node(&meta), None, "{maker}, {node}");
        }
        let of_records = (maker != "accounts").then_some(maker);
        assert_eq!(records("accounts").former_node(&meta), of_records);
    }
}

#[test]
fn upkeep_is_the_difference_to_what_is_declared_and_touches_nothing_else() {
    let world = World::new();
    let named = || ObjectMeta { name: Some("object".to_owned()), ..ObjectMeta::default() };
    let reference = |uid: &str| OwnerReference { uid: uid.to_owned(), ..OwnerReference::default() };
    let (mut owned, mut mapped) = (named(), named());
    owned.owner_references = Some(vec![reference(UID)]);
    mapped.annotations = Some(world.annotations.of(&world.owner, &world.owner_type).into_iter().collect());
    for meta in [&mut owned, &mut mapped] {
        world.marks("this", UID).put_on(meta);
    }
    let upkeep = |desired: &ObjectMeta, actual: &ObjectMeta| world.marks("this", UID).upkeep(desired, actual);
    assert_eq!((upkeep(&owned, &owned), upkeep(&mapped, &mapped)), (None, None));
    let with_more = |meta: &ObjectMeta| {
        let mut meta = meta.clone();
        meta.owner_references.get_or_insert_default().push(reference("theirs"));
        meta.labels.get_or_insert_default().insert("their".to_owned(), "label".to_owned());
        meta
    };
    assert_eq!(upkeep(&owned, &with_more(&owned)), None);
    let to_mapped = upkeep(&mapped, &with_more(&owned)).expect("they differ");
    let owners = to_mapped.pointer("/metadata/ownerReferences").and_then(serde_json::Value::as_array);
    assert_eq!(owners.map(Vec::len), Some(1), "{to_mapped}");
    assert!(to_mapped.pointer("/metadata/labels").is_none(), "{to_mapped}");
    let to_owned = upkeep(&owned, &mapped).expect("they differ");
    let annotations = to_owned.pointer("/metadata/annotations").and_then(serde_json::Value::as_object);
    assert!(annotations.is_some_and(|all| !all.is_empty() && all.values().all(serde_json::Value::is_null)));
    let marked = upkeep(&owned, &ObjectMeta { labels: None, annotations: None, ..owned.clone() });
    assert_eq!(
        marked.map(|patch| patch["metadata"]["labels"].as_object().map_or(0, |all| all.len())),
        Some(3)
    );
}

#[test]
fn what_was_made_under_a_former_name_of_the_controller_is_its_own() {
    let mut world = World::new();
    let mut meta = ObjectMeta { name: Some("object".to_owned()), ..ObjectMeta::default() };
    Marks { of: &world.elsewhere, ..world.marks("this", UID) }.put_on(&mut meta);
    assert_eq!(world.marks("this", UID).whose(&meta, true), Whose::Foreign);
    world.of.former.insert("shops".to_owned());
    assert_eq!(world.marks("this", UID).whose(&meta, true), Whose::Mine { removable: true });
    assert_eq!(world.marks("another", UID).whose(&meta, true), Whose::Foreign);
}

#[test]
fn a_namesake_of_the_primary_in_another_namespace_is_no_earlier_incarnation() {
    let world = World::new();
    let story = Story {
        refers: vec![Refers::Earlier],
        owner: Who::Nobody,
        controller: Who::Nobody,
        node: Who::Nobody,
        mark: Mark::None,
        written_by_us: true,
        annotated: Who::Nobody,
        wanted: true,
    };
    let mut object = world.object(&story);
    assert_eq!(world.marks("this", UID).whose(&object, true), Whose::Going);
    object.namespace = Some("elsewhere".to_owned());
    assert_eq!(world.marks("this", UID).whose(&object, true), Whose::Foreign);
}
