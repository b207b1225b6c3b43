//! Reading single objects and lists.

use std::{borrow::Cow, sync::Arc};

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{
    api::Reply,
    failure::Failure,
    kinds::{Kind, events},
    list_options::ListOptions,
    request::{Representation, Request, Target},
    selector::Selector,
    store::{Path, Store},
};

/// GET of one object.
pub(super) fn get(store: &Store, request: &Request, kind: &Kind, path: &Path) -> Result<Reply, Failure> {
    if let Some(version) = request.query.get("resourceVersion") {
        // Events are not in the real server's cache, which has words of its own.
        if kind.plural != "events" {
            number(version).map_err(Failure::internal)?;
        }
        known(store, version)?;
    }
    let object = live(store, kind, path)?;
    show(request, kind, &object).map(Reply::ok)
}

/// The stored object in the form of `kind`'s version, or 404.
pub(super) fn live(store: &Store, kind: &Kind, path: &Path) -> Result<Arc<Value>, Failure> {
    let stored = store.get(&kind.resource(), path);
    let stored = stored.ok_or_else(|| Failure::not_found(kind, path.name()))?;
    Ok(in_version(kind, stored))
}

/// GET of a collection.
pub(super) fn list(store: &Store, request: &Request, kind: &Kind, target: &Target) -> Result<Reply, Failure> {
    let Selected { objects, metadata } = select(store, request, kind, target)?;
    collection(request, kind, &metadata, objects.iter().map(|(_, object)| &**object)).map(Reply::ok)
}

/// The objects that a list shows.
pub(super) fn select(
    store: &Store,
    request: &Request,
    kind: &Kind,
    target: &Target,
) -> Result<Selected, Failure> {
    let ListOptions { selector, limit } = ListOptions::read(request, kind, target)?;
    let namespace = target.namespace.as_deref();
    let namespace = namespace.or(selector.exact("metadata.namespace").filter(|_| kind.namespaced));
    // A list of one object by its name has no pages.
    let single = selector.exact("metadata.name").is_some()
        && (namespace.is_some() || !kind.namespaced)
        && request.query.get("continue").is_none();
    let limit = limit.filter(|_| !single);
    let from = start(store, request, limit, namespace)?;
    // Events are not in the real server's cache, which knows no limits.
    let is_event = kind.plural == "events" && !kind.is_custom();
    let limit = limit.filter(|_| !from.ignores_limit || is_event);
    let past;
    let mut items: Box<dyn Iterator<Item = (&Path, &Arc<Value>)>> = match from.version {
        // A page of many: nothing is copied for it.
        Some(version) if store.is_unchanged_since(&kind.resource(), version) => {
            Box::new(store.list(&kind.resource(), namespace))
        }
        Some(version) => {
            past = store.list_at(&kind.resource(), version).map_err(|expired| match &from.after {
                Some(after) => Failure::expired_page(token(None, after, namespace)),
                None => Failure::expired(version, expired),
            })?;
            Box::new(past.iter())
        }
        None => Box::new(store.list(&kind.resource(), namespace)),
    };
    if let Some(after) = &from.after {
        items = Box::new(items.filter(move |(path, _)| *path > after));
    }
    let mut items =
        items.filter(|(path, _)| namespace.is_none_or(|namespace| path.namespace() == Some(namespace)));
    let mut objects = Vec::new();
    while limit.is_none_or(|limit| objects.len() < limit) {
        let Some((path, object)) = items.next() else { break };
        let object = in_version(kind, object);
        if selector.matches(&object) {
            objects.push((path.clone(), object));
        }
    }
    let version = from.version.unwrap_or(store.version());
    let mut metadata = json!({ "resourceVersion": version.to_string() });
    // A list of metadata never says it.
    if let Some(shard) = selector.shard().filter(|_| request.representation == Representation::Whole) {
        metadata["shardInfo"] = json!({ "selector": shard.text() });
    }
    // There may be more, whether they are selected or not.
    let rest = items.count();
    match objects.last() {
        Some((last, _)) if rest > 0 => {
            metadata["continue"] = token(Some(version), last, namespace).into();
            if selector.is_empty() {
                metadata["remainingItemCount"] = rest.into();
            }
        }
        _ if kind.is_custom() && request.representation == Representation::Whole => {
            metadata["continue"] = "".into();
        }
        _ => {}
    }
    Ok(Selected { objects, metadata })
}

