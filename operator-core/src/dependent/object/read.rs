//! Objects that a node only reads.
//!
//! ```text
//! key ─▶ a source of the controller that sees it ─── none ──▶ a watch for this key ──▶ known? ─▶ the object, or none
//!          └──────────────────────────────────────────────────────────────────────────────────▶
//! no key ─▶ all sources of the kind ──▶ what they relate to the primary
//! ```

use std::sync::Arc;

use super::settings::Managed;
use crate::{
    cache::wrong_namespace,
    dependent::{Asked, Error},
    event_source::{AnySecondary, ScopeSlot, Shows},
    operations,
    reconciler::{AnyContext, distinct},
    resource::{AnyObject, ObjectKey, can_be_name},
};

impl Managed {
    /// The object with that key, whatever it belongs to; or why it isn't known yet whether there is one. From now on its
    /// events trigger the primary.
    pub(in crate::dependent) async fn found(
        &self,
        key: &ObjectKey,
        asked: Asked<'_>,
        place: ScopeSlot,
    ) -> Result<Result<Option<AnyObject>, String>, Error> {
        let context = asked.context;
        self.check(key, asked)?;
        // If a sibling makes it later in this run, another run looks again.
        context.findings().note_asked(&self.kind, Some(key), asked.node);
        let seer = match self.source.is_by_key {
            true => self.seer(key, context),
            false => Some(self.followed(key, context)?),
        };
        let is_watched = seer.is_none() && self.source.is_by_key;
        self.name(Some(key), is_watched, asked, place);
        let seen = match seer {
            Some(seer) if seer.informer().is_synced_for(key) => seer,
            Some(seer) => {
                return Ok(Err(self.unknown(key, &format!("informer of {} is syncing", seer.name()))));
            }
            None if context.shared().sources.offline => return Ok(Ok(None)),
            None => {
                let named = context.shared().sources.conditional().named();
                let seen = named.seen(&self.source.name, key, context.scope()).await;
                let not_read = |source| operations::Error::NotFetched {
                    kind: self.kind.clone(),
                    key: key.clone(),
                    source,
                };
                match seen.map_err(not_read)? {
                    Ok(seen) => seen,
                    Err(why) => return Ok(Err(self.unknown(key, &why))),
                }
            }
        };
        context.hold(seen.informer(), vec![key.clone()]).await?;
        let found = context.shown(&seen, seen.get(key).transpose().into_iter(), Some(asked.node));
        Ok(Ok(found.map_err(operations::Error::from)?.pop()))
    }

    fn unknown(&self, key: &ObjectKey, why: &str) -> String {
        format!("{} {key} isn't known yet: {why}", self.kind)
    }

    /// The source that sees an object, without a watch of its own.
    pub(super) fn seer(&self, key: &ObjectKey, context: &AnyContext) -> Option<Arc<AnySecondary>> {
        if !self.source.is_by_key {
            return self.followed(key, context).ok();
        }
        context.shared().sources.seer((self.of, &self.kind), key, context.primary_key())
    }

    /// From now on the node names this object for the primary, and no other one.
    pub(in crate::dependent) fn name(
        &self,
        key: Option<&ObjectKey>,
        is_watched: bool,
        asked: Asked<'_>,
        place: ScopeSlot,
    ) {
        let (context, of) = (asked.context, (&self.source.name, &self.kind));
        context.shared().sources.conditional().named().name((context.scope(), place), of, key, is_watched);
    }

    /// Whether an object can have that key, and a node can read it.
    fn check(&self, key: &ObjectKey, asked: Asked<'_>) -> Result<(), Error> {
        let why = match (key.namespace(), self.kind.is_namespaced()) {
            _ if !can_be_name(&self.kind, key.name()) => "no object of this kind can have that name",
            (None, true) => "an object of this kind has a namespace",
            (Some(_), false) => "an object of this kind has no namespace",
            (Some(namespace), true) if wrong_namespace(namespace).is_some() => {
                "no namespace can have that name"
            }
            _ if self.kind == *asked.context.primary_type() && key == asked.context.primary_key() => {
                "that is its own primary, which it gets as an argument"
            }
            _ => return Ok(()),
        };
        let (node, kind, key) = (asked.node.to_owned(), self.kind.clone(), key.clone());
        Err(Error::Unreadable { node, kind, key, why })
    }

    /// All objects of the primary, however they are related to it.
    pub(in crate::dependent) async fn all_found(&self, asked: Asked<'_>) -> Result<Vec<AnyObject>, Error> {
        let (context, primary) = (asked.context, asked.context.primary_key());
        context.findings().note_asked(&self.kind, None, asked.node);
        let sources: Vec<_> = match self.source.is_by_key {
            true => {
                let all = context.shared().sources.of_this_kind(self.of, &self.kind, primary);
                all.filter(|source| source.shows != Shows::Named).collect()
            }
            false => vec![self.source(context)?],
        };
        if sources.is_empty() && !context.shared().sources.relate(self.of, &self.kind) {
            return Err(Error::Unrelated { node: asked.node.to_owned(), kind: self.kind.clone() });
        }
        for source in &sources {
            context.hold(source.informer(), source.keys_of(primary)).await?;
        }
        let all =
            |source: &AnySecondary| context.shown(source, source.secondaries_of(primary), Some(asked.node));
        Ok(distinct(sources.into_iter(), all).map_err(operations::Error::from)?)
    }
}
