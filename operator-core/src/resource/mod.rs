//! Names: which object, of which kind, in which version, owned by which other.
//!
//! The library identifies objects by [`ObjectKey`] and kinds by [`ResourceType`]. Both are plain values without a
//! client, so the pure parts can use them.

mod access;
#[cfg(test)]
pub(crate) mod arbitrary_tests;
mod departed;
pub(crate) mod key;
pub(crate) mod kind;
mod mapping;
mod marks;
mod object;
mod owner;
mod sensitive;
mod syntax;
pub(crate) mod uid;
mod version;

pub use access::Access;
pub(crate) use departed::Departed;
pub(crate) use key::Cluster;
pub(crate) use key::ObjectKey;
pub use kind::KubeObject;
pub(crate) use kind::{ResourceType, is_always_namespaced};
pub use mapping::MappingAnnotations;
pub(crate) use marks::ControllerMarks;
pub use marks::MarkNames;
pub(crate) use marks::{
    DoneBy, DoneJobs, KindName, MadeKinds, Marks, Nodes, Whose, digits, fingerprint, has_succeeded,
    hyphenated, in_order, is_job, label_value,
};
pub(crate) use object::{AnyObject, Draft, Object, types_of};
pub(crate) use owner::owner_in;
pub(crate) use owner::{is_owned_by, owner_reference};
pub(crate) use sensitive::MASKED;
pub(crate) use syntax::{
    LONGEST_NAME, can_be_name, cut, cut_at, did_you_mean, escaped, is_condition_type, is_label,
    is_qualified_name, is_reason, is_subdomain, nearest, path_segment,
};
pub(crate) use uid::Uid;
pub use version::ResourceVersion;
