//! The kinds of a cluster that have no definition, as its server lists them: asked for once, and again for what isn't there.

use std::{collections::BTreeMap, time::Duration};

use kube::{Client, core::ApiResource, discovery};

use crate::{environment::Now, resource::ResourceType};

/// How soon a kind that isn't there is asked for again.
const AGAIN: Duration = Duration::from_secs(1);

/// The kinds that were found.
#[derive(Default)]
pub(super) struct ListedKinds {
    /// By group and kind: the recommended version first.
    all: BTreeMap<(String, String), Vec<ResourceType>>,
    asked: Option<Now>,
}

impl ListedKinds {
    /// That kind, in this version or else the recommended one.
    pub(super) fn get(&self, group: &str, version: Option<&str>, kind: &str) -> Option<&ResourceType> {
        let all = self.all.get(&(group.to_owned(), kind.to_owned()))?;
        all.iter().find(|one| version.is_none_or(|version| version == one.version()))
    }

    /// The kinds of this group have definitions.
    pub(super) fn forget(&mut self, group: &str) {
        self.all.retain(|(of, _), _| of != group);
    }

    /// Whether to ask for what isn't there.
    pub(super) fn is_due(&self, now: Now) -> bool {
        self.asked.is_none_or(|asked| now - asked >= AGAIN)
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
            for (resource, capabilities) in recommended.chain(all) {
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
