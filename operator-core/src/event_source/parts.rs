//! The primaries that may run while the sources of a controller become synced. Pure.
//!
//! A primary runs once its own namespace is synced in each source that follows the same namespaces as the controller,
//! separately, and all other sources are synced as a whole: those of all namespaces, of cluster-scoped kinds, with
//! their own list of namespaces, and those outside the cluster. It is unknown which primaries these concern.
//!
//! ```text
//! namespaces [a, b] of the controller      Deployment: a ✓ b ✓     ConfigMap: a ✓ b ✗     Node: ✓
//!                                          ──▶ primaries in a run, those in b wait
//! ```

use std::collections::{BTreeMap, BTreeSet};

use super::{SourcePart, WatchScope};
use crate::resource::ResourceType;

/// The primaries whose first runs wait for a part of an event source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HeldBack {
    /// No primaries: the part was synced once.
    Nobody,
    /// The primaries in this namespace.
    Namespace(String),
    /// All primaries of the controller.
    Everybody,
}

/// A source, by its position, and one of its parts.
pub(crate) type Part = (usize, Option<String>);

/// The division of parts into those of a single namespace and those of all.
#[derive(Clone, Debug)]
pub(crate) struct Divisions {
    /// The namespaces that the controller follows separately.
    own: BTreeSet<String>,
    /// By position: whether the source follows the same namespaces.
    follows_own: Vec<bool>,
}

impl Divisions {
    /// `own` are the namespaces in which the controller works, each separately; `sources` the parts of each source.
    pub(crate) fn new<'p>(
        own: BTreeSet<String>,
        sources: impl IntoIterator<Item = &'p [SourcePart]>,
    ) -> Self {
        let follows_own = |parts: &[SourcePart]| {
            let namespaces: Option<BTreeSet<&str>> =
                parts.iter().map(|part| part.namespace.as_deref()).collect();
            namespaces.is_some_and(|namespaces| own.iter().map(String::as_str).eq(namespaces))
        };
        let follows_own = sources.into_iter().map(follows_own).collect();
        Self { own, follows_own }
    }

    /// The namespaces of a controller that works in `scope`, if it follows its primaries in each namespace separately.
    pub(crate) fn of_controller(scope: &WatchScope, primary_type: &ResourceType) -> BTreeSet<String> {
        match scope {
            WatchScope::Namespaces(namespaces) if primary_type.is_namespaced() => namespaces.clone(),
            WatchScope::Namespaces(_) | WatchScope::All | WatchScope::Current => BTreeSet::new(),
        }
    }

    /// The primaries that wait for this part of that source until it is synced.
    pub(crate) fn held_back_by(&self, source: usize, namespace: Option<&str>) -> HeldBack {
        match namespace.filter(|_| self.follows_own.get(source) == Some(&true)) {
            Some(namespace) => HeldBack::Namespace(namespace.to_owned()),
            None => HeldBack::Everybody,
        }
    }
}

/// What opens when a part is synced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opens {
    /// The primaries in these namespaces may run; perhaps none.
    Namespaces(Vec<String>),
    /// All primaries may.
    Everything,
}

/// The parts that are still awaited. Each step costs one lookup in a map.
#[derive(Debug)]
pub(crate) struct Awaited {
    divisions: Divisions,
    /// The number of parts that all primaries wait for.
    by_everybody: usize,
    /// For each namespace that is not open yet, the number of parts its primaries wait for.
    by_namespace: BTreeMap<String, usize>,
}

