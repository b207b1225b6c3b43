//! Recorded answers of the real server, for machines without Go.
//!
//! The log is a file with a line for each request: the request, and the real answer without identities, versions and
//! times. It has only answers on which both servers agreed when it was written. `FUZZ_RECORD=<file>` writes one.
//!
//! A field `=` names the fields that are the same as in the last answer about the object: most are.

use std::fs;

use http::Request;
use integration_tests::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Map;

use crate::{compare::Answer, prepare_in_process, run::send};

/// What a PUT says as the server has said it.
const OWN: [&str; 4] = ["resourceVersion", "uid", "creationTimestamp", "managedFields"];
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
        let mut body: Value = serde_json::from_slice(request.body()).unwrap_or_default();
        let metadata = body.get_mut("metadata").and_then(Value::as_object_mut);
        if let ("PUT", Some(metadata)) = (request.method().as_str(), metadata) {
            metadata.retain(|field, _| !OWN.contains(&field.as_str()));
        }
        Self {
            method: request.method().to_string(),
            path: request.uri().to_string(),
            media: media.unwrap_or_default().to_owned(),
            body,
        }
    }

    /// The request again. A PUT names the version and the uid of the object as it is now.
    fn request(&self, current: &Value) -> http::Result<Request<Vec<u8>>> {
        let mut body = self.body.clone();
        if self.method == "PUT" {
            for field in OWN {
                body["metadata"][field] = current["metadata"][field].clone();
            }
        }
        let bytes = if body.is_null() { Vec::new() } else { self.with_own_uid(&body, current).into_bytes() };
        Request::builder()
            .method(self.method.as_str())
            .uri(&self.path)
            .header("content-type", &self.media)
            .body(bytes)
    }

    /// The text of a body. A Job says its uid in its labels, too, and the one of the log was counted by another server.
    fn with_own_uid(&self, body: &Value, current: &Value) -> String {
        let text = body.to_string();
        let told = body["spec"]["selector"]["matchLabels"]["batch.kubernetes.io/controller-uid"].as_str();
        match (self.method.as_str(), told, current["metadata"]["uid"].as_str()) {
            ("PUT", Some(told), Some(own)) => text.replace(told, own),
            _ => text,
        }
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

/// Without the fields that are as they were before.
fn shorten(value: &Value, before: &Value) -> Value {
    let (Some(fields), Some(known)) = (value.as_object(), before.as_object()) else { return value.clone() };
    let (same, other): (Vec<_>, Vec<_>) =
        fields.iter().partition(|(name, value)| known.get(*name) == Some(*value));
    let mut short: Map<String, Value> = other
        .into_iter()
        .map(|(name, value)| (name.clone(), shorten(value, known.get(name).unwrap_or(&Value::Null))))
        .collect();
    if !same.is_empty() {
        short.insert("=".to_owned(), same.into_iter().map(|(name, _)| Value::from(name.as_str())).collect());
    }
    Value::Object(short)
}

/// The whole again.
fn lengthen(short: &Value, before: &Value) -> Value {
    let Some(fields) = short.as_object() else { return short.clone() };
    let same = fields.get("=").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let same = same.map(|name| (name.to_owned(), before[name].clone()));
    let other = fields.iter().filter(|(name, _)| *name != "=");
    let other =
        other.map(|(name, value)| (name.clone(), lengthen(value, before.get(name).unwrap_or(&Value::Null))));
    Value::Object(same.chain(other).collect())
}

/// The last answer about each object.
#[derive(Default)]
struct Known(BTreeMap<String, Value>);

impl Known {
    fn before(&self, asked: &str) -> &Value {
        self.0.get(asked).unwrap_or(&Value::Null)
    }

    fn note(&mut self, record: &Record, body: &Value) {
        if record.code < 300 && !record.asked.path.contains("dryRun") {
            self.0.insert(record.asked.object(), body.clone());
        }
    }
}

/// Writes a log.
pub(crate) fn write(file: &str, records: &[Record]) -> anyhow::Result<()> {
    let mut text = String::new();
    let mut known = Known::default();
    for record in records {
        let before = known.before(&record.asked.object());
        let mut short = record.clone();
        short.body = shorten(&record.body, before);
        if record.asked.method == "PUT" {
            short.asked.body = shorten(&record.asked.body, before);
        }
        known.note(record, &record.body);
        text.push_str(&serde_json::to_string(&short)?);
        text.push('\n');
    }
    fs::write(file, text).with_context(|| format!("write {file}"))
}

#[tokio::test]
async fn the_in_process_server_answers_as_the_real_one_did() -> anyhow::Result<()> {
    let client = prepare_in_process().await?;
    let (mut known, mut models) = (Known::default(), Known::default());
    for (number, line) in LOG.lines().enumerate() {
        let mut record: Record =
            serde_json::from_str(line).with_context(|| format!("read line {}", number + 1))?;
        let name = record.asked.object();
        let before = known.before(&name);
        record.body = lengthen(&record.body, before);
        if record.asked.method == "PUT" {
            record.asked.body = lengthen(&record.asked.body, before);
        }
        let model = send(&client, record.asked.request(models.before(&name))?).await?;
        let real = Answer { code: record.code, body: record.body.clone() };
        let lines = real.differences(&model);
        assert!(lines.is_empty(), "line {} ({name}):\n    {}", number + 1, lines.join("\n    "));
        known.note(&record, &record.body);
        models.note(&record, &model.body);
    }
    assert!(LOG.lines().count() > 200, "the log is not empty");
    Ok(())
}

#[test]
fn what_is_written_down_can_be_read_again() {
    let before = json!({"a": {"b": 1, "c": [1]}, "d": "x", "e": null});
    for after in
        [json!({"a": {"b": 2, "c": [1]}, "e": null}), json!({"a": {}, "d": null}), json!([1]), before.clone()]
    {
        assert_eq!(lengthen(&shorten(&after, &before), &before), after);
    }
}
