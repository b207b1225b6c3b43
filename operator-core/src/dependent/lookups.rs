//! Objects of any kinds that a function reads by their keys while it makes others.
//!
//! ```text
//! begin ─▶ get(kind, key) … ─▶ finish: what wasn't asked for in this run is watched no longer
//!              └▶ a watch for the key, shared with all nodes that read it: its events trigger the primary
//! ```
//!
//! # Guarantees
//! - What is watched isn't read again: a run that asks for the same objects sends no request.
//! - A run that fails before its end gives up none of what earlier runs have asked for.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use kube::core::DynamicObject;

use super::{Asked, Capabilities, Error, ObjectSettings, object::Managed};
use crate::{
    error::Waiting,
    event_source::ScopeSlot,
    reconciler::{AnyContext, BoxError, Context},
    resource::{KubeObject, ObjectKey, ResourceType},
};

/// How long a run waits for the first state of an object.
const PATIENCE: Duration = Duration::from_secs(5);
/// When a run that has waited in vain is tried again, unless the watch triggers it before.
const AGAIN: Duration = Duration::from_secs(30);

/// Reads objects of any kinds by their keys, for one node: each is watched as long as the node asks for it, and its events trigger
/// the primary, as with [`Read`](super::Read).
///
/// ```
/// use operator_core::{BoxError, dependent::Lookups, prelude::*, resource::KubeObject};
///
/// /// Whether a class of Ingress exists.
/// async fn exists<P: KubeObject>(lookups: &Lookups, cx: &Context<P>, class: &str) -> Result<bool, BoxError> {
///     lookups.begin(cx);
///     let key = ObjectKey::cluster_scoped(class);
///     let found = lookups.get(cx, ("networking.k8s.io/v1", "IngressClass"), &key).await?;
///     lookups.finish(cx);
///     Ok(found.is_some())
/// }
/// ```
pub struct Lookups {
    place: ScopeSlot,
}

debug_of!(Lookups: "Lookups");

/// What a primary's node looks up.
#[derive(Default)]
struct Places(BTreeMap<(String, String, ObjectKey), Place>);

struct Place {
    slot: ScopeSlot,
    managed: Arc<Managed>,
    is_asked: bool,
}

impl Default for Lookups {
    fn default() -> Self {
        Self { place: ScopeSlot::unique() }
    }
}

impl Lookups {
    /// Begins a run of the node.
    pub fn begin<P: KubeObject>(&self, cx: &Context<P>) {
        let begin = |places: &mut Places| {
            places.0.values_mut().for_each(|place| place.is_asked = false);
        };
        cx.any().scope().slot(self.place).look(begin);
    }

    /// The object of this version and kind with this key; `None` if it, or its kind, doesn't exist.
    ///
    /// # Errors
    /// If that isn't known yet: the run is repeated when it is. If nothing can have such a key, a permanent one.
    pub async fn get<P: KubeObject>(
        &self,
        cx: &Context<P>,
        (api_version, kind): (&str, &str),
        key: &ObjectKey,
    ) -> Result<Option<Arc<DynamicObject>>, BoxError> {
        let context = cx.any();
        let (discovery, subscriber) = context.shared().workflows.discovery()?;
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let Some(served) = discovery.find((group, Some(version), kind), subscriber).await? else {
            return Ok(None);
        };
        let Some((slot, managed)) = self.place(context, &served, key) else { return Ok(None) };
        let primary = context.primary().ok_or("the primary isn't known")?;
        let node = cx.node().unwrap_or_default();
        let asked = Asked { node, primary: &primary, context, may_call: false };
        let mut found = managed.found(key, asked, slot).await.map_err(Error::boxed)?;
        if found.is_err() {
            let named = context.shared().sources.conditional().named();
            named.wait(&managed.source.name, key, context.scope(), PATIENCE).await;
            found = managed.found(key, asked, slot).await.map_err(Error::boxed)?;
        }
        let found = found.map_err(|why| Waiting::again_in(AGAIN, "Syncing", why))?;
        let object = found.and_then(|object| object.into_any().downcast::<DynamicObject>().ok());
        Ok(object.map(|mut object| {
            Arc::make_mut(&mut object).types = Some(served.types());
            object
        }))
    }

    /// Ends a run of the node that has succeeded: what it hasn't asked for triggers it no longer.
    pub fn finish<P: KubeObject>(&self, cx: &Context<P>) {
        let context = cx.any();
        let over = |places: &mut Places| {
            let places = &mut places.0;
            let (kept, over) = std::mem::take(places).into_iter().partition(|(_, place)| place.is_asked);
            *places = kept;
            over
        };
        let over: BTreeMap<_, Place> = context.scope().slot(self.place).look(over).unwrap_or_default();
        let Some(primary) = context.primary().filter(|_| !over.is_empty()) else { return };
        let asked =
            Asked { node: cx.node().unwrap_or_default(), primary: &primary, context, may_call: false };
        for place in over.into_values() {
            place.managed.name(None, false, asked, place.slot);
        }
    }

    /// Where the primary notes that it reads this object, and how it is read; `None` if the primary is gone.
    fn place(
        &self,
        context: &AnyContext,
        kind: &ResourceType,
        key: &ObjectKey,
    ) -> Option<(ScopeSlot, Arc<Managed>)> {
        let place = context.scope().slot(self.place);
        let name = (kind.group().to_owned(), kind.kind().to_owned(), key.clone());
        let again = |places: &mut Places| {
            let known = places.0.get_mut(&name).filter(|known| known.managed.kind == *kind)?;
            known.is_asked = true;
            Some((known.slot, Arc::clone(&known.managed)))
        };
        if let Some(known) = place.look(again).flatten() {
            return Some(known);
        }
        let mut settings = ObjectSettings::<DynamicObject>::new("lookups".into());
        settings.capabilities = Capabilities::READ_ONLY;
        settings.cluster_scoped = !kind.is_namespaced();
        let managed = Arc::new(settings.finish(kind.api_resource()));
        if let Some(source) = managed.source.declared.as_ref().and_then(|source| source.by_key.as_deref()) {
            context.shared().sources.conditional().name_late(source);
        }
        place.change(|places: &mut Places| {
            let slot = places.0.get(&name).map_or_else(ScopeSlot::unique, |known| known.slot);
            places.0.insert(name, Place { slot, managed: Arc::clone(&managed), is_asked: true });
            (slot, managed)
        })
    }
}
