//! All sources of one controller except the source of its primaries, found by type and by name.
//!
//! Sources are returned as shared pointers: a conditional one may be stopped while it is being read.

use std::{any::Any, fmt, sync::Arc};

use super::{
    AnySecondary, EventSource, ExternalSource, Given, PrimaryScopes, RustType, SecondarySource, Shows,
    SourceContents, SourceDeclaration, Wiring, conditional::ConditionalSources, given::GivenStore,
};
use crate::{
    observe::SourceIndex,
    resource::{KubeObject, Object, ObjectKey, ResourceType, types_of},
};

struct Entry {
    source: Arc<dyn EventSource>,
    contents: Contents,
}

/// The contents of a source that runs can read.
enum Contents {
    Nothing,
    Objects(Arc<AnySecondary>),
    /// An [`ExternalSource`], whose type its readers know.
    Resources(Arc<dyn Any + Send + Sync>),
}

/// The event sources of one controller, in the order in which they were declared.
#[derive(Default)]
pub struct Sources {
    entries: Vec<Entry>,
    conditional: Arc<ConditionalSources>,
    scopes: Arc<PrimaryScopes>,
    /// There is no cluster, so nothing is known about any kind.
    pub(crate) offline: bool,
    /// The existing resources, if no other system is available.
    given: Option<Arc<dyn Given>>,
}

impl Sources {
    /// No sources yet, in a wiring whose other systems may be given by hand.
    pub(crate) fn none_in(wiring: &Wiring) -> Self {
        let conditional = Arc::new(ConditionalSources::none_in(wiring));
        Self {
            given: wiring.given.clone(),
            conditional,
            scopes: Arc::clone(&wiring.scopes),
            ..Self::default()
        }
    }

    /// Adds a source of secondaries, which the context of a run can then read.
    pub fn add<K: KubeObject>(&mut self, source: SecondarySource<K>) {
        self.add_secondary(source.any());
    }

    /// The same for objects of any type.
    pub(crate) fn add_secondary(&mut self, source: Arc<AnySecondary>) {
        let informer = Arc::new(source.informer().clone());
        self.entries.push(Entry { source: informer, contents: Contents::Objects(source) });
    }

    /// Adds a source that only triggers primaries.
    pub fn add_source(&mut self, source: Arc<dyn EventSource>) {
        self.entries.push(Entry { source, contents: Contents::Nothing });
    }

