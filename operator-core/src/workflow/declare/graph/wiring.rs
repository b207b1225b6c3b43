//! From declarations to a graph, or to all mistakes in them.

use std::collections::{HashMap, VecDeque};

use petgraph::{
    algo::kosaraju_scc,
    csr::Csr,
    graph::{DiGraph, NodeIndex},
};

use super::{Graph, NodeId, Word, Words};
use crate::{
    resource::nearest,
    workflow::{BuildError, Mistake},
};

pub(super) fn build<N, D, O>(declarations: impl IntoIterator<Item = (N, D)>) -> Result<Graph, BuildError>
where
    N: AsRef<str>,
    D: IntoIterator<Item = (O, Word)>,
    O: AsRef<str>,
{
    let declared: Vec<(N, Vec<(O, Word)>)> = declarations
        .into_iter()
        .map(|(name, dependencies)| (name, dependencies.into_iter().collect()))
        .collect();
    let mut wiring = Wiring::new(declared.iter().map(|(name, _)| name.as_ref()).collect());
    wiring.check_names();
    let words: Vec<Vec<(NodeId, Words)>> = declared
        .iter()
        .enumerate()
        .map(|(position, (_, others))| {
            wiring.resolve(position, others.iter().map(|(other, word)| (other.as_ref(), *word)))
        })
        .collect();
    let dependencies: Vec<Vec<NodeId>> =
        words.iter().map(|others| others.iter().map(|(other, _)| *other).collect()).collect();
    let edges = wiring.edges(&dependencies);
    let groups = kosaraju_scc(&edges);
    wiring.check_cycles(&groups, &dependencies);
    if !wiring.mistakes.is_empty() {
        return Err(BuildError(wiring.mistakes));
    }

    // Without cycles each group is one node, and comes after all that depend on it.
    let mut depths = vec![0; edges.node_count()];
    for node in groups.iter().rev().flatten() {
        let before = dependencies[node.index()].iter().map(|dependency| depths[dependency.index()] + 1);
        depths[node.index()] = before.max().unwrap_or_default();
    }
    let mut order: Vec<NodeId> = edges.node_indices().map(NodeId::from).collect();
    order.sort_by_key(|node| depths[node.index()]);
    let edges: Vec<(u32, u32, Words)> = (0..)
        .zip(&words)
        .flat_map(|(to, others)| others.iter().map(move |(from, words)| (from.0, to, *words)))
        .collect();
    let turned = edges.iter().map(|(from, to, words)| (*to, *from, *words)).collect();
    let (dependents, dependencies) = (neighbours(declared.len(), edges), neighbours(declared.len(), turned));
    Ok(Graph {
        names: wiring.names.iter().map(|name| Box::from(*name)).collect(),
        dependent_counts: counts(&dependents),
        dependents,
        dependencies,
        depths,
        order,
    })
}

/// That number of nodes with these edges.
fn neighbours(nodes: usize, mut edges: Vec<(u32, u32, Words)>) -> Csr<(), Words> {
    edges.sort_unstable();
    let mut neighbours = Csr::from_sorted_edges(&edges).expect("they were sorted just now");
    // Nodes without edges after the last one that has some.
    while neighbours.node_count() < nodes {
        neighbours.add_node(());
    }
    neighbours
}

fn counts(neighbours: &Csr<(), Words>) -> Vec<u32> {
    let all = 0..neighbours.node_count();
    all.map(|node| u32::try_from(neighbours.out_degree(NodeId::of(node).0)).unwrap_or(u32::MAX)).collect()
}

struct Wiring<'a> {
    names: Vec<&'a str>,
    /// The first node of each name. It is only looked up, so its order doesn't matter.
    known: HashMap<&'a str, NodeId>,
    mistakes: Vec<Mistake>,
}

impl<'a> Wiring<'a> {
    fn new(names: Vec<&'a str>) -> Self {
        let mut known = HashMap::with_capacity(names.len());
        for (position, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            known.entry(*name).or_insert_with(|| NodeId::of(position));
        }
        Self { names, known, mistakes: Vec::new() }
    }

