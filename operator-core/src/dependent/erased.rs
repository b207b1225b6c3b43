//! A dependent as the engine sees it, without its type.

use std::{collections::BTreeSet, fmt, marker::PhantomData, sync::Arc};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;

use super::{
    Capabilities, Changes, Declaration, Deletion,
    function::{Judged, Want},
};
use crate::{
    environment::fenced_future,
    event_source::{NamedEventSource, SourceDeclaration},
    reconciler::{AnyContext, AnyGiven, BoxError, Context},
    resource::{Access, AnyObject, KubeObject, ObjectKey, ResourceType},
    results::{ReconcileResult, Secondary},
};

/// An event source that a dependent provides.
#[derive(Clone, Debug)]
pub(crate) struct DependentSource {
    /// The source.
    pub(crate) declaration: Arc<dyn SourceDeclaration>,
    /// Whether another source with the same name, declared by another dependent or on the controller, can be used as
    /// well.
    pub(crate) shared: bool,
    /// The source once more if it runs only as far as runs name objects of it.
    pub(crate) by_key: Option<Arc<NamedEventSource>>,
}

impl DependentSource {
    /// A source of its own for the dependent.
    #[must_use]
    pub(crate) fn own(declaration: Arc<impl SourceDeclaration + 'static>) -> Self {
        Self { declaration, shared: false, by_key: None }
    }

    /// A source that is shared by all dependents whose source has this name.
    #[must_use]
    pub(crate) fn shared(declaration: Arc<impl SourceDeclaration + 'static>) -> Self {
        Self { declaration, shared: true, by_key: None }
    }

    /// The same, for reads by key.
    #[must_use]
    pub(crate) fn by_key(source: Arc<NamedEventSource>) -> Self {
        Self { by_key: Some(Arc::clone(&source)), ..Self::shared(source) }
    }
}

/// What a deletion has found, and how far it has progressed.
#[derive(Clone, Debug)]
pub(crate) struct Deleted {
    /// The number of existing resources, including those that are already being deleted.
    pub(crate) found: usize,
    /// Its progress.
    pub(crate) deletion: Deletion,
    /// A resource that stays because another node may want it, in words.
    pub(crate) kept: Option<String>,
}

impl Deleted {
    /// Nothing existed.
    pub(crate) const NOTHING: Self = Self { found: 0, deletion: Deletion::Gone, kept: None };
}

/// How the leftovers of former nodes are removed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pruning<'r> {
    /// Whether objects are removed even if data is lost with them.
    pub(crate) data: bool,
    /// The uids of those that were removed: another event source may still show them.
    pub(crate) removed: &'r Mutex<BTreeSet<String>>,
}

/// The result of a call of a dependent.
pub(super) type Answer<'r, T> = BoxFuture<'r, Result<T, BoxError>>;

/// The primary and the context for a call of a dependent.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'r> {
    /// The name of the dependent, in the workflow or on its own.
    pub(crate) node: &'r str,
    pub(crate) primary: &'r AnyObject,
    pub(crate) context: &'r Arc<AnyContext>,
    /// Whether it may call another system.
    pub(crate) may_call: bool,
}

impl Asked<'_> {
    /// The newest known state of the primary, which shows what this run has written itself.
    pub(crate) fn newest(self) -> AnyObject {
        self.context.newest(self.primary)
    }

    /// The primary as user code knows it, and the context for it. A dependent is called for primaries of one type only.
    pub(crate) fn typed<P: KubeObject>(self) -> Result<(Arc<P>, Context<P>), BoxError> {
        let Self { primary, context, .. } = self;
        let (primary, context) = AnyGiven { primary, context }.typed()?;
        Ok((primary, context.of_node(self.node)))
    }
}

/// A dependent as the engine calls it.
pub(crate) trait Engine: Send + Sync {
    /// Brings the resource into the desired state, as far as the dependent may. Items that failed are in the result.
    fn reconcile<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult>;

    /// Whether it wants anything to exist; by default it does. The answer stays the same for the run.
    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>> {
        let _ = asked;
        async { Ok(Want::Is(())) }.boxed()
    }

    /// Removes what is left of it and isn't wanted any more, after [`reconcile`](Self::reconcile) has reported that
    /// something is. The result reports the same if something has to stay. By default there is nothing.
    fn sweep<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, ReconcileResult> {
        let _ = asked;
        async { Ok(ReconcileResult::nothing()) }.boxed()
    }

    /// Deletes the resource, if it exists.
    fn delete<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Deleted>;

    /// The resources that exist now; several for a bulk dependent.
    fn secondaries<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>>;

