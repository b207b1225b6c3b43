//! Which objects belong to a controller: those that it has made, those that its selector finds and nobody controls; and
//! those that no longer fit are given back.

use serde_json::Value;

use super::{
    Act, MANAGER,
    view::{Found, View, controller, items, reference, selects, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
};

/// The objects that belong to `owner`, or the writes that are needed first.
pub(super) fn claim<'s>(
    view: &View<'s>,
    resource: &Resource,
    path: &'s Path,
    owner: &Value,
) -> Result<Vec<Found<'s>>, Vec<Act>> {
    let selector = &owner["spec"]["selector"];
    let fits = |object: &Value| selects(selector, &object["metadata"]["labels"]);
    let owner_stays = stays(owner);
    let (claimed, strays): (Vec<_>, Vec<_>) =
        view.controlled(resource, owner).into_iter().partition(|(_, object)| fits(object) || !owner_stays);
    let write = |(path, object): Found<'_>, references: Vec<Value>| {
        let mut object = Value::clone(object);
        if let Some(metadata) = object["metadata"].as_object_mut() {
            match references.is_empty() {
                true => metadata.remove("ownerReferences"),
                false => metadata.insert("ownerReferences".to_owned(), references.into()),
            };
        }
        let (resource, path, endpoint) = (resource.clone(), path.clone(), Endpoint::Main);
        Act::Write { resource, path, endpoint, manager: MANAGER, object }
    };
    let uid = text(&owner["metadata"]["uid"]);
    let mut acts = Vec::new();
    for (path, stray) in strays.into_iter().filter(|(_, object)| stays(object)) {
        let kept = items(&stray["metadata"]["ownerReferences"]).iter();
        acts.push(write((path, stray), kept.filter(|reference| reference["uid"] != uid).cloned().collect()));
    }
    if owner_stays {
        let free = view.list(resource, path.namespace().unwrap_or_default());
        let free = free.filter(|(_, object)| controller(object).is_none() && stays(object) && fits(object));
        for (path, orphan) in free {
            let mut references = items(&orphan["metadata"]["ownerReferences"]).to_vec();
            references.push(reference(owner));
            acts.push(write((path, orphan), references));
        }
    }
    if acts.is_empty() { Ok(claimed) } else { Err(acts) }
}