impl Awaited {
    /// All parts are awaited.
    pub(crate) fn new<'p>(divisions: Divisions, parts: impl IntoIterator<Item = &'p Part>) -> Self {
        let by_namespace = divisions.own.iter().map(|namespace| (namespace.clone(), 0)).collect();
        let mut awaited = Self { divisions, by_everybody: 0, by_namespace };
        for (source, namespace) in parts {
            match awaited.divisions.held_back_by(*source, namespace.as_deref()) {
                HeldBack::Everybody => awaited.by_everybody += 1,
                HeldBack::Namespace(namespace) => {
                    *awaited.by_namespace.entry(namespace).or_default() += 1;
                }
                HeldBack::Nobody => {}
            }
        }
        awaited
    }

    /// A part is synced, for the first time.
    pub(crate) fn synced(&mut self, (source, namespace): &Part) -> Opens {
        let candidates = match self.divisions.held_back_by(*source, namespace.as_deref()) {
            HeldBack::Everybody => {
                self.by_everybody = self.by_everybody.saturating_sub(1);
                // The last of them opens all namespaces that wait for nothing else.
                None
            }
            HeldBack::Namespace(namespace) => {
                if let Some(parts) = self.by_namespace.get_mut(&namespace) {
                    *parts = parts.saturating_sub(1);
                }
                Some(namespace)
            }
            HeldBack::Nobody => return Opens::Namespaces(Vec::new()),
        };
        self.open(candidates)
    }

    fn open(&mut self, candidate: Option<String>) -> Opens {
        if self.by_everybody > 0 {
            return Opens::Namespaces(Vec::new());
        }
        let candidates: Vec<String> = match candidate {
            Some(namespace) => vec![namespace],
            None => self.by_namespace.keys().cloned().collect(),
        };
        let opened: Vec<String> =
            candidates.into_iter().filter(|namespace| self.by_namespace.get(namespace) == Some(&0)).collect();
        for namespace in &opened {
            self.by_namespace.remove(namespace);
        }
        if self.by_namespace.is_empty() { Opens::Everything } else { Opens::Namespaces(opened) }
    }

    /// The primaries that may run before anything is synced.
    pub(crate) fn at_once(&mut self) -> Opens {
        self.open(None)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::observe::SourceHealth;

    fn parts(namespaces: &[Option<&str>]) -> Vec<SourcePart> {
        let part = |namespace: &Option<&str>| SourcePart {
            namespace: namespace.map(str::to_owned),
            synced: false,
            health: SourceHealth::Syncing,
        };
        namespaces.iter().map(part).collect()
    }

    fn awaited(own: &[&str], sources: &[Vec<SourcePart>]) -> (Awaited, Vec<Part>) {
        let own = own.iter().map(|namespace| (*namespace).to_owned()).collect();
        let divisions = Divisions::new(own, sources.iter().map(Vec::as_slice));
        let all: Vec<Part> = sources
            .iter()
            .enumerate()
            .flat_map(|(source, parts)| parts.iter().map(move |part| (source, part.namespace.clone())))
            .collect();
        (Awaited::new(divisions, &all), all)
    }

    fn part(source: usize, namespace: impl Into<Option<&'static str>>) -> Part {
        (source, namespace.into().map(str::to_owned))
    }

    fn opens(namespaces: &[&str]) -> Opens {
        Opens::Namespaces(namespaces.iter().map(|namespace| (*namespace).to_owned()).collect())
    }

    #[test]
    fn a_namespace_opens_when_it_is_synced_in_each_source() {
        let same = || parts(&[Some("a"), Some("b")]);
        let (mut awaited, _) = awaited(&["a", "b"], &[same(), same()]);
        assert_eq!(awaited.at_once(), opens(&[]));
        assert_eq!(awaited.synced(&part(0, "a")), opens(&[]));
        assert_eq!(awaited.synced(&part(0, "b")), opens(&[]));
        assert_eq!(awaited.synced(&part(1, "b")), opens(&["b"]));
        assert_eq!(awaited.synced(&part(1, "a")), Opens::Everything);
    }

    #[test]
    fn a_source_of_another_scope_holds_everybody_back() {
        for other in [parts(&[None]), parts(&[Some("a"), Some("c")]), parts(&[Some("a")])] {
            let (mut awaited, all) = awaited(&["a", "b"], &[parts(&[Some("a"), Some("b")]), other]);
            assert_eq!(awaited.synced(&part(0, "a")), opens(&[]), "{all:?}");
            let others: Vec<&Part> = all.iter().filter(|(source, _)| *source == 1).collect();
            let (last, first) = others.split_last().expect("it has parts");
            for part in first {
                assert_eq!(awaited.synced(part), opens(&[]), "{all:?}");
            }
            assert_eq!(awaited.synced(last), opens(&["a"]), "{all:?}");
            assert_eq!(awaited.synced(&part(0, "b")), Opens::Everything, "{all:?}");
        }
    }

    #[test]
    fn without_namespaces_of_its_own_a_controller_starts_as_a_whole() {
        let (mut awaited, _) = awaited(&[], &[parts(&[None]), parts(&[Some("a"), Some("b")])]);
        assert_eq!(awaited.synced(&part(1, "a")), opens(&[]));
        assert_eq!(awaited.synced(&part(0, None)), opens(&[]));
        assert_eq!(awaited.synced(&part(1, "b")), Opens::Everything);
    }

    #[test]
    fn with_nothing_to_wait_for_everything_is_open() {
        assert_eq!(awaited(&[], &[]).0.at_once(), Opens::Everything);
        assert_eq!(awaited(&["a"], &[]).0.at_once(), Opens::Everything);
    }

    #[test]
    fn who_waits_for_a_part_is_named() {
        let sources = [parts(&[Some("a"), Some("b")]), parts(&[None])];
        let divisions =
            Divisions::new(["a".to_owned(), "b".to_owned()].into(), sources.iter().map(Vec::as_slice));
        assert_eq!(divisions.held_back_by(0, Some("b")), HeldBack::Namespace("b".to_owned()));
        assert_eq!(divisions.held_back_by(1, None), HeldBack::Everybody);
    }

    const OWN: [&str; 3] = ["a", "b", "c"];

    /// A source that follows the same, everything, or namespaces of its own.
    fn source() -> impl Strategy<Value = Vec<SourcePart>> {
        prop_oneof![
            3 => Just(parts(&OWN.map(Some))),
            1 => Just(parts(&[None])),
            1 => Just(parts(&[Some("b"), Some("z")])),
            1 => Just(Vec::new()),
        ]
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        /// In whatever order the parts are synced, a namespace is open exactly while the sentence at the top says so.
        #[test]
        fn what_is_open_is_what_the_rule_says(
            sources in proptest::collection::vec(source(), 0..5),
            order in proptest::collection::vec(any::<prop::sample::Index>(), 30),
        ) {
            let (mut awaited, mut left) = awaited(&OWN, &sources);
            let mut open: BTreeSet<String> = BTreeSet::new();
            let take = |open: &mut BTreeSet<String>, opens| match opens {
                Opens::Namespaces(namespaces) => open.extend(namespaces),
                Opens::Everything => open.extend(OWN.map(str::to_owned)),
            };
            take(&mut open, awaited.at_once());
            let mut order = order.iter();
            loop {
                let is_same = |source: usize| sources[source] == parts(&OWN.map(Some));
                let rule = OWN.iter().filter(|namespace| {
                    let holds = |(source, part): &&Part| !is_same(*source) || part.as_deref() == Some(**namespace);
                    left.iter().find(holds).is_none()
                });
                prop_assert_eq!(&open, &rule.map(|namespace| (*namespace).to_owned()).collect::<BTreeSet<_>>());
                if left.is_empty() {
                    break;
                }
                let next = left.swap_remove(order.next().expect("long enough").index(left.len()));
                take(&mut open, awaited.synced(&next));
            }
        }
    }
}
