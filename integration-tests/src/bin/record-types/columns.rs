//! The columns of each kind in a table, a line for each kind. Descriptions are numbered: most kinds share some.

use std::collections::BTreeMap;

use anyhow::Context;
use kube::Client;
use serde_json::{Value, json};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// The columns of all kinds that can be listed in the groups of the documents.
pub(crate) async fn recorded(client: &Client, documents: &[&str]) -> anyhow::Result<String> {
    let mut texts: Vec<String> = Vec::new();
    let mut kinds = BTreeMap::new();
    for document in documents {
        let group = get(client, &format!("/{document}"), "application/json").await?;
        for resource in list(&group["resources"]) {
            let name = resource["name"].as_str().unwrap_or_default();
            if name.contains('/') || !list(&resource["verbs"]).iter().any(|verb| verb == "list") {
                continue;
            }
            let table = get(client, &format!("/{document}/{name}?limit=1"), TABLE).await?;
            let columns = list(&table["columnDefinitions"]).iter().map(|column| {
                let text = column["description"].as_str().unwrap_or_default();
                let number = texts.iter().position(|known| known == text).unwrap_or_else(|| {
                    texts.push(text.to_owned());
                    texts.len() - 1
                });
                json!([column["name"], column["type"], column["format"], number, column["priority"]])
            });
            let columns: Vec<Value> = columns.collect();
            let kind = format!("{} {}", plain(&group["groupVersion"]), plain(&resource["kind"]));
            kinds.insert(kind, Value::from(columns));
        }
    }
    let texts: Vec<String> = texts.iter().map(|text| json!(text).to_string()).collect();
    let kinds: Vec<String> =
        kinds.iter().map(|(kind, columns)| format!("{}:{columns}", json!(kind))).collect();
    Ok(format!("{{\"texts\":[\n{}],\n\"kinds\":{{\n{}}}}}\n", texts.join(",\n"), kinds.join(",\n")))
}

async fn get(client: &Client, path: &str, accept: &str) -> anyhow::Result<Value> {
    let request = http::Request::get(path).header("accept", accept).body(Vec::new())?;
    let text = client.request_text(request).await.with_context(|| format!("read {path}"))?;
    Ok(serde_json::from_str(&text)?)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn plain(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