/// The version that a list shows, and the object after which it starts.
fn start(
    store: &Store,
    request: &Request,
    limit: Option<usize>,
    namespace: Option<&str>,
) -> Result<Start, Failure> {
    let query = &request.query;
    let (wanted, matching) = (query.get("resourceVersion"), query.get("resourceVersionMatch"));
    if let Some(page) = query.get("continue") {
        if wanted.is_some_and(|version| version != "0") {
            let message = "specifying resource version is not allowed when using continue";
            return Err(Failure::bad_request(message));
        }
        let (version, after) = read_token(page, namespace)
            .ok_or_else(|| Failure::bad_request("invalid continue token: continue key is not valid"))?;
        return Ok(Start { version, after: Some(after), ignores_limit: wanted.is_some() });
    }
    let Some(wanted) = wanted else { return Ok(Start::default()) };
    let version = known(store, wanted)?;
    let exact = match matching {
        None => limit.is_some() && version > 0,
        Some(other) => other == "Exact",
    };
    Ok(Start { version: exact.then_some(version), after: None, ignores_limit: version == 0 })
}

/// Reads a version that must have been reached already.
fn known(store: &Store, version: &str) -> Result<u64, Failure> {
    let wrong = |why| Failure::bad_request(format!("invalid resource version: {why}"));
    let parsed = number(version).map_err(wrong)?;
    if parsed > store.version() {
        return Err(Failure::too_large(parsed, store.version()));
    }
    Ok(parsed)
}

/// A version as a number.
fn number(version: &str) -> Result<u64, String> {
    let why = format!("parsing \"{version}\": invalid syntax");
    version
        .parse()
        .map_err(|_| format!("resourceVersion: Invalid value: \"{version}\": strconv.ParseUint: {why}"))
}

/// Where a list starts.
#[derive(Debug, Default)]
struct Start {
    /// `None` for the newest state.
    version: Option<u64>,
    after: Option<Path>,
    ignores_limit: bool,
}

/// The objects that a list shows, and its metadata.
pub(super) struct Selected {
    pub(super) objects: Vec<(Path, Arc<Value>)>,
    pub(super) metadata: Value,
}

/// The selectors of a request, including the one for an object if the path names one.
pub(super) fn selector(request: &Request, kind: &Kind, target: &Target) -> Result<Selector, Failure> {
    let query = &request.query;
    let parsed = Selector::parse(query.get("labelSelector"), query.get("fieldSelector"))?;
    parsed.of_kind(kind)?.named(target.name.as_deref()).within(query.get("shardSelector"))
}

/// 422 for a list's parameter.
pub(super) fn list_option(field: &str, reason: &str, message: &str) -> Failure {
    Failure::option("ListOptions", field, reason, message)
}

/// A stored object, converted to the version of `kind`. Fields that this version doesn't know are not included.
pub(super) fn in_version(kind: &Kind, stored: &Arc<Value>) -> Arc<Value> {
    if !kind.rereads {
        return Arc::clone(stored);
    }
    if kind.is_new_event() {
        return Arc::new(events::to_new(stored));
    }
    Arc::new(kind.shown(stored))
}

/// A value in the form in which it is sent.
pub(super) fn json(value: &impl Serialize) -> Bytes {
    // What is written here has no keys but texts, and so there is nothing that could fail.
    serde_json::to_vec(value).unwrap_or_default().into()
}

/// An object as it is sent. A Service without addresses has a policy for traffic in the storage, and nobody sees it.
pub(super) fn sent<'o>(kind: &Kind, object: &'o Value) -> Cow<'o, Value> {
    const HIDDEN: &str = "internalTrafficPolicy";
    let is_service = kind.group.is_empty() && kind.kind == "Service";
    if is_service && object["spec"]["type"] == "ExternalName" && !object["spec"][HIDDEN].is_null() {
        let mut object = object.clone();
        object["spec"].as_object_mut().and_then(|spec| spec.remove(HIDDEN));
        return Cow::Owned(object);
    }
    Cow::Borrowed(object)
}

