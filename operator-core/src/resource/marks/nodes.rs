//! Which nodes a controller has.

use std::collections::BTreeSet;

use super::label_value;

/// The nodes of a controller that write, by the values of their labels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nodes(BTreeSet<String>);

impl Nodes {
    /// Whether there is a node with that label's value.
    pub(crate) fn has(&self, value: &str) -> bool {
        self.0.contains(value)
    }
}

impl<N: AsRef<str>> FromIterator<N> for Nodes {
    fn from_iter<I: IntoIterator<Item = N>>(names: I) -> Self {
        Self(names.into_iter().map(|name| label_value(name.as_ref())).collect())
    }
}
