//! Volumes: claims find one or get one made, as with a dynamic provisioner, and neither goes while it is used.
//!
//! ```text
//!  claim ─▶ a volume that is free and fits? ──────────────────────┐
//!     └──▶ its class exists (or it names none): one is made ──────┴─▶ both are Bound ─▶ claim goes ─▶ Released
//!          its class waits for a Pod: not before there is one                            └▶ deleted, if its policy is Delete
//! ```

mod fit;
mod volume;

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Act, Next,
    events::Said,
    pods::is_over,
    view::{View, items, pods, stays, text, without_finalizer},
};
use crate::in_process::{
    fields::Endpoint,
    kinds::storage::{class, names_class},
    store::{Path, Resource, Store},
    values::amount,
    write::{is_deleting, metadata::time},
};
pub(super) use volume::next as next_of_volume;

/// The binder.
const BINDER: &str = "kube-controller-manager";
/// What makes volumes, and names itself in them if their class doesn't name it.
const PROVISIONER: &str = "in-process";
const PROVISIONED_BY: &str = "pv.kubernetes.io/provisioned-by";
const BOUND_BY_CONTROLLER: &str = "pv.kubernetes.io/bound-by-controller";
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const ASKED: [&str; 2] =
    ["volume.beta.kubernetes.io/storage-provisioner", "volume.kubernetes.io/storage-provisioner"];
const CLAIM_IN_USE: &str = "kubernetes.io/pvc-protection";
const VOLUME_IN_USE: &str = "kubernetes.io/pv-protection";

/// Where claims are.
pub(super) fn claims() -> Resource {
    Resource::new("", "persistentvolumeclaims")
}

/// Where volumes are.
pub(super) fn volumes() -> Resource {
    Resource::new("", "persistentvolumes")
}

/// Where storage classes are.
fn classes() -> Resource {
    Resource::new("storage.k8s.io", "storageclasses")
}

/// The names of the claims that a Pod uses.
pub(super) fn used_by(pod: &Value) -> impl Iterator<Item = &str> {
    let volumes = items(&pod["spec"]["volumes"]).iter();
    volumes.filter_map(|volume| volume["persistentVolumeClaim"]["claimName"].as_str())
}

/// Whether a claim has a volume.
fn is_bound(claim: &Value) -> bool {
    claim["metadata"]["annotations"].get(BIND_COMPLETED).is_some()
}

/// Whether a class waits for a Pod that uses the claim.
fn waits_for_pod(store: &Store, claim: &Value) -> bool {
    let class = store.get(&classes(), &Path::new(None, class(claim)));
    class.is_some_and(|class| class["volumeBindingMode"] == "WaitForFirstConsumer")
}

/// Whether a Pod that comes or goes matters to a claim.
pub(super) fn depends_on_pods(store: &Store, claim: &Path) -> bool {
    let Some(claim) = store.get(&claims(), claim) else { return false };
    is_deleting(claim) || (!is_bound(claim) && waits_for_pod(store, claim))
}

/// Why a Pod can't have its volumes now, if that is so.
pub(super) enum Missing {
    /// This is said about the Pod.
    Unschedulable(String),
    /// They are on their way.
    Soon,
}

/// Whether something is missing of what a Pod mounts.
pub(super) fn missing(view: &View<'_>, path: &Path, pod: &Value) -> Option<Missing> {
    let mut soon = None;
    for name in used_by(pod) {
        let claim = view.store.get(&claims(), &Path::new(path.namespace(), name));
        match claim {
            None => {
                return Some(Missing::Unschedulable(format!("persistentvolumeclaim \"{name}\" not found")));
            }
            Some(claim) if is_deleting(claim) => {
                let why = format!("persistentvolumeclaim \"{name}\" is being deleted");
                return Some(Missing::Unschedulable(why));
            }
            Some(claim) if is_bound(claim) => {}
            Some(claim) if waits_for_pod(view.store, claim) => soon = Some(Missing::Soon),
            Some(_) => {
                let why = "pod has unbound immediate PersistentVolumeClaims";
                return Some(Missing::Unschedulable(why.to_owned()));
            }
        }
    }
    soon
}

