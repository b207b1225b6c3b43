//! The kinds that are served: Kubernetes' own, and those that definitions have added.
//!
//! # Guarantees
//! - The schema of a Kubernetes kind is made when it is first needed; a kind without one can be listed, because it has
//!   no objects, and is refused when it is written.

mod builtin;
pub(super) mod events;
pub(super) mod storage;
mod stored;

use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

use kube::core::GroupVersionKind;

use super::{
    failure::Failure,
    fields::{Scale, Schema},
    request::Target,
    store::Resource,
};

/// One served version of a kind.
#[derive(Debug)]
pub(super) struct Kind {
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) singular: String,
    pub(super) kind: String,
    pub(super) list_kind: String,
    pub(super) short_names: Vec<String>,
    pub(super) namespaced: bool,
    /// Whether there is a status subresource.
    pub(super) status: bool,
    /// Where the numbers of the scale subresource are, if a definition says that there is one.
    pub(super) scale: Option<Scale>,
    /// The version in which the objects of all versions are stored.
    pub(super) storage_version: String,
    /// The fields, besides name and namespace, by which objects can be selected.
    pub(super) selectable: Vec<String>,
    pub(super) behaviour: Behaviour,
    /// Whether stored objects may have another form, so that they are converted when they are read.
    pub(super) rereads: bool,
    /// The generation of the definition that has added it.
    pub(super) definition: i64,
    pub(super) schema: OnceLock<Option<Schema>>,
    /// What the definition says of each of its versions, served or not, by name. Kubernetes' kinds have none.
    pub(super) versions: Arc<BTreeMap<String, Schema>>,
}

/// How the server treats the objects of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Behaviour {
    /// A PUT of an object that doesn't exist creates it.
    pub(super) put_creates: bool,
    /// The answer to a deletion is the object.
    pub(super) shows_deleted: bool,
    /// A definition has added it.
    pub(super) custom: bool,
}

impl Kind {
    /// A namespaced kind without subresources, of which only the names are known.
    pub(super) fn named(group: &str, version: &str, plural: &str, kind: &str) -> Self {
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: plural.to_owned(),
            singular: kind.to_lowercase(),
            kind: kind.to_owned(),
            list_kind: format!("{kind}List"),
            short_names: Vec::new(),
            namespaced: true,
            status: false,
            scale: None,
            storage_version: version.to_owned(),
            selectable: Vec::new(),
            behaviour: Behaviour::default(),
            rereads: false,
            definition: 0,
            schema: OnceLock::new(),
            versions: Arc::default(),
        }
    }

    /// Where its objects are stored.
    pub(super) fn resource(&self) -> Resource {
        if self.is_new_event() {
            return events::stored_at();
        }
        Resource { group: self.group.clone(), plural: self.plural.clone() }
    }

    /// Whether its objects are namespaces.
    pub(super) fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.plural == "namespaces"
    }

    /// Whether a definition has added it.
    pub(super) fn is_custom(&self) -> bool {
        self.behaviour.custom
    }

    /// `group/version`, or only the version for the core group.
    pub(super) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// `group/version` of the version in which objects are stored.
    pub(super) fn stored_api_version(&self) -> String {
        api_version(&self.group, &self.storage_version)
    }

    /// The name of the type's package in Go.
    pub(super) fn go_package(&self) -> &str {
        match self.group.split('.').next() {
            _ if self.is_custom() => "unstructured",
            Some(group) if !group.is_empty() => group,
            _ => "core",
        }
    }

    /// `plural.group`, the name of the resource in messages.
    pub(super) fn qualified(&self) -> String {
        qualified(&self.plural, &self.group)
    }

    /// `Kind.group`, its name in other messages.
    pub(super) fn qualified_kind(&self) -> String {
        qualified(&self.kind, &self.group)
    }

    /// What is known about its fields.
    pub(super) fn schema(&self) -> Result<&Schema, Failure> {
        let schema = self
            .schema
            .get_or_init(|| Schema::builtin(&GroupVersionKind::gvk(&self.group, &self.version, &self.kind)));
        // It can be listed, because kubectl asks for all of them, and there never is one.
        let is_only_listed = self.kind == "ReplicationController" && !self.is_custom();
        schema.as_ref().filter(|_| !is_only_listed).ok_or_else(|| {
            Failure::not_modelled(format_args!("objects of kind {} {}", self.api_version(), self.kind))
        })
    }

    /// Whether objects can be selected by a field.
    pub(super) fn selects(&self, path: &str) -> bool {
        let own = builtin::selectable(&self.group, &self.kind);
        let namespaced = self.namespaced || (!self.is_custom() && own.is_empty());
        path == "metadata.name"
            || (path == "metadata.namespace" && namespaced)
            || self.selectable.iter().any(|selectable| selectable == path)
            || own.contains(&path)
    }

    /// Why they can't be selected by a field.
    pub(super) fn selects_not(&self, path: &str) -> String {
        match &*self.kind {
            "Job" if self.group == "batch" => format!("field label {path:?} not supported for Job"),
            _ if self.is_custom() || !builtin::selectable(&self.group, &self.kind).is_empty() => {
                format!("field label not supported: {path}")
            }
            _ => {
                let known = "only \"metadata.name\", \"metadata.namespace\"";
                format!("{path:?} is not a known field selector: {known}")
            }
        }
    }
}

fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn qualified(name: &str, group: &str) -> String {
    if group.is_empty() { name.to_owned() } else { format!("{name}.{group}") }
}

/// All served kinds, by group, version and plural.
#[derive(Clone, Debug)]
pub(super) struct Kinds(Arc<BTreeMap<(String, String, String), Arc<Kind>>>);

impl Kinds {
    /// Kubernetes' own.
    pub(super) fn builtin() -> Self {
        let mut kinds = Self(Arc::default());
        builtin::all().for_each(|kind| kinds.serve(kind));
        kinds
    }

    /// Serves one more kind, or another form of one.
    pub(super) fn serve(&mut self, kind: Kind) {
        let key = (kind.group.clone(), kind.version.clone(), kind.plural.clone());
        Arc::make_mut(&mut self.0).insert(key, Arc::new(kind));
    }

    /// Stops serving all versions of a resource.
    pub(super) fn withdraw(&mut self, resource: &Resource) {
        let is_other = |kind: &Kind| kind.group != resource.group || kind.plural != resource.plural;
        Arc::make_mut(&mut self.0).retain(|_, kind| is_other(kind));
    }

    /// The kind that a request is about.
    pub(super) fn find(&self, target: &Target) -> Result<Arc<Kind>, Failure> {
        let is_meant = |kind: &&Arc<Kind>| {
            kind.plural == target.plural && kind.group == target.group && kind.version == target.version
        };
        match self.iter().find(is_meant) {
            Some(kind) => Ok(Arc::clone(kind)),
            None if builtin::is_missing(&target.group, &target.plural) => {
                let what = qualified(&target.plural, &target.group);
                Err(Failure::not_modelled(format_args!("{what} in version {}", target.version)))
            }
            None if self.has_builtin_group(&target.group) => Err(Failure::no_resource()),
            None => Err(Failure::Page),
        }
    }

    /// A kind by `apiVersion` and `kind`, as in owner references.
    pub(super) fn of_object(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        self.iter().find(|known| known.group == group && known.version == version && known.kind == kind)
    }

    /// Some version of the resource: all share what is stored.
    pub(super) fn of_resource(&self, resource: &Resource) -> Option<&Arc<Kind>> {
        let mut versions =
            self.iter().filter(|kind| kind.group == resource.group && kind.plural == resource.plural);
        let first = versions.next()?;
        let storage = |kind: &&Arc<Kind>| kind.version == kind.storage_version;
        Some(if storage(&first) { first } else { versions.find(storage).unwrap_or(first) })
    }

    /// Whether a group has any kind.
    pub(super) fn has_group(&self, group: &str) -> bool {
        self.iter().any(|kind| kind.group == group)
    }

    /// Whether the real server has a group that is entirely missing here.
    pub(super) fn is_missing_group(group: &str) -> bool {
        builtin::MISSING_GROUPS.contains(&group)
    }

    /// Whether a group is one of Kubernetes' own.
    pub(super) fn has_builtin_group(&self, group: &str) -> bool {
        self.iter().any(|kind| kind.group == group && !kind.is_custom())
    }

    /// Whether a kind is still served, in the same form.
    pub(super) fn serves(&self, kind: &Arc<Kind>) -> bool {
        self.iter().any(|served| Arc::ptr_eq(served, kind))
    }

    /// All kinds, by group, version and plural.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.0.values()
    }
}
