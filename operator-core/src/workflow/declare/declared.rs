//! A node with its settings, while its types are known.

use std::{collections::BTreeMap, marker::PhantomData, sync::Arc};

use k8s_openapi::api::batch::v1::Job;

use super::{
    Predecessor, Wish,
    condition::{Condition, Decides, erase, name_of},
    wish::OfWish,
};
use crate::{
    dependent::{
        AnyDependent, Capabilities, Changes, FromPrimary, Gate, Judge, ObjectSettings, SetWords, Standalone,
        declare, declare_set,
        function::{
            Args, AtRunTime, Call, Change, Dependent, Erased, Given, Judged, KindAtRunTime, OfType,
            PrimaryIs, SaysKind, Shape, ShapeOf, Signature, wanted::Mixed,
        },
        settings,
    },
    reconciler::Context,
    resource::{KubeObject, ResourceType},
    results::{ConditionKind, NodeKey},
    workflow::{
        Word,
        conditions::{Ready, Served, activation::Activation, condition::AnyCondition},
        declare::any_node::{AnyNode, Terms},
    },
};

/// The settings of a node, without its types.
pub(super) struct Said {
    key: NodeKey,
    pub(super) name: Option<Arc<str>>,
    pub(super) terms: Terms,
    needs_its_kind: bool,
    /// When it is ready: by default once its objects' status says so, and without any condition as soon as it was applied.
    pub(super) ready: Option<Vec<Arc<dyn AnyCondition>>>,
    /// What has to be met beside that.
    also_ready: Vec<Arc<dyn AnyCondition>>,
    gates: Vec<Gate>,
    words: BTreeMap<ConditionKind, Vec<String>>,
}

/// A dependent with its order, its conditions and its settings. Made by [`node`], and by the methods of
/// [`Wire`](crate::Wire).
#[must_use = "a node does nothing until it is part of a workflow"]
pub struct Node<P: KubeObject, S: Shape, K = OfType> {
    said: Said,
    kind: K,
    dependent: Erased<P>,
    judged: Judged,
    settings: ObjectSettings<S::Item>,
    set: SetWords,
    shape: PhantomData<fn() -> S>,
}

/// A node of a dependent: `web.after(html)` is short for `node(web).after(html)`.
pub fn node<P: KubeObject, M: 'static, D: Dependent<P, M>>(dependent: D) -> Node<P, D::Shape> {
    let mut node = of_key(NodeKey::of::<D>(), dependent.erased(), D::JUDGED);
    node.said.terms.data = D::needs();
    node
}

fn of_key<P: KubeObject, S: Shape>(key: NodeKey, dependent: Erased<P>, judged: Judged) -> Node<P, S> {
    // It is named when it is finished.
    let mut settings = ObjectSettings::new(Arc::from(""));
    if judged.reads {
        settings.capabilities = Capabilities::READ_ONLY;
    }
    let set = SetWords::default();
    Node { said: Said::of(key), kind: OfType, dependent, judged, settings, set, shape: PhantomData }
}

impl Said {
    pub(super) fn of(key: NodeKey) -> Self {
        Self {
            key,
            name: None,
            terms: Terms::default(),
            needs_its_kind: false,
            ready: None,
            also_ready: Vec::new(),
            gates: Vec::new(),
            words: BTreeMap::new(),
        }
    }

    pub(super) fn word(&mut self, kind: ConditionKind, word: String) {
        self.words.entry(kind).or_default().push(word);
    }
}

impl<P: KubeObject, S: Shape> Node<P, S> {
    /// Sets the kind of its objects, if it doesn't follow from their type: that of a `DynamicObject` is known only at
    /// run time. It is given by version and kind, or by an `ApiResource` of kube. Such objects count as namespaced
    /// unless [`cluster_scoped`](Self::cluster_scoped) is called as well.
    ///
    /// ```
    /// use kube::core::DynamicObject;
    /// use k8s_openapi::api::core::v1::Pod;
    /// use operator_core::prelude::*;
    /// use serde_json::json;
    ///
    /// fn gateway(pod: &Pod) -> Option<DynamicObject> {
    ///     let host = pod.metadata.annotations.as_ref()?.get("host")?;
    ///     let data = json!({ "spec": { "listeners": [{ "hostname": host }] } });
    ///     Some(DynamicObject { types: None, metadata: Default::default(), data })
    /// }
    ///
    /// let gateway = gateway.kind(("gateway.networking.k8s.io/v1", "Gateway")).when_served();
    /// let controller = Controller::of_existing::<Pod>().workflow((gateway,));
    /// ```
    pub fn kind(self, kind: impl SaysKind) -> Node<P, S, AtRunTime>
    where
        S::Item: KindAtRunTime,
    {
        let Self { said, dependent, judged, settings, set, shape, .. } = self;
        Node { said, kind: AtRunTime(kind.said()), dependent, judged, settings, set, shape }
    }
}

