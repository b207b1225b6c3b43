//! Versions of an operator: their nodes, what these want of a primary, and how a newer version differs from an older one.

use integration_tests::prelude::*;
use kube::{
    api::ApiResource,
    core::{DynamicObject, GroupVersionKind},
};
use operator_core::{Want, WatchScope, dependent::Adoption, workflow::WorkflowBuilder};

/// Where objects are that several operators make.
pub(super) const SHARED: &str = "shared";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    ConfigMap,
    Secret,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::ConfigMap, Self::Secret];

    pub(super) fn resource(self) -> ApiResource {
        ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", &format!("{self:?}")))
    }

    pub(super) fn plural(self) -> String {
        self.resource().plural
    }

    pub(super) fn of_plural(plural: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.plural() == plural)
    }
}

/// What the spec of a primary says, in one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spec {
    /// So many items a bulk has, at least.
    pub(super) size: usize,
    /// Whether nodes are wanted that are wanted under a condition.
    pub(super) on: bool,
    /// What all objects hold.
    pub(super) text: String,
}

impl Spec {
    pub(super) fn random(random: &mut Random, number: usize) -> Self {
        // It is base64, as a Secret's values are.
        Self { size: random.below(4), on: random.chance(60), text: format!("text{number:04}") }
    }

    pub(super) fn value(&self) -> String {
        format!("{} {} {}", self.size, if self.on { "on" } else { "off" }, self.text)
    }

    pub(super) fn of(primary: &TestResource) -> Self {
        let mut words = primary.spec.value.split(' ').map(str::to_owned);
        let mut word = || words.next().unwrap_or_default();
        Self { size: word().parse().unwrap_or(0), on: word() == "on", text: word() }
    }
}

/// A node of one version.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NodeOf {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// What its objects are called, behind the primary's name.
    pub(super) part: &'static str,
    /// A bulk has so many items more than the spec says; none is a single object.
    pub(super) more: Option<usize>,
    pub(super) collected: bool,
    pub(super) gated: bool,
    /// In the namespace that several operators share.
    pub(super) shared: bool,
    pub(super) adoption: Adoption,
}

impl NodeOf {
    fn random(random: &mut Random, name: &'static str, part: &'static str) -> Self {
        let adoption = [Adoption::Never, Adoption::Never, Adoption::Never, Adoption::IfUnowned];
        Self {
            name,
            kind: if random.chance(75) { Kind::ConfigMap } else { Kind::Secret },
            part,
            more: random.chance(45).then(|| random.below(2)),
            collected: random.chance(55),
            gated: random.chance(25),
            shared: false,
            adoption: random.pick(&adoption),
        }
    }

    /// The names of the objects that it wants of a primary.
    pub(super) fn wants(&self, primary: &str, spec: &Spec) -> Vec<String> {
        let first = format!("{primary}-{}", self.part);
        match self.more {
            _ if self.gated && !spec.on => Vec::new(),
            None => vec![first],
            Some(more) => (0..spec.size + more).map(|item| format!("{first}-{item}")).collect(),
        }
    }

    fn desired(&self, primary: &TestResource) -> Vec<DynamicObject> {
        let spec = Spec::of(primary);
        let object = |name: String| {
            let mut object = DynamicObject::new(&name, &self.kind.resource());
            object.metadata.namespace =
                if self.shared { Some(SHARED.to_owned()) } else { primary.namespace() };
            object.data = json!({ "data": { "value": spec.text } });
            object
        };
        self.wants(&primary.name_any(), &spec).into_iter().map(object).collect()
    }

    /// Adds it to a workflow.
    fn add_to(&self, workflow: WorkflowBuilder<TestResource>) -> WorkflowBuilder<TestResource> {
        let (of, resource, gated) = (self.clone(), self.kind.resource(), self.gated);
        let is_on = move |primary: &TestResource| !gated || Spec::of(primary).on;
        if self.more.is_some() {
            let all = move |primary: &TestResource| match is_on(primary) {
                true => Want::of(of.desired(primary)),
                false => Want::none("it is off"),
            };
            let bulk = node(all).named(self.name).kind(resource).adopt(self.adoption);
            return workflow.nodes((if self.collected { bulk } else { bulk.without_owner() },));
        }
        let only = move |primary: &TestResource| -> Result<Option<DynamicObject>, BoxError> {
            if !is_on(primary) {
                return Ok(None);
            }
            Ok(Some(of.desired(primary).pop().ok_or("it isn't wanted")?))
        };
        let single = node(only).named(self.name).kind(resource.clone()).adopt(self.adoption);
        let single = if self.collected { single } else { single.without_owner() };
        workflow.nodes((match self.shared {
            true => {
                let source = InformerEventSource::<DynamicObject>::of_type(resource);
                single.informer(source.namespaces(WatchScope::Namespaces([SHARED.to_owned()].into())))
            }
            false => single,
        },))
    }
}