    /// Adds a source of another system's resources of type `R`, which the context of a run can then read from `store`.
    pub fn add_external<R: Send + Sync + 'static>(
        &mut self,
        source: Arc<dyn EventSource>,
        store: ExternalSource<R>,
    ) {
        let store = match &self.given {
            Some(given) => Arc::new(GivenStore::<R>::new(source.name(), &**given)) as ExternalSource<R>,
            None => store,
        };
        self.entries.push(Entry { source, contents: Contents::Resources(Arc::new(store)) });
    }

    /// The sources of another system's resources of type `R`, for a run of `reader`; conditional ones while they are synced.
    pub fn external<R: 'static>(&self, reader: &ObjectKey) -> impl Iterator<Item = ExternalSource<R>> {
        let conditional = self.conditional.readable(reader);
        let conditional =
            conditional.into_iter().flat_map(|sources| sources.own_external().collect::<Vec<_>>());
        self.own_external().chain(conditional)
    }

    /// Without the conditional ones.
    fn own_external<R: 'static>(&self) -> impl Iterator<Item = ExternalSource<R>> {
        self.entries.iter().filter_map(|entry| match &entry.contents {
            Contents::Resources(store) => store.downcast_ref::<ExternalSource<R>>().cloned(),
            Contents::Nothing | Contents::Objects(_) => None,
        })
    }

    /// Adds a source that runs only while some primary needs it.
    pub(crate) fn add_conditional(
        &mut self,
        declaration: Arc<dyn SourceDeclaration>,
        index: SourceIndex,
        wiring: &Wiring,
    ) {
        let conditional = Arc::get_mut(&mut self.conditional);
        let conditional = conditional.expect("nobody else holds the sources before they are complete");
        conditional.add(declaration, index, wiring.clone());
    }

    /// Lets runs add further ones, whose positions begin with `first`.
    pub(crate) fn accept_more(&mut self, wiring: &Wiring, first: usize) {
        if let Some(conditional) = Arc::get_mut(&mut self.conditional) {
            conditional.accept_more(wiring.clone(), first);
        }
    }

    /// Whether a source of that name is declared.
    pub(crate) fn declares(&self, name: &str) -> bool {
        self.all().any(|source| source.name() == name) || self.conditional.declares(name)
    }

    /// The sources that run only while some primary needs them.
    pub(crate) fn conditional(&self) -> &Arc<ConditionalSources> {
        &self.conditional
    }

    /// The sources of objects of type `K`, for a run of `reader`; conditional ones while they are synced, at least in
    /// the reader's namespace. For a `K` whose kind is known only at run time, such as `DynamicObject`, these are those
    /// of all kinds: see [`Sources::of_kind`].
    pub fn of_type<K: KubeObject>(
        &self,
        reader: &ObjectKey,
    ) -> impl Iterator<Item = Arc<SecondarySource<K>>> {
        self.of(RustType::of::<K>(), reader).filter_map(SecondarySource::of_any).map(Arc::new)
    }

    /// The same for a type that is known only at run time.
    pub(crate) fn of(&self, of: RustType, reader: &ObjectKey) -> impl Iterator<Item = Arc<AnySecondary>> {
        let mut conditional = self.conditional.readable(reader);
        conditional.extend(self.conditional.named().readable(self.scopes.of(reader)));
        let conditional =
            conditional.into_iter().flat_map(move |sources| sources.own_of(of).cloned().collect::<Vec<_>>());
        self.own_of(of).cloned().chain(conditional)
    }

    /// The source that is read for the object with that key: one that shows all objects where it is, or one that shows this
    /// object. Sources of named objects don't count.
    pub(crate) fn seer(
        &self,
        (of, kind): (RustType, &ResourceType),
        key: &ObjectKey,
        reader: &ObjectKey,
    ) -> Option<Arc<AnySecondary>> {
        let all: Vec<_> = self.of_this_kind(of, kind, reader).collect();
        let shows_all =
            |source: &&Arc<AnySecondary>| source.shows == Shows::All && source.informer().follows(key);
        let shows_it =
            |source: &&Arc<AnySecondary>| source.shows == Shows::Some && source.informer().contains(key);
        all.iter().find(shows_all).or_else(|| all.iter().find(shows_it)).cloned()
    }

    /// The only source of objects.
    pub(crate) fn only(&self) -> Option<Arc<AnySecondary>> {
        self.entries.iter().find_map(|entry| match &entry.contents {
            Contents::Objects(source) => Some(Arc::clone(source)),
            Contents::Nothing | Contents::Resources(_) => None,
        })
    }

    /// Without the conditional ones.
    fn own_of(&self, of: RustType) -> impl Iterator<Item = &Arc<AnySecondary>> {
        let objects = self.entries.iter().filter_map(|entry| match &entry.contents {
            Contents::Objects(source) => Some(source),
            Contents::Nothing | Contents::Resources(_) => None,
        });
        objects.filter(move |source| source.of == of)
    }

    /// The sources of a context without a cluster: nothing is known about any kind, and that isn't a mistake.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn offline() -> Self {
        Self { offline: true, ..Self::default() }
    }

    /// Whether there is a source of objects of this type; a conditional one counts even while it isn't running.
    pub(crate) fn watch(&self, of: RustType) -> bool {
        let named = || self.conditional.named().declares(of, None);
        let declared = || self.conditional.declare(|contents| contents.may_have(of)) || named();
        self.offline || self.own_of(of).next().is_some() || declared()
    }

    /// The same for objects of this kind.
    pub(crate) fn watch_kind(&self, of: RustType, kind: &ResourceType) -> bool {
        self.relate(of, kind) || self.conditional.named().declares(of, Some(kind))
    }

    /// Whether there is a source of objects of this kind, besides those of named objects.
    pub(crate) fn relate(&self, of: RustType, kind: &ResourceType) -> bool {
        let declared = || {
            self.conditional.declare(|contents| match contents {
                SourceContents::Objects { of: another, kind: other, .. } => {
                    *another == of && same_kind(other, kind)
                }
                contents => contents.may_have(of),
            })
        };
        let runs = || self.own_of(of).any(|source| same_kind(source.resource_type(), kind));
        self.offline || runs() || declared()
    }

    /// The sources of objects of type `K` that are of this group, version and kind.
    pub fn of_kind<K: KubeObject>(
        &self,
        kind: &ResourceType,
        reader: &ObjectKey,
    ) -> impl Iterator<Item = Arc<SecondarySource<K>>> {
        let sources = self.of_this_kind(RustType::of::<K>(), kind, reader);
        sources.filter_map(SecondarySource::of_any).map(Arc::new)
    }

    /// The same for a type that is known only at run time.
    pub(crate) fn of_this_kind(
        &self,
        of: RustType,
        kind: &ResourceType,
        reader: &ObjectKey,
    ) -> impl Iterator<Item = Arc<AnySecondary>> {
        self.of(of, reader).filter(|source| same_kind(source.resource_type(), kind))
    }

    /// The sources that `object` may come from: those of its type, and, if the type doesn't determine the kind, those
    /// of the kind in the object.
    pub(crate) fn of_object(
        &self,
        of: RustType,
        object: &dyn Object,
        reader: &ObjectKey,
    ) -> impl Iterator<Item = Arc<AnySecondary>> {
        let types = types_of(object.as_any()).cloned();
        // A watch for one object says nothing about others.
        let key = ObjectKey::in_meta(object.meta());
        let sees = move |source: &Arc<AnySecondary>| {
            source.shows != Shows::Named || source.informer().contains(&key)
        };
        self.of(of, reader).filter(sees).filter(move |source| {
            let of = source.resource_type();
            types
                .as_ref()
                .is_none_or(|types| types.api_version == of.api_version() && types.kind == of.kind())
        })
    }

    /// The source of that name, if it is one of objects of type `K`.
    #[must_use]
    pub fn named<K: KubeObject>(&self, name: &str, reader: &ObjectKey) -> Option<Arc<SecondarySource<K>>> {
        let source = self.named_of(RustType::of::<K>(), name, reader);
        source.and_then(SecondarySource::of_any).map(Arc::new)
    }

    /// The same for a type that is known only at run time.
    pub(crate) fn named_of(&self, of: RustType, name: &str, reader: &ObjectKey) -> Option<Arc<AnySecondary>> {
        self.of(of, reader).find(|source| source.name() == name)
    }

    /// All sources of any type that run as long as the controller does.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn EventSource>> {
        self.entries.iter().map(|entry| &entry.source)
    }
}

