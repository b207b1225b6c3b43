//! The checks when nobody acts any more: every wanted object exists and is marked, and no superfluous one is left.

use integration_tests::prelude::*;

use super::{
    judge::{Known, Primary, claims, whose},
    log::{Log, is_going, marks, references, uid},
    versions::{Kind, NodeOf, SHARED, Version},
};

/// What is so, and should not be.
#[derive(Debug, Default)]
pub(super) struct Calm {
    pub(super) wrongs: Vec<String>,
    /// Nodes whose objects somebody else has, with the primary's uid.
    pub(super) blocked: BTreeSet<(String, &'static str)>,
    /// Objects that stay for ever, as they had lost their marks before they were unwanted.
    pub(super) left: usize,
}

impl Calm {
    /// Looks at all that the primaries want, and at all that there is. `all` are the objects of both kinds.
    pub(super) fn of(
        version: &Version,
        primaries: &[Primary],
        known: &Known,
        log: &Log,
        all: &[(Kind, Value)],
    ) -> Self {
        let mut calm = Self::default();
        for primary in primaries {
            for node in &version.nodes {
                calm.wanted(node, primary, version, known, log);
            }
        }
        for (kind, object) in all {
            calm.unwanted(*kind, object, version, primaries, known);
        }
        calm
    }

    fn wanted(&mut self, node: &NodeOf, primary: &Primary, version: &Version, known: &Known, log: &Log) {
        let Some(spec) = &primary.spec else { return };
        let namespace = if node.shared { SHARED } else { &primary.namespace };
        for name in node.wants(&primary.name, spec) {
            let what = format!("{} {namespace}/{name} of {}", node.kind.plural(), node.name);
            let Some(object) = log.stored(node.kind, namespace, &name) else {
                self.wrongs.push(format!("{what} isn't there"));
                continue;
            };
            if is_going(&object) || whose(&object, node, primary, version, known).is_err() {
                self.blocked.insert((primary.uid.clone(), node.name));
                continue;
            }
            let made = known.get(uid(&object));
            let is_marked = made.is_some_and(|made| {
                (made.node, &made.primary.uid) == (node.name, &primary.uid) && made.marks == marks(&object)
            });
            let owned = references(&object).iter().any(|owner| owner["uid"] == *primary.uid);
            if object["data"]["value"] != *spec.text || !is_marked || owned != node.collected {
                self.wrongs.push(format!("{what} isn't as it should be: {object}"));
            }
        }
    }

    fn unwanted(
        &mut self,
        kind: Kind,
        object: &Value,
        version: &Version,
        primaries: &[Primary],
        known: &Known,
    ) {
        let Some(made) = known.get(uid(object)) else { return };
        let at = |field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (at("namespace"), at("name"));
        let Some(primary) = primaries.iter().find(|primary| primary.uid == made.primary.uid) else { return };
        let declared = version.node(made.node).filter(|node| node.kind == kind);
        let mut wanted = claims(version, primary, kind, &namespace, &name);
        if wanted.any(|(node, _)| declared.is_none() || node.name == made.node) || is_going(object) {
            return;
        }
        let controlled = references(object)
            .iter()
            .any(|owner| owner["controller"] == true && owner["uid"] != *primary.uid);
        if marks(object) != made.marks || controlled {
            self.left += 1;
            return;
        }
        let blocked =
            |node: &str| self.blocked.iter().any(|(of, name)| (&**of, *name) == (&primary.uid, node));
        let sees = |node: &NodeOf| node.kind == kind && node.shared == (namespace == SHARED);
        let stays = match declared {
            Some(node) => blocked(node.name) || node.shared != (namespace == SHARED),
            None => {
                let retired = version.retired.contains(&(kind, made.node)) && namespace != SHARED;
                self.blocked.iter().any(|(of, _)| *of == primary.uid)
                    || !(retired || version.nodes.iter().any(sees))
            }
        };
        if !stays {
            self.wrongs.push(format!(
                "{} {namespace}/{name} of {} is left: {object}",
                kind.plural(),
                made.node
            ));
        }
    }

    /// What is left when a primary is gone, and should not be.
    pub(super) fn after(
        primary: &Primary,
        version: &Version,
        known: &Known,
        all: &[(Kind, Value)],
        was_blocked: bool,
    ) -> Vec<String> {
        let of = |object: &Value| known.get(uid(object)).filter(|made| made.primary.uid == primary.uid);
        let left = all.iter().filter(|(kind, object)| {
            let Some(made) = of(object) else { return false };
            let owned = references(object).iter().any(|owner| owner["uid"] == *primary.uid);
            let shared = references(object).len() > usize::from(owned);
            // What another version's node has made is taken away where it can be seen.
            let declared = version.node(made.node).filter(|node| node.kind == *kind);
            let goes = match declared {
                Some(node) if node.collected => owned,
                Some(node) => node.shared == (object["metadata"]["namespace"] == SHARED),
                None => owned && !was_blocked,
            };
            marks(object) == made.marks && !shared && goes
        });
        left.map(|(kind, object)| format!("{} left after {}: {object}", kind.plural(), primary.name))
            .collect()
    }
}
