//! The types of expressions.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// A type.
#[derive(Clone, Debug)]
pub(in crate::in_process) enum Type {
    Dyn,
    /// Of an expression with a mistake, which has been reported.
    Error,
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    Timestamp,
    Duration,
    List(Box<Type>),
    Map(Box<(Type, Type)>),
    /// Objects of a schema.
    Object(Arc<Object>),
    /// Optional values, and the types of Kubernetes' libraries.
    Opaque(&'static str, Vec<Type>),
    Meta(Option<Box<Type>>),
    /// Of a function, or not known yet.
    Param(Arc<str>),
}

/// The fields of objects, by their escaped names.
#[derive(Debug)]
pub(in crate::in_process) struct Object {
    pub(super) name: String,
    pub(super) fields: BTreeMap<String, Type>,
}

pub(super) const OPTIONAL: &str = "optional_type";
pub(super) const QUANTITY: &str = "kubernetes.Quantity";
pub(super) const URL: &str = "kubernetes.URL";
pub(super) const IP: &str = "net.IP";
pub(super) const CIDR: &str = "net.CIDR";
pub(super) const SEMVER: &str = "kubernetes.Semver";
pub(super) const FORMAT: &str = "kubernetes.NamedFormat";

impl Type {
    pub(super) fn list(of: Self) -> Self {
        Self::List(Box::new(of))
    }

    pub(super) fn map(key: Self, value: Self) -> Self {
        Self::Map(Box::new((key, value)))
    }

    pub(in crate::in_process) fn optional(of: Self) -> Self {
        Self::Opaque(OPTIONAL, vec![of])
    }

    pub(super) fn is_dyn(&self) -> bool {
        matches!(self, Self::Dyn)
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// The type of an optional's value.
    pub(super) fn unwrapped(&self) -> Option<&Self> {
        match self {
            Self::Opaque(OPTIONAL, of) => of.first(),
            _ => None,
        }
    }

    /// Whether two types are one.
    pub(super) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::List(one), Self::List(two)) => one.is(two),
            (Self::Map(one), Self::Map(two)) => one.0.is(&two.0) && one.1.is(&two.1),
            (Self::Object(one), Self::Object(two)) => one.name == two.name,
            (Self::Opaque(one, of), Self::Opaque(two, others)) => {
                one == two && of.len() == others.len() && of.iter().zip(others).all(|(one, two)| one.is(two))
            }
            (Self::Meta(one), Self::Meta(two)) => match (one, two) {
                (Some(one), Some(two)) => one.is(two),
                (one, two) => one.is_none() && two.is_none(),
            },
            (Self::Param(one), Self::Param(two)) => one == two,
            (one, two) => std::mem::discriminant(one) == std::mem::discriminant(two),
        }
    }

    /// The name of the values' type at run time.
    pub(super) fn runtime_name(&self) -> &str {
        match self {
            Self::Dyn => "dyn",
            Self::Error => "error",
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration => "google.protobuf.Duration",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Object(object) => &object.name,
            Self::Opaque(name, _) => name,
            Self::Meta(_) => "type",
            Self::Param(name) => name,
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Error => f.write_str("!error!"),
            Self::Null => f.write_str("null"),
            Self::Timestamp => f.write_str("timestamp"),
            Self::Duration => f.write_str("duration"),
            Self::List(of) => write!(f, "list({of})"),
            Self::Map(of) => write!(f, "map({}, {})", of.0, of.1),
            Self::Opaque(name, of) if !of.is_empty() => {
                let of: Vec<_> = of.iter().map(ToString::to_string).collect();
                write!(f, "{name}({})", of.join(", "))
            }
            Self::Meta(Some(of)) => write!(f, "type({of})"),
            other => f.write_str(other.runtime_name()),
        }
    }
}
