//! The mistakes that a workflow can have.

use crate::resource::did_you_mean;

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
    #[error("node #{position} has an empty name")]
    EmptyName { position: usize },
    #[error("`{name}` is declared {times} times; give each node a name of its own")]
    DuplicateName { name: String, times: usize },
    #[error("`{node}` depends on `{dependency}`, which is not declared{}", did_you_mean(nearest.as_deref()))]
    UnknownDependency { node: String, dependency: String, nearest: Option<String> },
    #[error("`{node}` depends on itself")]
    SelfDependency { node: String },
    #[error("`{node}` is two nodes of this workflow")]
    NodeTwice { node: String },
    #[error("`{node}` has no name: `.named(…)`")]
    Unnamed { node: String },
    #[error("two nodes are called `{name}`: {}; give one of them a name of its own by `.named(…)`", nodes.join(" and "))]
    SameName { name: String, nodes: Vec<String> },
    #[error("`{node}` comes after `{other}`, which isn't a node of this workflow")]
    AfterNoNode { node: String, other: String },
    #[error("{times} groups are called `{name}`; give each group a name of its own")]
    SameGroup { name: String, times: usize },
    #[error("`{node}` isn't in the {group}, which says something of it")]
    NotInGroup { node: String, group: String },
    #[error("{what} is claimed by several groups: {}", groups.join(" and "))]
    ClaimedTwice { what: String, groups: Vec<String> },
    #[error("`{node}` comes after `{other}`, of which one is part of the other; leave that out")]
    AfterItself { node: String, other: String },
    #[error(
        "`{node}` says both `after` and `requires` of `{other}`; `requires` alone means both, so leave `after` out"
    )]
    BothWords { node: String, other: String },
    #[error("`{node}` comes after `{other}`, which is several nodes: {}; select one by a reference, `.after(&node)`", names.join(", "))]
    AfterWhich { node: String, other: String, names: Vec<String> },
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