    /// The same after a deletion, including what only a read of the live objects shows. By default the event source
    /// shows everything.
    fn left<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Vec<Secondary>> {
        self.secondaries(asked)
    }

    /// The newest state of a resource that the dependent has written or found in this run, as far as it is known
    /// without a request. By default it isn't known.
    fn newest(&self, of: &Secondary, context: &AnyContext) -> Option<AnyObject> {
        let _ = (of, context);
        None
    }

    /// Removes the leftovers of nodes that the controller no longer has, as far as the dependent's event source shows
    /// them. Returns the number of these objects. By default there are none.
    fn prune<'r>(&'r self, asked: Asked<'r>, pruning: Pruning<'r>) -> Answer<'r, usize> {
        let _ = (asked, pruning);
        async { Ok(0) }.boxed()
    }

    /// Changes what it wants by this function, too, and says whether it can. By default it can't.
    fn add_change(&mut self, change: Changes) -> bool {
        let _ = change;
        false
    }

    /// The only object that it reads; `None` if that isn't known yet in this run, or it reads several.
    fn reads(&self, asked: Asked<'_>) -> Option<ObjectKey> {
        let _ = asked;
        None
    }

    /// The keys of the objects that it wants, as far as they are known in this run. By default none are.
    #[cfg(feature = "testing")]
    fn keys(&self, asked: Asked<'_>) -> Vec<ObjectKey> {
        let _ = asked;
        Vec::new()
    }

    /// Whether it wants an object of this kind with this key; `None` if that isn't known yet in this run. By default it wants
    /// none.
    fn wants(&self, kind: &ResourceType, key: &ObjectKey, asked: Asked<'_>) -> Option<bool> {
        let _ = (kind, key, asked);
        Some(false)
    }
}

/// A dependent that a reconciler calls itself, without a workflow: JOSDK's standalone dependents. Made by
/// `standalone()` of a function, `html.standalone()`, or of a node. Cheap to clone.
pub struct Standalone<P: KubeObject> {
    any: AnyDependent,
    of: PhantomData<fn(P)>,
}

/// The same for primaries of any type.
#[derive(Clone)]
pub(crate) struct AnyDependent {
    name: Arc<str>,
    declaration: Arc<Declaration>,
    engine: Arc<dyn Engine>,
    /// Decide whether it exists, beside the engine.
    gates: Vec<Gate>,
    /// When the engine is asked.
    own: Option<Judged>,
}

/// A function that decides whether a dependent wants anything to exist, beside the dependent itself.
#[derive(Clone)]
pub(crate) struct Gate {
    pub(crate) judged: Judged,
    pub(crate) wishes: Arc<dyn Wishes>,
}

/// Decides whether a dependent wants anything to exist.
pub(crate) trait Wishes: Send + Sync {
    fn wish<'r>(&'r self, asked: Asked<'r>) -> Answer<'r, Want<()>>;
}

impl<P: KubeObject> Standalone<P> {
    /// The same if the caller knows the type of the primaries.
    pub(crate) fn of_any(any: AnyDependent) -> Self {
        Self { any, of: PhantomData }
    }

    /// The same for primaries of any type.
    pub(crate) fn any(&self) -> &AnyDependent {
        &self.any
    }

    /// The name: by default that of its function or type.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.any.name
    }

    /// Brings the resource to the desired state, as far as the dependent may; removes it if nothing is wanted, and
    /// leaves it alone on hold. JOSDK: `DependentResource.reconcile`.
    ///
    /// # Errors
    /// If the desired state can't be determined, or can't be written.
    pub async fn reconcile(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<ReconcileResult, BoxError> {
        let primary = Arc::clone(primary) as AnyObject;
        let given = AnyGiven { primary: &primary, context: context.any() };
        let wish = match self.any.declaration.judged {
            Some(_) => self.any.wish(given, true).await?,
            None => Want::Is(()),
        };
        match wish {
            Want::Is(()) => {}
            Want::Hold { .. } | Want::Wait { .. } => return Ok(ReconcileResult::nothing()),
            Want::None(_) => {
                self.any.remove(given).await?;
                return Ok(ReconcileResult::nothing());
            }
        }
        let mut result = self.any.attempt(given).await?;
        result.check()?;
        if result.leaves {
            result.add(self.any.sweep(given).await?);
            result.check()?;
        }
        Ok(result)
    }

    /// Deletes the resource, if it exists, and returns whether it is gone. An object in the cluster takes some time:
    /// the result is [`Deletion::Asked`] until its event source has seen the deletion.
    ///
    /// # Errors
    /// If it can't be deleted.
    pub async fn delete(&self, primary: &Arc<P>, context: &Context<P>) -> Result<Deletion, BoxError> {
        let primary = Arc::clone(primary) as AnyObject;
        let removed = self.any.remove(AnyGiven { primary: &primary, context: context.any() }).await?;
        Ok(removed.deletion)
    }

    /// The resources that exist now. JOSDK's `getSecondaryResource`.
    ///
    /// # Errors
    /// If it can't be read.
    pub async fn secondaries(
        &self,
        primary: &Arc<P>,
        context: &Context<P>,
    ) -> Result<Vec<Secondary>, BoxError> {
        let primary = Arc::clone(primary) as AnyObject;
        let all = self.any.secondaries(AnyGiven { primary: &primary, context: context.any() }).await?;
        all.iter().try_for_each(Secondary::check)?;
        Ok(all)
    }

    /// The event sources that it provides, for a controller that uses it without a workflow.
    pub(crate) fn event_sources(&self) -> Vec<DependentSource> {
        self.any.event_sources()
    }

    /// The rights that it needs to write.
    #[must_use]
    pub fn access(&self) -> Vec<Access> {
        self.any.access()
    }
}

