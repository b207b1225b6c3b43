//! The primaries that may run, as far as the state of the event sources allows it.

use std::{
    collections::{BTreeSet, HashSet},
    sync::Arc,
};

use crate::resource::ObjectKey;

/// Lets through the primaries whose event sources have seen everything. It only ever opens, unless the namespaces
/// themselves change: what was seen once is followed from then on, and a source that loses its right later keeps no
/// primary from running.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// All followed primaries are let through, and not only those in `open`.
    everywhere: bool,
    /// The namespaces whose primaries are let through.
    open: HashSet<Arc<str>>,
    /// The namespaces that are followed since the last change; `None` for all, or if there was no change.
    followed: Option<BTreeSet<String>>,
}

impl Gate {
    /// Whether runs of the primary may start. Called at every event: one lookup in a set, and none once all are let
    /// through, unless the namespaces have changed.
    pub(super) fn lets(&self, key: &ObjectKey) -> bool {
        match self.everywhere {
            true => self.follows(key.namespace()),
            false => key.namespace().is_some_and(|namespace| self.open.contains(namespace)),
        }
    }

    /// Whether primaries in this namespace are followed.
    pub(super) fn follows(&self, namespace: Option<&str>) -> bool {
        let Some(followed) = &self.followed else { return true };
        namespace.is_some_and(|namespace| followed.contains(namespace))
    }

    /// The primaries are followed in the namespaces `now`, and were in those `before`; `None` for all. Those in a
    /// namespace that wasn't followed are not let through before it is opened.
    pub(super) fn rescope(&mut self, before: Option<&BTreeSet<String>>, now: Option<BTreeSet<String>>) {
        if self.everywhere {
            let Some(open) = before.or(now.as_ref()) else { return };
            self.open = open.iter().map(|namespace| Arc::from(&**namespace)).collect();
        }
        self.everywhere = false;
        self.open.retain(|namespace| now.as_ref().is_none_or(|now| now.contains(&**namespace)));
        self.followed = now;
    }

    /// Also lets the primaries in a namespace, or all, through, as far as they are followed.
    pub(super) fn open(&mut self, namespace: Option<Arc<str>>) {
        match namespace {
            None => self.everywhere = true,
            Some(namespace) if self.follows(Some(&namespace)) => drop(self.open.insert(namespace)),
            Some(_) => {}
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
        let gate = |everywhere, open: &[&str]| Gate {
            everywhere,
            open: open.iter().map(|namespace| Arc::from(*namespace)).collect(),
            followed: None,
        };
        let (open, only_a) = (|| gate(true, &[]), || gate(false, &["a"]));
        let cases = [
            (open(), set(["a", "b"]), set(["b", "c"]), "b"),
            (open(), set(["a", "b"]), None, "ab"),
            (open(), None, set(["a", "c"]), "ac"),
            (open(), None, None, "abc"),
            (only_a(), set(["a", "b"]), set(["a", "b", "c"]), "a"),
            (only_a(), set(["a", "b"]), set(["b"]), ""),
            (Gate::default(), None, set(["a"]), ""),
        ];
        for (mut gate, before, now, expected) in cases {
            gate.rescope(before.as_ref(), now.clone());
            assert_eq!(lets(&gate), expected, "{before:?} {now:?}");
            // Namespaces that were left stay closed, whatever is opened.
            gate.open(None);
            let followed = now.map_or("abc".to_owned(), |now| now.into_iter().collect());
            assert_eq!(lets(&gate), followed, "{before:?}");
        }
    }
}