/// The nodes of an operator's controller.
#[derive(Clone, Debug)]
pub(super) struct Version {
    pub(super) nodes: Vec<NodeOf>,
    /// Kinds that no node writes any more, and who wrote them.
    pub(super) retired: Vec<(Kind, &'static str)>,
}

const NAMES: [&str; 8] = ["html", "page", "proxy", "cache", "jobs", "keys", "site", "menu"];
pub(super) const PARTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl Version {
    pub(super) fn random(random: &mut Random) -> Self {
        let count = 1 + random.below(3);
        let mut nodes: Vec<_> = (0..count).map(|at| NodeOf::random(random, NAMES[at], PARTS[at])).collect();
        if random.chance(40) {
            let mut shared = NodeOf::random(random, "shared", "s");
            (shared.kind, shared.more, shared.collected, shared.shared) =
                (Kind::ConfigMap, None, false, true);
            nodes.push(shared);
        }
        Self { nodes, retired: Vec::new() }
    }

    /// A newer version, in which one thing or two are otherwise.
    pub(super) fn newer(&self, random: &mut Random) -> Self {
        let mut newer = self.clone();
        for _ in 0..1 + random.below(2) {
            newer.change(random);
        }
        let writes = |kind| newer.nodes.iter().any(|node| node.kind == kind && !node.shared);
        let given_up = self.nodes.iter().filter(|node| !node.shared && !writes(node.kind));
        newer.retired = given_up.map(|node| (node.kind, node.name)).collect();
        newer
    }

    fn change(&mut self, random: &mut Random) {
        let unused = |of: &[&'static str], used: &dyn Fn(&str) -> bool| {
            of.iter().copied().find(|name| !used(name)).unwrap_or("more")
        };
        let name = unused(&NAMES, &|name| self.nodes.iter().any(|node| node.name == name));
        let part = unused(&PARTS, &|part| self.nodes.iter().any(|node| node.part == part));
        let at = random.below(self.nodes.len().max(1));
        let other = random.below(self.nodes.len().max(1));
        let Some(node) = self.nodes.get_mut(at).filter(|node| !node.shared) else { return };
        match random.below(9) {
            0 => node.name = name,
            1 => node.part = part,
            2 => (node.name, node.part) = (name, part),
            3 => node.more = node.more.map_or(Some(1), |_| None),
            4 => node.more = node.more.map(|more| 1 - more.min(1)),
            5 => node.gated = !node.gated,
            6 => node.collected = !node.collected,
            7 if self.nodes.len() > 1 => drop(self.nodes.remove(at)),
            // What one node's objects were called another's are now.
            _ => {
                let (one, two) = (self.nodes[at].clone(), self.nodes[other].clone());
                if at == other {
                    self.nodes.push(NodeOf { name, part: one.part, ..one.clone() });
                    self.nodes[at].part = part;
                } else if !two.shared {
                    self.nodes[at].part = two.part;
                    self.nodes[other].part = part;
                }
            }
        }
    }

    /// The node that is called so.
    pub(super) fn node(&self, name: &str) -> Option<&NodeOf> {
        self.nodes.iter().find(|node| node.name == name)
    }

    pub(super) fn build(&self) -> anyhow::Result<Workflow<TestResource>> {
        let builder = self.nodes.iter().fold(Workflow::builder(), |all, node| node.add_to(all));
        let retired = self.retired.iter();
        let builder = retired
            .fold(builder, |all, (kind, node)| all.retired_of_type::<DynamicObject>(node, kind.resource()));
        Ok(builder.build()?)
    }
}
