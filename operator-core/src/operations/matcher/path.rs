//! The position of a walk in an object.

use std::fmt;

/// A path as a chain of stack frames: walking costs no allocation, only a difference is rendered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Path<'a> {
    /// The object itself.
    Root,
    /// A field of an object.
    Field(&'a Path<'a>, &'a str),
    /// An item of a list by its position. Never by its key or value, which could be confidential.
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            // A name with dots (of a label, say) is set in brackets as the API server does in its own messages.
            Self::Field(parent, name) if name.contains('.') => write!(f, "{parent}[{name}]"),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Path;

    #[test]
    fn renders_fields_items_and_names_with_dots() {
        let spec = Path::Field(&Path::Root, "spec");
        let ports = Path::Field(&spec, "ports");
        let port = Path::Item(&ports, 2);
        assert_eq!(Path::Field(&port, "name").to_string(), "spec.ports[2].name");
        assert_eq!(Path::Field(&spec, "a.io/b").to_string(), "spec[a.io/b]");
    }
}
