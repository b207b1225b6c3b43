//! The declaration of a source of secondaries that live in the cluster.

use std::{fmt, marker::PhantomData, sync::Arc};

use super::{
    AnySecondary, Contradiction, Filters, InformerConfiguration, Needs, Primaries, RustType,
    SecondaryToPrimary, Shows, SourceContents, SourceDeclaration, Sources, WatchScope, Wiring,
    filter_methods, informer_methods, references::References, relation::Relation, remote::RemoteCluster,
    secondary::SecondaryEvents,
};
use crate::{
    cache::{ChangeHandler, Indexer, Informer, InformerPlan, InformerSettings, KeySet, TextObject, opening},
    observe::SourceIndex,
    resource::{Access, ControllerMarks, KubeObject, MappingAnnotations, Object, ObjectKey, ResourceType},
};

/// The index over the label of the owner, by which dependents find their objects. A slash distinguishes it from names
/// that users choose.
pub(crate) const OWNER_INDEX: &str = "operator-core/owner";

fn owner_indexer(marks: &Arc<ControllerMarks>) -> Indexer<Arc<TextObject>> {
    let marks = Arc::clone(marks);
    Arc::new(move |object| object.label(marks.names().owner()).into_iter().collect())
}

/// Declares that a controller watches objects of type `K` in addition to its primaries. JOSDK:
/// `InformerEventSourceConfiguration`.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_core::{InformerEventSource, ObjectKey};
///
/// // Triggers the primary of the same name whenever a labelled config map changes its data.
/// let source = InformerEventSource::<ConfigMap>::new()
///     .label_selector("part-of=shop")
///     .map_to_primary(|map| vec![ObjectKey::of(map)])
///     .on_update(|new, old| new.data != old.data);
/// ```
#[must_use = "a source does nothing until it is given to a controller"]
pub struct InformerEventSource<K: KubeObject> {
    declared: Declared,
    type_of: PhantomData<fn() -> K>,
}

/// The declaration for any type.
#[derive(Clone)]
struct Declared {
    secondaries: InformerConfiguration,
    is_built_in: bool,
    name: Option<String>,
    /// Another cluster than the operator's.
    remote: Option<RemoteCluster>,
    /// Only what the controller's dependents have written.
    marked: bool,
    /// Only what primaries name.
    named: bool,
    mapper: Option<SecondaryToPrimary>,
    references: Option<References>,
    filters: Filters<dyn Object>,
}

impl<K: KubeObject<DynamicType: Default>> InformerEventSource<K> {
    /// Watches all objects of type `K` in the controller's namespaces and maps them by their owner references, or by
    /// the [`MappingAnnotations`] if they have those.
    pub fn new() -> Self {
        Self::of_type(K::DynamicType::default())
    }
}

impl<K: KubeObject<DynamicType: Default>> Default for InformerEventSource<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: KubeObject> InformerEventSource<K> {
    /// The same as `new` for a type that is known only at run time. It counts as namespaced, see
    /// [`InformerEventSource::cluster_scoped`].
    ///
    /// ```
    /// use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
    /// use operator_core::InformerEventSource;
    ///
    /// let kind = GroupVersionKind::gvk("example.com", "v1", "Certificate");
    /// let source = InformerEventSource::<DynamicObject>::of_type(ApiResource::from_gvk(&kind));
    /// ```
    pub fn of_type(dynamic: K::DynamicType) -> Self {
        let declared = Declared {
            secondaries: InformerConfiguration::of::<K>(ResourceType::with::<K>(&dynamic)),
            is_built_in: is_built_in::<K>(),
            name: None,
            remote: None,
            marked: false,
            named: false,
            mapper: None,
            references: None,
            filters: Filters::new(),
        };
        Self { declared, type_of: PhantomData }
    }

