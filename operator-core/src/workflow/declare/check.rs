//! Resolves keys to names, or reports what is wrong with them. Pure.

use std::{
    collections::{BTreeMap, HashMap},
    ops::Range,
    sync::Arc,
};

use crate::{
    dependent::Gate,
    results::NodeKey,
    workflow::{
        BuildError, Graph, Mistake, NodeId, Word,
        declare::{any_node::AnyNode, group::AnyGroup},
    },
};

/// The graph of nodes, the names of those that are functions or values, and the rules by which some start.
pub(in crate::workflow) struct Resolved {
    pub(in crate::workflow) graph: Graph,
    pub(in crate::workflow) names: HashMap<NodeKey, Arc<str>>,
    pub(in crate::workflow) starts: Vec<Start>,
}

/// When a node, or a group, may start: while none of these nodes has an object of its own.
pub(in crate::workflow) struct Start {
    pub(in crate::workflow) nodes: Vec<NodeId>,
    /// After these are ready.
    pub(in crate::workflow) after: Vec<NodeId>,
    /// Once these say so.
    pub(in crate::workflow) when: Vec<Gate>,
}

/// The nodes that a node comes after, each with its word.
type Words = Vec<(Arc<str>, Word)>;

/// Returns all mistakes in the nodes and their groups, or their graph.
pub(in crate::workflow) fn resolve(nodes: &[AnyNode], groups: &[AnyGroup]) -> Result<Resolved, BuildError> {
    let mut mistakes = Vec::new();
    let mut names: HashMap<NodeKey, Arc<str>> = HashMap::new();
    let mut twice = Vec::new();
    for node in nodes {
        let key = &node.key;
        if names.insert(key.clone(), node.name()).is_some() {
            if !twice.contains(key) {
                twice.push(key.clone());
                mistakes.push(Mistake::NodeTwice { node: key.to_string() });
            }
        } else if !node.is_named {
            mistakes.push(Mistake::Unnamed { node: key.to_string() });
        }
    }
    mistakes.extend(same_names(nodes));
    mistakes.extend(of_groups_alone(groups));
    let several = by_types(nodes, &mut names);
    let known = Known { nodes, groups, names: &names, several };
    let mut wired: Vec<(Arc<str>, Words)> = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let mut after: Words = Vec::new();
        for (key, word) in &node.terms.after {
            let others = known.find(key, &path(node), position..position + 1, &mut mistakes);
            let others = others.into_iter().map(|other| nodes[other].name());
            let both = |name: &Arc<str>| {
                is_both(*word).is_some_and(|both| after.contains(&(Arc::clone(name), both)))
            };
            let (twice, once): (Vec<_>, Vec<_>) = others.partition(both);
            mistakes.extend(
                twice
                    .into_iter()
                    .map(|other| Mistake::BothWords { node: path(node), other: other.to_string() }),
            );
            after.extend(once.into_iter().map(|name| (name, *word)));
        }
        // Once reported, it doesn't hide other mistakes.
        let told = nodes[..position].iter().any(|other| other.name() == node.name());
        if !told {
            wired.push((node.name(), after));
        }
    }
    let of_groups: Vec<Vec<(Word, usize)>> =
        groups.iter().map(|group| known.after_of(group, &mut mistakes)).collect();
    for (group, words) in groups.iter().zip(&of_groups) {
        for node in group.nodes.clone() {
            let name = nodes[node].name();
            let Some((_, after)) = wired.iter_mut().find(|(of, _)| *of == name) else { continue };
            after.extend(words.iter().map(|(word, other)| (nodes[*other].name(), *word)));
            let earlier = group.in_order.iter().take_while(|item| !item.contains(&node)).cloned().flatten();
            after.extend(earlier.map(|other| (nodes[other].name(), Word::InOrder)));
        }
    }
    let words = wired.into_iter().map(|(name, after)| (name, after.into_iter()));
    let graph = match Graph::of_words(words) {
        Ok(graph) if mistakes.is_empty() => graph,
        Ok(_) => return Err(BuildError(mistakes)),
        Err(BuildError(further)) => {
            mistakes.extend(further);
            return Err(BuildError(mistakes));
        }
    };
    // Without mistakes each node has its own place in the graph.
    let of_groups = groups.iter().zip(&of_groups).map(|(group, words)| {
        let after = words.iter().filter(|(word, _)| *word == Word::StartsAfter).map(|(_, other)| *other);
        start(group.nodes.clone(), after, group.starts_when.clone())
    });
    let of_nodes = nodes.iter().enumerate().map(|(position, node)| {
        let keys = node.terms.after.iter().filter(|(_, word)| *word == Word::StartsAfter);
        let after = keys.flat_map(|(key, _)| known.find(key, "", 0..0, &mut Vec::new()));
        start(
            position..position + 1,
            after,
            node.terms.starts_when.iter().map(|(gate, _)| gate.clone()).collect(),
        )
    });
    let starts = of_nodes.chain(of_groups).filter(|start| !start.after.is_empty() || !start.when.is_empty());
    let starts = starts.collect();
    drop(known);
    Ok(Resolved { graph, names, starts })
}

