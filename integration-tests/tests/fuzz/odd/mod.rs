//! What clients and definitions in the field write, and few tests do: fields unknown in lists, metadata of embedded objects,
//! columns with any path, strange signs, owners named twice, several mistakes at once, odd JSON, forms of quantities, numbers
//! and addresses, defaults in templates, sources of volumes, ports and addresses of Services.
//!
//! ```text
//!  seed ─▶ story: a definition or none, requests as bytes ─┬─▶ kube-apiserver ─┐
//!                                                          └─▶ in-process ─────┴─▶ compared, answer by answer, with warnings
//! ```
//!
//! Each sort of stories is about one of these. `FUZZ_SEED` and `FUZZ_STORIES` are as elsewhere; `ODD_SORTS` selects sorts.

mod columns;
mod mistakes;
mod numbers;
mod owners;
mod schemas;
mod services;
mod signs;
mod templates;
mod texts;
mod urls;
mod volumes;

use std::sync::Arc;

use futures::StreamExt;
use http::Request;
use http_body_util::BodyExt;
use integration_tests::prelude::*;
use kube::client::Body;
use operator_core::testing::{ControlPlane, Controllers, InProcessServer, seed_of_the_day};
use tokio::sync::Mutex;

use crate::{IN_FLIGHT, STORIES_OF_A_DAY, compare::Answer, setting};

/// The namespace of all objects.
const NAMESPACE: &str = "odd";
/// The group of all custom kinds, which have one version.
const GROUP: &str = "odd.example.com";
/// So many differences of a sort are shown.
const SHOWN: usize = 8;

/// One request, as bytes.
#[derive(Clone, Debug)]
struct Ask {
    method: &'static str,
    path: String,
    media: &'static str,
    accept: &'static str,
    body: Vec<u8>,
}

impl Ask {
    /// The method is that of HTTP, or MERGE, JSON, STRATEGIC or APPLY for patches.
    fn raw(method: &'static str, path: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        let (method, media) = match method {
            "MERGE" => ("PATCH", "application/merge-patch+json"),
            "JSON" => ("PATCH", "application/json-patch+json"),
            "STRATEGIC" => ("PATCH", "application/strategic-merge-patch+json"),
            "APPLY" => ("PATCH", "application/apply-patch+yaml"),
            other => (other, "application/json"),
        };
        Self { method, path: path.into(), media, accept: "application/json", body: body.into() }
    }

    fn new(method: &'static str, path: impl Into<String>, body: &Value) -> Self {
        Self::raw(method, path, body.to_string())
    }

    fn table(path: impl Into<String>) -> Self {
        Self { accept: "application/json;as=Table;g=meta.k8s.io;v=v1", ..Self::raw("GET", path, "") }
    }

    fn request(&self) -> http::Result<Request<Vec<u8>>> {
        let request = Request::builder().method(self.method).uri(&self.path);
        request.header("content-type", self.media).header("accept", self.accept).body(self.body.clone())
    }

    fn describe(&self) -> String {
        let body: String = String::from_utf8_lossy(&self.body).chars().take(1500).collect();
        format!("{} {} ({}) {body}", self.method, self.path, self.media)
    }
}

/// A definition or none, and requests in order.
#[derive(Clone, Debug, Default)]
struct Story {
    definition: Option<Value>,
    /// The other stories of the sort have the same definition.
    is_shared: bool,
    asks: Vec<Ask>,
}

/// One sort of stories.
struct Sort {
    name: &'static str,
    story: fn(&mut Random, &str) -> Story,
    /// How many of them are told in CI.
    stories: u64,
    /// What is compared of an answer beside its code, and what it says as a whole.
    besides: fn(&Value) -> String,
}

const fn sort(name: &'static str, stories: u64, story: fn(&mut Random, &str) -> Story) -> Sort {
    Sort { name, story, stories, besides: |_| String::new() }
}

const SORTS: &[Sort] = &[
    sort("unknown fields", 8, schemas::story),
    sort("columns", 6, columns::story),
    sort("signs in keys", 3, signs::story),
    sort("doubled owners", 6, owners::story),
    sort("several mistakes", 6, mistakes::story),
    sort("texts", 8, texts::story),
    sort("quantities", 6, numbers::quantities),
    sort("numbers", 6, numbers::numbers),
    sort("addresses in rules", 3, urls::story),
    sort("defaults in templates", 16, templates::story),
    sort("sources of volumes", 16, volumes::story),
    Sort { besides: services::given, ..sort("services", 12, services::story) },
];

