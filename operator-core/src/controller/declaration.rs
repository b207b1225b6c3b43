//! A declared controller: the facts that are known before it starts.

use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::{ControllerBuilder, NoReconciler, into::HasDefinition, settings::Settings};
use crate::{
    dispatcher::UserCode,
    event_source::{MarkedKinds, Needs, SourceContents, SourceDeclaration},
    operations::access_to_events,
    reconciler::Reconciler,
    resource::{Access, ControllerMarks, KubeObject, MarkNames, ResourceType, is_job},
    workflow::AnyWorkflow,
};
#[cfg(feature = "testing")]
use crate::{
    reconciler::{AnyContext, AnyGiven},
    resource::ObjectKey,
    results::NodeKey,
};

/// A declared controller, ready to be registered with an operator. JOSDK: `Controller`.
pub struct Controller {
    pub(super) code: Arc<dyn UserCode>,
    pub(super) name: Arc<str>,
    pub(super) finalizer: Option<Arc<str>>,
    /// The same, also if this version needs none: an earlier one may have.
    pub(super) own_finalizer: Arc<str>,
    pub(super) field_manager: Arc<str>,
    pub(super) sources: Vec<Arc<dyn SourceDeclaration>>,
    /// The sources that run only while some primary needs them.
    pub(super) conditional_sources: Vec<Arc<dyn SourceDeclaration>>,
    pub(super) settings: Box<Settings>,
}

impl Controller {
    /// Starts the declaration of a controller for `reconciler`.
    pub fn builder<R>(reconciler: R) -> ControllerBuilder<R>
    where
        R: Reconciler,
        <R::Primary as kube::Resource>::DynamicType: Default,
    {
        ControllerBuilder::new(reconciler)
    }

    /// Starts the declaration of a controller that needs no reconciler: its workflow determines what should exist for a
    /// primary of type `P`. By default it is named after the kind, in lower case.
    ///
    /// The operator includes the definition of that kind: its command `crd` prints it, and `dev` installs it, unless
    /// [`OperatorBuilder::crd`](crate::OperatorBuilder::crd) gives another definition with that name, for example one
    /// with several versions.
    pub fn of<P: KubeObject<DynamicType: Default> + HasDefinition>() -> ControllerBuilder<NoReconciler<P>> {
        ControllerBuilder::of(Some(P::definition))
    }

    /// The same for primaries whose definition doesn't belong to this operator: a built-in kind, or someone else's.
    ///
    /// ```
    /// use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
    /// use operator_core::prelude::*;
    ///
    /// fn map(_: &Pod) -> ConfigMap {
    ///     ConfigMap::default()
    /// }
    ///
    /// fn keys(pod: &Pod) -> Option<Secret> {
    ///     pod.spec.is_some().then(Secret::default)
    /// }
    ///
    /// let controller = Controller::of_existing::<Pod>().workflow((map, keys.after(map)));
    /// ```
    pub fn of_existing<P: KubeObject<DynamicType: Default>>() -> ControllerBuilder<NoReconciler<P>> {
        ControllerBuilder::of(None)
    }

    /// The name, unique within an operator.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of the primaries.
    #[must_use]
    pub fn resource_type(&self) -> &ResourceType {
        self.settings.primaries.resource_type()
    }

    /// The rights that the controller needs for its primaries, their status and its event sources. Rights for anything
    /// else that a reconciler writes depend on its code.
    #[must_use]
    pub fn access(&self) -> Vec<Access> {
        let right = |subresource, verbs: &[&'static str]| Access {
            resource_type: self.resource_type().clone(),
            subresource,
            verbs: verbs.to_vec(),
        };
        let mut access = vec![right(None, &["get", "list", "watch"]), right(Some("status"), &["patch"])];
        // Without a finalizer only the status of a primary is written, unless the reconciler requests more.
        let of_workflow: Vec<_> = self.settings.workflow.iter().flat_map(AnyWorkflow::access).collect();
        // An annotation of their primary records which of them were done.
        let makes_jobs =
            of_workflow.iter().any(|right| is_job(&right.resource_type) && right.verbs.contains(&"create"));
        if self.finalizer.is_some() || makes_jobs {
            access.push(right(None, &["patch"]));
        }
        access.extend(self.all_sources().flat_map(|source| source.access()));
        access.extend(of_workflow);
        access.extend(self.settings.further_access.iter().cloned());
        access.extend(self.settings.records_events.then(access_to_events));
        access
    }

