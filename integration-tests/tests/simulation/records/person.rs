//! A person who learns that a create had no answer, finds out its outcome, and reports it.

use integration_tests::prelude::*;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{ledger::Ledger, site::Site};

const ATTEMPTS: &str = "operator-core.io/attempts";
pub(crate) const FORGET: &str = "operator-core.io/forget-attempt";

/// How long it takes until a person looks.
const TAKES: Duration = Duration::from_secs(2);

/// Acts on the errors of failed runs, until there are no more.
pub(crate) async fn acts(client: Client, ledger: Ledger, mut errors: UnboundedReceiver<String>) {
    let sites = Api::<Site>::default_namespaced(client);
    while let Some(error) = errors.recv().await {
        let Some((token, begun)) = doubt(&error) else { continue };
        tokio::time::sleep(TAKES).await;
        clears(&sites, &ledger, token, begun).await;
    }
}

/// The token and the attempt of an error that asks for a person.
fn doubt(error: &str) -> Option<(&str, &str)> {
    let (_, rest) = error.split_once("no response to the create of `")?;
    let (token, rest) = rest.split_once("`, started at ")?;
    let (begun, _) = rest.split_once(". It isn't repeated")?;
    Some((token, begun.trim_end_matches(',')))
}

async fn clears(sites: &Api<Site>, ledger: &Ledger, token: &str, begun: &str) {
    let all = sites.list(&kube::api::ListParams::default()).await.expect("sites can be listed");
    let site = all.into_iter().find(|site| {
        let uid = site.uid().unwrap_or_default();
        token == format!("{uid}/account") && attempt(site).as_deref() == Some(begun)
    });
    // It is gone, or somebody has cleared it.
    let Some(site) = site else { return };
    let records = ledger.system.records();
    let there = records.iter().find(|(_, made_for, body)| made_for == token && body.is_some());
    let (name, params) = (site.name_any(), PatchParams::default());
    match there {
        Some((id, ..)) => {
            let patch = Patch::Merge(json!({ "status": { "accountId": id } }));
            sites.patch_status(&name, &params, &patch).await.expect("the status can be written");
        }
        None => {
            let patch = Patch::Merge(json!({ "metadata": { "annotations": { FORGET: begun } } }));
            sites.patch(&name, &params, &patch).await.expect("the site can be annotated");
        }
    }
}

/// When the last create of its account was begun.
fn attempt(site: &Site) -> Option<String> {
    let notes: Value = serde_json::from_str(site.annotations().get(ATTEMPTS)?).ok()?;
    Some(notes["account"][""]["begun"].as_str()?.to_owned())
}
