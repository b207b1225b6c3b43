//! Who owns the claims of a StatefulSet: with its owner goes a claim, as the policy says.

use serde_json::Value;

use super::{
    super::{
        view::{controller, reference},
        volumes::claims,
    },
    Act, MANAGER, Set, items, stays, text,
};
use crate::in_process::{fields::Endpoint, store::Path};

impl Set<'_> {
    /// The claims of Pods that are there get the owners that the policy wants.
    pub(super) fn owned_claims(&self) -> Vec<Act> {
        let mut acts = Vec::new();
        for (ordinal, (_, pod)) in &self.pods {
            for path in self.claims_of(*ordinal) {
                let Some(claim) = self.view.store.get(&claims(), &path).filter(|claim| stays(claim)) else {
                    continue;
                };
                if let Some(object) = self.owned(claim, pod, self.ordinals().contains(ordinal)) {
                    let (resource, endpoint) = (claims(), Endpoint::Main);
                    acts.push(Act::Write { resource, path, endpoint, manager: MANAGER, object });
                }
            }
        }
        acts
    }

    /// Whether a claim of a Pod that is missing still goes with its predecessor.
    pub(super) fn has_stale_claim(&self, ordinal: i64) -> bool {
        let pod = format!("{}-{ordinal}", self.path.name());
        self.policy("whenScaled")
            && self.claims_of(ordinal).iter().any(|path| {
                let claim = self.view.store.get(&claims(), path);
                let owners = claim.map(|claim| items(&claim["metadata"]["ownerReferences"]));
                owners.into_iter().flatten().any(|owner| owner["kind"] == "Pod" && owner["name"] == *pod)
            })
    }

    fn claims_of(&self, ordinal: i64) -> Vec<Path> {
        let pod = format!("{}-{ordinal}", self.path.name());
        let templates = items(&self.set["spec"]["volumeClaimTemplates"]).iter();
        let name = |template: &Value| format!("{}-{pod}", text(&template["metadata"]["name"]));
        templates.map(|template| Path::new(self.path.namespace(), &name(template))).collect()
    }

    /// Whether claims are to go in this case.
    fn policy(&self, case: &str) -> bool {
        self.set["spec"]["persistentVolumeClaimRetentionPolicy"][case] == "Delete"
    }

    /// A claim with other owners, if it needs them.
    fn owned(&self, claim: &Value, pod: &Value, is_wanted: bool) -> Option<Value> {
        let is = |owner: &Value, of: &Value| {
            owner["kind"] == of["kind"] && owner["name"] == of["metadata"]["name"]
        };
        let known = items(&claim["metadata"]["ownerReferences"]);
        let is_of_us = |owner: &Value| is(owner, self.set) || is(owner, pod);
        let is_present = |owner: &Value| {
            owner["uid"] == self.set["metadata"]["uid"] || owner["uid"] == pod["metadata"]["uid"]
        };
        // What belongs to a predecessor goes with it.
        if known.iter().any(|owner| is_of_us(owner) && !is_present(owner)) {
            return None;
        }
        let mut owners: Vec<Value> = known.iter().filter(|owner| !is_of_us(owner)).cloned().collect();
        let is_others = controller(claim).is_some_and(|owner| !is_of_us(owner));
        if !is_others {
            if self.policy("whenScaled") && !is_wanted {
                owners.push(reference(pod));
            } else if self.policy("whenDeleted") {
                owners.push(reference(self.set));
            }
        }
        if owners == known {
            return None;
        }
        let mut object = claim.clone();
        match owners.is_empty() {
            true => drop(object["metadata"].as_object_mut().and_then(|of| of.remove("ownerReferences"))),
            false => object["metadata"]["ownerReferences"] = owners.into(),
        }
        Some(object)
    }
}
