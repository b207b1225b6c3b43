//! The source from which a dependent's objects are read.

use std::{collections::BTreeSet, sync::Arc};

use futures::FutureExt;

use super::settings::Managed;
use crate::{
    dependent::{Asked, Capabilities, DependentSource, Error},
    event_source::{AnySecondary, InformerEventSource, OWNER_INDEX, SourceDeclaration},
    operations,
    reconciler::AnyContext,
    resource::{AnyObject, KubeObject, MappingAnnotations, ObjectKey, ResourceType, label_value},
    results::Secondary,
};

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
    /// Unless it is declared elsewhere.
    pub(in crate::dependent) declared: Option<DependentSource>,
}

impl<K: KubeObject> SourceChoice<K> {
    pub(super) fn finish(
        self,
        dependent: &str,
        kind: &ResourceType,
        dynamic: K::DynamicType,
        annotations: Option<&MappingAnnotations>,
        capabilities: Capabilities,
    ) -> Source {
        // What may create learns of whatever else has the name when it tries to.
        let creates = capabilities.can_create();
        let marked = matches!(self, Self::OfKind) && (creates || capabilities.only_deletes());
        let (source, own) = match self {
            Self::Named(name) => return Source { name, declared: None },
            Self::Own(source) => (*source, true),
            // The shared one knows the default annotations only.
            Self::OfKind => (InformerEventSource::<K>::of_type(dynamic), annotations.is_some()),
        };
        let source = if kind.is_namespaced() { source } else { source.cluster_scoped() };
        let source = if marked { source.marked() } else { source };
        let source = if own { source.name_by_default(dependent) } else { source };
        let source = match annotations {
            Some(keys) => source.map_by_annotations_by_default(keys),
            None => source,
        };
        let name = Arc::from(SourceDeclaration::name(&source));
        let source = Arc::new(source);
        let declared = if own { DependentSource::own(source) } else { DependentSource::shared(source) };
        Source { name, declared: Some(declared) }
    }
}

impl Managed {
    /// The running event source.
    pub(in crate::dependent) fn source(&self, context: &AnyContext) -> Result<Arc<AnySecondary>, Error> {
        let name = &*self.source.name;
        let source = context.event_source(self.of, name).filter(|source| {
            let (of, wanted) = (source.resource_type(), &self.kind);
            (of.group(), of.kind()) == (wanted.group(), wanted.kind())
        });
        Ok(source.ok_or_else(|| operations::Error::UnknownEventSource {
            name: name.to_owned(),
            kind: self.kind.kind().to_owned(),
        })?)
    }

    /// Has a bounded event source hold what a node reads for the primary, and these keys, until the run ends.
    pub(in crate::dependent) async fn hold(
        &self,
        asked: Asked<'_>,
        wanted: impl IntoIterator<Item = &ObjectKey> + Send,
    ) -> Result<(), Error> {
        // One that doesn't run is the trouble of whoever reads it.
        let Ok(source) = self.source(asked.context) else { return Ok(()) };
        let informer = source.informer();
        if !informer.is_bounded() {
            return Ok(());
        }
        let mut keys: BTreeSet<ObjectKey> = wanted.into_iter().cloned().collect();
        keys.extend(source.keys_of(asked.context.primary_key()));
        if let Some(uid) = asked.primary.meta().uid.as_deref() {
            keys.extend(informer.keys_by_index(OWNER_INDEX, &label_value(uid)));
        }
        Ok(asked.context.hold(informer, keys.into_iter().collect()).boxed().await?)
    }

    /// The running event source, if it follows that key and has seen what exists.
    pub(super) fn followed(&self, key: &ObjectKey, context: &AnyContext) -> Result<Arc<AnySecondary>, Error> {
        let source = self.source(context)?;
        let named = || (self.kind.clone(), key.clone(), Arc::clone(&self.source.name));
        if !source.informer().follows(key) {
            let (kind, key, source_name) = named();
            return Err(Error::NotWatched { kind, key, source_name });
        }
        // In a namespace that is not listed yet, what is there would count as missing.
        if !source.informer().is_synced_for(key) {
            let (kind, key, source_name) = named();
            return Err(Error::NotSynced { kind, key, source_name });
        }
        Ok(source)
    }

    /// The newest known state of an object that was written or found. One of that name that was made since is another one.
    pub(in crate::dependent) fn newest(&self, of: &Secondary, context: &AnyContext) -> Option<AnyObject> {
        let meta = of.meta()?;
        let key = ObjectKey::in_meta(meta);
        let newest = self.followed(&key, context).ok()?.informer().lazy(&key)?;
        (newest.meta().uid == meta.uid).then_some(newest)
    }

    /// The object with that key, which is only read, if it belongs to the primary.
    pub(super) fn found(&self, key: &ObjectKey, asked: Asked<'_>) -> Result<Option<AnyObject>, Error> {
        let source = self.followed(key, asked.context)?;
        let is_primarys = |found: &AnyObject| {
            self.names_owner(&**found, asked) || source.relates(asked.context.primary_key(), key)
        };
        Ok(source.get(key).map_err(operations::Error::from)?.filter(is_primarys))
    }

    /// All objects of the primary, however they are related to it. For those that are only read.
    pub(in crate::dependent) fn all_found(&self, context: &AnyContext) -> Result<Vec<AnyObject>, Error> {
        let found: Result<_, _> = self.source(context)?.secondaries_of(context.primary_key()).collect();
        Ok(found.map_err(operations::Error::from)?)
    }
}
