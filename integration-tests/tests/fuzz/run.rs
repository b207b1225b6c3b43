//! Stories told to two servers at once.

use std::collections::BTreeMap;

use http::Request;
use http_body_util::BodyExt;
use kube::{Client, client::Body};
use serde_json::Value;

use crate::{compare::Answer, kinds::Kind, random::Random, steps::{Step, story}};

/// The two servers.
#[derive(Clone)]
pub struct Servers {
    pub real: Client,
    pub model: Client,
    pub namespace: String,
}

/// What became of a story.
#[derive(Debug, Default)]
pub struct Outcome {
    /// How many requests both have answered.
    pub compared: usize,
    /// Those that the real server refused for a value that it doesn't allow, which the model doesn't check.
    pub unmodelled: usize,
    /// How often each code was answered.
    pub codes: BTreeMap<u16, usize>,
    /// The step that they answered differently to, and how.
    pub different: Option<(usize, Vec<String>)>,
}

async fn send(client: &Client, request: Request<Vec<u8>>) -> anyhow::Result<Answer> {
    let response = client.send(request.map(Body::from)).await?;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await?.to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Answer { code, body })
}

/// Tells a story, until the servers disagree, and deletes its object.
pub async fn tell(servers: &Servers, kind: &Kind, name: &str, steps: &[Step]) -> anyhow::Result<Outcome> {
    let outcome = compare(servers, kind, name, steps).await?;
    // There are not many addresses for Services.
    for request in Step::end(kind, &servers.namespace, name)? {
        send(&servers.real, request).await?;
    }
    Ok(outcome)
}

async fn compare(servers: &Servers, kind: &Kind, name: &str, steps: &[Step]) -> anyhow::Result<Outcome> {
    let mut outcome = Outcome::default();
    let (mut real_object, mut model_object) = (Value::Null, Value::Null);
    for (index, step) in steps.iter().enumerate() {
        let asked = |current: &Value| step.request(kind, &servers.namespace, name, current);
        if real_object.is_null() && matches!(step, Step::Put { .. }) {
            continue;
        }
        let real = send(&servers.real, asked(&real_object)?).await?;
        let model = send(&servers.model, asked(&model_object)?).await?;
        if real.code == 422 && model.is_success() && kind.name != "Sample" {
            // The model has taken what the real server has not: they are two stories from here on.
            outcome.unmodelled += 1;
            return Ok(outcome);
        }
        outcome.compared += 1;
        *outcome.codes.entry(real.code).or_default() += 1;
        let mut different = real.differences(&model);
        let moved = |before: &Value, after: &Answer| {
            before["metadata"]["resourceVersion"] != after.body["metadata"]["resourceVersion"]
        };
        if different.is_empty() && real.is_success() && moved(&real_object, &real) != moved(&model_object, &model) {
            different.push(format!("resourceVersion: real moves: {}, model moves: {}", moved(&real_object, &real), moved(&model_object, &model)));
        }
        if !different.is_empty() {
            outcome.different = Some((index, different));
            return Ok(outcome);
        }
        if real.is_success() {
            (real_object, model_object) = (real.body, model.body);
        }
    }
    Ok(outcome)
}

/// A shorter story that ends in a difference, too.
pub async fn shrink(servers: &Servers, kind: &Kind, name: &str, steps: &[Step]) -> anyhow::Result<(Vec<Step>, Vec<String>)> {
    let mut story = steps.to_vec();
    let mut lines = Vec::new();
    let (mut index, mut tries) = (0, 0);
    while index < story.len() {
        let mut shorter = story.clone();
        shorter.remove(index);
        tries += 1;
        let outcome = tell(servers, kind, &format!("{name}-{tries}"), &shorter).await?;
        match outcome.different {
            Some((at, found)) => {
                shorter.truncate(at + 1);
                (story, lines) = (shorter, found);
            }
            None => index += 1,
        }
    }
    Ok((story, lines))
}

/// A random story of a kind.
pub fn random_story(kind: &Kind, seed: u64) -> Vec<Step> {
    story(kind, &mut Random::new(seed), 10)
}
