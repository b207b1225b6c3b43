//! The declaration of a source of secondaries that live in the cluster.

use std::{collections::BTreeMap, fmt, marker::PhantomData, sync::Arc};

use super::{
    AnySecondary, Filters, NeededShard, Needs, Primaries, RustType, SecondaryToPrimary, SourceContents,
    SourceDeclaration, Sources, WatchScope, Wiring, filter_methods, references::References,
    relation::Relation, remote::RemoteCluster, secondary::SecondaryEvents,
};
use crate::{
    cache::{
        AnyIndexer, ChangeHandler, Contradiction, Indexer, Informer, InformerPlan, InformerSettings, Options,
        TextObject, View, opening, option_methods,
    },
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
struct Declared {
    of: RustType,
    options: Options,
    is_built_in: bool,
    name: Option<String>,
    resource_type: ResourceType,
    scope: Option<WatchScope>,
    /// Whether it follows the controller's namespaces when they change.
    follows: bool,
    /// A cluster other than the operator's.
    remote: Option<RemoteCluster>,
    label_selector: Option<String>,
    field_selector: Option<String>,
    /// Only objects that the controller's dependents have written.
    marked: bool,
    mapper: Option<SecondaryToPrimary>,
    references: Option<References>,
    indexers: BTreeMap<String, AnyIndexer>,
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
            of: RustType::of::<K>(),
            options: Options::of::<K>(),
            is_built_in: is_built_in::<K>(),
            name: None,
            resource_type: ResourceType::with::<K>(&dynamic),
            scope: None,
            follows: true,
            remote: None,
            label_selector: None,
            field_selector: None,
            marked: false,
            mapper: None,
            references: None,
            indexers: BTreeMap::new(),
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
        self.declared.scope = Some(scope.into());
        self
    }

    /// Whether the source follows when the controller's namespaces are changed while it runs; by default it does, unless
    /// it has its own. JOSDK: `followControllerNamespaceChanges`.
    pub fn follow_namespace_changes(mut self, follow: bool) -> Self {
        self.declared.follows = follow;
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
        self.declared.remote = Some(cluster.clone());
        self
    }

    /// Watches only objects that the label selector matches, for example `app=web,tier!=cache`.
    pub fn label_selector(mut self, selector: impl Into<String>) -> Self {
        self.declared.label_selector = Some(selector.into());
        self
    }

    /// Watches only objects that the field selector matches, for example `metadata.name=web`.
    pub fn field_selector(mut self, selector: impl Into<String>) -> Self {
        self.declared.field_selector = Some(selector.into());
        self
    }

    /// Declares that objects of this type have no namespace. Needed only if the type isn't known before run time.
    pub fn cluster_scoped(mut self) -> Self {
        self.declared.resource_type = self.declared.resource_type.cluster_scoped();
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
        self.declared.indexers.insert(name.into(), opening(Arc::new(values)));
        self
    }

    filter_methods!(declared.filters: K, "secondaries", on_delete);

    option_methods!(declared.options, declared.resource_type: K, "secondaries");
}

