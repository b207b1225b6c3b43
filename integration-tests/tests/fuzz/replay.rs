//! What the real server has answered once, for where there is no Go.
//!
//! The log is a file with a line for each request: what was asked, and the real answer without identities, versions and
//! times. It holds only what both servers agreed on when it was written. `FUZZ_RECORD=<file>` writes one.

use std::fs;

use anyhow::Context;
use http::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{NAMESPACE, compare::Answer, prepare_in_process, run::send};

const LOG: &str = include_str!("replay.jsonl");

/// A request, in a form that can be written down.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) media: String,
    pub(crate) body: Value,
}

/// A request and its real answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) asked: Asked,
    pub(crate) code: u16,
    pub(crate) body: Value,
}

impl Asked {
    /// Notes a request. What a PUT sends is noted as it was sent to the in-process server.
    pub(crate) fn new(request: &Request<Vec<u8>>) -> Self {
        let media = request.headers().get("content-type").and_then(|media| media.to_str().ok());
        Self {
            method: request.method().to_string(),
            path: request.uri().to_string(),
            media: media.unwrap_or_default().to_owned(),
            body: serde_json::from_slice(request.body()).unwrap_or_default(),
        }
    }

    /// The request again. A PUT names the version and the uid of the object as it is now.
    fn request(&self, current: &Value) -> http::Result<Request<Vec<u8>>> {
        let mut body = self.body.clone();
        if self.method == "PUT" {
            for field in ["resourceVersion", "uid", "creationTimestamp"] {
                body["metadata"][field] = current["metadata"][field].clone();
            }
        }
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        Request::builder()
            .method(self.method.as_str())
            .uri(&self.path)
            .header("content-type", &self.media)
            .body(bytes)
    }

    /// The object that is asked for, whatever of it.
    fn object(&self) -> String {
        let path = self.path.split('?').next().unwrap_or_default().trim_end_matches("/status");
        match self.body["metadata"]["name"].as_str() {
            Some(name) if self.method == "POST" => format!("{path}/{name}"),
            _ => path.to_owned(),
        }
    }
}

/// Writes a log.
pub(crate) fn write(file: &str, records: &[Record]) -> anyhow::Result<()> {
    let mut text = String::new();
    for record in records {
        text.push_str(&serde_json::to_string(record)?);
        text.push('\n');
    }
    fs::write(file, text).with_context(|| format!("write {file}"))
}

#[tokio::test]
async fn the_in_process_server_answers_as_the_real_one_did() -> anyhow::Result<()> {
    let client = prepare_in_process().await?;
    let mut objects = std::collections::BTreeMap::new();
    for (number, line) in LOG.lines().enumerate() {
        let record: Record =
            serde_json::from_str(line).with_context(|| format!("read line {}", number + 1))?;
        let name = record.asked.object();
        let current: &Value = objects.get(&name).unwrap_or(&Value::Null);
        let model = send(&client, record.asked.request(current)?).await?;
        let real = Answer { code: record.code, body: record.body };
        let lines = real.differences(&model);
        assert!(lines.is_empty(), "line {} ({NAMESPACE}):\n    {}", number + 1, lines.join("\n    "));
        if model.is_success() && !record.asked.path.contains("dryRun") {
            objects.insert(name, model.body);
        }
    }
    assert!(LOG.lines().count() > 200, "the log is not empty");
    Ok(())
}