    /// Names the source; needed if a controller has several for one type. The default is the kind.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.declared.name = Some(name.into());
        self
    }

    /// Watches these namespaces instead of the controller's: `["shop", "bank"]`, or a [`WatchScope`].
    pub fn namespaces(mut self, scope: impl Into<WatchScope>) -> Self {
        self.declared.secondaries.scope = Some(scope.into());
        self
    }

    /// Whether the source follows when the controller's namespaces are changed while it runs; by default it does, unless
    /// it has its own. JOSDK: `followControllerNamespaceChanges`.
    pub fn follow_namespace_changes(mut self, follow: bool) -> Self {
        self.declared.secondaries.settings.follows_controller = follow;
        self
    }

    /// Watches objects in another cluster, by default in namespaces of the same names as the controller's.
    ///
    /// Their keys carry its name: `context.get` finds one by
    /// [`ObjectKey::in_cluster`], and [`watches_referenced`](crate::ControllerBuilder::watches_referenced) takes such
    /// keys. Primaries are in the operator's own cluster, so a mapper returns keys without it. By default objects are
    /// mapped by the [`MappingAnnotations`] alone: their owners are in the other cluster.
    ///
    /// An outage of that cluster stops nothing else. Primaries wait with their first runs until its objects are listed,
    /// or until that has failed once; a run that reads before they are listed finds none of them, and they trigger their
    /// primaries when they are. The source counts as unhealthy in the meantime, with the name of the cluster in the
    /// reason. With [`stop_on_source_error_at_start`](crate::OperatorBuilder::stop_on_source_error_at_start) the
    /// operator doesn't start without it.
    pub fn on(mut self, cluster: &RemoteCluster) -> Self {
        let settings = &mut self.declared.secondaries.settings;
        (settings.cluster, settings.cluster_number) = (cluster.cluster().clone(), cluster.number());
        self.declared.remote = Some(cluster.clone());
        self
    }

    /// Declares that objects of this type have no namespace. Needed only if the type is known only at run time; for
    /// other types this is known.
    pub fn cluster_scoped(mut self) -> Self {
        let settings = &mut self.declared.secondaries.settings;
        settings.resource_type = settings.resource_type.clone().cluster_scoped();
        self
    }

    /// Maps secondaries to primaries by annotations with these keys.
    pub fn map_by_annotations(mut self, keys: MappingAnnotations) -> Self {
        self.declared.mapper = Some(SecondaryToPrimary::Annotations(keys));
        self
    }

    /// The same, unless a mapping is set already.
    pub(crate) fn map_by_annotations_by_default(self, keys: &MappingAnnotations) -> Self {
        if self.declared.mapper.is_some() || self.declared.references.is_some() {
            self
        } else {
            self.map_by_annotations(keys.clone())
        }
    }

    /// Watches only objects that the controller's dependents have written, according to their labels.
    pub(crate) fn marked(mut self) -> Self {
        self.declared.marked = true;
        self
    }

    /// Only objects that are read by their keys.
    pub(crate) fn by_key(mut self) -> NamedEventSource {
        let name = format!("{} by key", self.declared.name());
        self.declared.name = Some(name);
        self.declared.named = true;
        NamedEventSource(self.declared)
    }

    /// Names the source, unless it has a name.
    pub(crate) fn name_by_default(mut self, name: &str) -> Self {
        self.declared.name.get_or_insert_with(|| name.to_owned());
        self
    }

    /// Maps secondaries to primaries by a function instead of by owner references.
    pub fn map_to_primary(mut self, map: impl Fn(&K) -> Vec<ObjectKey> + Send + Sync + 'static) -> Self {
        self.declared.mapper = Some(SecondaryToPrimary::function(move |object, _| map(object)));
        self
    }

    /// The same with access to the primaries, for example through an index over them that the controller declares.
    ///
    /// The function is called when a secondary changes. A primary that is created later has no secondaries, because
    /// nothing has related them. If primaries refer to secondaries, use `ControllerBuilder::watches_referenced`, which
    /// knows both directions.
    pub fn map_to_primary_with(
        mut self,
        map: impl Fn(&K, &dyn Primaries) -> Vec<ObjectKey> + Send + Sync + 'static,
    ) -> Self {
        self.declared.mapper = Some(SecondaryToPrimary::function(map));
        self
    }

    /// Relates primaries with secondaries by the references of the primaries.
    pub(crate) fn references(mut self, references: References) -> Self {
        self.declared.references = Some(references);
        self
    }

    /// Adds an index, which [`ResourceCache::by_index`](crate::cache::ResourceCache::by_index) and `Context::by_index` then know
    /// as `name`: `values` returns the values under which an object is found. JOSDK: `addIndexers`.
    pub fn index(
        mut self,
        name: impl Into<String>,
        values: impl Fn(&K) -> Vec<String> + Send + Sync + 'static,
    ) -> Self {
        self.declared.secondaries.indexers.insert(name.into(), opening(Arc::new(values)));
        self
    }

    filter_methods!(declared.filters: K, "secondaries", on_delete);

    informer_methods!(declared.secondaries: K, "secondaries");
}

