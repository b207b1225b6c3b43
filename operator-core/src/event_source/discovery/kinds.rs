//! The kinds of a cluster that have no definition, as its server lists them: asked for once, and again for what isn't there.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use kube::{
    Client,
    core::ApiResource,
    discovery::{self, ApiCapabilities, verbs},
};

use crate::{environment::Now, resource::ResourceType};

/// How soon a kind that isn't there is asked for again.
const AGAIN: Duration = Duration::from_secs(1);

/// The kinds that were found.
#[derive(Default)]
pub(super) struct ListedKinds {
    /// By group and kind: the recommended version first.
    all: BTreeMap<(String, String), Vec<ResourceType>>,
    asked: Option<Now>,
    /// The groups whose kinds have, or had, definitions.
    defined: BTreeSet<String>,
}

impl ListedKinds {
    /// That kind, in this version or else the recommended one.
    pub(super) fn get(&self, group: &str, version: Option<&str>, kind: &str) -> Option<&ResourceType> {
        if self.defined.contains(group) {
            return None;
        }
        let all = self.all.get(&(group.to_owned(), kind.to_owned()))?;
        all.iter().find(|one| version.is_none_or(|version| version == one.version()))
    }

    /// The kinds of this version whose objects can be listed, as far as the server was asked.
    pub(super) fn of_version(&self, group: &str, version: &str) -> Vec<ResourceType> {
        let of_group = self.all.iter().filter(|((of, _), _)| of == group).flat_map(|(_, all)| all);
        of_group.filter(|kind| kind.version() == version).cloned().collect()
    }

    /// The kinds of this group have definitions, which say everything: the server lists a kind for a while after its definition
    /// is gone.
    pub(super) fn note_defined(&mut self, group: &str) {
        if !self.defined.contains(group) {
            self.defined.insert(group.to_owned());
        }
    }

    /// The kinds of this group can't be listed: they are asked for again.
    pub(super) fn forget(&mut self, group: &str) {
        self.all.retain(|(of, _), _| of != group);
    }

    /// Whether to ask for a kind of this group that isn't there.
    pub(super) fn is_due(&self, group: &str, now: Now) -> bool {
        !self.defined.contains(group) && self.asked.is_none_or(|asked| now - asked >= AGAIN)
    }

    /// Asks for all kinds, which takes two requests; of an older server for those of this group.
    pub(super) async fn ask(&mut self, client: &Client, group: &str, now: Now) -> kube::Result<()> {
        self.asked = Some(now);
        let found = match discovery::Discovery::new(client.clone()).run_aggregated().await {
            Ok(all) => all,
            Err(_) => discovery::Discovery::new(client.clone()).filter(&[group]).run().await?,
        };
        for group in found.groups() {
            let recommended = group.recommended_resources().into_iter();
            let all = group.versions().flat_map(|version| group.versioned_resources(version));
            let listable = |(_, can): &(_, ApiCapabilities)| can.supports_operation(verbs::LIST);
            for (resource, capabilities) in recommended.chain(all).filter(listable) {
                self.add(&resource, capabilities.scope == discovery::Scope::Namespaced);
            }
        }
        Ok(())
    }

    fn add(&mut self, resource: &ApiResource, is_namespaced: bool) {
        let kind = ResourceType::from(resource);
        let kind = if is_namespaced { kind } else { kind.cluster_scoped() };
        let all = self.all.entry((resource.group.clone(), resource.kind.clone())).or_default();
        match all.iter_mut().find(|known| known.version() == kind.version()) {
            Some(known) => *known = kind,
            None => all.push(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use kube::core::GroupVersionKind;

    use super::*;

    fn resource(group: &str, version: &str, kind: &str) -> ApiResource {
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
    }

    fn listed() -> ListedKinds {
        let mut listed = ListedKinds { asked: Some(Now::START), ..ListedKinds::default() };
        listed.add(&resource("apps", "v1", "Deployment"), true);
        listed.add(&resource("apps", "v1beta1", "Deployment"), true);
        listed.add(&resource("shop.io", "v1", "Page"), false);
        listed
    }

    #[test]
    fn a_kind_is_found_in_the_recommended_version_unless_one_is_wanted() {
        let listed = listed();
        let version = |version| listed.get("apps", version, "Deployment").map(ResourceType::version);
        assert_eq!(
            (version(None), version(Some("v1beta1")), version(Some("v2"))),
            (Some("v1"), Some("v1beta1"), None)
        );
        assert!(listed.get("apps", None, "Page").is_none());
        assert_eq!(listed.get("shop.io", None, "Page").map(ResourceType::is_namespaced), Some(false));
    }

    #[test]
    fn the_kinds_of_a_version_are_those_that_it_has() {
        let kinds = |group, version| -> Vec<String> {
            listed().of_version(group, version).iter().map(ResourceType::full_name).collect()
        };
        assert_eq!(kinds("apps", "v1beta1"), ["deployments.apps"]);
        assert_eq!(kinds("shop.io", "v2"), [""; 0]);
    }

    #[test]
    fn what_is_not_there_is_asked_for_again_but_not_at_once() {
        let listed = listed();
        assert!(!listed.is_due("apps", Now::START) && listed.is_due("apps", Now::at(AGAIN)));
        assert!(ListedKinds::default().is_due("apps", Now::START));
    }

    /// The server lists it for a while, which once kept a set from its end.
    #[test]
    fn a_kind_whose_definition_is_gone_is_not_there_whatever_the_server_lists() {
        let mut listed = listed();
        listed.note_defined("shop.io");
        listed.add(&resource("shop.io", "v1", "Page"), false);
        assert!(listed.get("shop.io", None, "Page").is_none() && !listed.is_due("shop.io", Now::at(AGAIN)));
    }

    #[test]
    fn a_kind_that_can_not_be_listed_is_asked_for_again() {
        let mut listed = listed();
        listed.forget("shop.io");
        assert!(
            listed.get("shop.io", None, "Page").is_none() && listed.get("apps", None, "Deployment").is_some()
        );
        listed.add(&resource("shop.io", "v1", "Page"), false);
        assert!(listed.get("shop.io", None, "Page").is_some());
    }
}
