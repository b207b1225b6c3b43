//! DELETE of objects and collections.

use jiff::Timestamp;
use std::sync::Arc;

use http::StatusCode;
use serde_json::{Value, json};

use super::{create::put, finalizers, is_deleting, json_or_yaml, meta, metadata, update::is_held};
use crate::in_process::{
    admission::admit_deletion,
    api::{ApiServer, Reply},
    definitions::{GROUP, KIND, mark_definition},
    failure::{Cause, Failure},
    kinds::Kind,
    list_options::{ListOptions, number},
    read::{self, Selected, collection, show},
    request::{Query, Request, Target},
    store::Path,
};

/// What happens to the objects that an object owns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Propagation {
    Background,
    Foreground,
    Orphan,
    #[default]
    /// According to the object's finalizers, or else the default of its kind.
    Default,
}

/// How a controller deletes an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::in_process) enum How {
    /// What belongs to it is deleted after it, unless somebody has said something else before.
    Background,
    /// The same, whatever somebody has said before.
    Regardless,
    /// What belongs to it is deleted first, whatever somebody has said before.
    Foreground,
    /// A Pod, within so many seconds.
    Within(i64),
}

/// The options of a deletion.
#[derive(Clone, Debug, Default)]
pub(super) struct DeleteOptions {
    pub(super) dry_run: bool,
    propagation: Propagation,
    uid: Option<String>,
    pub(super) version: Option<String>,
    grace: Option<i64>,
    /// Whether the old way to say that dependents go, too, was used: it has an answer of its own.
    cascades: bool,
}

/// DELETE of an object.
pub(in crate::in_process) fn delete(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    path: &Path,
) -> Result<Reply, Failure> {
    let options = DeleteOptions::new(request)?;
    warn_of_orphans(&mut api.warnings, kind, &options);
    admit_deletion(kind, path)?;
    let live = read::live(&api.store, kind, path)?;
    let (marked, object) = delete_object(api, kind, path, &live, &options)?;
    if marked || kind.behaviour.shows_deleted {
        let code = if marked && options.cascades { StatusCode::ACCEPTED } else { StatusCode::OK };
        return show(request, kind, &object).map(|shown| Reply::Json(code, shown));
    }
    let mut details = json!({ "name": path.name(), "kind": kind.plural, "uid": live["metadata"]["uid"] });
    if !kind.group.is_empty() {
        details["group"] = kind.group.clone().into();
    }
    Ok(Reply::value(&json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    })))
}

/// The Pods of a Job stay unless somebody says something else.
fn warn_of_orphans(warnings: &mut Vec<String>, kind: &Kind, options: &DeleteOptions) {
    if kind.group == "batch" && kind.kind == "Job" && options.propagation == Propagation::Default {
        let words = "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to \
                     remove them or set propagationPolicy=Orphan to suppress this warning";
        warnings.push(words.to_owned());
    }
}

/// DELETE of a collection.
pub(in crate::in_process) fn delete_collection(
    api: &mut ApiServer,
    request: &Request,
    kind: &Arc<Kind>,
    target: &Target,
) -> Result<Reply, Failure> {
    ListOptions::read(request, kind, target)?;
    let options = DeleteOptions::new(request)?;
    warn_of_orphans(&mut api.warnings, kind, &options);
    let Selected { objects, metadata } = read::select(&api.store, request, kind, target)?;
    for (path, object) in &objects {
        // An old version of the list may name what is gone.
        let Ok(live) = read::live(&api.store, kind, path) else { continue };
        let object = if live == *object { object } else { &live };
        delete_object(api, kind, path, object, &options)?;
    }
    let objects = objects.iter().map(|(_, object)| &**object);
    collection(request, kind, &metadata, objects).map(Reply::ok)
}

