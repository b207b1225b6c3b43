//! The settings of a dependent in the cluster, whether it is one object or several.

use std::sync::Arc;

use kube::core::DynamicObject;

use super::Adoption;
use crate::{
    dependent::{
        Asked, Capabilities, Declaration, DependentSource, Error, OfKind, Pruning, Reading, Unsound,
        matcher::Matcher,
    },
    event_source::{InformerEventSource, RustType, SourceDeclaration},
    operations::PropagationPolicy,
    reconciler::BoxError,
    resource::{
        Access, AnyObject, Draft, KubeObject, MappingAnnotations, Object, ResourceType, is_qualified_name,
    },
    results::Secondary,
};

/// The settings of a declaration.
pub(crate) struct ObjectSettings<K: KubeObject> {
    pub(crate) name: Arc<str>,
    pub(crate) cluster_scoped: bool,
    pub(crate) capabilities: Capabilities,
    pub(crate) source: SourceChoice<K>,
    pub(crate) matcher: Matcher<K>,
    pub(crate) rules: WriteRules,
    pub(crate) annotations: Option<MappingAnnotations>,
    /// Whether it stands for nodes that the controller no longer has.
    pub(in crate::dependent) is_former: bool,
}

/// What the declaration of a dependent says about its objects, whatever their kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct WriteRules {
    /// The operator's setting, if the declaration has none.
    pub(crate) use_ssa: Option<bool>,
    pub(crate) adoption: Adoption,
    pub(crate) prunes_data: bool,
    pub(crate) recreates: bool,
    pub(crate) propagation: Option<PropagationPolicy>,
    /// The prefixes of managers whose fields become ours with each change.
    pub(crate) takes_from: &'static [&'static str],
    pub(crate) detects_version: bool,
    /// Decides instead of the matcher.
    pub(crate) judge: Option<Judge>,
    /// The key of a Job, which decides about its name: each key has a Job of its own.
    pub(crate) once_per: Option<FromPrimary<String>>,
    /// What its function wants is changed by these, one after the other.
    pub(crate) changes: Vec<Changes>,
    /// Whether its objects keep the ids of records.
    pub(in crate::dependent) keeps_ids: bool,
}

impl<K: KubeObject> ObjectSettings<K> {
    pub(crate) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            cluster_scoped: false,
            capabilities: Capabilities::CRUD,
            source: SourceChoice::OfKind,
            matcher: Matcher::Auto,
            rules: WriteRules::default(),
            annotations: None,
            is_former: false,
        }
    }

    /// The same for objects of a kind that is known only at run time: from the informer that all nodes of that kind share, and
    /// compared as the framework compares.
    pub(in crate::dependent) fn untyped(&self) -> ObjectSettings<DynamicObject> {
        ObjectSettings {
            capabilities: self.capabilities,
            rules: WriteRules { judge: None, ..self.rules.clone() },
            is_former: self.is_former,
            ..ObjectSettings::new(Arc::clone(&self.name))
        }
    }

    /// Finishes the declaration, of this kind.
    pub(in crate::dependent) fn finish(self, dynamic: K::DynamicType) -> Managed {
        let kind = ResourceType::with::<K>(&dynamic);
        let kind = if self.cluster_scoped { kind.cluster_scoped() } else { kind };
        let source =
            self.source.finish(&self.name, &kind, dynamic, self.annotations.as_ref(), self.capabilities);
        // An object that can't be created again isn't deleted.
        let recreates = self.rules.recreates && self.capabilities.creates;
        Managed {
            of: RustType::of::<K>(),
            kind,
            capabilities: self.capabilities,
            source,
            matcher: self.matcher.erased(),
            rules: WriteRules { recreates, ..self.rules },
            annotations: self.annotations.unwrap_or_default(),
            is_former: self.is_former,
        }
    }
}

