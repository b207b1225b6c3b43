//! An operator for sites that live in another system: a name, which can be searched for, an account, which can't, and
//! hosts, of which there are several.

use integration_tests::prelude::*;
use kube::CustomResource;
use operator_core::{
    dependent::{Deletion, External, Found, NotMade, Records, Token},
    prelude::{Result, *},
    testing::OtherSystemError,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ledger::Ledger;

/// The parts of a site.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[kube(group = "sample.operator-core.io", version = "v1", kind = "Site", namespaced, status = "SiteStatus")]
#[serde(rename_all = "camelCase")]
pub(crate) struct SiteSpec {
    /// Only one site can have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The other system can't be searched for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) account: Option<String>,
    /// Addresses by host.
    #[serde(default)]
    pub(crate) hosts: BTreeMap<String, String>,
}

/// The ids of its records, and its problem.
#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SiteStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) account_id: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) host_ids: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) observed_generation: Option<i64>,
}

impl Site {
    /// The wanted records in the other system: by node and key.
    pub(crate) fn wants(&self) -> BTreeMap<String, String> {
        let SiteSpec { name, account, hosts } = &self.spec;
        let name = name.iter().map(|name| ("name".to_owned(), name_record(name)));
        let account = account.iter().map(|account| ("account".to_owned(), account.clone()));
        let hosts = hosts.iter().map(|(host, address)| (format!("hosts/{host}"), address.clone()));
        name.chain(account).chain(hosts).collect()
    }

    /// The ids that its status has, in the same way.
    pub(crate) fn ids(&self) -> BTreeMap<String, String> {
        let SiteStatus { name_id, account_id, host_ids, .. } = self.status.clone().unwrap_or_default();
        let name = name_id.map(|id| ("name".to_owned(), id));
        let account = account_id.map(|id| ("account".to_owned(), id));
        let hosts = host_ids.into_iter().map(|(host, id)| (format!("hosts/{host}"), id));
        name.into_iter().chain(account).chain(hosts).collect()
    }
}

/// The record of a name, which shows that it is one.
fn name_record(name: &str) -> String {
    format!("name {name}")
}

/// The name, if it is the record of one.
pub(crate) fn name_of(record: &str) -> Option<String> {
    record.strip_prefix("name ").map(str::to_owned)
}

struct Name(Ledger);
struct Account(Ledger);
struct Hosts(Ledger);

/// A refused create made nothing.
fn told(error: OtherSystemError) -> BoxError {
    if error.is_refusal() { NotMade::because(error).into() } else { error.into() }
}

macro_rules! calls {
    ($searchable:literal) => {
        type Resource = String;

        async fn observe(&self, id: &str) -> Result<Option<String>, BoxError> {
            Ok(self.0.system.get(id).await?)
        }

        async fn create(&self, want: &String, token: &Token) -> Result<(String, String), BoxError> {
            self.0.create(token.as_str(), want).await.map_err(told)
        }

        async fn update(&self, id: &str, _: &String, want: &String) -> Result<String, BoxError> {
            self.0.system.update(id, want.clone()).await.map_err(told)
        }

        async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
            Ok(self.0.system.delete(id).await?)
        }

        async fn find(&self, token: &Token) -> Result<Found<String>, BoxError> {
            match $searchable {
                true => Ok(Found::Records(self.0.system.find(token.as_str()).await?)),
                false => Ok(Found::NotSearchable),
            }
        }
    };
}

impl External<Site> for Name {
    type Want = Option<String>;

    fn want(&self, site: &Site) -> Option<String> {
        site.spec.name.as_deref().map(name_record)
    }

    calls!(true);
}

impl External<Site> for Account {
    type Want = Option<String>;

    fn want(&self, site: &Site) -> Option<String> {
        site.spec.account.clone()
    }

    calls!(false);
}

impl External<Site> for Hosts {
    type Want = Vec<(String, String)>;

    fn want(&self, site: &Site) -> Self::Want {
        site.spec.hosts.clone().into_iter().collect()
    }

    calls!(true);
}

/// Reports the problem.
fn status(site: &Site, run: &Run<Site>) -> SiteStatus {
    let message = run.error().map(ToString::to_string);
    SiteStatus { message, observed_generation: site.metadata.generation, ..SiteStatus::default() }
}

/// The time within which the other system shows its records.
const SHOWS_WITHIN: Duration = Duration::from_secs(6);

/// The operator. `in_map`: the ids of hosts are kept in a config map.
pub(crate) fn declare(ledger: &Ledger, in_map: bool) -> OperatorBuilder {
    let name = Records::new(Name(ledger.clone())).id_in_status("nameId").shows_within(SHOWS_WITHIN);
    let account = Records::new(Account(ledger.clone())).id_in_status("accountId").shows_within(SHOWS_WITHIN);
    let hosts = Records::new(Hosts(ledger.clone())).shows_within(SHOWS_WITHIN);
    let hosts = if in_map { hosts.id_in_config_map() } else { hosts.id_in_status("hostIds") };
    // A name that is taken may be free at any time, and nothing tells.
    let retry = GenericRetry::default().without_max_attempts();
    let sites = Controller::of::<Site>()
        .name("site-operator")
        .retry(retry)
        .workflow((name.named("name"), account.named("account"), hosts.named("hosts")))
        .status(status);
    Operator::builder().observer(ledger.observer()).register(sites)
}
