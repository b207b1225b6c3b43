//! The second controller: hands the war of a webapp to its Tomcat, once the Tomcat serves.

use k8s_openapi::{
    api::core::v1::ConfigMap,
    apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta},
};
use kube::{CustomResource, ResourceExt};
use operator_core::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tomcat::{HANDED_TO, Tomcat, War};

/// A war, its Tomcat, and its path.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, PartialEq)]
#[kube(
    group = "sample.operator-core.io",
    version = "v1",
    kind = "Webapp",
    namespaced,
    status = "WebappStatus",
    printcolumn = r#"{"name": "Ready", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].status"}"#,
    printcolumn = r#"{"name": "Address", "type": "string", "jsonPath": ".status.address"}"#,
    printcolumn = r#"{"name": "Why", "type": "string", "jsonPath": ".status.conditions[?(@.type==\"Ready\")].message"}"#
)]
pub struct WebappSpec {
    /// The Tomcat that serves it, in the same namespace.
    #[schemars(length(max = 63))]
    pub tomcat: String,
    /// Where its war is downloaded from.
    pub url: String,
    /// The path, such as `/shop`, or `/` for the root.
    pub path: String,
}

/// The state of a webapp.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct WebappStatus {
    /// The Tomcat that its war is handed to.
    pub handed_to: Option<String>,
    /// Its address inside the cluster.
    pub address: Option<String>,
    /// The generation of the spec that this status is about.
    pub observed_generation: Option<i64>,
    /// Ready, Reconciling and Stalled.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

/// The controller.
pub fn controller() -> ControllerBuilder<impl Reconciler<Primary = Webapp>> {
    // A change of a Tomcat triggers all webapps that name it.
    let tomcats = InformerEventSource::<Tomcat>::new().name("tomcats");
    Controller::of::<Webapp>()
        .name("webapp-operator")
        .watches_referenced(tomcats, |webapp| vec![tomcat_of(webapp)])
        .workflow((node(tomcat).event_source("tomcats").ready(serves), war.after(tomcat).ready(deployed)))
        .status(status)
}

fn tomcat_of(webapp: &Webapp) -> ObjectKey {
    ObjectKey::namespaced(&webapp.namespace().unwrap_or_default(), &webapp.spec.tomcat)
}

/// The Tomcat that serves it, which someone else has created.
pub fn tomcat(webapp: &Webapp) -> Read<Tomcat> {
    Read::key(tomcat_of(webapp))
}

/// A war goes to a Tomcat that has shown that it works. A war that is already there is changed even if the Tomcat
/// doesn't serve, because the war may be the reason.
fn serves(tomcat: &Tomcat, webapp: &Webapp) -> Verdict {
    let has_it = webapp.status.as_ref().is_some_and(|status| status.handed_to == tomcat.metadata.name);
    let serves = tomcat.status.as_ref().is_some_and(|status| status.ready_replicas > 0);
    Verdict::when(serves || has_it, format!("no pod of the tomcat {} serves yet", tomcat.name_any()))
}

/// The war, for the Tomcat's controller. Without a usable path it stays as it is.
pub fn war(webapp: &Webapp) -> Want<ConfigMap> {
    let WebappSpec { tomcat, url, path } = &webapp.spec;
    if !is_usable(path) {
        return Want::hold(
            "PathNotUsable",
            format!("{path:?} is not `/` with letters a-z, digits and dashes"),
        );
    }
    let data = [("webapp", &webapp.name_any()), ("path", path), ("url", url)];
    Want::of(ConfigMap {
        metadata: ObjectMeta {
            labels: Some([(HANDED_TO.to_owned(), tomcat.clone())].into()),
            ..ObjectMeta::default()
        },
        data: Some(data.map(|(key, value)| (key.to_owned(), value.clone())).into()),
        ..ConfigMap::default()
    })
}

/// It becomes part of a container's name, of at most 63 letters.
fn is_usable(path: &str) -> bool {
    let Some(name) = path.strip_prefix('/') else { return false };
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    name.len() <= 50 && name.chars().all(is_letter) && !name.ends_with('-')
}

/// Whether all pods of the Tomcat have the war, as its status says.
fn deployed(_: &ConfigMap, webapp: &Webapp, cx: &Context<Webapp>) -> Result<Verdict> {
    let path = &webapp.spec.path;
    let served = cx.get::<Tomcat>(&tomcat_of(webapp))?.and_then(|tomcat| {
        let status = tomcat.status.as_ref()?;
        status.wars.get(path).cloned()
    });
    let wanted = War { webapp: webapp.name_any(), url: webapp.spec.url.clone() };
    Ok(match served {
        Some(war) if war == wanted => Verdict::met(),
        Some(war) if war.webapp != wanted.webapp => {
            Verdict::not_met(format!("{path} is served by the webapp {}", war.webapp))
        }
        _ => Verdict::not_met("the tomcat is rolling it out"),
    })
}

fn status(webapp: &Webapp, run: &Run<Webapp>) -> WebappStatus {
    let WebappSpec { tomcat, path, .. } = &webapp.spec;
    let address = || format!("http://{tomcat}.{}{path}", webapp.namespace().unwrap_or_default());
    WebappStatus {
        handed_to: run.get(war).and_then(|war| war.labels().get(HANDED_TO).cloned()),
        address: run.all_ready().then(address),
        observed_generation: webapp.metadata.generation,
        conditions: run.conditions(webapp),
    }
}
