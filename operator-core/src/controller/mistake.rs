//! The mistakes in a declaration: what is wrong, why, and what to write instead.

use std::{fmt, sync::Arc};

use crate::{event_source::Contradiction, processor, workflow};

/// A mistake in a declaration. Displayed as three lines: what, why, and what to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    controller: Option<Arc<str>>,
    what: String,
    why: String,
    write: String,
}

impl Mistake {
    pub(crate) fn new(what: impl Into<String>, why: impl Into<String>, write: impl Into<String>) -> Self {
        let line = |text: String| text.replace('\n', " ");
        Self { controller: None, what: line(what.into()), why: line(why.into()), write: line(write.into()) }
    }

    /// A contradiction in a part of the declaration.
    pub(crate) fn of(Contradiction([what, why, write]): &Contradiction) -> Self {
        Self::new(what, why, write)
    }

    /// The controller whose declaration it is; `None` for the operator's own declaration.
    #[must_use]
    pub fn controller(&self) -> Option<&str> {
        self.controller.as_deref()
    }

    /// What is wrong, in one line, with the controller's name.
    #[must_use]
    pub fn what(&self) -> String {
        match &self.controller {
            Some(controller) => format!("controller `{controller}`: {}", self.what),
            None => self.what.clone(),
        }
    }

    /// Why that can't work, in one line.
    #[must_use]
    pub fn why(&self) -> &str {
        &self.why
    }

    /// What to write instead, in one line.
    #[must_use]
    pub fn write(&self) -> &str {
        &self.write
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  why   {}\n  write {}", self.what(), self.why, self.write)
    }
}

/// All mistakes in a declaration. A retry can't help: the code has to change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(.0))]
pub struct Mistakes(Vec<Mistake>);

fn lines(mistakes: &[Mistake]) -> String {
    mistakes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl Mistakes {
    /// `Ok` when there are none.
    pub(crate) fn check(mistakes: Vec<Mistake>) -> Result<(), Self> {
        if mistakes.is_empty() { Ok(()) } else { Err(Self(mistakes)) }
    }

    /// The same as mistakes of that controller, unless they are another's already.
    pub(super) fn of(mut self, controller: &Arc<str>) -> Self {
        for mistake in &mut self.0 {
            mistake.controller.get_or_insert_with(|| Arc::clone(controller));
        }
        self
    }

    /// Each of them.
    pub fn iter(&self) -> std::slice::Iter<'_, Mistake> {
        self.0.iter()
    }
}

