//! Parts of workflows that several tests need: a child that follows from its primary, and the states of the nodes.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::ResourceExt;
use operator_core::{
    BoxError, Context, Node, One, Run, UpdateControl, Verdict, Want, node,
    resource::KubeObject,
    workflow::{Activation, Askers, Cluster, NodeResult},
};
use parking_lot::Mutex;

use crate::{Script, TestObject, TestResource, map_of};

/// A config map that follows from a primary: called `<primary>-<suffix>`, with the value of the primary's spec.
#[derive(Clone, Copy, Debug)]
pub struct Child(pub &'static str);

/// The node of a [`Child`].
type ChildNode = Node<TestResource, One<ConfigMap>>;

impl Child {
    fn of(self, primary: &TestResource) -> ConfigMap {
        map_of(primary, self.0, primary.value())
    }

    /// A node that is named like the suffix, and collected by the cluster.
    pub fn node(self) -> ChildNode {
        node(move |primary: &TestResource| self.of(primary)).named(self.0)
    }

    /// The same, deleted by its dependent before the primary is removed.
    pub fn deleted_node(self) -> ChildNode {
        self.node().without_owner()
    }

    /// The same as [`node`](Self::node) if the primary is like this; otherwise it is deleted.
    pub fn only_if(self, is: impl Fn(&TestResource) -> bool + Send + Sync + 'static) -> ChildNode {
        node(move |primary: &TestResource| is(primary).then(|| self.of(primary))).named(self.0)
    }

    /// A node whose existence a function decides; if it should exist, it has the config map.
    pub fn wants(self, wants: impl Fn(&TestResource) -> Want<()> + Send + Sync + 'static) -> ChildNode {
        let wanted = move |primary: &TestResource| match wants(primary) {
            Want::Is(()) => Want::of(self.of(primary)),
            Want::None(reason) => Want::None(reason),
            Want::Hold { code, reason } => Want::Hold { code, reason },
            Want::Wait { code, reason } => Want::Wait { code, reason },
        };
        node(wanted).named(self.0)
    }
}

/// A capability of a cluster that the test switches, which takes the place of JOSDK's static `MET`. Clones are the same
/// switch; primaries whose workflows ask for it are triggered when it changes.
#[derive(Clone, Debug, Default)]
pub struct Switch(Arc<(AtomicBool, Askers)>);

impl Switch {
    /// A switch that is on.
    #[must_use]
    pub fn on() -> Self {
        let switch = Self::off();
        switch.turn(true);
        switch
    }

    /// A switch that is off.
    #[must_use]
    pub fn off() -> Self {
        Self::default()
    }

    /// Turns it on or off.
    pub fn turn(&self, on: bool) {
        let (is_on, askers) = &*self.0;
        if is_on.swap(on, Ordering::SeqCst) != on {
            askers.wake();
        }
    }
}

impl Activation for Switch {
    async fn check(&self, cluster: &Cluster<'_>) -> Result<Verdict, BoxError> {
        let (is_on, askers) = &*self.0;
        askers.note(cluster);
        Ok(Verdict::when(is_on.load(Ordering::SeqCst), "its condition is not met"))
    }
}

/// The results of a workflow, as its reconciler saw them. Clones share the record.
#[derive(Clone, Debug)]
pub struct Outcomes<K: KubeObject = TestResource>(Arc<Mutex<Vec<Outcome<K>>>>);

/// The name of a primary, and the results of its run.
type Outcome<K> = (String, Arc<Run<K>>);

impl<K: TestObject> Default for Outcomes<K> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<K: TestObject> Outcomes<K> {
    /// Notes the results of the workflow in a run of `primary`.
    pub fn note(&self, primary: &K, context: &Context<K>) {
        if let Some(run) = context.so_far().ok().filter(|run| !run.nodes().is_empty()) {
            self.0.lock().push((primary.name_any(), Arc::new(run)));
        }
    }

    /// The last run of the primary called `name`.
    #[must_use]
    pub fn last(&self, name: &str) -> Option<Arc<Run<K>>> {
        let outcomes = self.0.lock();
        outcomes.iter().rev().find(|(of, _)| of == name).map(|(_, run)| Arc::clone(run))
    }

    /// The same, one line for each node.
    #[must_use]
    pub fn lines(&self, name: &str) -> Vec<String> {
        let last = self.last(name).map(|run| run.to_string()).unwrap_or_default();
        last.lines().map(str::to_owned).collect()
    }
}

/// The state of the node with that name, for nodes whose function has no name of its own.
///
/// # Panics
/// If the run didn't reach it.
#[must_use]
pub fn node_of<'r, K: KubeObject>(run: &'r Run<K>, name: &str) -> &'r NodeResult {
    run.nodes().iter().find(|node| &*node.name == name).expect("the run has come to the node")
}

/// A reconciler that only looks at the results of the workflow.
#[must_use]
pub fn looking_on<K: TestObject>() -> (Script<K>, Outcomes<K>) {
    let outcomes = Outcomes::default();
    let noted = outcomes.clone();
    let script = Script::new(move |_, primary: Arc<K>, context| {
        noted.note(&*primary, context);
        Box::pin(async { Ok(UpdateControl::no_update()) })
    });
    (script, outcomes)
}
