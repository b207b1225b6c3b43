//! The nodes of a controller.

use std::collections::{BTreeMap, BTreeSet};

use super::label_value;
use crate::resource::ResourceType;

/// Group and kind.
type Kind = (String, String);

/// The nodes of a controller that write, by the values of their labels, with the kinds of what they write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Nodes(BTreeMap<String, BTreeSet<Kind>>);

impl Nodes {
    /// Whether there is a node with that label's value.
    pub(crate) fn has(&self, value: &str) -> bool {
        self.0.contains_key(value)
    }

    /// Whether there is one with that label's value that writes this kind. If a node makes another kind than in an
    /// earlier version, what it made then belongs to a former node.
    pub(crate) fn has_of(&self, value: &str, kind: &ResourceType) -> bool {
        let is_it = |of: &Kind| (&*of.0, &*of.1) == (kind.group(), kind.kind());
        self.0.get(value).is_some_and(|kinds| kinds.iter().any(is_it))
    }
}

impl<'k, N: AsRef<str>> FromIterator<(N, &'k ResourceType)> for Nodes {
    fn from_iter<I: IntoIterator<Item = (N, &'k ResourceType)>>(nodes: I) -> Self {
        let mut all = Self::default();
        for (name, kind) in nodes {
            let kinds = all.0.entry(label_value(name.as_ref())).or_default();
            kinds.insert((kind.group().to_owned(), kind.kind().to_owned()));
        }
        all
    }
}
