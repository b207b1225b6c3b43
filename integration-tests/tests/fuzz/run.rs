//! Stories played on two servers at once.

use std::sync::LazyLock;

use http::Request;
use http_body_util::BodyExt;
use integration_tests::prelude::*;
use kube::client::Body;

use crate::{
    compare::Answer,
    kinds::{GROUP, Kind},
    replay::{Asked, Record},
    steps::{Step, story},
    watch::events,
};

/// Whether somebody wants what the real server answers.
static RECORDS: LazyLock<bool> = LazyLock::new(|| std::env::var("FUZZ_RECORD").is_ok());

/// The two servers.
#[derive(Clone)]
pub(crate) struct Servers {
    pub(crate) real: Client,
    pub(crate) model: Client,
    pub(crate) namespace: String,
}

/// How often something was not compared, by reason.
pub(crate) type Skipped = BTreeMap<&'static str, usize>;

/// The model says that it doesn't do this, which ends the story.
pub(crate) const NOT_DONE: &str = "stories that the model doesn't do";
/// A server has forgotten the version that a watch began with.
pub(crate) const FORGOTTEN: &str = "watches of forgotten versions";
/// The next write moves the version on the real server alone, which ends the story: it has stored an empty list or
/// map, which nobody sees.
const EMPTY_LIST: &str = "stories with an empty list that is stored";
/// A PUT is made of the object as it is, and there is none yet.
pub(crate) const NOTHING_TO_PUT: &str = "nothing to put";

/// What became of a story.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// How many requests both have answered.
    pub(crate) compared: usize,
    /// What was not compared, and why.
    pub(crate) skipped: Skipped,
    /// How often each code was answered.
    pub(crate) codes: BTreeMap<u16, usize>,
    /// How many events of watches were compared.
    pub(crate) events: usize,
    /// What the real server has answered.
    pub(crate) record: Vec<Record>,
    /// The step that they answered differently to, and how.
    pub(crate) different: Option<(usize, Vec<String>)>,
}

pub(crate) async fn send(client: &Client, request: Request<Vec<u8>>) -> anyhow::Result<Answer> {
    let response = client.send(request.map(Body::from)).await?;
    let code = response.status().as_u16();
    let bytes = response.into_body().collect().await?.to_bytes();
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Answer { code, body })
}

/// Tells a story, until the servers disagree, and deletes its object.
pub(crate) async fn tell(
    servers: &Servers,
    kind: &Kind,
    name: &str,
    steps: &[Step],
) -> anyhow::Result<Outcome> {
    let mut telling = Telling { servers, kind, name, outcome: Outcome::default(), objects: Pair::default() };
    let mut began = None;
    for (index, step) in steps.iter().enumerate() {
        if telling.objects.real.is_null() && matches!(step, Step::Put { .. }) {
            *telling.outcome.skipped.entry(NOTHING_TO_PUT).or_default() += 1;
            continue;
        }
        let request = |current: &Value| step.request(kind, &servers.namespace, name, current);
        let requests =
            Pair { real: request(&telling.objects.real)?, model: request(&telling.objects.model)? };
        if !telling.ask(index, requests).await? {
            telling.end().await?;
            return Ok(telling.outcome);
        }
        if began.is_none() && !telling.objects.real.is_null() {
            began = Some(telling.objects.versions());
        }
    }
    for request in Step::end(kind, &servers.namespace, name)? {
        let requests = Pair { real: request.clone(), model: request };
        if !telling.ask(steps.len(), requests).await? {
            telling.end().await?;
            return Ok(telling.outcome);
        }
    }
    if let Some(began) = began {
        telling.watch(steps.len(), &began).await?;
    }
    Ok(telling.outcome)
}

/// One of each server.
#[derive(Clone, Debug, Default)]
struct Pair<T> {
    real: T,
    model: T,
}

impl Pair<Value> {
    fn versions(&self) -> Pair<String> {
        let version =
            |object: &Value| object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        Pair { real: version(&self.real), model: version(&self.model) }
    }
}

struct Telling<'a> {
    servers: &'a Servers,
    kind: &'a Kind,
    name: &'a str,
    outcome: Outcome,
    /// The object as each server has answered with it last.
    objects: Pair<Value>,
}

