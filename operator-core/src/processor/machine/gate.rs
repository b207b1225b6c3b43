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
    open: Open,
    /// The namespaces that are followed since they were changed; `None` for all, or if they never were.
    followed: Option<BTreeSet<String>>,
}

#[derive(Debug)]
enum Open {
    /// For those in these namespaces.
    In(HashSet<Arc<str>>),
    /// For all that are followed.
    Everywhere,
}

impl Default for Open {
    fn default() -> Self {
        Self::In(HashSet::new())
    }
}

impl Gate {
    /// Whether runs of the primary may start. Called at every event: one lookup in a set, and none once all are let
    /// through.
    pub(super) fn lets(&self, key: &ObjectKey) -> bool {
        match &self.open {
            Open::Everywhere => self.follows(key.namespace()),
            Open::In(open) => key.namespace().is_some_and(|namespace| open.contains(namespace)),
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
        let is_followed = |namespace: &str| now.as_ref().is_none_or(|now| now.contains(namespace));
        let open = match (&self.open, before, &now) {
            (Open::Everywhere, None, None) => None,
            // All of them were let through, so those that are left are.
            (Open::Everywhere, None, Some(now)) => {
                Some(now.iter().map(|namespace| Arc::from(&**namespace)).collect())
            }
            (Open::Everywhere, Some(before), _) => {
                let left = before.iter().filter(|namespace| is_followed(namespace));
                Some(left.map(|namespace| Arc::from(&**namespace)).collect())
            }
            (Open::In(open), _, _) => {
                Some(open.iter().filter(|namespace| is_followed(namespace)).cloned().collect())
            }
        };
        if let Some(open) = open {
            self.open = Open::In(open);
        }
        self.followed = now;
    }

    /// Lets those in a namespace, or all, through as well, as far as they are followed.
    pub(super) fn open(&mut self, namespace: Option<Arc<str>>) {
        if namespace.is_some() && !self.follows(namespace.as_deref()) {
            return;
        }
        match (&mut self.open, namespace) {
            (Open::Everywhere, _) => {}
            (Open::In(open), Some(namespace)) => drop(open.insert(namespace)),
            (open @ Open::In(_), None) => *open = Open::Everywhere,
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
        let open = || Open::Everywhere;
        let only_a = || Open::In([Arc::from("a")].into());
        let cases = [
            (open(), set(["a", "b"]), set(["b", "c"]), "b"),
            (open(), set(["a", "b"]), None, "ab"),
            (open(), None, set(["a", "c"]), "ac"),
            (open(), None, None, "abc"),
            (only_a(), set(["a", "b"]), set(["a", "b", "c"]), "a"),
            (only_a(), set(["a", "b"]), set(["b"]), ""),
            (Open::default(), None, set(["a"]), ""),
        ];
        for (open, before, now, expected) in cases {
            let mut gate = Gate { open, followed: None };
            gate.rescope(before.as_ref(), now.clone());
            assert_eq!(lets(&gate), expected, "{before:?} {now:?}");
            // What was left stays closed, whatever is opened.
            gate.open(None);
            let followed = now.map_or("abc".to_owned(), |now| now.into_iter().collect());
            assert_eq!(lets(&gate), followed, "{before:?}");
        }
    }
}
