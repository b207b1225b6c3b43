//! The mistakes that a workflow can have.

/// Why there is no workflow: the declarations don't make a graph. A retry can't help: the code has to change. Its text
/// lists all mistakes, names first, then dependencies, each in the order of the declarations, then cycles.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the workflow can't be built: {}", list(.0))]
pub struct BuildError(pub(crate) Vec<Mistake>);

/// One mistake in the declarations of a workflow.
///
/// JOSDK: duplicate names and cycles are an `OperatorException` for managed workflows. In standalone ones a cycle beside
/// other nodes is silently never reconciled, and an unknown name is impossible, because nodes refer to objects there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mistake {
    /// A node has no name.
    #[error("node #{position} has an empty name")]
    EmptyName {
        /// The position of the declaration, counted from 1.
        position: usize,
    },
    /// Several nodes have the same name.
    #[error("`{name}` is declared {times} times; give each node a name of its own")]
    DuplicateName {
        /// The name.
        name: String,
        /// How many nodes have it.
        times: usize,
    },
    /// A node depends on one that doesn't exist.
    #[error("`{node}` depends on `{dependency}`, which is not declared{}", hint(nearest.as_deref()))]
    UnknownDependency {
        /// The node that depends on another.
        node: String,
        /// That other one.
        dependency: String,
        /// The declared name that is most similar, if there is one.
        nearest: Option<String>,
    },
    /// A node depends on itself.
    #[error("`{node}` depends on itself")]
    SelfDependency {
        /// The node.
        node: String,
    },
    /// A function or a value is a node twice.
    #[error("`{node}` is two nodes of this workflow")]
    NodeTwice {
        /// Its path.
        node: String,
    },
    /// A closure, or a pointer to a function, has no name of its own.
    #[error("`{node}` has no name: `.named(…)`")]
    Unnamed {
        /// Its path.
        node: String,
    },
    /// Different functions or values have the same name.
    #[error("two nodes are called `{name}`: {}; give one of them a name of its own by `.named(…)`", nodes.join(" and "))]
    SameName {
        /// The name.
        name: String,
        /// Their paths.
        nodes: Vec<String>,
    },
    /// A node comes after something that isn't a node.
    #[error("`{node}` comes after `{other}`, which isn't a node of this workflow")]
    AfterNoNode {
        /// The path of the node.
        node: String,
        /// The path of what it comes after.
        other: String,
    },
    /// Several groups have the same name.
    #[error("{times} groups are called `{name}`; give each group a name of its own")]
    SameGroup {
        /// The name.
        name: String,
        /// How many groups have it.
        times: usize,
    },
    /// Something is said of a node in a group that doesn't have it.
    #[error("`{node}` isn't in the {group}, which says something of it")]
    NotInGroup {
        /// The path of the node.
        node: String,
        /// The group.
        group: String,
    },
    /// Several groups claim the same.
    #[error("{what} is claimed by several groups: {}", groups.join(" and "))]
    ClaimedTwice {
        /// What they claim.
        what: String,
        /// Their names.
        groups: Vec<String>,
    },
    /// A node comes after the group that it is in, or a group after itself or one of its nodes.
    #[error("`{node}` comes after `{other}`, of which one is part of the other; leave that out")]
    AfterItself {
        /// The path of the node, or the group.
        node: String,
        /// What it comes after.
        other: String,
    },
    /// A node comes after another one by both words.
    #[error(
        "`{node}` says both `after` and `requires` of `{other}`; `requires` alone means both, so leave `after` out"
    )]
    BothWords {
        /// The path of the node.
        node: String,
        /// The name of the other one.
        other: String,
    },
    /// A node comes after something that is several nodes.
    #[error("`{node}` comes after `{other}`, which is several nodes: {}; select one by a reference, `.after(&node)`", names.join(", "))]
    AfterWhich {
        /// The path of the node.
        node: String,
        /// The path of what it comes after.
        other: String,
        /// The names of these nodes.
        names: Vec<String>,
    },
    /// Nodes depend on one another, and none of them can run first.
    #[error("there is a cycle of dependencies: {}", path.join(" -> "))]
    Cycle {
        /// The shortest path from a node back to itself: each depends on the next, and the last is the first again. It
        /// starts at the node that is declared first.
        path: Vec<String>,
    },
}

fn list(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn hint(nearest: Option<&str>) -> String {
    nearest.map(|name| format!("; did you mean `{name}`?")).unwrap_or_default()
}
