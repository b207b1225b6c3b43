mod dns;

use kube::{CustomResource, ResourceExt};
use operator_core::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Host")]
#[kube(namespaced, status = "HostStatus")]
struct HostSpec {
    address: String,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug)]
struct HostStatus {
    record: Option<String>,
}

impl External<Host> for dns::Client {
    type Resource = dns::Record;
    type Want = Option<dns::Record>;

    /// What should exist.
    fn want(&self, host: &Host) -> Option<dns::Record> {
        Some(dns::Record::a(&host.name_any(), &host.spec.address))
    }

    /// What there is.
    async fn observe(&self, id: &str) -> Result<Option<dns::Record>> {
        Ok(self.get(id).await?)
    }

    /// The id is chosen by the provider. The token goes into the record's comment.
    async fn create(&self, want: &dns::Record, token: &Token) -> Result<(String, dns::Record)> {
        Ok(self.post(want, token.as_str()).await?)
    }

    async fn update(&self, id: &str, _: &dns::Record, want: &dns::Record) -> Result<dns::Record> {
        Ok(self.put(id, want).await?)
    }

    async fn delete(&self, id: &str) -> Result<Deletion> {
        Ok(self.remove(id).await.map(|()| Deletion::Gone)?)
    }
}

#[tokio::main]
async fn main() -> std::process::ExitCode {
    let record = Records::new(dns::Client::new()).id_in_status("record");
    let record = record.polled(std::time::Duration::from_secs(10));
    let hosts = Controller::of::<Host>().workflow((record,));
    Operator::builder().register(hosts).main().await
}