impl AnyDependent {
    pub(crate) fn new(
        name: impl Into<Arc<str>>,
        declaration: Declaration,
        engine: impl Engine + 'static,
    ) -> Self {
        let (name, own) = (name.into(), declaration.judged);
        Self { name, declaration: Arc::new(declaration), engine: Arc::new(engine), gates: Vec::new(), own }
    }

    /// It exists only if this function says so, too.
    pub(crate) fn add_gate(&mut self, gate: Gate) {
        self.gates.push(gate);
        self.judge();
    }

    /// What it wants is changed by this function, too. `of_primary`: that looks at nothing else. Has no effect on a clone, nor on
    /// records.
    pub(crate) fn add_change(&mut self, change: Changes, of_primary: bool) {
        let Some(engine) = Arc::get_mut(&mut self.engine) else { return };
        if engine.add_change(change) && !of_primary {
            // What it wants isn't known before its turn.
            self.own = self.own.map(|own| Judged { before_order: false, ..own });
            Arc::make_mut(&mut self.declaration).early = false;
            self.judge();
        }
    }

    /// When it is asked, by itself and its gates.
    fn judge(&mut self) {
        let judged = self.gates.iter().map(|gate| gate.judged).chain(self.own).reduce(Judged::and);
        Arc::make_mut(&mut self.declaration).judged = judged;
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    /// What it may do.
    pub(crate) fn capabilities(&self) -> Capabilities {
        self.declaration.capabilities
    }

    /// What is known about it before it runs.
    pub(crate) fn declaration(&self) -> &Arc<Declaration> {
        &self.declaration
    }

    /// Whether its resources are outside the cluster.
    pub(crate) fn is_outside(&self) -> bool {
        self.declaration.outside.is_some()
    }

    /// Whether it wants anything to exist: any "no" counts, else any hold or wait. Before its turn, what doesn't follow from the
    /// primary alone isn't asked.
    pub(crate) async fn wish(&self, given: AnyGiven<'_>, in_order: bool) -> Result<Want<()>, BoxError> {
        let asked = self.asked(given);
        let gates = self.gates.iter().filter(|gate| in_order || gate.judged.before_order);
        let all = of_gates(gates, asked).await?;
        if let Want::None(_) = all {
            return Ok(all);
        }
        if self.own.is_some_and(|own| in_order || own.before_order) {
            return Ok(all.and(self.engine.wish(asked).await?));
        }
        if self.declaration.early && matches!(all, Want::Is(())) {
            // Other nodes have to know its names even if its turn doesn't come. It reports its errors in its turn.
            drop(self.engine.wish(asked).await);
        }
        Ok(all)
    }

    /// What these functions say about it.
    pub(crate) async fn asks(&self, gates: &[Gate], given: AnyGiven<'_>) -> Result<Want<()>, BoxError> {
        of_gates(gates.iter(), self.asked(given)).await
    }

    /// Whether all that decides about its existence can be asked before its turn.
    pub(crate) fn is_judged_early(&self) -> bool {
        self.gates.iter().map(|gate| gate.judged).chain(self.own).all(|judged| judged.before_order)
    }

    /// Brings the resource into the desired state, with the items that failed in the result.
    pub(crate) async fn attempt(&self, given: AnyGiven<'_>) -> Result<ReconcileResult, BoxError> {
        self.engine.reconcile(self.asked(given)).await
    }

    /// Removes what is left of it and isn't wanted any more.
    pub(crate) async fn sweep(&self, given: AnyGiven<'_>) -> Result<ReconcileResult, BoxError> {
        self.engine.sweep(self.asked(given)).await
    }

    /// Deletes the resource, if it exists; also returns the number of resources that existed.
    pub(crate) async fn remove(&self, given: AnyGiven<'_>) -> Result<Deleted, BoxError> {
        self.engine.delete(self.asked(given)).await
    }

    /// The resources that exist now.
    pub(crate) async fn secondaries(&self, given: AnyGiven<'_>) -> Result<Vec<Secondary>, BoxError> {
        self.engine.secondaries(self.asked(given)).await
    }

    /// The resources that are known to exist, without a request.
    pub(crate) fn known<'r>(&'r self, given: AnyGiven<'r>) -> Answer<'r, Vec<Secondary>> {
        self.engine.secondaries(Asked { may_call: false, ..self.asked(given) })
    }

    /// The resources that still exist after a deletion, even if its event source no longer shows them.
    pub(crate) async fn left(&self, given: AnyGiven<'_>) -> Result<Vec<Secondary>, BoxError> {
        self.engine.left(self.asked(given)).await
    }

    /// These resources, which it has written or found in this run, each in its newest known state.
    pub(crate) fn newest(&self, mut of: Vec<Secondary>, context: &AnyContext) -> Vec<Secondary> {
        for known in &mut of {
            if let Some(newest) = self.engine.newest(known, context) {
                known.renew(newest);
            }
        }
        of
    }

    /// Removes the leftovers of nodes that the controller no longer has, as far as its event source shows them.
    pub(crate) async fn prune(&self, given: AnyGiven<'_>, pruning: Pruning<'_>) -> Result<usize, BoxError> {
        self.engine.prune(self.asked(given), pruning).await
    }

    /// The only object that it reads; `None` if that can't be said before its turn, or it reads several.
    pub(crate) fn reads(&self, given: AnyGiven<'_>) -> Option<ObjectKey> {
        self.early(self.asked(given), |asked| self.engine.reads(asked))
    }

    /// Whether it wants an object of this kind with this key; `None` if that can't be said before its turn.
    pub(crate) fn wants(&self, kind: &ResourceType, key: &ObjectKey, given: AnyGiven<'_>) -> Option<bool> {
        self.early(self.asked(given), |asked| self.engine.wants(kind, key, asked))
    }

    /// What the engine knows; if it knows nothing yet, a function of the primary alone is asked before its turn. What goes
    /// wrong is told in its turn.
    fn early<'r, T>(&'r self, asked: Asked<'r>, known: impl Fn(Asked<'r>) -> Option<T>) -> Option<T> {
        known(asked).or_else(|| {
            self.declaration.early.then(|| fenced_future(self.engine.wish(asked)).now_or_never())?;
            known(asked)
        })
    }

    /// The keys of the objects that it wants; none if it can't say that before its turn.
    #[cfg(feature = "testing")]
    pub(crate) async fn keys(&self, given: AnyGiven<'_>) -> Vec<ObjectKey> {
        let asked = self.asked(given);
        // What goes wrong is told by the run.
        drop(self.engine.wish(asked).await);
        self.engine.keys(asked)
    }

    fn asked<'r>(&'r self, AnyGiven { primary, context }: AnyGiven<'r>) -> Asked<'r> {
        Asked { node: &self.name, primary, context, may_call: true }
    }

    /// The event sources that it provides, for a controller that uses it without a workflow.
    pub(crate) fn event_sources(&self) -> Vec<DependentSource> {
        self.declaration.event_sources.clone()
    }

    /// The rights that it needs to write.
    pub(crate) fn access(&self) -> Vec<Access> {
        self.declaration.access.clone()
    }
}

/// Any "no" counts, else any hold or wait.
async fn of_gates(gates: impl Iterator<Item = &Gate>, asked: Asked<'_>) -> Result<Want<()>, BoxError> {
    let mut all = Want::Is(());
    for gate in gates {
        all = all.and(gate.wishes.wish(asked).await?);
        if let Want::None(_) = all {
            break;
        }
    }
    Ok(all)
}

impl<P: KubeObject> Clone for Standalone<P> {
    fn clone(&self) -> Self {
        Self { any: self.any.clone(), of: PhantomData }
    }
}

impl<P: KubeObject> fmt::Debug for Standalone<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.any.fmt(f)
    }
}

debug_of!(AnyDependent: "Dependent", |it| name: it.name, capabilities: it.capabilities());
