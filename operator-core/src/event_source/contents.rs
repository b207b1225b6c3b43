//! The contents of a declared source, and its needs beyond rights. The controller's declaration is checked with both.

use std::any::{TypeId, type_name};

use super::remote::RemoteCluster;
use crate::resource::{KubeObject, ResourceType};

/// What runs can read from a declared source.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum SourceContents {
    /// Unknown from the declaration: determined when the source is read.
    #[default]
    Unknown,
    /// Nothing: it only triggers primaries.
    Nothing,
    /// Objects in the cluster.
    Objects {
        /// Their type.
        of: RustType,
        /// Their kind.
        kind: ResourceType,
        /// The restriction that excludes some objects of this kind, if there is one, for example "the label selector
        /// `app=web`".
        selects: Option<String>,
        /// Whether it contains only what the controller's dependents have written.
        marked: bool,
        /// Whether something other than owner references and the default annotations relates them to primaries.
        maps: bool,
    },
    /// Another system's resources.
    Resources {
        /// Their type.
        of: RustType,
        /// The primaries that they are fetched for, if the source knows their type.
        primary: Option<RustType>,
    },
}

impl SourceContents {
    /// Objects of type `K`: all of this kind in the controller's namespaces, unless `selects` describes what excludes
    /// some; `maps` if something other than owner references and the default annotations relates them to primaries.
    #[must_use]
    pub fn objects<K: KubeObject>(kind: ResourceType, selects: Option<String>, maps: bool) -> Self {
        Self::objects_of(RustType::of::<K>(), kind, selects, maps)
    }

    /// The same for a type that is known only at run time.
    pub(crate) const fn objects_of(
        of: RustType,
        kind: ResourceType,
        selects: Option<String>,
        maps: bool,
    ) -> Self {
        Self::Objects { of, kind, selects, marked: false, maps }
    }

    /// The same, but it contains only what the controller's dependents have written.
    pub(crate) fn marked(mut self) -> Self {
        if let Self::Objects { marked, .. } = &mut self {
            *marked = true;
        }
        self
    }

    /// Whether it contains only what the controller's dependents have written.
    pub(crate) const fn is_marked(&self) -> bool {
        matches!(self, Self::Objects { marked: true, .. })
    }

    /// Another system's resources of type `R`, for primaries of any type.
    #[must_use]
    pub fn resources<R: 'static>() -> Self {
        Self::Resources { of: RustType::of::<R>(), primary: None }
    }

    /// Another system's resources of type `R`, which are fetched for primaries of type `P`.
    #[must_use]
    pub fn resources_for<R: 'static, P: 'static>() -> Self {
        Self::Resources { of: RustType::of::<R>(), primary: Some(RustType::of::<P>()) }
    }

    /// Whether objects of that type may be read from it.
    pub(crate) fn may_have(&self, wanted: RustType) -> bool {
        match self {
            Self::Unknown => true,
            Self::Nothing => false,
            Self::Objects { of, .. } | Self::Resources { of, .. } => *of == wanted,
        }
    }
}

/// A type, with the name that users know.
#[derive(Clone, Copy, Debug)]
pub struct RustType {
    id: TypeId,
    name: &'static str,
}

impl RustType {
    /// The type `T`.
    #[must_use]
    pub fn of<T: 'static>() -> Self {
        Self { id: TypeId::of::<T>(), name: type_name::<T>() }
    }

    /// Its name without path and parameters.
    #[must_use]
    pub fn name(self) -> &'static str {
        let name = self.name.split('<').next().unwrap_or(self.name);
        name.rsplit("::").next().unwrap_or(name)
    }
}

impl PartialEq for RustType {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for RustType {}

/// The needs of a source that are checked when the operator starts.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Needs {
    /// The namespace that the operator runs in.
    pub(crate) current_namespace: bool,
    /// A server that can show only this part of the objects.
    pub(crate) shard: Option<NeededShard>,
    /// Another cluster.
    pub(crate) remote: Option<RemoteCluster>,
}

/// A part of the objects of a kind.
#[derive(Clone, Debug)]
pub(crate) struct NeededShard {
    pub(crate) kind: ResourceType,
    /// One of the namespaces, if not all of them are followed.
    pub(crate) namespace: Option<String>,
}