/// Deletes an object or marks it; the answer shows which, and its last state.
pub(super) fn delete_object(
    api: &mut ApiServer,
    kind: &Kind,
    path: &Path,
    live: &Arc<Value>,
    options: &DeleteOptions,
) -> Result<(bool, Arc<Value>), Failure> {
    options.check(kind, live)?;
    let mut object = Value::clone(live);
    let wanted = options.finalizers(kind, live);
    let differs = wanted.iter().map(String::as_str).ne(finalizers(live));
    let grace = options.grace_of(kind, live);
    // A Pod that is already ending can only be given less time.
    let known = live["metadata"]["deletionGracePeriodSeconds"].as_i64().unwrap_or_default();
    let shortened = is_deleting(live) && grace.is_some_and(|grace| grace < known);
    if is_deleting(live) && !differs && !shortened {
        return Ok((true, Arc::clone(live)));
    }
    if differs {
        let list = object["metadata"].as_object_mut();
        match wanted.is_empty() {
            true => list.and_then(|metadata| metadata.remove("finalizers")),
            false => {
                list.and_then(|metadata| metadata.insert("finalizers".to_owned(), wanted.clone().into()))
            }
        };
    }
    if kind.group == GROUP && kind.kind == KIND && !is_deleting(live) {
        mark_definition(&mut object, api.now);
    } else if wanted.is_empty() && !is_held(kind, live) && grace.unwrap_or_default() == 0 {
        end_of_pod(api.now, &mut object, live, grace);
        if !options.dry_run {
            if grace.is_some() {
                put(api, kind, path, object.clone());
            }
            remove(api, kind, path);
            // What is shown of it has the version of its end.
            object["metadata"]["resourceVersion"] = api.store.version().to_string().into();
        }
        return Ok((false, Arc::new(object)));
    }
    if shortened {
        let seconds = grace.unwrap_or_default();
        let end = metadata::shifted(&live["metadata"]["deletionTimestamp"], seconds - known);
        object["metadata"]["deletionTimestamp"] = end.into();
        object["metadata"]["deletionGracePeriodSeconds"] = seconds.into();
    }
    if !is_deleting(live) {
        let metadata = &mut object["metadata"];
        let seconds = grace.unwrap_or_default();
        metadata["deletionTimestamp"] = metadata::shifted(&metadata::time(api.now).into(), seconds).into();
        if !is_held(kind, live) && kind.group != GROUP {
            metadata["deletionGracePeriodSeconds"] = seconds.into();
        }
        let counted = metadata["generation"].as_i64().filter(|generation| *generation > 0);
        if let Some(generation) = counted.filter(|_| kind.group != GROUP) {
            metadata["generation"] = (generation + 1).into();
        }
        if is_held(kind, live) {
            object["status"]["phase"] = "Terminating".into();
        }
    }
    if options.dry_run {
        return Ok((true, Arc::new(object)));
    }
    Ok((true, put(api, kind, path, object)))
}

/// A Pod that goes at once says so before it is gone, as one that has been given time does.
fn end_of_pod(now: Timestamp, object: &mut Value, live: &Value, grace: Option<i64>) {
    let Some(seconds) = grace else { return };
    let metadata = &mut object["metadata"];
    let known = metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or_default();
    if is_deleting(live) {
        metadata["deletionTimestamp"] =
            metadata::shifted(&live["metadata"]["deletionTimestamp"], seconds - known).into();
    } else {
        metadata["deletionTimestamp"] = metadata::time(now).into();
        let generation = metadata["generation"].as_i64().filter(|generation| *generation > 0);
        if let Some(generation) = generation {
            metadata["generation"] = (generation + 1).into();
        }
    }
    metadata["deletionGracePeriodSeconds"] = seconds.into();
}

/// Removes an object from the store.
pub(in crate::in_process) fn remove(api: &mut ApiServer, kind: &Kind, path: &Path) {
    let resource = kind.resource();
    if let Some(gone) = api.store.remove(&resource, path) {
        api.changed.end(resource, path.clone(), gone);
    }
}

impl DeleteOptions {
    /// Those of a controller.
    pub(super) fn of_controller(how: How, live: &Value) -> Self {
        const COLLECTOR: [&str; 2] = ["orphan", "foregroundDeletion"];
        let said = finalizers(live).iter().any(|name| COLLECTOR.contains(name));
        let propagation = match how {
            How::Background | How::Within(_) if said => Propagation::Default,
            How::Foreground => Propagation::Foreground,
            How::Background | How::Regardless | How::Within(_) => Propagation::Background,
        };
        let grace = if let How::Within(seconds) = how { Some(seconds) } else { None };
        Self { propagation, grace, ..Self::default() }
    }