/// A definition of a kind in a namespace, whose `spec` has a schema; its plural is the name in small letters and an `s`.
fn definition(kind: &str, spec: &Value, more: &Value) -> Value {
    let plural = format!("{}s", kind.to_lowercase());
    let schema = json!({"type": "object", "properties": {"spec": spec}});
    let mut version =
        json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}});
    for (field, value) in more.as_object().into_iter().flatten() {
        version[field] = value.clone();
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.{GROUP}")},
        "spec": {
            "group": GROUP, "scope": "Namespaced", "names": {"kind": kind, "plural": plural}, "versions": [version],
        },
    })
}

/// Where the objects of a kind of such a definition are.
fn path_of(kind: &str) -> String {
    format!("/apis/{GROUP}/v1/namespaces/{NAMESPACE}/{}s", kind.to_lowercase())
}

/// An object of such a kind.
fn object(kind: &str, name: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("{GROUP}/v1"), "kind": kind, "metadata": {"name": name}, "spec": spec})
}

#[derive(Clone)]
struct Both {
    real: Client,
    model: Client,
    /// The definitions that stories share, once they are made.
    shared: Arc<Mutex<BTreeSet<String>>>,
}

/// A text of deep JSON with less depth, so that it can be compared field by field: what is deep is a text in it.
fn flat(text: &str) -> Value {
    const DEPTH: usize = 60;
    let (mut flat, mut deep) = (String::new(), String::new());
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for letter in text.chars() {
        let is_deep = depth > DEPTH;
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            '{' | '[' if !in_text => depth += 1,
            '}' | ']' if !in_text => depth = depth.saturating_sub(1),
            _ => {}
        }
        if is_deep || depth > DEPTH {
            deep.push(letter)
        } else {
            flat.push(letter)
        }
        if is_deep && depth == DEPTH {
            flat.push_str(&json!(std::mem::take(&mut deep)).to_string());
        }
    }
    serde_json::from_str(&flat).unwrap_or_else(|_| text.into())
}

async fn send(client: &Client, ask: &Ask) -> anyhow::Result<(Answer, BTreeSet<String>)> {
    let response = client.send(ask.request()?.map(Body::from)).await?;
    let code = response.status().as_u16();
    let warnings = response.headers().get_all("warning").iter();
    let warnings = warnings.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned()).collect();
    let bytes = response.into_body().collect().await?.to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| flat(&String::from_utf8_lossy(&bytes)));
    Ok((Answer { code, body }, warnings))
}

/// What is different in the answers to a request; `None` if the real server has none.
async fn differences(both: &Both, sort: &Sort, ask: &Ask) -> anyhow::Result<Option<Vec<String>>> {
    // A connection may end while a request is on its way. If it does so again, the real server panics at it, and has no answer
    // that ours could be compared with.
    let real = match send(&both.real, ask).await {
        Ok(real) => Some(real),
        Err(_) => send(&both.real, ask).await.ok(),
    };
    let Some((real, real_warnings)) = real else { return Ok(None) };
    let (model, model_warnings) = send(&both.model, ask).await?;
    let mut lines = real.differences(&model);
    // The real server tells one of several, at random.
    let tells_one = |answer: &Answer| {
        answer.body["message"].as_str().is_some_and(|text| text.contains("field not declared in schema"))
    };
    // The same of embedded objects at different places.
    let place = |answer: &Answer| {
        let message = answer.body["message"].as_str()?;
        let (_, what) = message.split_once(" cannot be handled as a ")?;
        what.split_once(": Invalid value: ").map(|(place, _)| place.to_owned())
    };
    let is_elsewhere = || place(&real).zip(place(&model)).is_some_and(|(real, model)| real != model);
    if real.code == model.code && (tells_one(&real) && tells_one(&model) || is_elsewhere()) {
        lines.clear();
    }
    if real_warnings != model_warnings {
        lines.push(format!("warnings: real {real_warnings:?}, model {model_warnings:?}"));
    }
    let (of_real, of_model) = ((sort.besides)(&real.body), (sort.besides)(&model.body));
    if real.is_success() && of_real != of_model {
        lines.push(format!("real {of_real}, model {of_model}"));
    }
    Ok(Some(lines))
}

