//! The part of the marks that is the same for all objects of a controller, and the nodes that it has.

use std::{
    any::TypeId,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{MarkNames, label_value};
use crate::resource::ResourceType;

/// The part of the marks that is the same for all nodes of one controller and all primaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ControllerMarks {
    pub(super) names: MarkNames,
    /// The value of the controller's label.
    pub(super) controller: String,
    /// The values that it had under former names.
    pub(super) former: BTreeSet<String>,
    /// The nodes that write objects in the cluster.
    pub(super) nodes: Nodes,
}

impl ControllerMarks {
    /// The marks of the controller with this name; `former` are the label's values for its earlier names.
    pub(crate) fn new(names: MarkNames, controller: &str, former: BTreeSet<String>, nodes: Nodes) -> Self {
        Self { names, controller: label_value(controller), former, nodes }
    }

    /// The keys of the marks.
    #[must_use]
    pub(crate) fn names(&self) -> &MarkNames {
        &self.names
    }

    /// The label selector for what this controller's dependents have written, under its present name or a former one.
    #[must_use]
    pub(crate) fn selector(&self) -> String {
        let values: Vec<&str> = self.values().collect();
        format!("{} in ({})", self.names.controller, values.join(","))
    }

    /// The same for several controllers, with these values of the label.
    #[must_use]
    pub(crate) fn selector_of(&self, values: &BTreeSet<String>) -> String {
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        format!("{} in ({})", self.names.controller, values.join(","))
    }

    /// The values of the controller's label, present and former.
    pub(crate) fn values(&self) -> impl Iterator<Item = &str> {
        std::iter::once(&*self.controller).chain(self.former.iter().map(String::as_str))
    }

    /// The nodes that write.
    pub(crate) fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Whether the controller has a node with that label's value.
    pub(crate) fn has_node(&self, value: &str) -> bool {
        self.nodes.has(value)
    }

    /// Whether the controller has, or had, that label's value.
    pub(crate) fn is_us(&self, controller: &str) -> bool {
        controller == self.controller || self.former.contains(controller)
    }
}

/// Group and kind.
type Kind = (String, String);

/// In lower case, and an underscore is a hyphen: so are the names of functions and types used in names of objects.
pub(crate) fn hyphenated(name: &str) -> String {
    name.to_lowercase().replace('_', "-")
}

/// The nodes of a controller that write, by the values of their labels, with the kinds of what they write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nodes {
    objects: BTreeMap<String, BTreeSet<Kind>>,
    /// The same nodes, as they are called in names.
    called: BTreeMap<String, BTreeSet<String>>,
    /// Those whose records are in other systems, with the Rust types of the records' declarations.
    records: BTreeMap<String, TypeId>,
    /// Those whose objects are of any kinds.
    of_any_kind: BTreeSet<String>,
    /// The fields of the primary's status with the ids of records.
    fields: BTreeSet<Arc<str>>,
}

impl Nodes {
    /// Adds a node of records, with the field of the status that keeps the ids.
    pub(crate) fn add_records(&mut self, node: &str, of: TypeId, field: Option<&Arc<str>>) {
        self.records.insert(label_value(node), of);
        self.fields.extend(field.cloned());
    }

    /// Adds a node whose objects are of kinds that are known only at run time.
    pub(crate) fn add_of_any_kind(&mut self, node: &str) {
        self.of_any_kind.insert(label_value(node));
    }

    /// Whether a node keeps ids at this path in the status.
    pub(crate) fn keeps_ids_in(&self, path: &str) -> bool {
        let rest = |field: &Arc<str>| {
            path.strip_prefix(&**field).map(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.fields.iter().any(|field| rest(field) == Some(true))
    }

    /// Whether there is a node with that label's value.
    pub(crate) fn has(&self, value: &str) -> bool {
        self.objects.contains_key(value) || self.records.contains_key(value) || self.is_of_any_kind(value)
    }

    /// Whether there is one with that label's value whose objects are of any kinds.
    pub(crate) fn is_of_any_kind(&self, value: &str) -> bool {
        self.of_any_kind.contains(value)
    }

    /// Whether there is one with that label's value whose records are in another system.
    pub(crate) fn has_records(&self, value: &str) -> bool {
        self.records.contains_key(value)
    }

    /// The labels' values of the nodes whose records are declared by the same type as those of this one, and of no other.
    pub(crate) fn alike<'n>(&'n self, value: &'n str) -> impl Iterator<Item = &'n str> {
        let of = self.records.get(value);
        let others = self.records.iter().filter(move |(name, other)| *name != value && Some(*other) == of);
        others.map(|(name, _)| name.as_str())
    }

    /// Whether there is one with that label's value that writes this kind. If a node makes another kind than in an
    /// earlier version, the objects it made then belong to a former node.
    pub(crate) fn has_of(&self, value: &str, kind: &ResourceType) -> bool {
        let is_it = |of: &Kind| (&*of.0, &*of.1) == (kind.group(), kind.kind());
        self.is_of_any_kind(value) || self.objects.get(value).is_some_and(|kinds| kinds.iter().any(is_it))
    }

    /// Those that write this kind, and are called so in names.
    pub(crate) fn called<'n>(&'n self, name: &str, kind: &'n ResourceType) -> impl Iterator<Item = &'n str> {
        let all = self.called.get(name).into_iter().flatten();
        all.map(String::as_str).filter(|node| self.has_of(node, kind))
    }

    /// Who might make a missing object of this kind, in words.
    pub(crate) fn makers(&self, kind: &ResourceType) -> String {
        let all = self.objects.keys().map(String::as_str);
        match &all.filter(|node| self.has_of(node, kind)).collect::<Vec<_>>()[..] {
            [] => "nobody in this workflow makes it".to_owned(),
            nodes => format!("in this workflow {} makes objects of this kind", nodes.join(" or ")),
        }
    }
}

impl<'k, N: AsRef<str>> FromIterator<(N, &'k ResourceType)> for Nodes {
    fn from_iter<I: IntoIterator<Item = (N, &'k ResourceType)>>(nodes: I) -> Self {
        let mut all = Self::default();
        for (name, kind) in nodes {
            let label = label_value(name.as_ref());
            all.called.entry(hyphenated(&label)).or_default().insert(label.clone());
            let kinds = all.objects.entry(label).or_default();
            kinds.insert((kind.group().to_owned(), kind.kind().to_owned()));
        }
        all
    }
}