    fn check_names(&mut self) {
        let mut times: HashMap<&str, usize> = HashMap::with_capacity(self.names.len());
        for name in &self.names {
            *times.entry(name).or_default() += 1;
        }
        for (position, name) in self.names.iter().enumerate() {
            if name.is_empty() {
                self.mistakes.push(Mistake::EmptyName { position: position + 1 });
            } else if times[name] > 1 && self.is_first(position) {
                self.mistakes.push(Mistake::DuplicateName { name: (*name).to_owned(), times: times[name] });
            }
        }
    }

    /// The known dependencies of a node, sorted and without duplicates, and the words about each.
    fn resolve<'b>(
        &mut self,
        position: usize,
        dependencies: impl Iterator<Item = (&'b str, Word)>,
    ) -> Vec<(NodeId, Words)> {
        let name = self.names[position];
        let mut found: Vec<(NodeId, Words)> = Vec::new();
        for (dependency, word) in dependencies {
            let node = if name.is_empty() { format!("#{}", position + 1) } else { name.to_owned() };
            if !name.is_empty() && dependency == name {
                self.mistakes.push(Mistake::SelfDependency { node });
            } else if let Some(dependency) = self.known.get(dependency) {
                found.push((*dependency, Words::of(word)));
            } else {
                let nearest = self.nearest(name, dependency);
                let dependency = dependency.to_owned();
                self.mistakes.push(Mistake::UnknownDependency { node, dependency, nearest });
            }
        }
        found.sort_unstable();
        found.dedup_by(|(node, words), (kept, all)| {
            let is_same = node == kept;
            if is_same {
                *all = all.and(*words);
            }
            is_same
        });
        found
    }

    /// The name that was probably meant.
    fn nearest(&self, asking: &str, wanted: &str) -> Option<String> {
        let others = self.names.iter().copied().filter(|name| !name.is_empty() && *name != asking);
        nearest(wanted, others).map(str::to_owned)
    }

    fn is_first(&self, position: usize) -> bool {
        self.known.get(self.names[position]).is_some_and(|first| first.index() == position)
    }

    /// The graph has one node for each declaration. A later one of the same name is not connected: its intended name is
    /// not known, so its dependencies can't be part of a cycle.
    fn edges(&self, dependencies: &[Vec<NodeId>]) -> DiGraph<(), ()> {
        let mut edges = DiGraph::with_capacity(self.names.len(), dependencies.iter().map(Vec::len).sum());
        for _ in &self.names {
            edges.add_node(());
        }
        for position in (0..self.names.len()).filter(|position| self.is_first(*position)) {
            for dependency in &dependencies[position] {
                edges.add_edge(NodeIndex::new(dependency.index()), NodeIndex::new(position), ());
            }
        }
        edges
    }

    fn check_cycles(&mut self, groups: &[Vec<NodeIndex>], dependencies: &[Vec<NodeId>]) {
        let mut paths: Vec<Vec<NodeId>> = groups
            .iter()
            .filter(|group| group.len() > 1)
            .map(|group| {
                shortest_cycle(&group.iter().copied().map(NodeId::from).collect::<Vec<_>>(), dependencies)
            })
            .collect();
        paths.sort_unstable();
        for path in paths {
            let path = path.iter().map(|node| self.names[node.index()].to_owned()).collect();
            self.mistakes.push(Mistake::Cycle { path });
        }
    }
}

/// The shortest path along dependencies from the first node of a group back to it. In a group each node can be reached
/// from every other, so there is one.
fn shortest_cycle(group: &[NodeId], dependencies: &[Vec<NodeId>]) -> Vec<NodeId> {
    let first = *group.iter().min().expect("a group has nodes");
    let mut came_from: HashMap<NodeId, NodeId> = HashMap::with_capacity(group.len());
    let mut open = VecDeque::from([first]);
    while let Some(node) = open.pop_front() {
        for dependency in dependencies[node.index()].iter().filter(|other| group.contains(other)) {
            if *dependency == first {
                let mut path = vec![first];
                let mut step = node;
                while step != first {
                    path.push(step);
                    step = came_from[&step];
                }
                path.push(first);
                path.reverse();
                return path;
            }
            came_from.entry(*dependency).or_insert_with(|| {
                open.push_back(*dependency);
                node
            });
        }
    }
    vec![first]
}