fn start(nodes: Range<usize>, after: impl Iterator<Item = usize>, when: Vec<Gate>) -> Start {
    Start { nodes: nodes.map(NodeId::of).collect(), after: after.map(NodeId::of).collect(), when }
}

/// The word that says the same, together with which this one would say it twice.
const fn is_both(word: Word) -> Option<Word> {
    match word {
        Word::After => Some(Word::Requires),
        Word::Requires => Some(Word::After),
        Word::StartsAfter | Word::InOrder => None,
    }
}

/// What a word may refer to.
struct Known<'a> {
    nodes: &'a [AnyNode],
    groups: &'a [AnyGroup],
    names: &'a HashMap<NodeKey, Arc<str>>,
    several: HashMap<NodeKey, Vec<Arc<str>>>,
}

impl Known<'_> {
    /// The nodes that have this key, or are in the group that has it; none, and a mistake, if it is unknown, or is what says so.
    fn find(&self, key: &NodeKey, by: &str, own: Range<usize>, mistakes: &mut Vec<Mistake>) -> Vec<usize> {
        let of_group = self.groups.iter().find(|group| group.key() == *key).map(|group| group.nodes.clone());
        let of_name = || {
            let name = self.names.get(key)?;
            let position = self.nodes.iter().position(|node| node.name() == *name)?;
            Some(position..position + 1)
        };
        let (node, other) = (by.to_owned(), key.to_string());
        let is_group = of_group.is_some();
        match of_group.or_else(of_name) {
            // A node after itself is a mistake of the graph.
            Some(found) if found.clone().any(|found| own.contains(&found)) && (is_group || own.len() > 1) => {
                mistakes.push(Mistake::AfterItself { node, other });
            }
            Some(found) => return found.collect(),
            None => mistakes.push(match self.several.get(key) {
                Some(names) => Mistake::AfterWhich {
                    node,
                    other,
                    names: names.iter().map(ToString::to_string).collect(),
                },
                None => Mistake::AfterNoNode { node, other },
            }),
        }
        Vec::new()
    }

    /// The nodes that all nodes of a group come after, each with its word.
    fn after_of(&self, group: &AnyGroup, mistakes: &mut Vec<Mistake>) -> Vec<(Word, usize)> {
        let mut after = Vec::new();
        for (key, word) in &group.after {
            let others = self.find(key, &group.key().to_string(), group.nodes.clone(), mistakes);
            after.extend(others.into_iter().map(|other| (*word, other)));
        }
        after
    }
}

/// What is wrong with groups by themselves.
fn of_groups_alone(groups: &[AnyGroup]) -> Vec<Mistake> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for group in groups {
        *times.entry(&group.name).or_default() += 1;
    }
    let mut claims: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (what, group) in groups.iter().flat_map(|group| group.claims.iter().map(move |what| (what, group))) {
        claims.entry(what).or_default().push(group.name.to_string());
    }
    let twice = times.into_iter().filter(|(_, times)| *times > 1);
    let same = twice.map(|(name, times)| Mistake::SameGroup { name: name.to_owned(), times });
    let claimed = claims.into_iter().filter(|(_, groups)| groups.len() > 1);
    let claimed = claimed.map(|(what, groups)| Mistake::ClaimedTwice { what: what.to_owned(), groups });
    let strange = groups.iter().flat_map(|group| {
        let name = group.key().to_string();
        let mistake =
            move |node: &NodeKey| Mistake::NotInGroup { node: node.to_string(), group: name.clone() };
        group.strangers.iter().map(mistake)
    });
    same.chain(claimed).chain(strange).collect()
}

/// A node that was given a name is found by its type, too, unless others have the same type: then their names are
/// returned.
fn by_types(nodes: &[AnyNode], names: &mut HashMap<NodeKey, Arc<str>>) -> HashMap<NodeKey, Vec<Arc<str>>> {
    let mut by_type: HashMap<NodeKey, Vec<Arc<str>>> = HashMap::new();
    for node in nodes {
        by_type.entry(node.key.called(None)).or_default().push(node.name());
    }
    by_type.retain(|key, called| match called.as_slice() {
        _ if names.contains_key(key) => false,
        [only] => names.insert(key.clone(), Arc::clone(only)).is_some(),
        _ => true,
    });
    by_type
}

/// Names that are shared by different nodes.
fn same_names(nodes: &[AnyNode]) -> Vec<Mistake> {
    let mut by_name: BTreeMap<Arc<str>, Vec<&AnyNode>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.is_named) {
        let called = by_name.entry(node.name()).or_default();
        if !called.iter().any(|other| other.key == node.key) {
            called.push(node);
        }
    }
    by_name.retain(|_, called| called.len() > 1);
    let mistakes = by_name.into_iter().map(|(name, called)| Mistake::SameName {
        name: name.to_string(),
        nodes: called.into_iter().map(path).collect(),
    });
    mistakes.collect()
}

/// The path of a node in the code.
fn path(node: &AnyNode) -> String {
    node.key.called(None).to_string()
}
