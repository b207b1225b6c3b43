//! The declaration of a component.

use std::{fmt, sync::Arc, time::Duration};

use kube::core::{DynamicObject, object::HasStatus};
use operator_core::{
    BoxError,
    resource::KubeObject,
    workflow::{AnyNodes, Group, IntoNode, NodeKey, Nodes, Predecessor, Value, group},
};

use super::{
    HasComponents,
    rules::{Answer, Auxiliary, ByHand, Gate, Quiet, Rules, Suspended},
};
use crate::health;

/// Nodes of a workflow with one condition. It stands in a tuple of nodes as a node does, and its words are those of a
/// [`Group`](operator_core::workflow::Group) and those of a feature. Made by [`component`].
#[must_use = "a component does nothing until it is part of a workflow"]
pub struct Component<P: KubeObject> {
    group: Group<P>,
    condition: String,
    grace: Option<Duration>,
    gates: Vec<Gate<P>>,
    suspended: Suspended<P>,
}

/// A component with this name, of these nodes. Its condition is `WebReady` for the name `web`.
///
/// The status of the primary has [`Components`](crate::Components), which the status function makes.
pub fn component<P, M>(name: &str, nodes: impl Nodes<P, M>) -> Component<P>
where
    P: KubeObject + HasStatus<Status: HasComponents>,
{
    let suspended = Suspended::never();
    let is_suspended = suspended.clone();
    let group = group(name, nodes).change_while(
        move |primary: &P| is_suspended.is(primary),
        |object: &mut DynamicObject, _: &P| suspend(object),
    );
    let condition = format!("{}Ready", in_camel_case(name));
    Component { group, condition, grace: None, gates: Vec::new(), suspended }
}

/// `ApiServer` for `api-server`.
fn in_camel_case(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let capitalised = |word: &str| {
        let mut characters = word.chars();
        characters.next().map(|first| first.to_uppercase().chain(characters).collect::<String>())
    };
    words.filter_map(capitalised).collect()
}

fn suspend(object: &mut DynamicObject) -> Result<(), BoxError> {
    let mut json = serde_json::to_value(&*object)?;
    if health::suspend(&mut json) {
        *object = serde_json::from_value(json)?;
    }
    Ok(())
}

impl<P: KubeObject> Component<P> {
    /// The type of its condition, instead of the one that is made of its name.
    pub fn condition(mut self, r#type: impl Into<String>) -> Self {
        self.condition = r#type.into();
        self
    }

    /// How long it may converge: afterwards its condition is `Degraded` or `Down`. The time begins when converging begins, or the
    /// generation of the primary changes, and goes on over a restart. Without it, or if it is zero, it may take for ever.
    pub fn grace(mut self, period: Duration) -> Self {
        self.grace = Some(period);
        self
    }

