mod dns;

use std::collections::BTreeMap;

use kube::CustomResource;
use operator_core::dependent::Found;
use operator_core::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Zone")]
#[kube(namespaced, status = "ZoneStatus")]
struct ZoneSpec {
    hosts: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct ZoneStatus {
    records: Option<BTreeMap<String, String>>,
}

impl External<Zone> for dns::Client {
    type Resource = dns::Record;
    type Want = Vec<(String, dns::Record)>;

    /// What should exist, each record with its key.
    fn want(&self, zone: &Zone) -> Vec<(String, dns::Record)> {
        let hosts = zone.spec.hosts.iter();
        let records = hosts.map(|(host, to)| (host.clone(), dns::Record::a(host, to)));
        records.collect()
    }

    async fn observe(&self, id: &str) -> Result<Option<dns::Record>> {
        Ok(self.get(id).await?)
    }

    async fn create(&self, want: &dns::Record, token: &Token) -> Result<(String, dns::Record)> {
        Ok(self.post(want, token.as_str()).await?)
    }

    async fn update(&self, id: &str, _: &dns::Record, want: &dns::Record) -> Result<dns::Record> {
        Ok(self.put(id, want).await?)
    }

    async fn delete(&self, id: &str) -> Result<Deletion> {
        Ok(self.remove(id).await.map(|()| Deletion::Gone)?)
    }

    /// The records with this token in their comment.
    async fn find(&self, token: &Token) -> Result<Found<dns::Record>> {
        Ok(Found::Records(self.search(token.as_str()).await?))
    }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let records = Records::new(dns::Client::new()).id_in_status("records");
    let zones = Controller::of::<Zone>().workflow((records,));
    Operator::builder().register(zones).main().await
}