impl<K: KubeObject> fmt::Debug for InformerEventSource<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.declared.fmt(f)
    }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InformerEventSource")
            .field("name", &self.name)
            .field("type", &self.resource_type)
            .field("mapper", &self.mapper)
            .field("references", &self.references)
            .field("indexes", &self.indexers.keys())
            .field("filters", &self.filters)
            .finish_non_exhaustive()
    }
}

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
            || !self.indexers.is_empty()
            || !self.filters.is_empty()
    }

    /// The selector that the server has to support for it.
    fn shard(&self) -> Option<NeededShard> {
        // Another server isn't asked before the start.
        self.options.shard().filter(|_| self.remote.is_none())?;
        let namespaces = match &self.scope {
            Some(WatchScope::Namespaces(namespaces)) => namespaces.first().cloned(),
            _ => None,
        };
        Some(NeededShard { kind: self.resource_type.clone(), namespace: namespaces })
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
        self.name.clone().unwrap_or_else(|| self.resource_type.kind().to_owned())
    }

    fn access(&self) -> Vec<Access> {
        // Rights in another cluster aren't rights in this one.
        if self.remote.is_some() {
            return Vec::new();
        }
        let verbs = match self.options.is_bounded() {
            true => vec!["get", "list", "watch"],
            false => vec!["list", "watch"],
        };
        vec![Access { resource_type: self.resource_type.clone(), subresource: None, verbs }]
    }

    fn contents(&self) -> SourceContents {
        let labels = self.label_selector.as_ref().map(|selector| format!("the label selector `{selector}`"));
        let fields =
            || self.field_selector.as_ref().map(|selector| format!("the field selector `{selector}`"));
        let scope = || self.scope.as_ref().map(|_| "its list of namespaces".to_owned());
        let shard = || self.options.shard().map(|shard| format!("the shard selector `{shard}`"));
        let remote = self.remote.as_ref().map(|remote| format!("the cluster `{}`", remote.name()));
        let selects = remote.or(labels).or_else(fields).or_else(shard).or_else(scope);
        let maps = self.mapper.is_some() || self.references.is_some();
        let contents = SourceContents::objects_of(self.of, self.resource_type.clone(), selects, maps);
        if self.marked { contents.marked() } else { contents }
    }

    fn needs(&self) -> Needs {
        Needs { current_namespace: self.scope == Some(WatchScope::Current), shard: self.shard() }
    }

    fn contradictions(&self) -> Vec<Contradiction> {
        let index = self.indexers.keys().next().map(|index| format!("the index `{index}`"));
        self.options.contradictions(self.of.name(), index.as_deref())
    }

    fn build(&self, index: SourceIndex, wiring: &Wiring, sources: &mut Sources) {
        let mut settings = InformerSettings::new(self.name(), self.resource_type.clone());
        settings.scope = self.scope.clone().unwrap_or_else(|| wiring.scope.clone());
        settings.follows_controller = self.follows && self.scope.is_none();
        if let Some(remote) = &self.remote {
            settings.cluster = remote.cluster().clone();
        }
        settings.is_asked = self.is_asked();
        settings.label_selector = match self.marked {
            true => Some(wiring.marks.selector()),
            false => self.label_selector.clone(),
        };
        settings.field_selector.clone_from(&self.field_selector);
        settings.is_checked = self.is_checked();
        settings.own_managers.clone_from(&wiring.own_managers);
        self.options.apply(&mut settings);
        let kind = Arc::clone(&self.options.kind);
        let view = Arc::new(View::new(&settings, kind, &wiring.environment));
        let mut indexers = view.opens(self.indexers.clone());
        indexers.insert(OWNER_INDEX.to_owned(), owner_indexer(&wiring.marks));
        let events = Arc::new(SecondaryEvents {
            name: self.name(),
            index,
            controller: Arc::clone(&wiring.controller),
            primary_type: wiring.primary_type.clone(),
            view: Arc::clone(&view),
            relation: Relation::new(
                self.mapper.clone().or_else(|| self.remote.as_ref().map(RemoteCluster::mapper)),
                self.references.clone(),
            ),
            primaries: Arc::clone(&wiring.primaries),
            filters: self.filters.clone(),
            observers: wiring.observers.clone(),
            sink: Arc::clone(&wiring.sink),
        });
        let environment = wiring.environment.clone();
        let client = RemoteCluster::client_for(self.remote.as_ref(), wiring);
        let handler = Arc::clone(&events) as Arc<dyn ChangeHandler>;
        let bounds = self.options.bounds();
        let share = (!self.options.unshared).then(|| wiring.share(&self.resource_type, self.marked));
        let plan = InformerPlan { settings, bounds, share, view, client, environment };
        let informer = Informer::new(plan, handler, indexers);
        wiring.fill(&informer);
        let resource_type = self.resource_type.clone();
        sources.add_secondary(Arc::new(AnySecondary { of: self.of, informer, events, resource_type }));
    }
}
