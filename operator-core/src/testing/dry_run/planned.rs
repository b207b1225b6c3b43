//! The outcome of a dry run.

use std::{any::Any, fmt, sync::Arc, time::Duration};

use jiff::Timestamp;
use serde_json::Value;

use super::{
    DryRun,
    lines::Lines,
    world::{World, Write},
};
use crate::{
    controller::Controller,
    environment::Now,
    event_source::Resources,
    reconciler::{AnyContext, AnyRun, Run},
    resource::{KubeObject, ObjectKey, ResourceType},
    results::{LatestResults, NodeState, NodeStatus},
    workflow::declare::reference::NodeRef,
};

/// The outcome of a [`DryRun`]: its writes, the state of each node with its reason, the status, and the time of the next
/// run. Displayed, it is a text with all of this.
pub struct Planned<P: KubeObject> {
    end: EndedRun,
    run: Option<Run<P>>,
    writes: Vec<Write>,
}

/// What is left when the run has ended.
pub(super) struct EndedRun {
    pub(super) controller: Arc<Controller>,
    pub(super) world: Arc<World>,
    pub(super) context: Arc<AnyContext>,
    pub(super) key: ObjectKey,
    pub(super) next: Option<Duration>,
    pub(super) error: Option<String>,
    pub(super) resources: Vec<Arc<dyn Any + Send + Sync>>,
    pub(super) lacks: Vec<ResourceType>,
    pub(super) now: Timestamp,
    /// When it ended, by its own clock.
    pub(super) ended: Now,
}

impl<P: KubeObject> Planned<P> {
    pub(super) fn new(end: EndedRun, told: Option<Arc<AnyRun>>) -> Self {
        // A run that ends its primary has no status.
        let told = told.or_else(|| {
            let primary = end.context.own_primary()?;
            Some(Arc::new(AnyRun::new(&end.context, primary, None)))
        });
        let writes = end.world.writes.lock().clone();
        Self { end, run: told.map(Run::of_any), writes }
    }

    /// The writes in their order, such as `apply ConfigMap/page-html`, `apply Page/page/status` or `delete Ingress/page`. If
    /// an object isn't in the primary's namespace, its own follows; a refused write ends with the code of the answer.
    ///
    /// The list can be compared with a `[&str; N]`; a failed `assert_eq!` shows both sides in a table.
    #[must_use]
    pub fn writes(&self) -> Lines {
        Lines::of(self.writes.iter().map(|write| self.named(write)))
    }

    /// The body of the write that [`writes`](Self::writes) has under this name; of the last such write if there are
    /// several.
    ///
    /// # Panics
    /// If there is no such write.
    #[must_use]
    #[track_caller]
    pub fn body(&self, write: &str) -> &Value {
        let found = self.writes.iter().rev().find(|one| self.named(one) == write);
        match found {
            Some(found) => &found.body,
            None => panic!("`{write}` is not among the writes: {:?}", self.writes()),
        }
    }

    /// The state of a node of the controller's workflow, with its reason. A node that isn't wanted is `deleted` if the run
    /// deleted something of it, and `inactive`, as in `inactive: it is not wanted`, if nothing existed.
    ///
    /// # Panics
    /// If the workflow has no such node, or the run didn't reach it.
    #[must_use]
    #[track_caller]
    pub fn state<M, N: NodeRef<P, M>>(&self, node: N) -> NodeState {
        let key = node.key();
        let Some((name, _)) = self.end.controller.node(&key) else {
            panic!("{key} isn't a node of the controller's workflow")
        };
        let found = self.nodes().into_iter().find(|status| &*status.name == name);
        found.map(|status| status.state).unwrap_or_else(|| {
            let why = self.error().unwrap_or("nothing was to be done for the primary");
            panic!("the run didn't reach the workflow: {why}")
        })
    }

    /// The states of all nodes of the controller's workflow, such as `web: waiting for html to be ready`. Empty if the run
    /// didn't reach the workflow.
    #[must_use]
    pub fn states(&self) -> Lines {
        Lines::of(self.nodes().into_iter().map(|node| format!("{}: {}", node.name, node.state)))
    }

    /// The objects of a node, as [`Run::get`] returns them.
    pub fn get<M, T, N: NodeRef<P, M, Seen = T>>(&self, node: N) -> T {
        match &self.run {
            Some(run) => run.get(node),
            None => N::seen(&[]),
        }
    }

    /// The run as a status function sees it; `None` if the primary was gone.
    #[must_use]
    pub fn run(&self) -> Option<&Run<P>> {
        self.run.as_ref()
    }

    /// The status after the run; `None` if the run didn't write it.
    #[must_use]
    pub fn status(&self) -> Option<Value> {
        let kind = self.kind();
        let is_status = |write: &&Write| {
            let target = &write.target;
            (&*target.group, &*target.resource, &write.key) == (kind.group(), kind.plural(), &self.end.key)
                && target.subresource.as_deref() == Some("status")
        };
        self.writes.iter().find(is_status)?;
        Some(self.end.world.get(kind, &self.end.key)?["status"].clone())
    }

