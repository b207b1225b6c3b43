//! A node with what is said of it, as long as its types are known.

use std::{collections::BTreeMap, fmt, marker::PhantomData, sync::Arc};

use super::{
    NodeRef,
    condition::{Condition, Decides, erase, name_of},
};
use crate::{
    dependent::{
        Capabilities, Settings, declare,
        function::{Dependent, Erased, Judged, Shape},
        settings,
    },
    reconciler::{
        DataType,
        workflow::{ConditionKind, NodeKey},
    },
    resource::{Access, KubeObject},
    workflow::{
        activation::{Activation, AnyActivation, all_activations},
        condition::{AnyCondition, For, all_conditions},
        conditions::Ready,
        node::AnyNode,
    },
};

/// When a node is ready.
enum ReadyWhen {
    /// Once its objects' status says so.
    Status,
    /// As soon as it was applied.
    Applied,
    /// Once all of these are met.
    Conditions(Vec<Arc<dyn AnyCondition>>),
}

/// What is said of a node, whatever its types.
struct Said {
    key: NodeKey,
    name: Option<Arc<str>>,
    after: Vec<NodeKey>,
    needs: Vec<Arc<dyn AnyActivation>>,
    ready: ReadyWhen,
    gone: Vec<Arc<dyn AnyCondition>>,
    first: bool,
    asks: Vec<Access>,
    /// The data that its functions take.
    data: Vec<DataType>,
    words: BTreeMap<ConditionKind, Vec<String>>,
}

/// A dependent with its order, its conditions and its settings. Made by [`node`], and by the methods of
/// [`Wire`](crate::Wire).
#[must_use = "a node does nothing until it is given to a workflow"]
pub struct Node<P: KubeObject, S: Shape> {
    said: Said,
    dependent: Erased<P>,
    judged: Judged,
    settings: Settings<S::Item>,
    shape: PhantomData<fn() -> S>,
}

/// A node of a dependent: `node(web).after(html)` is what `web.after(html)` stands for.
pub fn node<P: KubeObject, M: 'static, D: Dependent<P, M>>(dependent: D) -> Node<P, D::Shape> {
    let mut node = of_key(NodeKey::of::<D>(), dependent.erased(), D::JUDGED);
    node.said.data = D::needs();
    node
}

fn of_key<P: KubeObject, S: Shape>(key: NodeKey, dependent: Erased<P>, judged: Judged) -> Node<P, S> {
    // It is named when it is finished.
    let settings = Settings::new(Arc::from(""), Default::default());
    Node { said: Said::of(key), dependent, judged, settings, shape: PhantomData }
}

impl Said {
    fn of(key: NodeKey) -> Self {
        Self {
            key,
            name: None,
            after: Vec::new(),
            needs: Vec::new(),
            ready: ReadyWhen::Status,
            gone: Vec::new(),
            first: false,
            asks: Vec::new(),
            data: Vec::new(),
            words: BTreeMap::new(),
        }
    }

    fn word(&mut self, kind: ConditionKind, word: String) {
        self.words.entry(kind).or_default().push(word);
    }
}

impl<P: KubeObject, S: Shape> Node<P, S> {
    /// Runs after that node is ready. Where it isn't wanted any more, or its primary goes, it is deleted before that one, unless both
    /// are left to the garbage collector. May be said several times.
    pub fn after<N: NodeRef<P, M>, M>(mut self, other: N) -> Self {
        self.said.after.push(other.key());
        self
    }