/// Makes a definition on both servers, and waits until its kind is served: whether they take it, and what differs in a refusal.
async fn define(both: &Both, definition: &Value) -> anyhow::Result<(bool, Vec<String>)> {
    let ask = Ask::new("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
    let (real, _) = send(&both.real, &ask).await?;
    let (model, _) = send(&both.model, &ask).await?;
    if !real.is_success() || !model.is_success() {
        let lines = real.differences(&model);
        let line = format!("{}\n    {}", ask.describe(), lines.join("\n    "));
        return Ok((false, if lines.is_empty() { Vec::new() } else { vec![line] }));
    }
    let kind = definition["spec"]["names"]["kind"].as_str().unwrap_or_default();
    let probe = Ask::new("POST", format!("{}?dryRun=All", path_of(kind)), &object(kind, "probe", &json!({})));
    eventually("the kind is served", async || {
        // Whatever is wrong with the object, the answer is about it.
        Ok(matches!(send(&both.real, &probe).await?.0.code, 201 | 422).then_some(()))
    })
    .await?;
    Ok((true, Vec::new()))
}

async fn tell(both: &Both, sort: &Sort, story: &Story) -> anyhow::Result<(usize, Vec<String>)> {
    let (mut asked, mut report) = (0, Vec::new());
    if let Some(definition) = &story.definition {
        let name = definition["metadata"]["name"].to_string();
        // Other stories of the sort wait here.
        let mut shared = both.shared.lock().await;
        let is_new = !story.is_shared || shared.insert(name);
        let shared = story.is_shared.then_some(shared);
        if is_new {
            let (taken, lines) = define(both, definition).await?;
            drop(shared);
            report.extend(lines);
            asked += 1;
            if !taken {
                return Ok((asked, report));
            }
        }
    }
    for ask in &story.asks {
        asked += 1;
        // What the story would go on with isn't there.
        let Some(lines) = differences(both, sort, ask).await? else { break };
        if !lines.is_empty() {
            report.push(format!("{}\n    {}", ask.describe(), lines.join("\n    ")));
        }
    }
    if let Some(definition) = story.definition.as_ref().filter(|_| !story.is_shared) {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let path = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}");
        send(&both.real, &Ask::raw("DELETE", path, "")).await?;
    }
    Ok((asked, report))
}

#[expect(clippy::disallowed_methods, reason = "a server by itself has the machine's clock")]
async fn prepare(real: Client) -> anyhow::Result<Both> {
    let model = InProcessServer::with_controllers(jiff::Timestamp::now, Controllers::Off).client();
    let both = Both { real, model, shared: Arc::default() };
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    for client in [&both.real, &both.model] {
        let (answer, _) = send(client, &Ask::new("POST", "/api/v1/namespaces", &namespace)).await?;
        anyhow::ensure!(answer.is_success(), "no namespace: {}", answer.body);
    }
    Ok(both)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[expect(clippy::print_stderr, reason = "the numbers are what one wants to see of it")]
async fn what_is_written_in_the_field_is_answered_alike() -> anyhow::Result<()> {
    let cluster = TestCluster::new(ControlPlane::builder().start().await?);
    let both = prepare(cluster.client()?).await?;
    let times = setting("FUZZ_TIMES").unwrap_or(1);
    let first = setting("FUZZ_SEED").unwrap_or_else(|| seed_of_the_day() * STORIES_OF_A_DAY);
    let chosen = std::env::var("ODD_SORTS").ok();
    let is_chosen =
        |sort: &&Sort| chosen.as_ref().is_none_or(|chosen| chosen.split(',').any(|name| name == sort.name));
    let (mut report, mut all) = (Vec::new(), 0);
    for sort in SORTS.iter().filter(is_chosen) {
        let started = tokio::time::Instant::now();
        let stories = setting("FUZZ_STORIES").unwrap_or(sort.stories * times);
        let told = futures::stream::iter(first..first + stories).map(|seed| {
            let both = &both;
            async move {
                let story = (sort.story)(&mut Random::new(seed), &seed.to_string());
                (seed, tell(both, sort, &story).await)
            }
        });
        let mut told = std::pin::pin!(told.buffered(IN_FLIGHT));
        let (mut answers, mut different) = (0, Vec::new());
        while let Some((seed, told)) = told.next().await {
            let (asked, lines) = told?;
            answers += asked;
            different.extend(lines.into_iter().map(|line| format!("FUZZ_SEED={seed} {line}")));
        }
        eprintln!(
            "FUZZ_SEED={first} {}: {stories} stories, {answers} answers compared, {} differ, in {:.1?}",
            sort.name,
            different.len(),
            started.elapsed()
        );
        all += answers;
        report.extend(different.into_iter().take(SHOWN).map(|line| format!("{}: {line}", sort.name)));
    }
    assert!(report.is_empty(), "the servers differ; ODD_SORTS selects a sort\n{}", report.join("\n"));
    assert!(
        chosen.is_some() || setting("FUZZ_STORIES").is_some() || all > 500,
        "only {all} answers were compared"
    );
    Ok(())
}