    /// How many seconds a Pod has until its end, in which the node ends it; `None` for other kinds.
    fn grace_of(&self, kind: &Kind, live: &Value) -> Option<i64> {
        if kind.kind != "Pod" || !kind.group.is_empty() {
            return None;
        }
        if is_deleting(live) && self.grace.is_none() {
            return None;
        }
        let is_over = matches!(live["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        if live["spec"]["nodeName"].as_str().is_none_or(str::is_empty) || is_over {
            return Some(0);
        }
        let of_spec = live["spec"]["terminationGracePeriodSeconds"].as_i64();
        let grace = self.grace.or(of_spec).unwrap_or_default();
        Some(if grace < 0 { 1 } else { grace })
    }

    fn new(request: &Request) -> Result<Self, Failure> {
        // The real server reads the query only where there is no body.
        let body =
            if request.body.is_empty() { of_query(&request.query)? } else { delete_options(&request.body)? };
        Self::of(&body)
    }

    /// The options in a body.
    pub(super) fn of(body: &Value) -> Result<Self, Failure> {
        let policy = body["propagationPolicy"].as_str();
        let orphan = body["orphanDependents"].as_bool();
        let causes = contradictions(body);
        if !causes.is_empty() {
            return Err(Failure::options("DeleteOptions", &causes));
        }
        let propagation = match (policy, orphan) {
            (Some("Background"), _) | (None, Some(false)) => Propagation::Background,
            (Some("Foreground"), _) => Propagation::Foreground,
            (Some(_), _) | (None, Some(true)) => Propagation::Orphan,
            (None, None) => Propagation::Default,
        };
        let precondition = |field: &str| body["preconditions"][field].as_str().map(str::to_owned);
        Ok(Self {
            dry_run: body["dryRun"].as_array().is_some_and(|values| !values.is_empty()),
            propagation,
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
            grace: body["gracePeriodSeconds"].as_i64(),
            cascades: orphan == Some(false),
        })
    }

    /// The preconditions.
    pub(super) fn check(&self, kind: &Kind, live: &Value) -> Result<(), Failure> {
        let name = meta(live, "name");
        let (uid, version) = (meta(live, "uid"), meta(live, "resourceVersion"));
        if let Some(wanted) = self.uid.as_deref().filter(|wanted| *wanted != uid) {
            let why = format!(
                "the UID in the precondition ({wanted}) does not match the UID in record ({uid}). The object might \
                 have been deleted and then recreated"
            );
            return Err(Failure::precondition(kind, name, &why));
        }
        if let Some(wanted) = self.version.as_deref().filter(|wanted| *wanted != version) {
            let why = format!(
                "the ResourceVersion in the precondition ({wanted}) does not match the ResourceVersion in record \
                 ({version}). The object might have been modified"
            );
            return Err(Failure::precondition(kind, name, &why));
        }
        Ok(())
    }

    /// The finalizers that an object should have once it is deleted: those of the garbage collector according to the
    /// propagation.
    fn finalizers(&self, kind: &Kind, live: &Value) -> Vec<String> {
        const COLLECTOR: [&str; 2] = ["orphan", "foregroundDeletion"];
        let existing = finalizers(live);
        let of_collector = |name: &&str| COLLECTOR.contains(name);
        let mut wanted: Vec<String> =
            existing.iter().filter(|name| !of_collector(name)).map(|name| (*name).to_owned()).collect();
        let added = match self.propagation {
            // Nothing belongs to an event.
            _ if kind.plural == "events" && matches!(&*kind.group, "" | "events.k8s.io") => None,
            Propagation::Background => None,
            Propagation::Foreground => Some("foregroundDeletion"),
            Propagation::Orphan => Some("orphan"),
            Propagation::Default => match existing.iter().find(|name| of_collector(name)) {
                Some(name) => Some(*name),
                // An old promise: the pods of a Job stay.
                None => (kind.group == "batch" && kind.kind == "Job").then_some("orphan"),
            },
        };
        wanted.extend(added.map(str::to_owned));
        // Where nothing changes, neither does the order.
        if wanted.len() == existing.len()
            && existing.iter().all(|name| wanted.iter().any(|other| other == name))
        {
            return existing.iter().map(|name| (*name).to_owned()).collect();
        }
        wanted
    }
}

/// The options of a deletion that has them in its query.
fn of_query(query: &Query) -> Result<Value, Failure> {
    let mut options = json!({});
    if let Some(grace) = number(query, "gracePeriodSeconds")? {
        options["gracePeriodSeconds"] = grace.into();
    }
    if let Some(orphan) = query.flag("orphanDependents") {
        options["orphanDependents"] = orphan.into();
    }
    if let Some(policy) = query.all("propagationPolicy").first() {
        options["propagationPolicy"] = policy.clone().into();
    }
    if !query.all("dryRun").is_empty() {
        options["dryRun"] = query.all("dryRun").into();
    }
    Ok(options)
}

/// What is wrong with the options of a deletion.
fn contradictions(options: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut wrong = |reason: &str, field: &str, message: String| {
        causes.push((reason.to_owned(), field.to_owned(), message));
    };
    if let Some(policy) = options["propagationPolicy"].as_str() {
        let field = "propagationPolicy";
        if options["orphanDependents"].is_boolean() {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            wrong("FieldValueInvalid", field, format!("Invalid value: {policy:?}: {why}"));
        }
        if !matches!(policy, "Foreground" | "Background" | "Orphan") {
            let known = "supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"";
            wrong("FieldValueNotSupported", field, format!("Unsupported value: {policy:?}: {known}"));
        }
    }
    if let Some(dry_run) = options["dryRun"].as_array()
        && dry_run.iter().any(|value| value != "All")
    {
        let dry_run = options["dryRun"].to_string();
        let message = format!("Unsupported value: {dry_run}: supported values: \"All\"");
        wrong("FieldValueNotSupported", "dryRun", message);
    }
    causes
}

/// The body of a deletion, if it is one.
fn delete_options(body: &[u8]) -> Result<Value, Failure> {
    let wrong =
        |error: String| Failure::bad_request(format!("couldn't get version/kind; json parse error: {error}"));
    let options = json_or_yaml(body).map_err(wrong)?;
    let kind = options["kind"].as_str().unwrap_or_default();
    if !options.is_object() || !matches!(kind, "" | "DeleteOptions") {
        let version = options["apiVersion"].as_str().unwrap_or_default();
        return Err(Failure::bad_request(format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/runtime/scheme.go:111\""
        )));
    }
    Ok(options)
}