impl<P: KubeObject, S: Shape, K> Node<P, S, K> {
    /// Runs after that node is ready, if that is wanted and takes part; otherwise there is nothing to wait for. What that
    /// node no longer wants is removed after this one was brought about without it. If its primary is deleted, it is
    /// deleted before that node, unless both are left to the garbage collector. May be called several times.
    pub fn after<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.said.terms.after.push((other.key(), Word::After));
        self
    }

    /// The same as [`after`](Self::after), and: if that node isn't wanted, or takes no part, this one isn't wanted either;
    /// it is removed before that node. May be called several times. JOSDK: `dependsOn`.
    pub fn requires<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.said.terms.after.push((other.key(), Word::Requires));
        self
    }

    /// Comes after that node only until its own objects exist: it isn't made for the first time before that node is ready, and is
    /// kept up to date after that whatever becomes of that node. What isn't wanted, or takes no part, holds nothing up. For
    /// removals and for the end of the primary this is the same as [`after`](Self::after). Nothing is stored: objects are known
    /// by their marks, and what was removed starts anew. May be called several times.
    ///
    /// ```
    /// use k8s_openapi::api::{apps::v1::{Deployment, StatefulSet}, core::v1::Pod};
    /// use operator_core::prelude::*;
    ///
    /// fn database(_: &Pod) -> StatefulSet {
    ///     StatefulSet::default()
    /// }
    ///
    /// fn web(_: &Pod) -> Deployment {
    ///     Deployment::default()
    /// }
    ///
    /// // A rollout of the database doesn't keep a new image from `web`.
    /// let controller = Controller::of_existing::<Pod>().workflow((database, web.starts_after(database)));
    /// ```
    pub fn starts_after<N: Predecessor<P, M>, M>(mut self, other: N) -> Self {
        self.said.terms.after.push((other.key(), Word::StartsAfter));
        self
    }

    /// Isn't made for the first time before the function says so, which has the form of one of [`only_if`](Self::only_if).
    /// While its own objects exist, the function isn't asked, and nothing is removed because of it: any "no" is a wait. May be
    /// called several times.
    pub fn starts_when<F, FS: 'static, W: 'static>(mut self, may_start: F) -> Self
    where
        F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
    {
        self.said.starts_when::<P, F, FS, W>(may_start);
        self
    }

    /// Exists only if the function says so, and the node's own function, too: a function of the primary that returns `bool`,
    /// [`Verdict`](crate::Verdict), [`Want<()>`](crate::Want), or a `Result` of one of these. Any "no" deletes it, after
    /// all nodes that come after it; else any hold or wait leaves it unchanged. If the function takes nothing but the primary,
    /// it is asked even if the nodes that this one comes after aren't ready. May be called several times. JOSDK:
    /// `reconcilePrecondition`.
    pub fn only_if<F, FS: 'static, W: 'static>(mut self, wanted: F) -> Self
    where
        F: Signature<FS, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, FS>,
    {
        self.said.only_if::<P, F, FS, W>(wanted);
        self
    }

    /// Changes what its function wants, before that gets its marks and is compared: a function of `&mut K` and of the primary,
    /// with further arguments as a node's function has them. It returns nothing, or a `Result<(), E>`. Changes are made in the
    /// order in which they are declared, to each object of a `Vec`. One that changes the name or the namespace is an error.
    ///
    /// ```
    /// use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
    /// use operator_core::prelude::*;
    ///
    /// fn web(_: &Pod) -> Deployment {
    ///     Deployment::default()
    /// }
    ///
    /// fn at_night(web: &mut Deployment, pod: &Pod) {
    ///     if pod.metadata.labels.iter().flatten().any(|(name, _)| name == "example.com/night") {
    ///         web.spec.get_or_insert_default().replicas = Some(0);
    ///     }
    /// }
    ///
    /// let controller = Controller::of_existing::<Pod>().workflow((web.change(at_night),));
    /// ```
    pub fn change<M, C: Change<P, S::Item, M>>(mut self, change: C) -> Self {
        self.said.terms.data.extend(<C::Args as Args<P>>::needs());
        // What it wants isn't known before its turn if a change looks at more than the primary.
        self.judged.before_order &= <C::Args as Args<P>>::OF_PRIMARY;
        self.said.terms.changes.push(name_of::<C>());
        self.settings.rules.changes.push(Changes(Arc::new(move |object, asked| {
            let (primary, context) = asked.typed::<P>()?;
            let object = object.as_any_mut().downcast_mut();
            let object = object.ok_or("an object of another type is to be changed")?;
            change.change(object, Given { primary: &primary, context: &context })
        })));
        self
    }

    /// Nodes that come after it run once the condition is met, instead of once the objects' status says so. The
    /// condition is a function of the child, of the primary, or of both. May be called several times: then all
    /// conditions have to be met.
    pub fn ready<C: Condition<P, S::Item, M>, M: 'static>(mut self, condition: C) -> Self {
        self.said.terms.data.extend(C::needs());
        self.said.ready(name_of::<C>(), erase::<P, S::Item, C, M>(condition, Decides::Ready, S::SEVERAL));
        self
    }

    /// Nodes that come after it run once the condition is met, too: beside the objects' status, or beside what
    /// [`ready`](Self::ready) says instead. May be called several times.
    pub fn also_ready<C: Condition<P, S::Item, M>, M: 'static>(mut self, condition: C) -> Self {
        self.said.terms.data.extend(C::needs());
        self.said.word(ConditionKind::Ready, name_of::<C>());
        self.said.also_ready.push(erase::<P, S::Item, C, M>(condition, Decides::Ready, S::SEVERAL));
        self
    }

    /// Nodes that come after it run as soon as it was applied, whatever its status says.
    pub fn ready_when_applied(mut self) -> Self {
        self.said.ready = Some(Vec::new());
        self.said.words.insert(ConditionKind::Ready, vec!["applied".to_owned()]);
        self
    }

    /// It counts as gone once the condition is met: until then the nodes that it comes after aren't deleted, and its
    /// primary stays. A condition of the child is evaluated while there is one. May be called several times: then all
    /// conditions have to be met.
    pub fn gone<C: Condition<P, S::Item, M>, M: 'static>(mut self, condition: C) -> Self {
        self.said.terms.data.extend(C::needs());
        self.said.gone(name_of::<C>(), erase::<P, S::Item, C, M>(condition, Decides::Gone, S::SEVERAL));
        self
    }

    /// Takes part only if the cluster has that capability, such as [`served::<Route>()`](crate::served). Otherwise the
    /// node doesn't exist: its objects aren't deleted, nodes that come after it don't wait for it, and nodes that require
    /// it are removed. May be called several times.
    pub fn needs(mut self, capability: impl Activation) -> Self {
        self.said.needs(capability);
        self
    }

    /// Takes part only if the cluster serves the kind of its own objects: for a kind that some clusters don't have.
    /// Short for [`needs`](Self::needs)`(served::<K>())`.
    pub fn when_served(mut self) -> Self {
        self.said.needs_its_kind = true;
        self
    }

    /// When its primary is deleted, it is deleted, and gone, before the primary is removed and before the nodes that it
    /// comes after: for objects that have to end in order. Without this the garbage collector deletes it after the
    /// primary, in any order.
    pub fn delete_first(mut self) -> Self {
        self.said.terms.first = true;
        self
    }

    /// Names the node, in results, metrics and marks on its objects. By default it has the name of its function, so
    /// renaming the function renames the node.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.said.name = Some(name.into());
        self
    }

    /// Creates it if it is missing, and never changes it after that.
    pub fn create_only(mut self) -> Self {
        self.settings.capabilities.updates = false;
        self
    }

    /// Runs a Job once for each key, a function of the primary, and not once for each content: the name of the Job ends
    /// with a hash of the key, and a Job that exists isn't changed. Another key means another Job; the former one is
    /// deleted, and if its key returns later, it runs again.
    ///
    /// ```
    /// use k8s_openapi::api::{apps::v1::Deployment, batch::v1::Job};
    /// use operator_core::prelude::*;
    ///
    /// fn migration(_: &Deployment) -> Job {
    ///     Job::default()
    /// }
    /// fn version(of: &Deployment) -> String {
    ///     of.metadata.labels.as_ref().and_then(|labels| labels.get("version")).cloned().unwrap_or_default()
    /// }
    ///
    /// let controller = Controller::of_existing::<Deployment>().workflow((migration.once_per(version),));
    /// ```
    pub fn once_per<T: ToString>(mut self, key: impl Fn(&P) -> T + Send + Sync + 'static) -> Self
    where
        S: Shape<Item = Job>,
    {
        self.settings.capabilities.updates = false;
        self.settings.rules.once_per = Some(FromPrimary::new(move |primary: &P| key(primary).to_string()));
        self
    }

    /// Its objects get no owner reference, but annotations that name the primary, and the operator deletes them before
    /// the primary is removed, which needs a finalizer. For objects that the primary can't own: in another namespace, or
    /// without one; a node of objects without a namespace is so by itself if its primary has one. JOSDK:
    /// `CRUDNoGCKubernetesDependentResource`.
    pub fn without_owner(mut self) -> Self {
        self.settings.capabilities.garbage_collected = false;
        self
    }

    /// As long as the controller has this node, its objects are created and updated, but never deleted: neither when
    /// they are no longer wanted nor with their primary. They get no owner reference. JOSDK: a `Creator` and `Updater`
    /// that isn't a `Deleter`.
    pub fn retained(mut self) -> Self {
        self.settings.capabilities.deletes = false;
        self.settings.capabilities.garbage_collected = false;
        self
    }

    settings!(S::Item);

    /// Whether an object is as desired, by a function of the actual object, the desired one, the primary and the
    /// context, instead of the [`matcher`](Self::matcher). If it says no, the object is written. Only objects with the
    /// node's marks are compared.
    ///
    /// ```
    /// use k8s_openapi::api::{apps::v1::Deployment, core::v1::Pod};
    /// use operator_core::{node, prelude::*};
    ///
    /// fn web(_: &Pod) -> Result<Deployment> {
    ///     Ok(Deployment::default())
    /// }
    ///
    /// // While the pod is paused, its Deployment may be changed by hand.
    /// fn is_paused(_: &Deployment, _: &Deployment, pod: &Pod, _: &Context<Pod>) -> bool {
    ///     pod.metadata.annotations.iter().flatten().any(|(name, _)| name == "example.com/paused")
    /// }
    ///
    /// let controller = Controller::of_existing::<Pod>().workflow((node(web).matches(is_paused),));
    /// ```
    ///
    /// JOSDK: a `Matcher` of a dependent.
    pub fn matches(
        mut self,
        is_as_desired: impl Fn(&S::Item, &S::Item, &P, &Context<P>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.settings.rules.judge = Some(Judge(Arc::new(move |actual, desired, asked| {
            match (actual.typed_ref(), desired.typed_ref(), asked.typed::<P>()) {
                (Some(actual), Some(desired), Ok((primary, context))) => {
                    is_as_desired(actual, desired, &primary, &context)
                }
                _ => false,
            }
        })));
        self
    }

    /// A node that is only read is ready even if its object is missing.
    pub fn optional(mut self) -> Self {
        self.said.terms.optional = true;
        self
    }

    /// The dependent by itself, for a reconciler that calls it without a workflow: then order and conditions have no
    /// effect.
    #[must_use]
    pub fn standalone(self) -> Standalone<P>
    where
        S: ShapeOf<K>,
    {
        Standalone::of_any(self.finish().dependent)
    }

    pub(super) fn key(&self) -> NodeKey {
        self.said.key()
    }

    /// The engine's node.
    pub(super) fn finish(self) -> AnyNode
    where
        S: ShapeOf<K>,
    {
        let Self { mut said, kind, dependent, judged, mut settings, mut set, .. } = self;
        let Some(kind) = S::kind_of(kind) else {
            settings.name = said.name();
            set.when_served = said.needs_its_kind;
            return said.finish(declare_set(&settings, set, judged, dependent));
        };
        if said.needs_its_kind {
            said.needs(Served::of(ResourceType::with::<S::Item>(&kind)));
        }
        settings.name = said.name();
        said.finish(declare(settings, kind, S::SEVERAL, judged, dependent))
    }
}

impl<P: KubeObject> Node<P, Mixed> {
    /// Lets its function want nothing although something exists: then all of it goes. Without this it is an error, as an empty
    /// set is more often a mistake than a wish.
    pub fn may_be_empty(mut self) -> Self {
        self.set.may_be_empty = true;
        self
    }

    /// Names kinds, by group and kind, that its objects define although there is no definition among them: those that an
    /// operator in the set defines by itself, for example. As long as there is an object of such a kind that isn't the node's, none of
    /// the node's objects is deleted.
    pub fn managed_types(
        mut self,
        types: impl Fn(&P) -> Vec<(String, String)> + Send + Sync + 'static,
    ) -> Self {
        self.set.managed_types = Some(FromPrimary::new(types));
        self
    }

    /// Says of which kinds its objects may be, each by version and kind: then the role that the
    /// operator prints has the rights for them, and an object of another kind is an error. Without this the operator's account needs the rights for whatever
    /// the function returns.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::Pod;
    /// use operator_core::{Objects, prelude::*};
    ///
    /// fn addon(_: &Pod) -> Objects {
    ///     Objects::new()
    /// }
    ///
    /// let addon = addon.kinds([("v1", "ConfigMap"), ("apps/v1", "Deployment")]);
    /// let controller = Controller::of_existing::<Pod>().workflow((addon,));
    /// ```
    pub fn kinds<K: SaysKind>(mut self, kinds: impl IntoIterator<Item = K>) -> Self {
        let kinds = kinds.into_iter().map(|kind| ResourceType::from(&kind.said()));
        self.set.kinds = Some(kinds.collect());
        self
    }
}

impl Said {
    pub(super) fn only_if<P, F, S, W>(&mut self, wanted: F)
    where
        P: KubeObject,
        F: Signature<S, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, S>,
        S: 'static,
        W: 'static,
    {
        self.word(ConditionKind::OnlyIf, name_of::<F>());
        self.terms.data.extend(<F::Args as Args<P>>::needs());
        self.gates.push(OfWish::<P, F, S, W>::gate(wanted));
    }

    pub(super) fn starts_when<P, F, S, W>(&mut self, may_start: F)
    where
        P: KubeObject,
        F: Signature<S, First: PrimaryIs<P>, Args: Args<P>, Return: Wish<W>> + Call<P, S>,
        S: 'static,
        W: 'static,
    {
        self.terms.data.extend(<F::Args as Args<P>>::needs());
        self.terms.starts_when.push((OfWish::<P, F, S, W>::gate(may_start), name_of::<F>()));
    }

    pub(super) fn ready(&mut self, word: String, condition: Arc<dyn AnyCondition>) {
        self.word(ConditionKind::Ready, word);
        self.ready.get_or_insert_default().push(condition);
    }

    pub(super) fn gone(&mut self, word: String, condition: Arc<dyn AnyCondition>) {
        self.word(ConditionKind::Gone, word);
        self.terms.deleted.push(condition);
    }

    pub(super) fn needs(&mut self, capability: impl Activation) {
        self.word(ConditionKind::Needs, capability.words());
        self.terms.asks.extend(capability.access());
        self.terms.activations.push(Arc::new(capability));
    }

    pub(super) fn key(&self) -> NodeKey {
        self.key.called(self.name.clone())
    }

    fn is_named(&self) -> bool {
        self.name.as_deref().or_else(|| self.key.short()).is_some_and(|name| !name.is_empty())
    }

    /// Without a name of its own, its whole path.
    pub(super) fn name(&self) -> Arc<str> {
        let name = self.name.clone().or_else(|| self.key.short().map(Arc::from));
        name.filter(|name| !name.is_empty()).unwrap_or_else(|| Arc::from(self.key.to_string()))
    }

    pub(super) fn finish(mut self, mut dependent: AnyDependent) -> AnyNode {
        let (key, is_named) = (self.key(), self.is_named());
        if let (None, Some(words)) = (&self.ready, self.words.get_mut(&ConditionKind::Ready)) {
            words.insert(0, "its status".to_owned());
        }
        let mut ready = self.ready.unwrap_or_else(|| vec![Arc::new(Ready)]);
        ready.append(&mut self.also_ready);
        let words = self.words.into_iter().map(|(kind, words)| {
            let verb = match kind {
                ConditionKind::Needs => "needs",
                ConditionKind::OnlyIf => "only if",
                ConditionKind::Ready => "ready when",
                ConditionKind::Gone => "gone when",
            };
            (kind, format!("{verb} {}", words.join(" and ")))
        });
        self.gates.into_iter().for_each(|gate| dependent.add_gate(gate));
        let (terms, words) = (self.terms, words.collect());
        AnyNode { dependent, key, is_named, terms, ready, sources: Vec::new(), words }
    }
}

debug_of!(Node<P, S, K> [P: KubeObject, S: Shape, K]: "Node", |it|
    function: it.said.key.to_string(), name: it.said.name);