/// The settings of a dependent's informer.
pub(crate) enum SourceChoice<K: KubeObject> {
    /// The informer of all dependents of this kind that have no other requirements; named after the kind. If they
    /// write, it shows only what the controller's dependents have written.
    OfKind,
    /// A separate informer; named after the dependent unless it has a name.
    Own(Box<InformerEventSource<K>>),
    /// An event source that is declared elsewhere under that name.
    Named(Arc<str>),
}

/// The event source of a finished declaration.
#[derive(Debug)]
pub(in crate::dependent) struct Source {
    pub(in crate::dependent) name: Arc<str>,
    /// Whether it is any source that sees an object, or else a watch for its key.
    pub(in crate::dependent) is_by_key: bool,
    /// Unless the source is declared elsewhere.
    pub(in crate::dependent) declared: Option<DependentSource>,
}

impl<K: KubeObject> SourceChoice<K> {
    fn finish(
        self,
        dependent: &str,
        kind: &ResourceType,
        dynamic: K::DynamicType,
        annotations: Option<&MappingAnnotations>,
        capabilities: Capabilities,
    ) -> Source {
        // A dependent that may create learns of other objects with the name when it tries to create its own.
        let creates = capabilities.creates;
        let marked = matches!(self, Self::OfKind) && (creates || capabilities.only_deletes());
        let (source, own) = match self {
            Self::Named(name) => return Source { name, declared: None, is_by_key: false },
            Self::Own(source) => (*source, true),
            // The shared informer only knows the default annotations.
            Self::OfKind => (InformerEventSource::<K>::of_type(dynamic), annotations.is_some()),
        };
        let source = if kind.is_namespaced() { source } else { source.cluster_scoped() };
        let source = if marked { source.marked() } else { source };
        let is_by_key = !own && !capabilities.can_write() && !capabilities.deletes;
        let source = match own {
            true => source.name_by_default(dependent),
            // Kinds of several groups may have one name, and a type of their own, whose source has that name.
            false if RustType::of::<K>() == RustType::of::<DynamicObject>() => {
                let group = if kind.group().is_empty() { "core" } else { kind.group() };
                source.name_by_default(&format!("{}.{group}", kind.kind()))
            }
            false => source,
        };
        let source = match annotations {
            Some(keys) => source.map_by_annotations_by_default(keys),
            None => source,
        };
        if is_by_key {
            let source = source.by_key();
            let name = Arc::from(source.name());
            return Source { name, declared: Some(DependentSource::by_key(Arc::new(source))), is_by_key };
        }
        let name = Arc::from(SourceDeclaration::name(&source));
        let source = Arc::new(source);
        let declared = if own { DependentSource::own(source) } else { DependentSource::shared(source) };
        Source { name, declared: Some(declared), is_by_key }
    }
}

/// A comparison by the user: whether the actual object, the first one, is as desired, for this primary in this run.
#[derive(Clone)]
pub(crate) struct Judge(pub(crate) Arc<Judging>);