impl<K: KubeObject> fmt::Debug for InformerEventSource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.declared.fmt(f)
    }
}

debug_of!(Declared: "InformerEventSource", |it|
    name: it.name, secondaries: it.secondaries, mapper: it.mapper, references: it.references,
    filters: it.filters);

impl<K: KubeObject> SourceDeclaration for InformerEventSource<K> {
    fn name(&self) -> String {
        self.declared.name()
    }

    fn access(&self) -> Vec<Access> {
        self.declared.access()
    }

    fn contents(&self) -> SourceContents {
        self.declared.contents()
    }

    fn needs(&self) -> Needs {
        self.declared.needs()
    }

    fn identity(&self) -> String {
        self.declared.identity()
    }

    fn contradictions(&self) -> Vec<Contradiction> {
        self.declared.contradictions()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        self.declared.build(index, wiring, sources);
    }
}

impl Declared {
    /// Whether a function of the user's is called for each object when it arrives.
    fn is_asked(&self) -> bool {
        self.mapper.as_ref().is_some_and(SecondaryToPrimary::is_function)
            || !self.secondaries.indexers.is_empty()
            || !self.filters.is_empty()
    }

    /// Whether each object is decoded when it arrives. The cluster's own kinds can always decode what the server
    /// stores, so they are decoded when they are read; objects with which the user's functions are called are decoded
    /// anyway.
    fn is_checked(&self) -> bool {
        self.is_asked() || !self.is_built_in
    }
}

/// Whether `K` is a type of `k8s-openapi`. If another version of the compiler names it differently, its objects are
/// checked like those of any other type.
fn is_built_in<K>() -> bool {
    std::any::type_name::<K>().starts_with("k8s_openapi::")
}

