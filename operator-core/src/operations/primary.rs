//! Writes of a primary: finalizer, object, status. All carry the uid.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Error, Writer, body,
    matcher::{Match, matches_applied, strip_nulls},
    writer::{Verb, Write},
};
use crate::{
    event_source::PrimarySource,
    resource::{KubeObject, ObjectKey, ResourceType},
};

/// How many states of a primary are tried before a conflict becomes an error.
const ATTEMPTS: u32 = 10;

/// What came of the attempt to add a finalizer.
#[derive(Debug)]
pub(crate) enum FinalizerAdded<P> {
    /// It is on the object, which is the server's newest answer.
    Yes(Arc<P>),
    /// The object was marked for deletion in the meantime: it takes no new finalizer, and the mark's own event follows.
    Deleting,
}

/// Writes one primary during one run.
#[derive(Debug)]
pub(crate) struct PrimaryWriter<'r, P: KubeObject> {
    pub(crate) source: &'r PrimarySource<P>,
    pub(crate) writer: &'r Writer,
    pub(crate) key: &'r ObjectKey,
    /// The incarnation that the run is about.
    pub(crate) uid: &'r str,
}

/// Which part of a primary an apply is about.
#[derive(Clone, Copy)]
enum Part {
    Object,
    Status,
}

impl Part {
    const fn subresource(self) -> Option<&'static str> {
        match self {
            Self::Object => None,
            Self::Status => Some("status"),
        }
    }
}

