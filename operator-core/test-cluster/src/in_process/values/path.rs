//! Where a value stands in an object, as errors name it. It is written only for errors.

use std::fmt;

/// The place of a value: `spec.containers[0].name`.
#[derive(Clone, Copy, Debug)]
pub(in crate::in_process) struct Path<'a> {
    within: Option<&'a Path<'a>>,
    part: Part<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Name(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// A field of the object itself.
    pub(in crate::in_process) const fn root(name: &'a str) -> Self {
        Self { within: None, part: Part::Name(name) }
    }

    /// A field of what is here; dots lead to fields of fields.
    pub(in crate::in_process) const fn child(&'a self, name: &'a str) -> Self {
        Self { within: Some(self), part: Part::Name(name) }
    }

    /// An item of the list that is here.
    pub(in crate::in_process) const fn index(&'a self, index: usize) -> Self {
        Self { within: Some(self), part: Part::Index(index) }
    }

    /// An entry of the map that is here.
    pub(in crate::in_process) const fn key(&'a self, key: &'a str) -> Self {
        Self { within: Some(self), part: Part::Key(key) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(within) = self.within {
            within.fmt(f)?;
        }
        match self.part {
            Part::Name(name) if self.within.is_some() => write!(f, ".{name}"),
            Part::Name(name) => f.write_str(name),
            Part::Index(index) => write!(f, "[{index}]"),
            Part::Key(key) => write!(f, "[{key}]"),
        }
    }
}