impl Telling<'_> {
    /// Asks both servers; says whether the story goes on.
    async fn ask(&mut self, index: usize, requests: Pair<Request<Vec<u8>>>) -> anyhow::Result<bool> {
        let asked = RECORDS.then(|| Asked::new(&requests.model));
        let is_dry_run = requests.model.uri().query().is_some_and(|query| query.contains("dryRun"));
        let real = send(&self.servers.real, requests.real).await?;
        let model = send(&self.servers.model, requests.model).await?;
        if model.code == 501 {
            *self.outcome.skipped.entry(NOT_DONE).or_default() += 1;
            return Ok(false);
        }
        self.outcome.compared += 1;
        *self.outcome.codes.entry(real.code).or_default() += 1;
        // Kubernetes' kinds say what is wrong in an order that depends on maps in Go.
        let is_refused = real.code == 422 && model.code == 422 && self.kind.group() != GROUP;
        let mut different = if is_refused { causes(&real, &model) } else { real.differences(&model) };
        if let Some(asked) = asked.filter(|_| !is_refused) {
            self.outcome.record.push(Record { asked, code: real.code, body: real.comparable() });
        }
        let after = Pair { real: real.body.clone(), model: model.body.clone() };
        if different.is_empty() && real.is_success() && after.real["kind"] != "Status" {
            let (before, after) = (self.objects.versions(), after.versions());
            let (real, model) = (before.real != after.real, before.model != after.model);
            if real && !model && self.kind.group() == GROUP && has_empty_list(&self.objects.real) {
                *self.outcome.skipped.entry(EMPTY_LIST).or_default() += 1;
                return Ok(false);
            }
            if real != model {
                different.push(format!("resourceVersion: real moves: {real}, model moves: {model}"));
            }
        }
        if !different.is_empty() {
            self.outcome.different = Some((index, different));
            return Ok(false);
        }
        if real.is_success() && !is_dry_run {
            self.objects = after;
        }
        Ok(true)
    }

    /// There are not many addresses for Services, so each object goes.
    async fn end(&self) -> anyhow::Result<()> {
        for request in Step::end(self.kind, &self.servers.namespace, self.name)? {
            send(&self.servers.real, request.clone()).await?;
            send(&self.servers.model, request).await?;
        }
        Ok(())
    }

    /// Compares what watches tell of the object since it began.
    async fn watch(&mut self, index: usize, began: &Pair<String>) -> anyhow::Result<()> {
        let path = self.kind.path(&self.servers.namespace);
        let real = events(&self.servers.real, &path, self.name, &began.real).await?;
        let model = events(&self.servers.model, &path, self.name, &began.model).await?;
        let (Some(real), Some(model)) = (real, model) else {
            *self.outcome.skipped.entry(FORGOTTEN).or_default() += 1;
            return Ok(());
        };
        self.outcome.events += real.len();
        let types =
            |events: &[(String, Answer)]| events.iter().map(|(kind, _)| kind.clone()).collect::<Vec<_>>();
        let mut different = Vec::new();
        if types(&real) != types(&model) {
            different.push(format!("events: real {:?}, model {:?}", types(&real), types(&model)));
        }
        for (number, ((_, real), (_, model))) in real.iter().zip(&model).enumerate() {
            let lines = real.differences(model);
            different.extend(lines.iter().map(|line| format!("event {number}: {line}")));
        }
        if !different.is_empty() {
            self.outcome.different = Some((index, different));
        }
        Ok(())
    }
}

/// What a cause says, without the value where that is an object, which the real server shows in Go's form, and without
/// identities.
fn words(message: &Value) -> String {
    // Below its first line, Go prints a comparison of two objects in a form of its own each time.
    let message = message.as_str().unwrap_or_default().split('\n').next().unwrap_or_default();
    let shown = ["Invalid value: {", "Invalid value: [", "Invalid value: null: "];
    let text = match message.rsplit_once("}: ").or_else(|| message.rsplit_once("]: ")) {
        Some((_, why)) if shown.iter().any(|start| message.starts_with(start)) => why,
        _ => message.strip_prefix(shown[2]).unwrap_or(message),
    };
    let is_uid = |part: &&str| part.len() == 36 && part.bytes().filter(|byte| *byte == b'-').count() == 4;
    let parts = text.split_inclusive('\'').map(|part| {
        let bare = part.trim_end_matches('\'');
        if Some(bare).filter(is_uid).is_some() { "(uid)'" } else { part }
    });
    parts.collect()
}

/// Refusals are the same if they name the same fields for the same reasons, in any order.
fn causes(real: &Answer, model: &Answer) -> Vec<String> {
    let named = |answer: &Answer| {
        let causes = answer.body["details"]["causes"].as_array();
        let cause = |cause: &Value| match cause["field"].as_str() {
            // The real server shows the whole object as JSON in it.
            Some("patch") => format!("patch {}", cause["reason"]),
            _ => format!("{} {} {}", cause["field"], cause["reason"], words(&cause["message"])),
        };
        causes.into_iter().flatten().map(cause).collect::<BTreeSet<_>>()
    };
    if named(real) == named(model) {
        return Vec::new();
    }
    vec![format!("real: {}\n    model: {}", real.body["message"], model.body["message"])]
}

/// A shorter story that ends in a difference, too.
pub(crate) async fn shrink(
    servers: &Servers,
    kind: &Kind,
    name: &str,
    steps: &[Step],
) -> anyhow::Result<(Vec<Step>, Vec<String>)> {
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
pub(crate) fn random_story(kind: &Kind, seed: u64) -> Vec<Step> {
    story(kind, &mut Random::new(seed), 10)
}

/// Whether somebody still has a list or a map in the metadata of an object, of which no entry is left.
fn has_empty_list(object: &Value) -> bool {
    let metadata = &object["metadata"];
    let managed = metadata["managedFields"].as_array();
    ["annotations", "finalizers", "labels", "ownerReferences"].into_iter().any(|list| {
        let field = format!("f:{list}");
        let owned = |entry: &Value| entry["fieldsV1"]["f:metadata"].get(&field).is_some();
        metadata[list].is_null() && managed.into_iter().flatten().any(owned)
    })
}
