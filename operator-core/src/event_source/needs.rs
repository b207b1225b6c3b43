//! What a declared source needs of its surroundings, beyond rights: found out before anything starts.

use crate::resource::ResourceType;

/// What a source needs to be known, or served, where the operator starts.
#[derive(Clone, Debug, Default)]
#[doc(hidden)]
pub struct Needs {
    /// The namespace that the operator runs in.
    pub(crate) current_namespace: bool,
    /// A server that shows only a part of the objects.
    pub(crate) shard: Option<NeededShard>,
}

/// A part of the objects of a kind.
#[derive(Clone, Debug)]
pub(crate) struct NeededShard {
    pub(crate) kind: ResourceType,
    /// One of the namespaces, if not all of them are followed.
    pub(crate) namespace: Option<String>,
}