/// What a claim needs next.
pub(super) fn next(view: &View<'_>, path: &Path, claim: &Arc<Value>) -> Next {
    let users = view.list(&pods(), path.namespace().unwrap_or_default());
    let mut users = users.filter(|(_, pod)| used_by(pod).any(|name| name == path.name()) && !is_over(pod));
    if is_deleting(claim) {
        let is_used = users.any(|(_, pod)| !text(&pod["spec"]["nodeName"]).is_empty());
        return if is_used { Next::nothing() } else { unprotected(&claims(), path, claim, CLAIM_IN_USE) };
    }
    let is_wanted = users.next().is_some();
    if is_bound(claim) {
        return bound(view, path, claim);
    }
    let named = text(&claim["spec"]["volumeName"]);
    if !named.is_empty() {
        return match view.store.get(&volumes(), &Path::new(None, named)) {
            Some(volume) if fit::is_free_for(volume, claim) => bind(view, path, claim, named, volume),
            _ => Next::nothing(),
        };
    }
    let waits = waits_for_pod(view.store, claim) && !is_wanted;
    if !waits && let Some((volume_path, volume)) = fit::best(view, claim) {
        return bind(view, path, claim, volume_path.name(), volume);
    }
    if waits {
        let why = "waiting for first consumer to be created before binding";
        return Next::act(Act::Say(Said::normal("WaitForFirstConsumer", why.to_owned())));
    }
    provide(view, path, claim)
}

/// Asks for a volume, and makes it.
fn provide(view: &View<'_>, path: &Path, claim: &Value) -> Next {
    let name = class(claim);
    let class = view.store.get(&classes(), &Path::new(None, name)).filter(|_| !name.is_empty());
    if class.is_none() && names_class(claim) {
        return Next::act(Act::Say(match name {
            "" => {
                let why = "no persistent volumes available for this claim and no storage class is set";
                Said::normal("FailedBinding", why.to_owned())
            }
            _ => {
                let why = format!("storageclass.storage.k8s.io \"{name}\" not found");
                Said::warning("ProvisioningFailed", why)
            }
        }));
    }
    let provisioner = class.map_or(PROVISIONER, |class| text(&class["provisioner"]));
    if provisioner == "kubernetes.io/no-provisioner" || view.failed.is_some() {
        return Next::nothing();
    }
    let mut acts = Vec::new();
    if class.is_some() && claim["metadata"]["annotations"].get(ASKED[1]).is_none() {
        let mut object = claim.clone();
        for annotation in ASKED {
            object["metadata"]["annotations"][annotation] = provisioner.into();
        }
        acts.push(write(&claims(), path, Endpoint::Main, object));
        let asked = format!(
            "Waiting for a volume to be created either by the external provisioner '{provisioner}' or manually by the \
             system administrator. If volume creation is delayed, please verify that the provisioner is running and \
             correctly registered."
        );
        acts.push(Act::Say(Said::normal("ExternalProvisioning", asked)));
    }
    let class = class.map(|class| &**class);
    acts.push(Act::Create {
        resource: volumes(),
        manager: PROVISIONER,
        object: fit::made(path, claim, class, provisioner),
    });
    let made = format!("Successfully provisioned volume {}", fit::name_for(claim));
    acts.push(Act::Say(Said { component: Some(PROVISIONER), ..Said::normal("ProvisioningSucceeded", made) }));
    Next::first(acts)
}

