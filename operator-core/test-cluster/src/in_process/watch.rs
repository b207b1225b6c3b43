//! Watches: which events a request sees, and in which form.

use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    api::Reply,
    failure::Failure,
    kinds::Kind,
    read::{MetadataOnly, in_version, list_option, selector, sent},
    request::{Representation, Request, Target},
    selector::Selector,
    store::{Event, Resource, Store},
    tables::Table,
};

/// The default duration of a watch, in seconds.
pub(super) const DEFAULT_TIMEOUT: u64 = 1800;

/// A watch that is about to start.
#[derive(Debug)]
pub(super) struct WatchStart {
    pub(super) filter: Filter,
    /// The first lines.
    pub(super) lines: Vec<Bytes>,
    /// The version after which it continues.
    pub(super) after: u64,
    pub(super) bookmarks: bool,
    /// In seconds.
    pub(super) timeout: u64,
}

/// The events that a watch sees.
#[derive(Debug)]
pub(super) struct Filter {
    pub(super) kind: Arc<Kind>,
    resource: Resource,
    namespace: Option<String>,
    selector: Selector,
    metadata_only: bool,
    /// How its objects become rows, if that is wanted, and whether their columns were named.
    pub(super) table: Option<Table>,
    named: bool,
}

/// GET with `watch`.
pub(super) fn watch(
    store: &Store,
    request: &Request,
    kind: &Arc<Kind>,
    target: &Target,
) -> Result<Reply, Failure> {
    let query = &request.query;
    let initial = query.flag("sendInitialEvents");
    let forbidden = |field, message| Err(list_option(field, "FieldValueForbidden", message));
    match (query.get("resourceVersionMatch"), initial) {
        (None, Some(_)) => {
            let message =
                "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            return forbidden("resourceVersionMatch", message);
        }
        (Some(_), None) => {
            let message =
                "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            return forbidden("resourceVersionMatch", message);
        }
        (Some(other), Some(_)) if other != "NotOlderThan" => {
            let message =
                "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            return forbidden("resourceVersionMatch", message);
        }
        _ => {}
    }
    let version = query.get("resourceVersion").unwrap_or("0");
    let version: u64 = version.parse().map_err(|_| {
        Failure::internal(format!(
            "resourceVersion: Invalid value: \"{version}\": strconv.ParseUint: parsing \"{version}\": invalid syntax"
        ))
    })?;
    let timeout = query.get("timeoutSeconds").map(str::parse::<u64>).transpose();
    let timeout = timeout.map_err(|error| Failure::bad_request(error.to_string()))?;
    let filter = Filter {
        kind: Arc::clone(kind),
        resource: kind.resource(),
        namespace: target.namespace.clone(),
        selector: selector(request, kind, target)?,
        metadata_only: request.representation != Representation::Whole,
        table: None,
        named: false,
    };
    let bookmarks = query.is_true("allowWatchBookmarks");
    let current = store.version();
    let mut start = WatchStart {
        lines: Vec::new(),
        after: version,
        bookmarks,
        timeout: timeout.filter(|timeout| *timeout > 0).unwrap_or(DEFAULT_TIMEOUT),
        filter,
    };
    // Without a version, a watch begins with all there is.
    if initial == Some(true) || (initial.is_none() && version == 0) {
        if version > current {
            return Err(Failure::too_large(version, current));
        }
        start.lines = existing(store, &mut start.filter);
        if bookmarks && initial.is_some() {
            start.lines.push(start.filter.bookmark(current, true));
        }
        start.after = current;
    } else if version == 0 {
        start.after = current;
    }
    Ok(Reply::Watch(Box::new(start)))
}

/// All objects as lines that add them.
fn existing(store: &Store, filter: &mut Filter) -> Vec<Bytes> {
    let objects = store.list(&filter.resource, filter.namespace.as_deref());
    let objects = objects.map(|(_, object)| in_version(&filter.kind, object));
    let selected: Vec<_> = objects.filter(|object| filter.selector.matches(object)).collect();
    selected.iter().map(|object| filter.line("ADDED", object)).collect()
}

impl Filter {
    /// The meaning of an event for this watch. An object that starts to match was added, one that no longer does was
    /// deleted.
    pub(super) fn event(&mut self, event: &Event) -> Option<Bytes> {
        let is_ours = event.resource == self.resource
            && self.namespace.as_deref().is_none_or(|namespace| event.path.namespace() == Some(namespace));
        if !is_ours {
            return None;
        }
        let seen = |object: &Option<Arc<Value>>| {
            let object = in_version(&self.kind, object.as_ref()?);
            self.selector.matches(&object).then_some(object)
        };
        match (seen(&event.before), seen(&event.after)) {
            (None, None) => None,
            (None, Some(after)) => Some(self.line("ADDED", &after)),
            (Some(_), Some(after)) => Some(self.line("MODIFIED", &after)),
            (Some(before), None) => {
                let mut last = Value::clone(&before);
                last["metadata"]["resourceVersion"] = event.version.to_string().into();
                Some(self.line("DELETED", &last))
            }
        }
    }

    /// A bookmark: a line that shows how far the watch has come.
    pub(super) fn bookmark(&mut self, version: u64, initial_end: bool) -> Bytes {
        let mut metadata = json!({ "resourceVersion": version.to_string() });
        if initial_end {
            metadata["annotations"] = json!({ "k8s.io/initial-events-end": "true" });
        }
        let object =
            json!({ "kind": self.kind.kind, "apiVersion": self.kind.api_version(), "metadata": metadata });
        self.line("BOOKMARK", &object)
    }

    fn line(&mut self, kind: &str, object: &Value) -> Bytes {
        let object = &*sent(&self.kind, object);
        match self.table {
            Some(_) => self.as_table(&line(kind, object)),
            None if self.metadata_only => line(kind, &MetadataOnly::of(object)),
            None => line(kind, object),
        }
    }

    /// A line whose object is whole, with a table in its place.
    pub(super) fn as_table(&mut self, line: &Bytes) -> Bytes {
        let with_columns = !std::mem::replace(&mut self.named, true);
        self.table.as_ref().map_or_else(|| line.clone(), |table| table.of_line(line, with_columns))
    }
}

/// A line of a watch in the form in which it is sent.
pub(super) fn line(kind: &str, object: &impl Serialize) -> Bytes {
    #[derive(Serialize)]
    struct Line<'l, O> {
        object: &'l O,
        #[serde(rename = "type")]
        kind: &'l str,
    }
    let mut line = serde_json::to_vec(&Line { object, kind }).unwrap_or_default();
    line.push(b'\n');
    line.into()
}
