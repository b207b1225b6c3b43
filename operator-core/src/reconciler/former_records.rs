//! What shows that nodes of earlier versions have made records in other systems: ids that they kept, and notes of creates.
//!
//! ```text
//! annotation with notes ────────────────────────────────▶ nodes ┐
//! objects whose mark says that they keep ids ───────────▶ nodes ├─▶ all but those of the present nodes ─▶ the primary stays
//! fields of the status that the manager of ids has set ─▶ fields┘
//! ```

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use serde_json::{Map, Value};

use super::AnyContext;
use crate::{
    event_source::{OWNER_INDEX, RustType},
    operations::{matcher::owned_fields, records_manager},
    resource::{MappingAnnotations, Marks, Object, label_value},
};

impl AnyContext {
    /// What is left of nodes that the controller doesn't have, and that nothing in this run has taken care of, for people.
    pub(crate) fn records_of_nobody(&self) -> Vec<String> {
        let Some(primary) = self.primary() else { return Vec::new() };
        let remembered = self.remembered().lock();
        let nodes = self.nodes_with_records(&*primary).into_iter();
        let nodes =
            nodes.filter(|node| !remembered.has_records_of(node)).map(|node| format!("node `{node}`"));
        let fields = self.fields_of_former_records().into_iter();
        let fields = fields.map(|path| format!("`status.{}`", path.join(".")));
        nodes.chain(fields.filter(|field| !remembered.has_records_of(field))).collect()
    }

    /// The nodes that the controller doesn't have, according to notes and to objects with ids that event sources show.
    fn nodes_with_records(&self, primary: &dyn Object) -> BTreeSet<String> {
        let (marks, uid) = (&self.shared().marks, self.run().uid.as_str());
        let notes = primary.meta().annotations.as_ref().and_then(|all| all.get(marks.names().attempts()));
        let notes = notes.and_then(|text| serde_json::from_str::<Map<String, Value>>(text).ok());
        let noted = notes.into_iter().flat_map(|notes| notes.into_iter().map(|(node, _)| node));
        let mut nodes: BTreeSet<String> =
            noted.filter(|node| !marks.nodes().has_records(&label_value(node))).collect();
        let annotations = MappingAnnotations::default();
        for of in [RustType::of::<ConfigMap>(), RustType::of::<Secret>()] {
            for source in self.shared().sources.of(of, self.primary_key()) {
                let marks = Marks {
                    of: marks,
                    node: String::new(),
                    owner_value: label_value(uid),
                    beside: false,
                    keeps_ids: true,
                    owner: self.primary_key().clone(),
                    owner_type: self.primary_type(),
                    uid,
                    kind: source.resource_type(),
                    annotations: &annotations,
                    field_manager: &self.shared().writer.field_manager,
                };
                let found = source.informer().lazy_by_index(OWNER_INDEX, &marks.owner_value, &|_, _| true);
                nodes.extend(found.iter().filter_map(|one| marks.former_node(one.meta()).map(str::to_owned)));
            }
        }
        nodes
    }

    /// The paths of the ids in the status that no node of the controller keeps there.
    pub(crate) fn fields_of_former_records(&self) -> Vec<Vec<String>> {
        let Some(primary) = self.primary() else { return Vec::new() };
        let (mut paths, manager) = (Vec::new(), records_manager(&self.shared().writer.field_manager));
        let entries = primary.meta().managed_fields.iter().flatten();
        for entry in entries.filter(|entry| entry.manager.as_deref() == Some(&*manager)) {
            let fields = owned_fields(entry);
            let status = fields.as_ref().and_then(|fields| fields.get("f:status")).and_then(Value::as_object);
            status.into_iter().for_each(|status| leaves(status, &mut Vec::new(), &mut paths));
        }
        paths.retain(|path| !self.shared().marks.nodes().keeps_ids_in(&path.join(".")));
        paths
    }
}

fn leaves(fields: &Map<String, Value>, path: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    for (name, below) in fields {
        let (Some(name), Some(below)) = (name.strip_prefix("f:"), below.as_object()) else { continue };
        path.push(name.to_owned());
        if below.is_empty() {
            all.push(path.clone())
        } else {
            leaves(below, path, all)
        }
        path.pop();
    }
}
