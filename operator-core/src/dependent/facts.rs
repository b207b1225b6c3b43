//! The parts of a dependent's declaration that can be checked before anything runs.

use std::{any::TypeId, sync::Arc};

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
    /// The type that declares its resources, if they are outside the cluster: then only the dependent knows when a deletion is
    /// done.
    pub(crate) outside: Option<TypeId>,
    /// The objects in the cluster that it manages or reads, if it does.
    pub(crate) objects: Option<OfKind>,
    /// Whether its objects are of any kinds, which are known only at run time. Then `objects` is empty.
    pub(crate) of_any_kind: bool,
    /// The event sources that it reads from.
    pub(crate) reads: Vec<Reading>,
    /// When its desired state is computed; `None` for one that always wants something.
    pub(crate) judged: Option<Judged>,
    /// Whether its desired state follows from the primary alone, so that it can be known before the node's turn.
    pub(crate) early: bool,
    /// The field of the primary's status in which it keeps ids, which no status function may set.
    pub(crate) keeps: Option<Arc<str>>,
    /// The mistakes in its declaration.
    pub(crate) unsound: Option<Unsound>,
}

/// A mistake in a declaration.
#[derive(Clone, Debug)]
pub(crate) struct Unsound {
    /// Its text, without the node's name, which comes before it.
    pub(crate) what: &'static str,
    pub(crate) why: String,
    pub(crate) write: &'static str,
}

/// The objects in the cluster that a dependent manages or reads.
#[derive(Clone, Debug)]
pub(crate) struct OfKind {
    /// Their kind.
    pub(crate) kind: ResourceType,
    /// The event source that they are read from.
    pub(crate) source: Arc<str>,
}

/// What a dependent reads from an event source that may have to be declared elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    /// The name of the source.
    pub(crate) source: Arc<str>,
    /// The Rust type of the objects.
    pub(crate) of: RustType,
    /// Their kind.
    pub(crate) kind: ResourceType,
    /// Whether the source relates no object to a primary: it only shows those with given keys.
    pub(crate) is_by_key: bool,
}
