//! The primaries that may run, as far as the state of the event sources allows it.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use crate::resource::ObjectKey;

/// Lets through the primaries whose event sources have seen everything. It only ever opens, unless the namespaces
/// themselves change: what was seen once is followed from then on, and a source that loses its right later keeps no
/// primary from running.
#[derive(Debug)]
pub(super) enum Gate {
    /// The primaries in these namespaces.
    Namespaces(HashSet<Arc<str>>),
    /// All primaries.
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

    /// The primaries are followed in the namespaces `now`, and were in those `before`; `None` for all. Those in a
    /// namespace that wasn't followed are not let through before it is opened.
    pub(super) fn rescope(&mut self, before: Option<&BTreeSet<String>>, now: Option<&BTreeSet<String>>) {
        let is_followed = |namespace: &str| now.is_none_or(|now| now.contains(namespace));
        let open = match (&*self, before, now) {
            (Self::Open, None, None) => return,
            // All of them were let through, so the primaries that are left are.
            (Self::Open, None, Some(now)) => now.iter().map(|namespace| Arc::from(&**namespace)).collect(),
            (Self::Open, Some(before), _) => {
                let left = before.iter().filter(|namespace| is_followed(namespace));
                left.map(|namespace| Arc::from(&**namespace)).collect()
            }
            (Self::Namespaces(open), _, _) => {
                open.iter().filter(|namespace| is_followed(namespace)).cloned().collect()
            }
        };
        *self = Self::Namespaces(open);
    }

    /// Also lets the primaries in a namespace, or all, through.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn set<const N: usize>(names: [&str; N]) -> Option<BTreeSet<String>> {
        Some(names.map(str::to_owned).into())
    }

    fn lets(gate: &Gate) -> String {
        let namespaces = ["a", "b", "c"].into_iter();
        namespaces.filter(|namespace| gate.lets(&ObjectKey::namespaced(namespace, "x"))).collect()
    }

    #[test]
    fn only_what_was_let_through_and_is_still_followed_is() {
        let cases = [
            (Gate::Open, set(["a", "b"]), set(["b", "c"]), "b"),
            (Gate::Open, set(["a", "b"]), None, "ab"),
            (Gate::Open, None, set(["a", "c"]), "ac"),
            (Gate::Open, None, None, "abc"),
            (Gate::Namespaces([Arc::from("a")].into()), set(["a", "b"]), set(["a", "b", "c"]), "a"),
            (Gate::Namespaces([Arc::from("a")].into()), set(["a", "b"]), set(["b"]), ""),
            (Gate::default(), None, set(["a"]), ""),
        ];
        for (mut gate, before, now, expected) in cases {
            gate.rescope(before.as_ref(), now.as_ref());
            assert_eq!(lets(&gate), expected, "{before:?} {now:?}");
        }
    }
}