impl<P: KubeObject> PrimaryWriter<'_, P> {
    /// Puts `finalizer` on the primary.
    pub(crate) async fn add_finalizer(&self, finalizer: &str) -> Result<FinalizerAdded<P>, Error> {
        let mut content = self.identity();
        content["metadata"]["finalizers"] = json!([finalizer]);
        let mut known = self.known()?;
        for _ in 0..ATTEMPTS {
            let meta = known.meta();
            if meta.deletion_timestamp.is_some() {
                return Ok(FinalizerAdded::Deleting);
            }
            if has_finalizer(&*known, finalizer) {
                return Ok(FinalizerAdded::Yes(known));
            }
            match self.apply_locked(&content, Part::Object, &known).await? {
                Some(answer) => return Ok(FinalizerAdded::Yes(answer)),
                None => known = self.live().await?,
            }
        }
        Err(self.contended())
    }

    /// Takes `finalizer` off the primary, by JSON patch, so that nobody else's finalizers are touched. One that is not
    /// there any more, or a primary that is gone, counts as done.
    pub(crate) async fn remove_finalizer(&self, finalizer: &str) -> Result<(), Error> {
        let mut known = self.known()?;
        for _ in 0..ATTEMPTS {
            let finalizers = known.meta().finalizers.as_deref().unwrap_or_default();
            let Some(position) = finalizers.iter().position(|name| name == finalizer) else { return Ok(()) };
            let path = format!("/metadata/finalizers/{position}");
            let patch = json!([
                { "op": "test", "path": "/metadata/uid", "value": self.uid },
                { "op": "test", "path": path, "value": finalizer },
                { "op": "remove", "path": path },
            ]);
            match self.send(Verb::JsonPatch, None, &patch, &known).await {
                Ok(answer) => {
                    // With the last finalizer the object is gone, and must not be remembered as if it were there.
                    if answer.meta().finalizers.as_ref().is_some_and(|left| !left.is_empty()) {
                        self.source.informer().remember(answer);
                    }
                    return Ok(());
                }
                Err(error) if error.is_not_found() => return Ok(()),
                // 422 is a failed test: somebody else's finalizer went first, or the object is another one.
                Err(error) if matches!(error.code(), Some(409 | 422)) => known = self.live().await?,
                Err(error) => return Err(error),
            }
        }
        Err(self.contended())
    }

    /// Writes the primary without its status. `finalizer` is put back where the user's object lacks it, because an
    /// apply without it would give it up.
    pub(crate) async fn patch_resource(&self, desired: &P, finalizer: Option<&str>) -> Result<Arc<P>, Error> {
        let mut content = body::applied(desired, self.kind())?;
        let identity = self.identity();
        content["metadata"]["name"] = identity["metadata"]["name"].clone();
        content["metadata"]["uid"] = identity["metadata"]["uid"].clone();
        if let Some(object) = content.as_object_mut() {
            object.remove("status");
        }
        for of_the_server in
            ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation"]
        {
            if let Some(metadata) = content["metadata"].as_object_mut() {
                metadata.remove(of_the_server);
            }
        }
        // Finalizers of others that the user's copy happens to hold must not become ours.
        content["metadata"]["finalizers"] = finalizer.map_or(Value::Null, |finalizer| json!([finalizer]));
        strip_nulls(&mut content);
        self.apply(&content, Part::Object).await
    }

    /// Writes the status.
    pub(crate) async fn patch_status(&self, status: Value) -> Result<Arc<P>, Error> {
        let mut content = self.identity();
        content["status"] = status;
        strip_nulls(&mut content);
        if content.get("status").is_none() {
            // An apply without a status would leave the old one; an empty one gives its fields up.
            content["status"] = json!({});
        }
        self.apply(&content, Part::Status).await
    }

    /// Applies `content` unless nothing differs; looks at the live object after a conflict.
    async fn apply(&self, content: &Value, part: Part) -> Result<Arc<P>, Error> {
        let mut known = self.known()?;
        for _ in 0..ATTEMPTS {
            if self.is_applied(content, &*known, part)? {
                self.writer.matched(self.key, self.kind(), self.key, part.subresource());
                return Ok(known);
            }
            match self.apply_locked(content, part, &known).await? {
                Some(answer) => return Ok(answer),
                None => known = self.live().await?,
            }
        }
        Err(self.contended())
    }

    /// One apply upon a known state; `None` when that is not the newest one any more.
    async fn apply_locked(
        &self,
        content: &Value,
        part: Part,
        known: &Arc<P>,
    ) -> Result<Option<Arc<P>>, Error> {
        let mut locked = content.clone();
        body::lock(&mut locked, body::version_of(Some(&**known)));
        let mut window = self.source.informer().begin_write(self.key);
        match self.send(Verb::Apply, part.subresource(), &locked, known).await {
            // Nothing changed, so the version in the answer is that of the state we built upon. After a conflict that state
            // is somebody else's, and the watch may still owe us its event, which must not be taken for our own.
            Ok(answer) if answer.meta().resource_version == known.meta().resource_version => {
                drop(window);
                Ok(Some(self.source.informer().remember(answer)))
            }
            Ok(answer) => Ok(Some(window.wrote(answer))),
            Err(error) if error.is_conflict() => Ok(None),
            // A status of an object that doesn't exist any more.
            Err(error) if error.is_not_found() => Err(self.gone()),
            Err(error) => Err(error),
        }
    }

    fn is_applied(&self, content: &Value, known: &P, part: Part) -> Result<bool, Error> {
        let managed = known.meta().managed_fields.as_deref().unwrap_or_default();
        let actual = body::plain(known, self.kind())?;
        let manager = &self.writer.field_manager;
        let result = matches_applied(content, &actual, managed, manager, part.subresource());
        Ok(result == Match::Equal)
    }

    async fn send(
        &self,
        verb: Verb,
        subresource: Option<&'static str>,
        content: &Value,
        known: &P,
    ) -> Result<P, Error> {
        let write = Write {
            verb,
            target_type: self.kind(),
            target: self.key,
            subresource,
            body: body::bytes(content),
            base: body::comparable(Some(known)),
        };
        self.writer.send(self.key, &write).await
    }

    /// The newest cached state, if it is still the incarnation that the run is about.
    fn known(&self) -> Result<Arc<P>, Error> {
        let known = self.source.informer().get(self.key).filter(|known| self.is_same(&**known));
        known.ok_or_else(|| self.gone())
    }

    /// The live state, if it is still the incarnation that the run is about.
    async fn live(&self) -> Result<Arc<P>, Error> {
        let live = self.writer.get::<P>(self.kind(), self.key).await?.filter(|live| self.is_same(live));
        live.map(Arc::new).ok_or_else(|| self.gone())
    }

    fn is_same(&self, object: &P) -> bool {
        object.meta().uid.as_deref() == Some(self.uid)
    }

    fn identity(&self) -> Value {
        body::identity(self.kind(), self.key, self.uid)
    }

    fn kind(&self) -> &ResourceType {
        self.source.resource_type()
    }

    fn gone(&self) -> Error {
        Error::Gone { kind: self.kind().clone(), key: self.key.clone() }
    }

    fn contended(&self) -> Error {
        Error::Contended { kind: self.kind().clone(), key: self.key.clone(), attempts: ATTEMPTS }
    }
}

/// Whether `finalizer` is on `object`.
pub(crate) fn has_finalizer<P: KubeObject>(object: &P, finalizer: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|name| name == finalizer)
}
