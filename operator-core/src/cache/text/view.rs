//! How the objects of one informer are decoded, opened and kept.

use std::{
    any::TypeId,
    fmt,
    sync::{
        Arc, OnceLock, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use serde::{Deserialize, de::Error as _};
use serde_json::value::RawValue;

use crate::{
    cache::{
        config::InformerSettings,
        engine::{Decoded, Engine, Undecodable},
        list_watch::Identity,
    },
    environment::Environment,
    resource::{AnyObject, Cluster, Object, ObjectKey, ResourceType},
};

use super::{AnyKind, Item, Keeping, Memo, TextObject, range_within};

/// The reason why an object without a name is not kept.
const NAMELESS: &str = "the object has no name";

/// The same for one whose metadata is not in the API's form.
const UNREADABLE: &str = "its metadata can't be read";

/// Returns the newest response to a write of an object.
pub(in crate::cache) type Answered<'k> = &'k dyn Fn(&ObjectKey) -> Option<Arc<TextObject>>;

/// The operations of a kind that the untyped rest of the cache needs.
pub(in crate::cache) trait Face: fmt::Debug + Send + Sync {
    /// Scans an object's text, and keeps it.
    fn take(&self, item: &Item<'_>) -> Decoded;

    /// The same for an object that has just changed and will soon be read by a run. `known` returns the newest
    /// response to a write of it: if it is this same state, nothing has to be scanned again.
    fn take_changed(&self, item: &Item<'_>, known: Answered<'_>) -> Decoded {
        let _ = known;
        self.take(item)
    }

    /// The informer is dropped. It had these objects, which others may share.
    fn forget(&self, objects: &[(ObjectKey, Arc<TextObject>)]) {
        let _ = objects;
    }

    /// The same object with the metadata of another one, which can't be decoded as a whole; `None` if the result can't
    /// be read either.
    fn with_metadata(&self, kept: &TextObject, of: &TextObject) -> Option<TextObject>;
}

/// Objects of one type as one informer keeps them.
pub(crate) struct View {
    /// The cluster that the objects live in.
    cluster: Cluster,
    resource_type: ResourceType,
    pub(in crate::cache) keeping: Keeping,
    kind: AnyKind,
    /// The keys of the annotations that a transform doesn't drop.
    annotations: Vec<String>,
    memo: Arc<Memo>,
    /// Distinguishes the user's indexes of several informers that share their objects.
    id: u64,
    /// An object that was decoded for the check is held for its first reader.
    is_read_at_once: AtomicBool,
    /// Whether an object is decoded when it arrives, to check that it can be.
    is_checked: AtomicBool,
    /// Only a part of an answer is kept: the result of the transform, or the metadata.
    keeps_part: bool,
    /// Notified of objects that can't be decoded when they are read, if they weren't checked before.
    engine: OnceLock<Weak<Engine>>,
}

/// The answer to a write.
pub(crate) struct Answer {
    pub(crate) key: ObjectKey,
    /// `None` if it can't be kept; then it is not remembered.
    pub(crate) kept: Option<Arc<TextObject>>,
    /// In the form in which it is kept; for the cluster's own kinds with only its metadata, until the rest is read.
    pub(crate) object: AnyObject,
}

impl Answer {
    /// The version that the object has now.
    pub(crate) fn version(&self) -> Option<&str> {
        match &self.kept {
            Some(kept) => kept.version(),
            None => self.object.version(),
        }
    }
}

impl View {
    /// The view of an informer with these settings.
    pub(crate) fn new(settings: &InformerSettings, kind: AnyKind, environment: &Environment) -> Self {
        Self::with_memo(settings, kind, environment.shared())
    }

    pub(in crate::cache) fn with_memo(settings: &InformerSettings, kind: AnyKind, memo: Arc<Memo>) -> Self {
        static VIEWS: AtomicU64 = AtomicU64::new(0);
        Self {
            id: VIEWS.fetch_add(1, Ordering::Relaxed),
            keeps_part: kind.transforms() || settings.metadata_only,
            cluster: settings.cluster.clone(),
            resource_type: settings.resource_type.clone(),
            keeping: Keeping::new(&settings.resource_type, &settings.own_managers),
            kind,
            annotations: settings.annotations.clone(),
            memo,
            // The informer of the primaries: a run follows.
            is_read_at_once: AtomicBool::new(settings.take_over_metadata || settings.is_asked),
            is_checked: AtomicBool::new(settings.is_checked),
            engine: OnceLock::new(),
        }
    }

    /// An informer with this view shares the objects, and may need more done when they arrive.
    pub(in crate::cache) fn also_as(&self, other: &Self) {
        self.is_read_at_once.fetch_or(other.is_read_at_once.load(Ordering::Relaxed), Ordering::Relaxed);
        self.is_checked.fetch_or(other.is_checked(), Ordering::Relaxed);
    }

    fn is_checked(&self) -> bool {
        self.is_checked.load(Ordering::Relaxed)
    }

    pub(in crate::cache) const fn id(&self) -> u64 {
        self.id
    }

    /// Distinguishes the form of its objects from other forms of the same kind.
    pub(in crate::cache) fn form(&self) -> (TypeId, usize) {
        self.kind.form()
    }

    /// The object, decoded unless it is in use already. Otherwise the error names the field that isn't as expected.
    ///
    /// An object that was checked when it arrived can be decoded, unless its type decodes the same text in different
    /// ways. One that wasn't checked must not be opened under the engine's lock, because the engine is notified if that
    /// fails.
    pub(crate) fn try_open(&self, kept: &Arc<TextObject>) -> Result<AnyObject, String> {
        let opened = kept.open(&self.memo, &|kept| self.decode(kept));
        opened.map_err(|error| {
            let error = self.resource_type.masked(error);
            match self.engine.get().and_then(Weak::upgrade).filter(|_| !self.is_checked()) {
                Some(engine) => engine.not_opened(kept, &error),
                None => {
                    tracing::error!(kind = %self.resource_type, error, "an object that could be decoded before can no longer be decoded");
                }
            }
            error
        })
    }

    /// The same for a caller that continues without it.
    pub(crate) fn open(&self, kept: &Arc<TextObject>) -> Option<AnyObject> {
        self.try_open(kept).ok()
    }

    /// The engine to notify.
    pub(in crate::cache) fn tells(&self, engine: &Arc<Engine>) {
        // An informer is made once.
        let _ = self.engine.set(Arc::downgrade(engine));
    }

    fn decode(&self, kept: &TextObject) -> Result<AnyObject, String> {
        self.kind.decode(kept.text(), &self.resource_type, kept.own_managed_fields())
    }

    /// Reads a live object, with the managed fields of all. The error contains none of the object's values.
    pub(crate) fn whole(&self, text: &str) -> Result<AnyObject, String> {
        self.kind.whole(text)
    }

    /// Reads the answer to a write. The error names the field and what is expected there, and none of the object's
    /// values.
    ///
    /// If the type isn't checked when a watch shows an object, it isn't decoded here either: most callers don't read
    /// what they have written.
    pub(crate) fn answer(self: &Arc<Self>, text: &str) -> Result<Answer, serde_json::Error> {
        let Some((key, kept)) = self.keeping.keep(&Item::of(text)) else {
            let object = self.kind.whole(text);
            return object.map(|object| self.answer_of(object)).map_err(serde_json::Error::custom);
        };
        let key = match key {
            Some(key) if !self.is_checked() && !self.keeps_part => {
                let kept = Arc::new(kept);
                let object = self.lazy(&key, Arc::clone(&kept));
                return Ok(Answer { key, kept: Some(kept), object });
            }
            key => key,
        };
        let object = self.decode(&kept).map_err(serde_json::Error::custom)?;
        match key {
            Some(key) if !self.keeps_part => Ok(self.answered(key, Arc::new(kept), object)),
            _ => Ok(self.answer_of(object)),
        }
    }

    /// The same for one that was already decoded. It is remembered unchanged if the user's transform panics.
    pub(in crate::cache) fn answer_of(&self, answer: AnyObject) -> Answer {
        let transformed = self.kind.transformed(&*answer, &self.annotations).and_then(Result::ok);
        let object = transformed.unwrap_or(answer);
        let key = ObjectKey::in_meta(object.meta());
        let kept = self.keep(&*object).and_then(|kept| Ok((self.decode(&kept)?, kept)));
        match kept {
            Ok((object, kept)) => self.answered(key, Arc::new(kept), object),
            Err(error) => {
                let error = self.resource_type.masked(error);
                tracing::error!(%key, error, "the response to a write can't be cached; the object is read once the watch delivers it");
                Answer { key, kept: None, object }
            }
        }
    }

    fn answered(&self, key: ObjectKey, kept: Arc<TextObject>, object: AnyObject) -> Answer {
        kept.opened_as(&self.memo, &object);
        Answer { key, kept: Some(kept), object }
    }

    /// Keeps an object that was decoded before.
    fn keep(&self, object: &dyn Object) -> Result<TextObject, String> {
        let text = object.to_text().map_err(|error| error.to_string())?;
        let (_, mut kept) = self.keeping.keep(&Item::of(&text)).ok_or_else(|| UNREADABLE.to_owned())?;
        // The owned fields of an object from a cache are text, which is a string in the JSON.
        let managed_fields = object.meta().managed_fields.clone();
        kept.own = self.keeping.sharing.own_of(managed_fields, &self.keeping.own_managers);
        Ok(kept)
    }

    /// Keeps an object whose metadata could be read.
    fn checked(
        &self,
        kept: TextObject,
        is_read_soon: bool,
    ) -> Result<Arc<TextObject>, (Arc<TextObject>, String)> {
        if !self.is_checked() {
            return Ok(Arc::new(kept));
        }
        // A check alone needs no more than the text.
        let decoded = match self.kind.transforms() || is_read_soon {
            true => self.decode(&kept).map(Some),
            false => self.kind.check(kept.text()).map(|()| None),
        };
        let object = match decoded {
            Ok(Some(object)) => object,
            Ok(None) => return Ok(Arc::new(kept)),
            Err(error) => return Err((Arc::new(kept), self.resource_type.masked(error))),
        };
        let Some(transformed) = self.kind.transformed(&*object, &self.annotations) else {
            let kept = Arc::new(kept);
            kept.opened_as(&self.memo, &object);
            return Ok(kept);
        };
        match transformed.and_then(|object| self.keep(&*object)) {
            Ok(kept) => Ok(Arc::new(kept)),
            Err(error) => Err((Arc::new(kept), error)),
        }
    }

    fn understand(&self, item: &Item<'_>, is_read_soon: bool, known: Answered<'_>) -> Decoded {
        let key = item.key().map(|key| key.within(&self.cluster));
        if let Some(key) = &key
            && let Some(answer) = known(key)
            && item.is_state(&answer)
        {
            return Decoded::Object { key: key.clone(), kept: answer };
        }
        let Some(kept) = self.keeping.keep_text(item) else {
            let error = self.kind.check(item.text).err().unwrap_or_else(|| UNREADABLE.to_owned());
            let identity = Identity::of(item.text);
            return Decoded::Undecodable(Undecodable {
                key: identity.as_ref().and_then(Identity::key).map(|key| key.within(&self.cluster)),
                version: identity.and_then(Identity::version),
                kept: None,
                error: self.resource_type.masked(error),
            });
        };
        let checked = self.checked(kept, is_read_soon);
        let (kept, error) = match (key.clone(), checked) {
            (Some(key), Ok(kept)) => return Decoded::Object { key, kept },
            (None, Ok(kept)) => (Some(kept), NAMELESS.to_owned()),
            (_, Err((kept, error))) => (Some(kept), error),
        };
        let version = kept.as_ref().and_then(|kept| kept.version()).map(str::to_owned);
        Decoded::Undecodable(Undecodable { key, version, kept, error })
    }
}

impl Face for View {
    fn take(&self, item: &Item<'_>) -> Decoded {
        self.understand(item, self.is_read_at_once.load(Ordering::Relaxed), &|_| None)
    }

    fn take_changed(&self, item: &Item<'_>, known: Answered<'_>) -> Decoded {
        self.understand(item, true, known)
    }

    fn forget(&self, objects: &[(ObjectKey, Arc<TextObject>)]) {
        objects.iter().for_each(|(_, kept)| kept.forget_indexed(self.id));
    }

    fn with_metadata(&self, kept: &TextObject, of: &TextObject) -> Option<TextObject> {
        #[derive(Deserialize)]
        struct Object<'a> {
            #[serde(borrow)]
            metadata: &'a RawValue,
        }
        let metadata = |text| serde_json::from_str::<Object<'_>>(text).ok().map(|object| object.metadata);
        let old = range_within(kept.text(), metadata(kept.text())?.get());
        let new = metadata(of.text())?.get();
        let text = [&kept.text()[..old.start], new, &kept.text()[old.end..]].concat();
        let (_, mut kept) = self.keeping.keep(&Item::of(&text))?;
        kept.own.clone_from(&of.own);
        self.decode(&kept).is_ok().then_some(kept)
    }
}

debug_of!(View: "View", |it| type: it.resource_type, keeping: it.keeping);