    /// Isn't made for the first time before the other one is ready: [`Group::starts_after`]. Its condition is
    /// `PrerequisiteNotMet` until then.
    pub fn starts_after<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.group = self.group.starts_after(other);
        self
    }

    /// Isn't made for the first time before this is true: a prerequisite of its own. See [`Group::starts_when`].
    pub fn starts_when(mut self, may_start: impl Fn(&P) -> bool + Send + Sync + 'static) -> Self {
        self.group = self.group.starts_when(move |primary: &P| may_start(primary));
        self
    }

    /// [`Group::after`]: each node waits until all of the other one is ready.
    pub fn after<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.group = self.group.after(other);
        self
    }

    /// [`Group::requires`].
    pub fn requires<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.group = self.group.requires(other);
        self
    }

    /// Its feature gate: exists only if this is true. Otherwise all its nodes are removed but those that only read, and its
    /// condition is `Disabled`. If the function fails, it is `FeatureGateError`. May be called several times: then all have to be
    /// true.
    pub fn only_if<A: Answer>(mut self, wanted: impl Fn(&P) -> A + Send + Sync + 'static) -> Self {
        let gate: Gate<P> = Arc::new(move |primary| wanted(primary).answer());
        let of_group = Arc::clone(&gate);
        self.group = self.group.only_if(move |primary: &P| -> Result<bool, BoxError> { of_group(primary) });
        self.gates.push(gate);
        self
    }

    /// Each node comes after the one before was applied, and one that waits or is held holds those behind it: [`Group::in_order`].
    pub fn in_order(mut self) -> Self {
        self.group = self.group.in_order();
        self
    }

    /// The health of this node doesn't count. A wait or a hold of it does.
    pub fn auxiliary<N: Predecessor<P, M>, M>(mut self, node: N) -> Self {
        self.group = self.group.carrying_of(node, Auxiliary);
        self
    }

    /// This node may count as healthy after the grace period without being ready, and no warning is logged.
    pub fn without_grace_warning<N: Predecessor<P, M>, M>(mut self, node: N) -> Self {
        self.group = self.group.carrying_of(node, Quiet);
        self
    }

    /// Is suspended as long as this is true: Deployments, StatefulSets and ReplicaSets get no replicas, Jobs and CronJobs
    /// `suspend`; other kinds stay as they are, unless [`on_suspend`](Self::on_suspend) or
    /// [`deleted_on_suspend`](Self::deleted_on_suspend) says otherwise. What doesn't exist is made suspended. The first call counts.
    pub fn suspended_if(self, is: impl Fn(&P) -> bool + Send + Sync + 'static) -> Self {
        self.suspended.set(is);
        self
    }

    /// Changes what this node wants while the component is suspended, after the change that its kind gets.
    pub fn on_suspend<K: KubeObject, N: Predecessor<P, M> + Copy, M>(
        mut self,
        node: N,
        change: impl Fn(&mut K, &P) + Send + Sync + 'static,
    ) -> Self {
        let suspended = self.suspended.clone();
        let typed = move |object: &mut DynamicObject, primary: &P| -> Result<(), BoxError> {
            let mut changed: K = serde_json::from_value(serde_json::to_value(&*object)?)?;
            change(&mut changed, primary);
            *object = serde_json::from_value(serde_json::to_value(&changed)?)?;
            Ok(())
        };
        let group = self.group.change_of_while(node, move |primary: &P| suspended.is(primary), typed);
        self.group = group.carrying_of(node, ByHand);
        self
    }

    /// This node doesn't exist while the component is suspended.
    pub fn deleted_on_suspend<N: Predecessor<P, M>, M>(mut self, node: N) -> Self {
        let suspended = self.suspended.clone();
        self.group = self.group.only_if_of(node, move |primary: &P| !suspended.is(primary));
        self
    }

    /// Changes what each node wants: [`Group::change`].
    pub fn change(mut self, change: impl Fn(&mut DynamicObject, &P) + Send + Sync + 'static) -> Self {
        self.group =
            self.group.change(move |object: &mut DynamicObject, primary: &P| change(object, primary));
        self
    }

    /// Another name.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.group = self.group.named(name);
        self
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> IntoNode<P> for Component<P> {
    fn add_to(self, nodes: &mut AnyNodes) {
        let Self { group, condition, grace, gates, suspended } = self;
        let claim = format!("the condition {condition}");
        group.claiming(claim).carrying(Rules { condition, grace, gates, suspended }).add_to(nodes);
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Predecessor<P> for &Component<P> {
    fn key(self) -> NodeKey {
        (&self.group).key()
    }
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject> Value<P> for Component<P> {
    type Node = Self;

    fn wired(self) -> Self {
        self
    }
}

impl<P: KubeObject> fmt::Debug for Component<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Component").field("group", &self.group).field("condition", &self.condition).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::in_camel_case;

    #[test]
    fn a_condition_is_named_after_its_component() {
        let names = [("web", "Web"), ("api-server", "ApiServer"), ("tls_2", "Tls2"), ("", "")];
        for (name, expected) in names {
            assert_eq!(in_camel_case(name), expected);
        }
    }
}
