//! Objects by hand.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::{Value, json};

use super::{Made, world::World};
use crate::{
    controller::Controller,
    dependent::complete,
    operations::note_digest,
    resource::{
        Cluster, MappingAnnotations, MarkNames, Marks, ObjectKey, ResourceType, label_value, owner_in,
    },
    results::NodeKey,
};

/// An object that exists, with its namespace. `namespace` is the default.
pub(super) fn completed(
    mut object: Value,
    kind: &ResourceType,
    namespace: Option<&str>,
) -> (ObjectKey, Value) {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    assert!(!name.is_empty(), "a {} has no `metadata.name`", kind.kind());
    let said = object["metadata"]["namespace"].as_str().filter(|said| !said.is_empty()).map(str::to_owned);
    let namespace = match kind.is_namespaced() {
        true => said.or_else(|| namespace.map(str::to_owned)).or_else(|| Some("default".to_owned())),
        false => None,
    };
    object["metadata"]["namespace"] = json!(namespace);
    // Caches keep the set of an entry as text.
    for entry in object["metadata"]["managedFields"].as_array_mut().into_iter().flatten() {
        if let Some(tree) = entry["fieldsV1"].as_str().and_then(|text| serde_json::from_str(text).ok()) {
            entry["fieldsV1"] = tree;
        }
    }
    without_nulls(&mut object);
    (ObjectKey::new(Cluster::local(), namespace.as_deref(), &name), object)
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(without_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

/// The object with the name that its node gives to it; without one if the node can't be asked yet.
pub(super) fn name(object: &mut Value, node: &NodeKey, own: &[ObjectKey]) {
    match own {
        [] => {}
        [only] => {
            object["metadata"]["name"] = json!(only.name());
            if object["metadata"]["namespace"].is_null() {
                object["metadata"]["namespace"] = json!(only.namespace());
            }
        }
        several => {
            let names: Vec<_> = several.iter().map(ObjectKey::name).collect();
            panic!("{node} makes {}: which one is meant? set `metadata.name`", names.join(", "));
        }
    }
}

/// An object that a node has made for the primary, with its marks.
pub(super) fn marked(
    (node, mut object): Made,
    controller: &Controller,
    (key, primary): (&ObjectKey, &ObjectMeta),
    world: &World,
) -> Value {
    let uid = primary.uid.as_deref().unwrap_or_default();
    let (node, is_owned) =
        controller.node(&node).unwrap_or_else(|| panic!("{node} isn't a node of the controller's workflow"));
    let kind = world.kind_of(&object);
    let mut meta: ObjectMeta = serde_json::from_value(object["metadata"].take()).unwrap_or_default();
    let (of, owner_type, annotations) =
        (controller.marks(MarkNames::default()), controller.resource_type(), MappingAnnotations::default());
    complete(&mut meta, &kind, key, (node, of.nodes()), true)
        .unwrap_or_else(|why| panic!("a {} of node `{node}`: {why}", kind.kind()));
    match owner_in(primary, owner_type).filter(|_| is_owned) {
        Some(reference) => {
            let owners = meta.owner_references.get_or_insert_default();
            if owners.iter().all(|owner| owner.uid != reference.uid) {
                owners.push(reference);
            }
        }
        None => {
            meta.annotations.get_or_insert_default().extend(annotations.of(key, owner_type));
        }
    }
    let marks = Marks {
        of: &of,
        node: label_value(node),
        owner_value: label_value(uid),
        beside: false,
        keeps_ids: of.nodes().has_records(&label_value(node)),
        owner: key.clone(),
        owner_type,
        uid,
        kind: &kind,
        annotations: &annotations,
        field_manager: controller.field_manager(),
    };
    marks.put_on(&mut meta);
    object["metadata"] = json!(meta);
    note_digest(&mut object, of.names().mark(), &kind);
    object
}
