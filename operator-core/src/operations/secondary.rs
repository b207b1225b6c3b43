//! Writes of objects that a controller is responsible for beside its primaries.

use std::{any::type_name, sync::Arc};

use serde_json::{Value, json};

use super::{
    Error, Writer, body,
    matcher::{Match, matches_applied},
    writer::{Verb, Write},
};
use crate::{
    event_source::{SecondarySource, Sources},
    resource::{KubeObject, ObjectKey},
};

/// Writes secondaries: what nothing differs in is not sent, what is sent can be read at once, and its echo wakes
/// nobody. Got from the context of a run. Answers to JOSDK's `ResourceOperations`.
#[derive(Debug)]
pub struct ResourceOperations<'c> {
    primary: &'c ObjectKey,
    sources: &'c Sources,
    writer: &'c Writer,
}

impl<'c> ResourceOperations<'c> {
    pub(crate) fn new(primary: &'c ObjectKey, sources: &'c Sources, writer: &'c Writer) -> Self {
        Self { primary, sources, writer }
    }

    /// Brings an object into the desired state by server-side apply: creates it, changes the fields that `desired`
    /// names, and removes those that an earlier desired state named and this one doesn't. Fields of others stay.
    ///
    /// Makes no request where the cached object already is as desired. Where somebody else has changed the object in
    /// the meantime, the apply is repeated without a filter, so that their change wakes the primary.
    ///
    /// # Errors
    /// When the controller has no event source for the type, or the server refuses.
    pub async fn server_side_apply<K: KubeObject>(&self, desired: &K) -> Result<Arc<K>, Error> {
        let source = self.source(desired)?;
        let kind = source.resource_type();
        let key = body::target(desired, kind)?;
        let desired = body::applied(desired, kind)?;
        if let Some(actual) = source.informer().get(&key)
            && self.is_applied(&desired, &*actual, kind)?
        {
            self.writer.matched(self.primary, kind, &key, None);
            return Ok(actual);
        }
        let write = source.begin_write(&key);
        let base = write.base();
        let mut locked = desired.clone();
        body::lock(&mut locked, body::version_of(base.as_deref()));
        match self.send(source, Verb::Apply, &key, &locked, base.as_deref()).await {
            Ok(answer) => Ok(write.wrote(answer)),
            Err(error) if error.is_conflict() => {
                drop(write);
                let answer = self.send(source, Verb::Apply, &key, &desired, None).await?;
                Ok(source.remember(answer))
            }
            Err(error) => Err(error),
        }
    }

    /// Creates an object.
    ///
    /// # Errors
    /// When the controller has no event source for the type, or the server refuses: with 409 when the object exists.
    pub async fn create<K: KubeObject>(&self, desired: &K) -> Result<Arc<K>, Error> {
        let source = self.source(desired)?;
        let kind = source.resource_type();
        let key = body::target(desired, kind)?;
        let write = source.begin_write(&key);
        let answer = self.send(source, Verb::Create, &key, &body::plain(desired, kind)?, None).await?;
        Ok(write.wrote(answer))
    }

    /// Replaces an object by PUT. `desired` must carry the `resourceVersion` of the state it was made from.
    ///
    /// # Errors
    /// When the controller has no event source for the type, or the server refuses: with 409 when somebody else has
    /// changed the object in the meantime.
    pub async fn update<K: KubeObject>(&self, desired: &K) -> Result<Arc<K>, Error> {
        let source = self.source(desired)?;
        let kind = source.resource_type();
        let key = body::target(desired, kind)?;
        if desired.meta().resource_version.as_deref().is_none_or(str::is_empty) {
            return Err(Error::Unversioned { kind: kind.clone(), key });
        }
        let write = source.begin_write(&key);
        let answer =
            self.send(source, Verb::Update, &key, &body::plain(desired, kind)?, Some(desired)).await?;
        Ok(write.wrote(answer))
    }

    /// Deletes this very object: one that has taken its name in the meantime stays. An object that doesn't exist any
    /// more counts as deleted. The deletion's event is not filtered.
    ///
    /// # Errors
    /// When the controller has no event source for the type, or the server refuses.
    pub async fn delete<K: KubeObject>(&self, object: &K) -> Result<(), Error> {
        let source = self.source(object)?;
        let kind = source.resource_type();
        let key = body::target(object, kind)?;
        let mut options =
            json!({ "apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background" });
        if let Some(uid) = &object.meta().uid {
            options["preconditions"] = json!({ "uid": uid });
        }
        let write = Write {
            verb: Verb::Delete,
            target_type: kind,
            target: &key,
            subresource: None,
            body: body::bytes(&options),
            base: None,
        };
        match self.writer.send_raw(self.primary, &write).await {
            Ok(_) => Ok(()),
            // 404: gone. 409 on a deletion with a uid: another object has this name now, and it is not ours to delete.
            Err(error) if error.is_not_found() || error.is_conflict() => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn is_applied<K: KubeObject>(
        &self,
        desired: &Value,
        actual: &K,
        kind: &crate::resource::ResourceType,
    ) -> Result<bool, Error> {
        let managed = actual.meta().managed_fields.as_deref().unwrap_or_default();
        let actual = body::plain(actual, kind)?;
        let result = matches_applied(desired, &actual, managed, &self.writer.field_manager, None);
        if let Match::Differs(paths) = &result {
            tracing::debug!(%kind, ?paths, "differs from the desired state");
        }
        Ok(result == Match::Equal)
    }

    async fn send<K: KubeObject>(
        &self,
        source: &SecondarySource<K>,
        verb: Verb,
        key: &ObjectKey,
        content: &Value,
        base: Option<&K>,
    ) -> Result<K, Error> {
        let write = Write {
            verb,
            target_type: source.resource_type(),
            target: key,
            subresource: None,
            body: body::bytes(content),
            base: body::comparable(base),
        };
        self.writer.send(self.primary, &write).await
    }

    fn source<K: KubeObject>(&self, object: &K) -> Result<&'c SecondarySource<K>, Error> {
        let mut sources = self.sources.of_object(object);
        let Some(first) = sources.next() else {
            let kind = type_name::<K>().rsplit("::").next().unwrap_or_default().to_owned();
            return Err(Error::NoEventSource { kind });
        };
        if sources.next().is_some() {
            tracing::warn!(kind = %first.resource_type(), "several event sources of this type; the first is written to");
        }
        Ok(first)
    }
}
