//! The typed face of what is kept: how an object of one kind is understood, opened and kept.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use kube::core::{DynamicObject, TypeMeta};
use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

use crate::{
    cache::{
        InformerConfig, Transform,
        engine::{Decoded, Undecodable},
        list_watch::{Identity, PANICKED, unreadable_words},
    },
    environment::Environment,
    resource::{KubeObject, ObjectKey, ResourceType},
};

use super::{Keeping, Kept, Memo, memo::Object, range_within};

/// Says why an object that has no name is not kept.
const NAMELESS: &str = "the object has no name";

/// The same of one whose metadata is not as the API spells it.
const UNREADABLE: &str = "its metadata can't be read";

/// What the untyped rest of the cache asks of a kind.
pub(in crate::cache) trait Face: fmt::Debug + Send + Sync {
    /// Understands an object's text, and keeps it.
    fn take(&self, item: &str) -> Decoded;

    /// The same object with the metadata of another one, which can't be understood as a whole; `None` where that makes none that
    /// can.
    fn with_metadata(&self, kept: &Kept, of: &Kept) -> Option<Kept>;
}

/// Objects of type `K` as one informer keeps them.
pub(crate) struct View<K> {
    resource_type: ResourceType,
    keeping: Keeping,
    transform: Option<Transform<K>>,
    memo: Arc<Memo>,
    /// What is decoded to be checked is held for its first reader.
    is_read_at_once: bool,
}

/// The answer to a write.
pub(crate) struct Answer<K> {
    pub(crate) key: ObjectKey,
    /// `None` if it can't be kept, so that nobody remembers it.
    pub(crate) kept: Option<Arc<Kept>>,
    /// In the form in which it is kept.
    pub(crate) object: Arc<K>,
}

impl<K: KubeObject> View<K> {
    pub(crate) fn new(config: &InformerConfig<K>, environment: &Environment) -> Self {
        Self::with_memo(config, environment.shared())
    }

    pub(in crate::cache) fn with_memo(config: &InformerConfig<K>, memo: Arc<Memo>) -> Self {
        Self {
            resource_type: config.resource_type.clone(),
            keeping: Keeping::new(&config.resource_type, &config.own_managers),
            transform: config.transform.clone(),
            memo,
            // Those of the primaries: a run follows.
            is_read_at_once: config.take_over_metadata,
        }
    }

    /// The object, decoded unless somebody holds it already. Whatever is kept was decoded once, so that `None` can only come of a
    /// type that decodes the same text in different ways.
    pub(crate) fn open(&self, kept: &Arc<Kept>) -> Option<Arc<K>> {
        let decode = |kept: &Kept| self.decode(kept).map(|object| Arc::new(object) as Object);
        match kept.open(&self.memo, &decode) {
            Ok(object) => object.downcast().ok(),
            Err(error) => {
                let error = self.resource_type.masked(error);
                tracing::error!(kind = %self.resource_type, error, "an object that could be decoded can't be any more");
                None
            }
        }
    }

    fn decode(&self, kept: &Kept) -> Result<K, String> {
        let mut object = decode::<K>(kept.text())?;
        object.meta_mut().managed_fields = kept.own_managed_fields();
        fill_types(&mut object, &self.resource_type);
        Ok(object)
    }

    /// Understands the answer to a write. The error names the field and what is expected there, and none of the object's values.
    pub(in crate::cache) fn answer(&self, text: &str) -> Result<Answer<K>, serde_json::Error> {
        let Some((key, kept)) = self.keeping.keep(text) else {
            return decode::<K>(text).map(|object| self.answer_of(object)).map_err(serde_json::Error::custom);
        };
        let object = self.decode(&kept).map_err(serde_json::Error::custom)?;
        match (key, &self.transform) {
            (Some(key), None) => Ok(self.answered(key, Arc::new(kept), object)),
            _ => Ok(self.answer_of(object)),
        }
    }

    /// The same of one that was decoded already. It is remembered as it is when the user's transform panics.
    pub(in crate::cache) fn answer_of(&self, answer: K) -> Answer<K> {
        let transformed =
            self.transform.as_ref().and_then(|transform| transformed(answer.clone(), transform).ok());
        let object = transformed.unwrap_or(answer);
        let key = ObjectKey::of(&object);
        match self.keep(object) {
            (object, Ok(kept)) => self.answered(key, Arc::new(kept), object),
            (object, Err(error)) => {
                let error = self.resource_type.masked(error);
                tracing::error!(%key, error, "the answer to a write can't be kept: it is read when the watch shows it");
                Answer { key, kept: None, object: Arc::new(object) }
            }
        }
    }

    fn answered(&self, key: ObjectKey, kept: Arc<Kept>, object: K) -> Answer<K> {
        let object = Arc::new(object);
        kept.opened_as(&self.memo, &(Arc::clone(&object) as Object));
        Answer { key, kept: Some(kept), object }
    }