    /// The primary after the run; `None` if it is gone.
    ///
    /// # Panics
    /// If the primary can't be read as its type.
    #[must_use]
    #[track_caller]
    pub fn primary(&self) -> Option<P> {
        let object = self.end.world.get(self.kind(), &self.end.key)?;
        let read = serde_json::from_value(Value::clone(&object));
        Some(read.unwrap_or_else(|error| panic!("the primary can't be read any more: {error}")))
    }

    /// The Events of Kubernetes that the run wrote, such as `Warning BackOff: the image can't be pulled`. An Event that the run
    /// recorded several times is listed once.
    #[must_use]
    pub fn events(&self) -> Lines {
        let is_event = |write: &&Write| write.target.resource == "events" && write.body["reason"].is_string();
        let events = self.writes.iter().filter(is_event);
        Lines::of(events.map(|write| {
            let text = |field: &str| write.body[field].as_str().unwrap_or_default();
            // The older form has a message.
            let note = if text("note").is_empty() { text("message") } else { text("note") };
            format!("{} {}: {note}", text("type"), text("reason"))
        }))
    }

    /// The resources of type `T` that another system has after the run: those that were given with [`DryRun::external`],
    /// with the changes that the run reported to its event source.
    #[must_use]
    pub fn external<T: Send + Sync + 'static>(&self) -> Vec<Arc<T>> {
        let mut all = self.end.resources.iter().filter_map(|one| one.downcast_ref::<Resources<T>>());
        all.next().map(|resources| resources.lock().clone()).unwrap_or_default()
    }

    /// The time until the next run, if nothing happens before: a retry, a reschedule, or the maximum interval. `None`
    /// if there is none.
    #[must_use]
    pub fn next_run(&self) -> Option<Duration> {
        self.end.next
    }

    /// Why the run failed, with all causes; `None` if it didn't.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        self.end.error.as_deref()
    }

    /// Another run, which starts from the state after this one. [`DryRun::known`] changes that state before the run.
    /// What the reconciler [expects](crate::Context::expect) stays expected, and [`DryRun::now`] lets its time pass.
    ///
    /// # Panics
    /// If the primary is gone.
    #[track_caller]
    pub fn again(&self) -> DryRun<P> {
        let EndedRun { controller, world, context, key, resources, lacks, now, ended, .. } = &self.end;
        let Some(primary) = world.get(self.kind(), key) else { panic!("{key} is gone after the run") };
        DryRun {
            before: Some(world.server.snapshot()),
            resources: resources.clone(),
            lacks: lacks.clone(),
            now: *now,
            expected: Some((context.expected(), *ended, *now)),
            ..DryRun::begin(Arc::clone(controller), Value::clone(&primary))
        }
    }

    fn kind(&self) -> &ResourceType {
        self.end.controller.resource_type()
    }

    /// The operator calls what isn't wanted "deleted", whether or not there was anything. A test asks which of both it is.
    fn nodes(&self) -> Vec<NodeStatus> {
        let latest = self.end.context.scope().look(|latest: &mut LatestResults| latest.nodes());
        let mut nodes = latest.unwrap_or_default();
        let result = self.run.as_ref().and_then(Run::result);
        for node in nodes.iter_mut().filter(|node| node.state == NodeState::Deleted) {
            let unwanted = result.and_then(|result| result.node(&node.name)?.unwanted.as_ref());
            if let Some(unwanted) = unwanted.filter(|unwanted| unwanted.found_nothing()) {
                node.state = NodeState::Inactive { reason: unwanted.reason.clone() };
            }
        }
        nodes
    }

    fn named(&self, write: &Write) -> String {
        let (verb, kind) = (write.target.verb.as_str(), self.end.world.kind_named(write));
        let mut name = format!("{verb} {kind}/{}", write.key.name());
        if let Some(subresource) = &write.target.subresource {
            name.extend(["/", subresource]);
        }
        if let Some(namespace) = write.key.namespace().filter(|one| Some(*one) != self.end.key.namespace()) {
            name.extend([" in ", namespace]);
        }
        if let Some(code) = write.refused {
            name.extend([" -> ", &code.to_string()]);
        }
        name
    }
}

impl<P: KubeObject> fmt::Display for Planned<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.writes().iter() {
            writeln!(f, "{line}")?;
        }
        for line in self.states().iter() {
            writeln!(f, "{line}")?;
        }
        if let Some(error) = self.error() {
            writeln!(f, "failed: {error}")?;
        }
        match self.next_run() {
            Some(next) => write!(f, "runs again in {next:?}"),
            None => f.write_str("doesn't run again by itself"),
        }
    }
}

impl<P: KubeObject> fmt::Debug for Planned<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}
