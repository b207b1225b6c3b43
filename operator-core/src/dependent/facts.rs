//! The parts of a dependent's declaration that can be checked before anything runs.

use std::sync::Arc;

use super::{Capabilities, DependentSource, function::Judged};
use crate::{
    event_source::RustType,
    resource::{Access, ResourceType},
};

/// What is known about a dependent before it runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declaration {
    /// What it may do.
    pub(crate) capabilities: Capabilities,
    /// Its own event sources; a shared one is declared on the controller.
    pub(crate) event_sources: Vec<DependentSource>,
    /// The rights that it needs to write.
    pub(crate) access: Vec<Access>,
    /// Whether it may have any number of resources, including none.
    pub(crate) several: bool,
    /// Whether its resources are outside the cluster, so that only the dependent knows when a deletion is done.
    pub(crate) outside: bool,
    /// The objects in the cluster that it manages or reads, if it does.
    pub(crate) objects: Option<Objects>,
    /// What it reads from event sources.
    pub(crate) reads: Vec<Reading>,
    /// When its desired state is computed; `None` for one that always wants something.
    pub(crate) judged: Option<Judged>,
}

/// The objects in the cluster that a dependent manages or reads.
#[derive(Clone, Debug)]
pub(crate) struct Objects {
    /// Their kind.
    pub(crate) kind: ResourceType,
    /// The event source that they are read from.
    pub(crate) source: Arc<str>,
}

impl Objects {
    /// Objects of that kind.
    pub(in crate::dependent) fn of(kind: ResourceType, source: Arc<str>) -> Self {
        Self { kind, source }
    }
}

/// What a dependent reads from event sources that may have to be declared elsewhere.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    /// From the source of that name: objects of this type and kind.
    Objects { source: Arc<str>, of: RustType, kind: ResourceType },
    /// From the source of that name: another system's resources of this type.
    Resources { source: Arc<str>, of: RustType },
    /// From any source: the objects that keep its state.
    State { of: RustType },
}

impl Reading {
    /// Objects of type `K` from the source of that name.
    pub(in crate::dependent) fn objects(of: RustType, source: &Arc<str>, kind: &ResourceType) -> Self {
        Self::Objects { source: Arc::clone(source), of, kind: kind.clone() }
    }
}