/// A single object in the requested form.
pub(super) fn show(request: &Request, kind: &Kind, object: &Value) -> Result<Bytes, Failure> {
    match request.representation {
        Representation::Whole => Ok(json(&*sent(kind, object))),
        Representation::Metadata => Ok(json(&MetadataOnly::of(object))),
        Representation::MetadataList | Representation::Table | Representation::Other => {
            let message = format!(
                "you requested PartialObjectMetadataList, but the requested object is not a list (*{}.{})",
                kind.go_package(),
                kind.kind
            );
            Err(Failure::new(406, "NotAcceptable", message))
        }
    }
}

/// A list in the requested form.
pub(super) fn collection<'o>(
    request: &Request,
    kind: &Kind,
    metadata: &Value,
    objects: impl Iterator<Item = &'o Value>,
) -> Result<Bytes, Failure> {
    match request.representation {
        Representation::Whole => {
            // The items of a typed list carry no type.
            let items: Vec<Item<'_>> = objects
                .map(|object| Item { object: sent(kind, object), has_type: kind.is_custom() })
                .collect();
            let (api_version, kind) = (&*kind.api_version(), &*kind.list_kind);
            Ok(json(&Collection { api_version, items, kind, metadata }))
        }
        Representation::MetadataList => {
            let items: Vec<MetadataOnly<'_>> = objects.map(MetadataOnly::of).collect();
            // An empty one is null with the real server.
            let items = Some(items).filter(|items| !items.is_empty());
            let kind = "PartialObjectMetadataList";
            Ok(json(&Collection { api_version: "meta.k8s.io/v1", items, kind, metadata }))
        }
        Representation::Metadata | Representation::Table | Representation::Other => {
            let message = format!(
                "you requested PartialObjectMetadata, but the requested object is a list (*{}.{})",
                kind.go_package(),
                if kind.is_custom() { "UnstructuredList" } else { &kind.list_kind }
            );
            Err(Failure::new(406, "NotAcceptable", message))
        }
    }
}

/// A list. Its fields are in alphabetical order, as in every object here.
#[derive(Serialize)]
struct Collection<'c, I> {
    #[serde(rename = "apiVersion")]
    api_version: &'c str,
    items: I,
    kind: &'c str,
    metadata: &'c Value,
}

/// An object in a list.
struct Item<'o> {
    object: Cow<'o, Value>,
    has_type: bool,
}

impl Serialize for Item<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.object.as_object().filter(|_| !self.has_type) {
            Some(fields) => serializer.collect_map(
                fields.iter().filter(|(name, _)| !matches!(name.as_str(), "apiVersion" | "kind")),
            ),
            None => self.object.serialize(serializer),
        }
    }
}

/// The metadata of an object as a separate object.
#[derive(Serialize)]
pub(super) struct MetadataOnly<'o> {
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    kind: &'static str,
    metadata: &'o Value,
}

impl<'o> MetadataOnly<'o> {
    pub(super) fn of(object: &'o Value) -> Self {
        Self {
            api_version: "meta.k8s.io/v1",
            kind: "PartialObjectMetadata",
            metadata: object.get("metadata").unwrap_or(&Value::Null),
        }
    }
}

/// The start of the next page: at which version (the newest without one), after which path. As with the real server the
/// path is what follows the namespace of the list.
fn token(version: Option<u64>, after: &Path, namespace: Option<&str>) -> String {
    let version = version.map_or_else(|| "-".to_owned(), |version| version.to_string());
    let text = after.as_str();
    let text = text.strip_prefix(&prefix(namespace)).unwrap_or(text);
    format!("{version} {text}").bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn prefix(namespace: Option<&str>) -> String {
    namespace.map(|namespace| format!("{namespace}/")).unwrap_or_default()
}

fn read_token(token: &str, namespace: Option<&str>) -> Option<(Option<u64>, Path)> {
    let bytes = (0..token.len()).step_by(2).map(|at| u8::from_str_radix(token.get(at..at + 2)?, 16).ok());
    let text = String::from_utf8(bytes.collect::<Option<_>>()?).ok()?;
    let (version, after) = text.split_once(' ')?;
    let version = if version == "-" { None } else { Some(version.parse().ok()?) };
    Some((version, Path::from_text(prefix(namespace) + after)))
}