type Judging = dyn Fn(&dyn Object, &dyn Object, Asked<'_>) -> bool + Send + Sync;

debug_of!(Judge: "Judge(..)");

/// A function of the primary, whose type is the node's.
#[derive(Clone)]
pub(crate) struct FromPrimary<T>(Arc<Function<T>>);

type Function<T> = dyn Fn(&AnyObject) -> Option<T> + Send + Sync;

impl<T> FromPrimary<T> {
    pub(crate) fn new<P: KubeObject>(function: impl Fn(&P) -> T + Send + Sync + 'static) -> Self {
        Self(Arc::new(move |primary| Some(function(primary.typed_ref()?))))
    }

    /// Its answer; `None` if the primary is of another type.
    pub(in crate::dependent) fn of(&self, primary: &AnyObject) -> Option<T> {
        (self.0)(primary)
    }
}

debug_of!(FromPrimary<T> [T]: "FromPrimary(..)");

/// A change of an object that a function wants.
#[derive(Clone)]
pub(crate) struct Changes(pub(crate) Arc<Changing>);

type Changing = dyn Fn(&mut dyn Draft, Asked<'_>) -> Result<(), BoxError> + Send + Sync;

debug_of!(Changes: "Changes(..)");

/// Objects of one kind that are managed for primaries.
#[derive(Debug)]
pub(in crate::dependent) struct Managed {
    pub(super) of: RustType,
    pub(in crate::dependent) kind: ResourceType,
    pub(in crate::dependent) capabilities: Capabilities,
    pub(in crate::dependent) source: Source,
    pub(super) matcher: Matcher<dyn Object>,
    pub(super) rules: WriteRules,
    pub(super) annotations: MappingAnnotations,
    pub(super) is_former: bool,
}

impl Managed {
    /// Removes the leftovers of nodes that the controller no longer has.
    pub(in crate::dependent) async fn prune(
        &self,
        asked: Asked<'_>,
        pruning: Pruning<'_>,
    ) -> Result<usize, Error> {
        // The source of a node that takes part under a condition may not be running.
        if !self.capabilities.deletes || self.source(asked.context).is_err() {
            return Ok(0);
        }
        self.hold(asked, None).await?;
        self.of_primary(asked)?.prune(None, pruning).await
    }

    /// What is known about a dependent that manages one object for each primary.
    pub(in crate::dependent) fn declaration(&self) -> Declaration {
        Declaration {
            capabilities: self.capabilities,
            event_sources: self.source.declared.iter().cloned().collect(),
            access: self.access(),
            objects: Some(OfKind { kind: self.kind.clone(), source: Arc::clone(&self.source.name) }),
            reads: vec![Reading {
                source: Arc::clone(&self.source.name),
                of: self.of,
                kind: self.kind.clone(),
                is_by_key: self.source.is_by_key,
            }],
            unsound: self.unsound(),
            ..Declaration::default()
        }
    }

    /// The mistake in the keys of annotations.
    fn unsound(&self) -> Option<Unsound> {
        let wrong = self.annotations.keys().find(|key| !is_qualified_name(&key.to_lowercase()))?;
        Some(Unsound {
            what: "names its primary in an annotation that the server doesn't accept",
            why: format!("`{wrong}` can't be the key of an annotation"),
            write: "`.mapping_annotations(MappingAnnotations::new(\"example.com/name\", \"example.com/namespace\"))`",
        })
    }

    /// An object in the form of results.
    pub(in crate::dependent) fn secondary(&self, object: AnyObject) -> Secondary {
        Secondary::of_any(object, self.kind.clone())
    }

    /// Whether it neither creates nor updates: then it has no desired state.
    pub(in crate::dependent) const fn is_read_only(&self) -> bool {
        !self.capabilities.can_write()
    }

    /// The rights that are needed to write, as declared or as the operator does. Written objects are also read, if a
    /// creation meets an existing object, or a deletion is refused.
    fn access(&self) -> Vec<Access> {
        let (capabilities, use_ssa) = (self.capabilities, self.rules.use_ssa.unwrap_or(true));
        let mut verbs = Vec::new();
        if capabilities.can_write() || capabilities.deletes {
            verbs.push("get");
        }
        // An apply may also create, even if it is meant to update.
        if capabilities.creates || (capabilities.updates && use_ssa) {
            verbs.push("create");
        }
        if use_ssa && verbs.contains(&"create") {
            verbs.push("patch");
        } else if capabilities.updates {
            verbs.push("update");
        }
        // Owner and marks are kept up by patches, however the content is written.
        if capabilities.can_write() && !verbs.contains(&"patch") {
            verbs.push("patch");
        }
        if capabilities.deletes || self.rules.recreates {
            verbs.push("delete");
        }
        if verbs.is_empty() {
            return Vec::new();
        }
        vec![Access { resource_type: self.kind.clone(), subresource: None, verbs }]
    }
}

/// The methods that set a node's settings.
macro_rules! settings {
    ($resource:ty) => {
        /// Declares that objects of this type have no namespace. Needed only if the type is known only at run time;
        /// other types know this themselves.
        pub fn cluster_scoped(mut self) -> Self {
            self.settings.cluster_scoped = true;
            self
        }

        /// Uses the event source that the controller, or another dependent, declares under that name. By default all
        /// dependents of a kind share one informer. JOSDK's `useEventSourceWithName`.
        pub fn event_source(mut self, name: impl Into<std::sync::Arc<str>>) -> Self {
            self.settings.source = $crate::dependent::object::SourceChoice::Named(name.into());
            self
        }

        /// Watches with its own informer, with its own selectors, namespaces, filters or mapper. It has the name of the
        /// dependent unless it has its own. JOSDK: `@Informer` on a dependent.
        pub fn informer(mut self, source: $crate::event_source::InformerEventSource<$resource>) -> Self {
            self.settings.source = $crate::dependent::object::SourceChoice::Own(Box::new(source));
            self
        }

        /// Whether it is written by server-side apply; otherwise it is created by POST and replaced by PUT. By default as the
        /// operator says, which is by apply for every kind: see
        /// [`OperatorBuilder::use_ssa_for_dependents`](crate::OperatorBuilder::use_ssa_for_dependents). JOSDK's `useSSA`, whose
        /// default is `false` for ConfigMaps and Secrets.
        pub fn use_ssa(mut self, use_ssa: bool) -> Self {
            self.settings.rules.use_ssa = Some(use_ssa);
            self
        }

        /// Which existing objects are taken over if they have a wanted name, and have no owner or another one. By
        /// default none are: that is an [`Error::Conflict`](crate::dependent::Error::Conflict), which names the owner.
        /// JOSDK: `createResourceOnlyIfNotExistingWithSSA`, inverted.
        pub fn adopt(mut self, adoption: $crate::dependent::Adoption) -> Self {
            self.settings.rules.adoption = adoption;
            self
        }

        /// Deletes an object that is replaced by one with another name even if its data is lost. By default a
        /// PersistentVolumeClaim, a Namespace and a definition stay, with a warning.
        pub fn prune_data(mut self) -> Self {
            self.settings.rules.prunes_data = true;
            self
        }

        /// Deletes an object that can't be changed as desired, because the server says that the fields in question are
        /// immutable (a Deployment's selector, a Job's template), and creates it again. Without this it is an error
        /// that names this setting. What the object holds is lost: don't use it for volume claims.
        pub fn recreate_when_immutable(mut self) -> Self {
            self.settings.rules.recreates = true;
            self
        }

        /// What becomes of what an object owns when the object is deleted, also to be created again. By default it goes in the
        /// background; with `Foreground` the object is gone when all of that is; with `Orphan` it stays: a StatefulSet that is
        /// recreated takes its Pods over.
        pub fn propagation(mut self, policy: $crate::operations::PropagationPolicy) -> Self {
            self.settings.rules.propagation = Some(policy);
            self
        }

        /// Writes an object once more if it was last written in another version of its API, or if that isn't known,
        /// whatever the matcher says: its fields may mean something else now. The version is kept in the object, in the
        /// annotation [`MarkNames::api_version`](crate::resource::MarkNames::api_version). JOSDK:
        /// `detectApiVersionChange`.
        pub fn detect_api_version_change(mut self) -> Self {
            self.settings.rules.detects_version = true;
            self
        }

        /// How to decide whether an object is as desired; by default as
        /// [`Matcher::Auto`](crate::dependent::matcher::Matcher::Auto) says.
        pub fn matcher(mut self, matcher: $crate::dependent::matcher::Matcher<$resource>) -> Self {
            self.settings.matcher = matcher;
            self.settings.rules.judge = None;
            self
        }

        /// Uses annotations with these keys, instead of the default ones, to record which primary an object without an
        /// owner reference belongs to. Unless an informer is set, it is then watched by its own informer.
        pub fn mapping_annotations(mut self, keys: $crate::resource::MappingAnnotations) -> Self {
            self.settings.annotations = Some(keys);
            self
        }
    };
}

pub(crate) use settings;