fn same_kind(one: &ResourceType, other: &ResourceType) -> bool {
    (one.group(), one.version(), one.kind()) == (other.group(), other.version(), other.kind())
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.all().map(|source| source.name())).finish()
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::{ApiResource, DynamicObject, GroupVersionKind, TypeMeta};

    use super::*;
    use crate::{
        event_source::{
            InformerEventSource, SourceDeclaration,
            function::FunctionEventSource,
            wiring_for_tests::{Recorder, wiring},
        },
        observe::SourceIndex,
    };

    fn untyped(group: &str, kind: &str) -> (InformerEventSource<DynamicObject>, ResourceType) {
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
        let kind = ResourceType::with::<DynamicObject>(&resource);
        (InformerEventSource::of_type(resource), kind)
    }

    #[tokio::test]
    async fn untyped_sources_are_told_apart_by_their_kind() {
        let wiring = wiring(Arc::new(Recorder::default()), &[]);
        let ((pods, pod), (certificates, certificate)) =
            (untyped("", "Pod"), untyped("example.com", "Certificate"));
        let declarations: [Box<dyn SourceDeclaration>; 4] = [
            Box::new(FunctionEventSource::new("own", |_| async {})),
            Box::new(InformerEventSource::<ConfigMap>::new()),
            Box::new(pods),
            Box::new(certificates.cluster_scoped()),
        ];
        let mut sources = Sources::default();
        for declaration in &declarations {
            declaration.build(SourceIndex(0), &wiring, &mut sources);
        }
        let reader = ObjectKey::namespaced("shop", "a");
        assert_eq!(format!("{sources:?}"), r#"["own", "ConfigMap", "Pod", "Certificate"]"#);
        assert_eq!(sources.of_type::<ConfigMap>(&reader).count(), 1);
        assert_eq!(sources.of_type::<DynamicObject>(&reader).count(), 2);
        let found: Vec<_> = sources.of_kind::<DynamicObject>(&certificate, &reader).collect();
        assert_eq!(found.iter().map(|source| source.name()).collect::<Vec<_>>(), ["Certificate"]);
        assert!(!found[0].resource_type().is_namespaced());
        assert_eq!(sources.of_kind::<DynamicObject>(&pod, &reader).count(), 1);
        assert!(sources.named::<DynamicObject>("ConfigMap", &reader).is_none(), "it is not one of that type");

        let mut object = DynamicObject::new("a", &ApiResource::erase::<ConfigMap>(&()));
        assert_eq!(sources.of_object(RustType::of::<DynamicObject>(), &object, &reader).count(), 0);
        object.types = Some(TypeMeta { api_version: "example.com/v1".into(), kind: "Certificate".into() });
        let found = sources.of_object(RustType::of::<DynamicObject>(), &object, &reader).next();
        assert_eq!(found.as_ref().map(|source| source.name()), Some("Certificate"));
    }
}
