//! The primaries that may run, as far as the state of the event sources allows it.

use std::{collections::HashSet, sync::Arc};

use crate::resource::ObjectKey;

/// Lets through the primaries whose event sources have seen everything. It only ever opens: what was seen once is
/// followed from then on, and a source that loses its right later keeps no primary from running.
#[derive(Debug)]
pub(super) enum Gate {
    /// Those in these namespaces.
    Namespaces(HashSet<Arc<str>>),
    /// All.
    Open,
}

impl Default for Gate {
    fn default() -> Self {
        Self::Namespaces(HashSet::new())
    }
}

impl Gate {
    /// Whether runs of the primary may start. Called at every event: one lookup in a set, and none once all are let
    /// through.
    pub(super) fn lets(&self, key: &ObjectKey) -> bool {
        match self {
            Self::Open => true,
            Self::Namespaces(open) => key.namespace().is_some_and(|namespace| open.contains(namespace)),
        }
    }

    /// Lets those in a namespace, or all, through as well.
    pub(super) fn open(&mut self, namespace: Option<Arc<str>>) {
        match (self, namespace) {
            (Self::Open, _) => {}
            (Self::Namespaces(open), Some(namespace)) => {
                open.insert(namespace);
            }
            (gate @ Self::Namespaces(_), None) => *gate = Self::Open,
        }
    }
}
