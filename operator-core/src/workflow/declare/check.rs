//! Resolves keys to names, or reports what is wrong with them. Pure.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use crate::{
    results::NodeKey,
    workflow::{BuildError, Graph, Mistake, declare::any_node::AnyNode},
};

/// The graph of nodes, and the names of those that are functions or values.
pub(in crate::workflow) struct Resolved {
    pub(in crate::workflow) graph: Graph,
    pub(in crate::workflow) names: HashMap<NodeKey, Arc<str>>,
}

/// The nodes that a node comes after, and whether it requires each.
type Words = Vec<(Arc<str>, bool)>;

/// Returns all mistakes in the nodes, or their graph.
pub(in crate::workflow) fn resolve(nodes: &[AnyNode]) -> Result<Resolved, BuildError> {
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
    let several = by_types(nodes, &mut names);
    let mut wired: Vec<(Arc<str>, Words)> = Vec::new();
    for (position, node) in nodes.iter().enumerate() {
        let mut after: Words = Vec::new();
        for (key, requires) in &node.after {
            match names.get(key) {
                Some(name) if after.contains(&(Arc::clone(name), !requires)) => {
                    mistakes.push(Mistake::BothWords { node: path(node), other: name.to_string() });
                }
                Some(name) => after.push((Arc::clone(name), *requires)),
                None => mistakes.push(match several.get(key) {
                    Some(names) => Mistake::AfterWhich {
                        node: path(node),
                        other: key.to_string(),
                        names: names.iter().map(ToString::to_string).collect(),
                    },
                    None => Mistake::AfterNoNode { node: path(node), other: key.to_string() },
                }),
            }
        }
        // Once reported, it doesn't hide other mistakes.
        let told = nodes[..position].iter().any(|other| other.name() == node.name());
        if !told {
            wired.push((node.name(), after));
        }
    }
    let words = wired.into_iter().map(|(name, after)| (name, after.into_iter()));
    match Graph::of_words(words) {
        Ok(graph) if mistakes.is_empty() => Ok(Resolved { graph, names }),
        Ok(_) => Err(BuildError(mistakes)),
        Err(BuildError(further)) => {
            mistakes.extend(further);
            Err(BuildError(mistakes))
        }
    }
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
