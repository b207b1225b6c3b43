//! The rights that a part of an operator needs.

use super::ResourceType;

/// Rights on a type of object that a part of an operator needs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    /// The type.
    pub resource_type: ResourceType,
    /// The subresource, if the right is for one.
    pub subresource: Option<&'static str>,
    /// The verbs of a role rule.
    pub verbs: Vec<&'static str>,
}