impl SourceDeclaration for Declared {
    fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.secondaries.resource_type().kind().to_owned())
    }

    fn access(&self) -> Vec<Access> {
        // Rights in another cluster aren't rights in this one.
        if self.remote.is_some() {
            return Vec::new();
        }
        let verbs = match self.secondaries.is_bounded() {
            true => vec!["get", "list", "watch"],
            false => vec!["list", "watch"],
        };
        vec![Access { resource_type: self.secondaries.resource_type().clone(), subresource: None, verbs }]
    }

    fn contents(&self) -> SourceContents {
        let InformerConfiguration { of, settings, scope, .. } = &self.secondaries;
        let labels =
            settings.label_selector.as_ref().map(|selector| format!("the label selector `{selector}`"));
        let fields =
            || settings.field_selector.as_ref().map(|selector| format!("the field selector `{selector}`"));
        let scope = || scope.as_ref().map(|_| "its list of namespaces".to_owned());
        let shard = || self.secondaries.shard().map(|shard| format!("the shard selector `{shard}`"));
        let remote = self.remote.as_ref().map(|remote| format!("the cluster `{}`", remote.name()));
        let selects = remote.or(labels).or_else(fields).or_else(shard).or_else(scope);
        let maps = self.mapper.is_some() || self.references.is_some();
        let contents = SourceContents::objects_of(*of, settings.resource_type.clone(), selects, maps);
        if self.marked { contents.marked() } else { contents }
    }

    fn needs(&self) -> Needs {
        Needs { remote: self.remote.clone(), ..self.secondaries.needs() }
    }

    fn identity(&self) -> String {
        let (kind, marked) = (self.secondaries.resource_type(), self.marked);
        format!("{self:?} {} {} {marked}", kind.plural(), kind.is_namespaced())
    }

    fn contradictions(&self) -> Vec<Contradiction> {
        self.secondaries.contradictions()
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        let InformerConfiguration { of, settings, scope, .. } = &self.secondaries;
        let mapping = match &self.mapper {
            Some(SecondaryToPrimary::Annotations(keys)) => keys.clone(),
            _ => MappingAnnotations::default(),
        };
        let settings = InformerSettings {
            name: self.name(),
            scope: scope.as_ref().unwrap_or(&wiring.scope).clone(),
            follows_controller: settings.follows_controller && scope.is_none(),
            label_selector: match self.marked {
                true => Some(wiring.marks.selector()),
                false => settings.label_selector.clone(),
            },
            is_asked: self.is_asked(),
            is_checked: self.is_checked(),
            annotations: mapping.keys().map(str::to_owned).collect(),
            ..settings.clone()
        };
        let kind = settings.resource_type.clone();
        let plan = InformerPlan {
            client: RemoteCluster::client_for(self.remote.as_ref(), wiring),
            ..self.secondaries.plan(settings, self.marked, wiring)
        };
        let mut indexers = plan.view.opens(self.secondaries.indexers.clone());
        indexers.insert(OWNER_INDEX.to_owned(), owner_indexer(&wiring.marks));
        let events = Arc::new(SecondaryEvents {
            to: wiring.events(index, &self.name()),
            primary_type: wiring.primary_type.clone(),
            view: Arc::clone(&plan.view),
            relation: Relation::new(
                self.mapper.clone().or_else(|| self.remote.as_ref().map(RemoteCluster::mapper)),
                self.references.clone(),
            ),
            named: Arc::clone(&wiring.named),
            kind,
            filters: self.filters.clone(),
        });
        let informer = Informer::new(plan, Arc::clone(&events) as Arc<dyn ChangeHandler>, indexers);
        wiring.fill(&informer);
        let shows = match self.secondaries.is_whole() {
            _ if self.named => Shows::Named,
            false => Shows::Parts,
            true if self.secondaries.selects() || self.marked => Shows::Some,
            true => Shows::All,
        };
        let identity = Arc::default();
        sources.add_secondary(Arc::new(AnySecondary { of: *of, informer, events, shows, identity }));
    }
}

/// Declares that runs read objects of a kind by their keys: each is watched while primaries name it, unless another source
/// sees it.
#[derive(Clone, Debug)]
pub(crate) struct NamedEventSource(Declared);

impl NamedEventSource {
    pub(super) fn of(&self) -> RustType {
        self.0.secondaries.of
    }

    pub(super) const fn resource_type(&self) -> &ResourceType {
        self.0.secondaries.resource_type()
    }

    /// A source in this scope that shows the object, or the metadata of those that are `kept`.
    pub(super) fn watching(
        &self,
        scope: &WatchScope,
        object: Option<&ObjectKey>,
        kept: &KeySet,
    ) -> impl SourceDeclaration + use<> {
        let mut declared = self.0.clone();
        declared.secondaries.scope = Some(scope.clone());
        declared.secondaries.settings.field_selector =
            object.map(|key| format!("metadata.name={}", key.name()));
        if object.is_none() {
            declared.secondaries.show_metadata_of(Arc::clone(kept));
            // A custom resource doesn't decode from metadata alone.
            declared.is_built_in = true;
        }
        declared
    }
}

impl SourceDeclaration for NamedEventSource {
    fn name(&self) -> String {
        self.0.name()
    }

    fn access(&self) -> Vec<Access> {
        let resource_type = self.resource_type().clone();
        vec![Access { resource_type, subresource: None, verbs: vec!["get", "list", "watch"] }]
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        sources.conditional().named().add(self.name(), self.clone(), index, wiring);
    }
}