    /// What comes after it runs once the condition is met, instead of once the objects' status says so: a function of the child,
    /// of the primary, or of both. May be said several times: then all of them have to be met.
    pub fn ready<C: Condition<P, S::Item, M>, M: 'static>(mut self, condition: C) -> Self {
        self.said.word(ConditionKind::ReadyPostcondition, name_of::<C>());
        self.said.data.extend(C::needs());
        let condition = erase::<P, S::Item, C, M>(condition, Decides::Ready, S::SEVERAL);
        match &mut self.said.ready {
            ReadyWhen::Conditions(all) => all.push(condition),
            ReadyWhen::Status | ReadyWhen::Applied => {
                self.said.ready = ReadyWhen::Conditions(vec![condition]);
            }
        }
        self
    }

    /// What comes after it runs as soon as it was applied, whatever its status says.
    pub fn ready_when_applied(mut self) -> Self {
        self.said.ready = ReadyWhen::Applied;
        self.said.words.insert(ConditionKind::ReadyPostcondition, vec!["applied".to_owned()]);
        self
    }

    /// It counts as gone once the condition is met: until then what it comes after isn't deleted, and its primary stays. A condition of
    /// the child is asked while there is one. May be said several times: then all of them have to be met.
    pub fn gone<C: Condition<P, S::Item, M>, M: 'static>(mut self, condition: C) -> Self {
        self.said.word(ConditionKind::DeletePostcondition, name_of::<C>());
        self.said.data.extend(C::needs());
        self.said.gone.push(erase::<P, S::Item, C, M>(condition, Decides::Gone, S::SEVERAL));
        self
    }

    /// Takes part only where the cluster has that: [`served::<Route>()`](crate::served), say. Otherwise the node isn't there, so
    /// nothing of it is deleted, and what comes after it is removed. May be said several times.
    pub fn needs(mut self, capability: impl Activation) -> Self {
        self.said.word(ConditionKind::Activation, name_of_val(&capability));
        self.said.asks.extend(capability.access());
        self.said.needs.push(Arc::new(capability));
        self
    }

    /// Is deleted when its primary goes, and gone, before the primary does and before what it comes after: for what has to end in
    /// order. Without this the garbage collector takes it after the primary, in any order.
    pub fn delete_first(mut self) -> Self {
        self.said.first = true;
        self
    }

    /// Names the node, in results, metrics and marks on its objects. By default it is called like its function, so that a function
    /// that is renamed names its node anew.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.said.name = Some(name.into());
        self
    }

    /// Makes it where it is missing, and leaves it alone from then on.
    pub fn create_only(self) -> Self {
        self.capabilities(Capabilities::CREATE_ONLY)
    }

    settings!(S::Item);

    pub(super) fn key(&self) -> NodeKey {
        self.said.key
    }

    /// The engine's node.
    pub(super) fn finish(self) -> AnyNode {
        let Self { said, dependent, judged, mut settings, .. } = self;
        // One without a name has its whole path, until it is told so.
        let name = said.name.clone().or_else(|| said.key.short().map(Arc::from));
        let is_named = name.as_ref().is_some_and(|name| !name.is_empty());
        settings.name = name.filter(|_| is_named).unwrap_or_else(|| Arc::from(said.key.to_string()));
        let status = || For::<_, P>::new(Ready) as Arc<dyn AnyCondition>;
        let dependent = declare(settings, S::SEVERAL, judged, dependent);
        said.finish(AnyNode::of(dependent), is_named, status)
    }
}

impl Said {
    fn finish(
        self,
        node: AnyNode,
        is_named: bool,
        status: impl FnOnce() -> Arc<dyn AnyCondition>,
    ) -> AnyNode {
        let words = self.words.into_iter().map(|(kind, words)| {
            let verb = match kind {
                ConditionKind::Activation => "needs",
                ConditionKind::ReconcilePrecondition => "if",
                ConditionKind::ReadyPostcondition => "ready when",
                ConditionKind::DeletePostcondition => "gone when",
            };
            (kind, format!("{verb} {}", words.join(" and ")))
        });
        AnyNode {
            key: Some(self.key),
            is_named,
            after: self.after,
            activation: all_activations(self.needs),
            ready: match self.ready {
                ReadyWhen::Status => Some(status()),
                ReadyWhen::Applied => None,
                ReadyWhen::Conditions(all) => all_conditions(all),
            },
            deleted: all_conditions(self.gone),
            first: self.first,
            asks: self.asks,
            data: self.data,
            words: words.collect(),
            ..node
        }
    }
}

fn name_of_val<C>(_: &C) -> String {
    name_of::<C>()
}

impl<P: KubeObject, S: Shape> fmt::Debug for Node<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Node")
            .field("function", &self.said.key.to_string())
            .field("name", &self.said.name)
            .finish_non_exhaustive()
    }
}