    /// Keeps an object that was decoded before, and gives it back in the form in which it is kept.
    fn keep(&self, mut object: K) -> (K, Result<Kept, String>) {
        let managed_fields = object.meta_mut().managed_fields.take();
        let text = serde_json::to_string(&object).map_err(|error| error.to_string());
        let kept = text.and_then(|text| match self.keeping.keep(&text) {
            Some((_, kept)) => Ok(kept),
            None => Err(UNREADABLE.to_owned()),
        });
        let kept = kept.map(|mut kept| {
            kept.own = self.keeping.sharing.own_of(managed_fields, &self.keeping.own_managers);
            object.meta_mut().managed_fields = kept.own_managed_fields();
            kept
        });
        (object, kept)
    }

    /// What is kept of an object whose metadata could be read.
    fn checked(&self, kept: Kept) -> Result<Arc<Kept>, (Box<Kept>, String)> {
        let is_used = self.transform.is_some() || self.is_read_at_once;
        // A check alone needs no more than the text.
        let decoded = match is_used {
            true => self.decode(&kept).map(Some),
            false => decode::<K>(kept.text()).map(|_| None),
        };
        let object = match decoded {
            Ok(Some(object)) => object,
            Ok(None) => return Ok(Arc::new(kept)),
            Err(error) => return Err((Box::new(kept), self.resource_type.masked(error))),
        };
        let Some(transform) = &self.transform else {
            let kept = Arc::new(kept);
            kept.opened_as(&self.memo, &(Arc::new(object) as Object));
            return Ok(kept);
        };
        match transformed(object, transform).and_then(|object| self.keep(object).1) {
            Ok(kept) => Ok(Arc::new(kept)),
            Err(error) => Err((Box::new(kept), error)),
        }
    }
}

impl<K: KubeObject> Face for View<K> {
    fn take(&self, item: &str) -> Decoded {
        let Some((key, kept)) = self.keeping.keep(item) else {
            let error = decode::<K>(item).err().unwrap_or_else(|| UNREADABLE.to_owned());
            let identity = Identity::of(item);
            return Decoded::Undecodable(Undecodable {
                key: identity.as_ref().and_then(Identity::key),
                version: identity.and_then(Identity::version),
                kept: None,
                error: self.resource_type.masked(error),
            });
        };
        let checked = self.checked(kept);
        let (kept, error) = match (key.clone(), checked) {
            (Some(key), Ok(kept)) => return Decoded::Object { key, kept },
            (None, Ok(kept)) => (Arc::into_inner(kept).map(Box::new), NAMELESS.to_owned()),
            (_, Err((kept, error))) => (Some(kept), error),
        };
        let version = kept.as_ref().and_then(|kept| kept.version()).map(str::to_owned);
        Decoded::Undecodable(Undecodable { key, version, kept, error })
    }

    fn with_metadata(&self, kept: &Kept, of: &Kept) -> Option<Kept> {
        #[derive(Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            metadata: &'a RawValue,
        }
        let metadata = |text| serde_json::from_str::<Object<'_>>(text).ok().map(|object| object.metadata);
        let old = range_within(kept.text(), metadata(kept.text())?.get());
        let new = metadata(of.text())?.get();
        let text = [&kept.text()[..old.start], new, &kept.text()[old.end..]].concat();
        let (_, mut kept) = self.keeping.keep(&text)?;
        kept.own.clone_from(&of.own);
        self.decode(&kept).is_ok().then_some(kept)
    }
}

/// Decodes one object. The error names the field and what is expected there, and none of the object's values.
fn decode<K: KubeObject>(text: &str) -> Result<K, String> {
    // The type may be the user's: a panic of its `Deserialize` must cost this object only.
    catch_unwind(AssertUnwindSafe(|| serde_json::from_str::<K>(text)))
        .unwrap_or_else(|_| Err(serde_json::Error::custom(PANICKED)))
        .map_err(|error| unreadable_words(text, &error))
}

/// The items of a list lack `apiVersion` and `kind`. Typed objects know them; a dynamic one has to be told.
fn fill_types<K: KubeObject>(object: &mut K, resource_type: &ResourceType) {
    if let Some(object) = (object as &mut dyn Any).downcast_mut::<DynamicObject>() {
        object.types.get_or_insert_with(|| TypeMeta {
            api_version: resource_type.api_version(),
            kind: resource_type.kind().to_owned(),
        });
    }
}

fn transformed<K: KubeObject>(object: K, transform: &Transform<K>) -> Result<K, String> {
    // The decisions of the library rest on these fields, so a function that clears them must not break it.
    let before = object.meta().clone();
    let mut object = catch_unwind(AssertUnwindSafe(|| transform(object)))
        .map_err(|_| "the informer's transform panicked".to_owned())?;
    let after = object.meta_mut();
    after.name = before.name;
    after.namespace = before.namespace;
    after.uid = before.uid;
    after.resource_version = before.resource_version;
    after.generation = before.generation;
    after.owner_references = before.owner_references;
    after.finalizers = before.finalizers;
    after.deletion_timestamp = before.deletion_timestamp;
    Ok(object)
}

impl<K> fmt::Debug for View<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("View")
            .field("type", &self.resource_type)
            .field("keeping", &self.keeping)
            .finish_non_exhaustive()
    }
}
