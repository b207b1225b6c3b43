//! The writes of the controllers.

use serde_json::Value;

use super::{
    Act,
    events::{Deed, Recorder, Verb, say, told},
    queue::Look,
    view::pods,
};
use crate::in_process::{
    api::ApiServer,
    failure::Failure,
    store::{Path, Resource},
    write::{create_own, delete_own, put, write_own},
};

/// Does one act of a controller that has looked at an object, and says so. An error is the text of the refusal.
pub(super) fn perform_and_tell(
    recorder: &mut Recorder,
    api: &mut ApiServer,
    look: &Look,
    object: &Value,
    act: Act,
) -> Result<(), String> {
    if let Act::Say(said) = act {
        say(recorder, api, look.controller, object, said);
        return Ok(());
    }
    if !recorder.is_on {
        return perform(api, act).map(drop);
    }
    let (verb, resource, given) = act.told_as();
    let before = given.as_ref().and_then(|path| api.store.get(&resource, path)).cloned();
    let done = perform(api, act);
    let path = match (&done, given) {
        (Ok(Some(made)), _) => made.clone(),
        (_, Some(given)) => given,
        (_, None) => Path::new(look.path.namespace(), ""),
    };
    let after = api.store.get(&resource, &path).cloned();
    let none = Value::Null;
    let deed = Deed {
        verb,
        resource: &resource,
        path: &path,
        before: before.as_deref().unwrap_or(&none),
        after: after.as_deref().unwrap_or(&none),
        refused: done.as_ref().err().map(String::as_str),
    };
    for said in told(look.controller, &look.path, &deed) {
        say(recorder, api, look.controller, object, said);
    }
    done.map(drop)
}

/// Does one act; returns where a new object is. An error is the text of the refusal.
pub(super) fn perform(api: &mut ApiServer, act: Act) -> Result<Option<Path>, String> {
    let said = |failure: Failure| {
        let body = failure.body().unwrap_or_default();
        body["message"].as_str().unwrap_or("the kind is not served any more").to_owned()
    };
    match act {
        Act::Create { resource, manager, mut object } => {
            let kind = api.discovery.of_resource(&resource).cloned().ok_or_else(|| said(Failure::Page))?;
            let namespace = object["metadata"]["namespace"].as_str().map(str::to_owned);
            let path = |name: &str| Path::new(namespace.as_deref(), name);
            let given = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            let path = if given.is_empty() {
                let prefix = object["metadata"]["generateName"].as_str().unwrap_or_default().to_owned();
                loop {
                    let path = path(&format!("{prefix}{}", api.counters.suffix()));
                    if api.store.get(&resource, &path).is_none() {
                        break path;
                    }
                }
            } else {
                path(&given)
            };
            object["metadata"]["name"] = path.name().into();
            create_own(api, &kind, &path, manager, object).map_err(said)?;
            return Ok(Some(path));
        }
        Act::Write { resource, path, endpoint, manager, object } => {
            let kind = api.discovery.of_resource(&resource).cloned().ok_or_else(|| said(Failure::Page))?;
            write_own(api, &kind, &path, endpoint, manager, object).map_err(said)?;
        }
        Act::Bind { path, object } => {
            let kind = api.discovery.of_object("v1", "Pod").cloned().ok_or_else(|| said(Failure::Page))?;
            put(api, &kind, &path, object);
        }
        Act::Delete { resource, path, how } => {
            let kind = api.discovery.of_resource(&resource).cloned().ok_or_else(|| said(Failure::Page))?;
            delete_own(api, &kind, &path, how).map_err(said)?;
        }
        Act::Say(_) => {}
    }
    Ok(None)
}

impl Act {
    /// What is done where. The place of an object that gets its name only now is not known.
    fn told_as(&self) -> (Verb, Resource, Option<Path>) {
        match self {
            Self::Create { resource, object, .. } => {
                let metadata = &object["metadata"];
                let name = metadata["name"].as_str();
                let path = name.map(|name| Path::new(metadata["namespace"].as_str(), name));
                (Verb::Create, resource.clone(), path)
            }
            Self::Write { resource, path, .. } => (Verb::Write, resource.clone(), Some(path.clone())),
            Self::Bind { path, .. } => (Verb::Write, pods(), Some(path.clone())),
            Self::Delete { resource, path, .. } => (Verb::Delete, resource.clone(), Some(path.clone())),
            Self::Say(_) => (Verb::Write, pods(), None),
        }
    }
}