impl IntoIterator for Mistakes {
    type Item = Mistake;
    type IntoIter = std::vec::IntoIter<Mistake>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'m> IntoIterator for &'m Mistakes {
    type Item = &'m Mistake;
    type IntoIter = std::slice::Iter<'m, Mistake>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl From<workflow::BuildError> for Mistakes {
    fn from(error: workflow::BuildError) -> Self {
        let workflow::BuildError(mistakes) = error;
        Self(mistakes.iter().map(wiring).collect())
    }
}

fn wiring(mistake: &workflow::Mistake) -> Mistake {
    use workflow::Mistake as Wiring;
    match mistake {
        Wiring::EmptyName { position } => Mistake::new(
            format!("node #{position} of the workflow has an empty name"),
            "a node is identified by its name, in results and metrics",
            "`.named(\"…\")` with a name on the node, or leave `.named(…)` out",
        ),
        Wiring::DuplicateName { name, times } => Mistake::new(
            format!("{times} nodes of the workflow are called `{name}`"),
            "it would be unclear which of them is meant",
            format!("`.named(\"…\")` on one of them, for example `.named(\"{name}-2\")`"),
        ),
        Wiring::UnknownDependency { node, dependency, nearest } => Mistake::new(
            format!("node `{node}` depends on `{dependency}`"),
            "the workflow has no node with that name",
            match nearest {
                Some(nearest) => format!("`{nearest}`, if that is what is meant"),
                None => format!("the name of one of its nodes, or add `{dependency}` to the workflow"),
            },
        ),
        Wiring::SelfDependency { node } => Mistake::new(
            format!("node `{node}` depends on itself"),
            "it would have to be ready before it is made",
            "no `.after(…)` there, or another node in it",
        ),
        Wiring::NodeTwice { node } => Mistake::new(
            format!("`{node}` is two nodes of the workflow"),
            "it would be unclear which of them is meant",
            "it once; or `.named(\"…\")` on each, or a function of its own for each node",
        ),
        Wiring::Unnamed { node } => Mistake::new(
            format!("`{node}` has no name"),
            "a closure has none, and a node is identified by its name",
            "`.named(\"…\")` on it, or a function with a name",
        ),
        Wiring::SameName { name, nodes } => Mistake::new(
            format!("two nodes of the workflow are called `{name}`: {}", nodes.join(" and ")),
            "a node is named after its function, and identified by its name",
            format!("`.named(\"…\")` on one of them, for example `.named(\"{name}-2\")`"),
        ),
        Wiring::SameGroup { name, times } => Mistake::new(
            format!("{times} groups of the workflow are called `{name}`"),
            "a group is identified by its name",
            "another name for each of them",
        ),
        Wiring::NotInGroup { node, group } => Mistake::new(
            format!("the {group} says something of `{node}`"),
            "that is not one of its nodes",
            format!("`{node}` as one of its nodes, or leave the word out"),
        ),
        Wiring::ClaimedTwice { what, groups } => Mistake::new(
            format!("{what} is claimed by several groups: {}", groups.join(" and ")),
            "each would undo what the other one says",
            "another one for each of them",
        ),
        Wiring::AfterItself { node, other } => Mistake::new(
            format!("`{node}` comes after `{other}`"),
            "one of the two is part of the other",
            "a node of the group instead of the group, or leave the word out",
        ),
        Wiring::AfterNoNode { node, other } => Mistake::new(
            format!("`{node}` comes after `{other}`"),
            "that is not a node of the workflow",
            "it as a node of its own, or another one in `.after(…)`",
        ),
        Wiring::BothWords { node, other } => Mistake::new(
            format!("`{node}` says both `after` and `requires` of `{other}`"),
            "`requires` means both: it comes after that node, and isn't wanted without it",
            format!("`.requires({other})` alone, or `.after({other})` alone"),
        ),
        Wiring::AfterWhich { node, other, names } => Mistake::new(
            format!("`{node}` comes after `{other}`"),
            format!("that is several nodes of the workflow: {}", names.join(", ")),
            "a reference to the node that is meant, `.after(&node)`",
        ),
        Wiring::Cycle { path } => Mistake::new(
            format!("nodes depend on each other in a cycle: {}", path.join(" -> ")),
            "none of them could run first",
            format!(
                "one `.after(…)` fewer, for example the one of `{}`",
                path.first().map_or("", String::as_str)
            ),
        ),
    }
}

impl From<processor::Error> for Mistakes {
    fn from(error: processor::Error) -> Self {
        use processor::Error as Policy;
        let mistake = match error {
            Policy::RetryInterval(interval) => Mistake::new(
                format!("the interval between retries is {interval:?}"),
                "failing runs would follow each other without a pause",
                "1 ms or more, for example `initial_interval = \"2s\"`",
            ),
            Policy::RetryMultiplier(multiplier) => Mistake::new(
                format!("the multiplier of the interval between retries is {multiplier}"),
                "the intervals would shrink, or not be numbers",
                "a finite number and at least 1, for example `multiplier = 1.5`",
            ),
            Policy::RateLimit => Mistake::new(
                "the rate limit is 0 runs",
                "nothing would ever run",
                "1 or more, or leave the rate limiter out to have no limit",
            ),
            Policy::RateLimitPeriod => Mistake::new(
                "the period of the rate limit is 0 s",
                "it would limit nothing",
                "a period, for example `per = \"10s\"`, or leave the rate limiter out",
            ),
        };
        Self(vec![mistake])
    }
}