    /// The workflows of the controller: its own, and those that the reconciler calls itself.
    #[cfg(any(test, feature = "cli"))]
    pub(crate) fn outlines(&self) -> &[crate::workflow::Outline] {
        &self.settings.outlines
    }

    /// The definition of its primaries, if it belongs to the operator.
    pub(crate) fn definition(&self) -> Option<CustomResourceDefinition> {
        self.settings.definition.map(|definition| definition())
    }

    /// The requirements of its sources where the operator starts. `elsewhere`: the operator works in other namespaces
    /// than its controllers say.
    pub(crate) fn needs(&self, elsewhere: bool) -> Vec<Needs> {
        let mut own = self.settings.primaries.needs();
        own.current_namespace &= !elsewhere;
        std::iter::once(own).chain(self.all_sources().map(|source| source.needs())).collect()
    }

    /// Adds the kinds that its dependents write, where an event source shows only those objects.
    pub(crate) fn add_marked(&self, names: &MarkNames, to: &mut MarkedKinds) {
        let marks = self.marks(names.clone());
        for source in self.all_sources() {
            if let SourceContents::Objects { kind, marked: true, .. } = source.contents() {
                to.add(&kind, &marks);
            }
        }
    }

    /// In the order of their indexes.
    pub(super) fn all_sources(&self) -> impl Iterator<Item = &Arc<dyn SourceDeclaration>> {
        self.sources.iter().chain(&self.conditional_sources)
    }

    /// In the order of their indexes; the last one triggers primaries when kinds appear in the cluster, or are removed.
    pub(super) fn source_names(&self) -> Arc<[String]> {
        let discovery = "CustomResourceDefinition".to_owned();
        self.all_sources().map(|source| source.name()).chain([discovery]).collect()
    }

    /// The marks on what its nodes write.
    pub(crate) fn marks(&self, names: MarkNames) -> ControllerMarks {
        let (former, nodes) = (self.settings.former_names.clone(), self.settings.nodes.clone());
        ControllerMarks::new(names, &self.name, former, nodes)
    }
}

impl Controller {
    /// The field manager of its writes.
    pub(crate) fn field_manager(&self) -> &str {
        &self.field_manager
    }
}

/// The facts that a dry run needs before anything is wired.
#[cfg(feature = "testing")]
impl Controller {
    /// The name of the finalizer that it puts on primaries, if it does.
    pub(crate) fn finalizer(&self) -> Option<&str> {
        self.finalizer.as_deref()
    }

    /// Whether runs see the ends of primaries.
    pub(crate) fn sees_ends(&self) -> bool {
        self.settings.all_events
    }

    /// The name of a node of its workflow, and whether the node's objects have an owner reference.
    pub(crate) fn node(&self, key: &NodeKey) -> Option<(&str, bool)> {
        let dependent = self.settings.workflow.as_ref()?.dependent(key)?;
        Some((dependent.name(), dependent.capabilities().garbage_collected))
    }

    /// The keys of the objects that a node of its workflow wants, if it can be asked before its turn.
    pub(crate) async fn keys_of(&self, key: &NodeKey, context: &Arc<AnyContext>) -> Vec<ObjectKey> {
        let dependent = self.settings.workflow.as_ref().and_then(|workflow| workflow.dependent(key));
        let (Some(dependent), Some(primary)) = (dependent, context.own_primary()) else { return Vec::new() };
        dependent.keys(AnyGiven { primary: &primary, context }).await
    }
}

debug_of!(Controller: "Controller", |it| name: it.name(), primary: it.resource_type());