/// Claim and volume belong to each other from now on.
fn bind(view: &View<'_>, path: &Path, claim: &Value, name: &str, volume: &Value) -> Next {
    let mut acts = Vec::new();
    let volume_path = Path::new(None, name);
    let mut of_claim = volume.clone();
    let reference = &mut of_claim["spec"]["claimRef"];
    if reference["uid"] != claim["metadata"]["uid"] {
        let by_controller = reference.is_null();
        *reference = fit::reference(path, claim);
        if by_controller {
            of_claim["metadata"]["annotations"][BOUND_BY_CONTROLLER] = "yes".into();
        }
        acts.push(write(&volumes(), &volume_path, Endpoint::Main, of_claim.clone()));
    }
    if volume["status"]["phase"] != "Bound" {
        of_claim["status"] = json!({ "phase": "Bound", "lastPhaseTransitionTime": time(view.now) });
        acts.push(write(&volumes(), &volume_path, Endpoint::Status, of_claim));
    }
    let mut of_volume = claim.clone();
    if text(&claim["spec"]["volumeName"]).is_empty() {
        of_volume["spec"]["volumeName"] = name.into();
        of_volume["metadata"]["annotations"][BOUND_BY_CONTROLLER] = "yes".into();
    }
    of_volume["metadata"]["annotations"][BIND_COMPLETED] = "yes".into();
    acts.push(write(&claims(), path, Endpoint::Main, of_volume.clone()));
    of_volume["status"] = json!({
        "phase": "Bound", "accessModes": volume["spec"]["accessModes"], "capacity": volume["spec"]["capacity"],
    });
    acts.push(write(&claims(), path, Endpoint::Status, of_volume));
    Next::acts(acts)
}

/// A claim that has its volume: it may have lost it, or want a larger one.
fn bound(view: &View<'_>, path: &Path, claim: &Value) -> Next {
    let name = text(&claim["spec"]["volumeName"]);
    let volume_path = Path::new(None, name);
    let volume = view.store.get(&volumes(), &volume_path);
    let is_ours = |volume: &Value| {
        let owner = &volume["spec"]["claimRef"]["uid"];
        owner.is_null() || *owner == claim["metadata"]["uid"]
    };
    let Some(volume) = volume.filter(|volume| is_ours(volume)) else {
        if claim["status"]["phase"] == "Lost" {
            return Next::nothing();
        }
        let (reason, why) = match volume {
            None => ("ClaimLost", "Bound claim has lost its PersistentVolume. Data on the volume is lost!"),
            Some(_) => {
                ("ClaimMisbound", "Two claims are bound to the same volume, this one is bound incorrectly")
            }
        };
        let mut object = claim.clone();
        object["status"] = json!({ "phase": "Lost" });
        let said = Act::Say(Said::warning(reason, why.to_owned()));
        return Next::acts(vec![write(&claims(), path, Endpoint::Status, object), said]);
    };
    if claim["status"]["phase"] != "Bound" || volume["status"]["phase"] != "Bound" {
        return bind(view, path, claim, name, volume);
    }
    let wanted = &claim["spec"]["resources"]["requests"]["storage"];
    let is_made = volume["metadata"]["annotations"].get(PROVISIONED_BY).is_some();
    if is_made && amount(text(wanted)) > amount(text(&claim["status"]["capacity"]["storage"])) {
        let (mut larger, mut grown) = (Value::clone(volume), claim.clone());
        larger["spec"]["capacity"]["storage"] = wanted.clone();
        grown["status"]["capacity"]["storage"] = wanted.clone();
        return Next::acts(vec![
            write(&volumes(), &volume_path, Endpoint::Main, larger),
            write(&claims(), path, Endpoint::Status, grown),
        ]);
    }
    Next::nothing()
}

/// Nothing keeps an object any more that is to go.
fn unprotected(of: &Resource, path: &Path, object: &Value, finalizer: &str) -> Next {
    match without_finalizer(object, finalizer).filter(|_| !stays(object)) {
        Some(freed) => Next::act(write(of, path, Endpoint::Main, freed)),
        None => Next::nothing(),
    }
}

fn write(of: &Resource, path: &Path, endpoint: Endpoint, object: Value) -> Act {
    Act::Write { resource: of.clone(), path: path.clone(), endpoint, manager: BINDER, object }
}
