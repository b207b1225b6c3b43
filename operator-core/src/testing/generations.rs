//! Whether each status that an operator writes is about a generation that its run was given.
//!
//! ```text
//! lists, watches ──newest generation that the operator was shown──┐ at the start of a run
//! answers to the run's own requests ──────────────────────────────┼─▶ what the run may have been given
//! writes of a status ──observedGeneration───────────────────────────▶ is it among that?
//! ```
//!
//! A run that was given generation 1 and ends when a watch has shown generation 2 has seen nothing of that: a status that
//! says so is wrong until the next run.

use std::{collections::BTreeMap, sync::Arc};

use bytes::{Bytes, BytesMut};
use futures::{FutureExt, StreamExt};
use http::{Request, Response};
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use kube::client::Body;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::Value;

use super::faults::{RequestTarget, Verb};
use crate::{
    client::{ResponseBody, TransportHook},
    observe::{Observation, Observer},
    resource::ObjectKey,
};

/// Follows the generations of an operator's primaries, and judges each write of a status. It is the operator's innermost
/// hook but for the server, and one of its observers. Clones share what they know.
#[derive(Clone, Debug, Default)]
pub struct ObservedGenerations(Arc<Mutex<Known>>);

/// Namespace and name.
type Name = (Option<String>, String);
/// By plural.
type ByKind = BTreeMap<String, Shown>;

#[derive(Debug, Default)]
struct Known {
    shown: BTreeMap<Name, ByKind>,
    /// What the runs in progress may have been given, by controller.
    runs: BTreeMap<(Name, String), ByKind>,
    violations: Vec<String>,
}

/// The newest generation of an object.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Shown {
    uid: String,
    generation: i64,
}

#[derive(Deserialize)]
struct WatchLine {
    object: Item,
}

#[derive(Deserialize)]
struct Items {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    #[serde(flatten)]
    shown: Shown,
}

impl ObservedGenerations {
    /// The hook to give to an operator's builder.
    #[must_use]
    pub fn hook(&self) -> TransportHook {
        let generations = self.clone();
        TransportHook::around(move |request, inner| {
            let generations = generations.clone();
            async move {
                let Some(target) = RequestTarget::of(&request) else { return inner.send(request).await };
                if target.subresource.as_deref() == Some("status") && target.verb.is_write() {
                    generations.judge(&target, &request);
                }
                Ok(generations.shows(target, inner.send(request).await?).await)
            }
        })
    }

    /// The statuses that were about a generation that their run wasn't given.
    #[must_use]
    pub fn violations(&self) -> Vec<String> {
        self.0.lock().violations.clone()
    }

    /// Takes in an answer, which is passed on.
    async fn shows(&self, target: RequestTarget, answer: Response<ResponseBody>) -> Response<ResponseBody> {
        if !answer.status().is_success() || target.verb == Verb::Delete {
            return answer;
        }
        let generations = self.clone();
        if target.verb == Verb::Watch {
            let mut line = BytesMut::new();
            return answer.map(|body| {
                let frames = BodyStream::new(body).inspect(move |frame| {
                    let data = frame.as_ref().ok().and_then(|frame| frame.data_ref());
                    data.into_iter().for_each(|data| line.extend_from_slice(data));
                    while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                        generations.line(&target, &line.split_to(end + 1));
                    }
                });
                StreamBody::new(frames).boxed_unsync()
            });
        }
        let (head, body) = answer.into_parts();
        let collected = body.collect().await.map(|body| body.to_bytes());
        let body = match collected {
            Ok(content) => {
                generations.answer(&target, &content);
                Full::new(content).map_err(|never| match never {}).boxed_unsync()
            }
            Err(error) => {
                StreamBody::new(futures::stream::once(async { Err::<http_body::Frame<Bytes>, _>(error) }))
                    .boxed_unsync()
            }
        };
        Response::from_parts(head, body)
    }

    fn line(&self, watch: &RequestTarget, line: &[u8]) {
        if let Some(WatchLine { object }) = parsed(line) {
            self.note(watch, object, false);
        }
    }

    fn answer(&self, target: &RequestTarget, content: &[u8]) {
        if target.verb == Verb::List {
            let items = parsed::<Items>(content).into_iter().flat_map(|list| list.items);
            items.for_each(|item| self.note(target, item, false));
        } else if let Some(item) = parsed(content) {
            self.note(target, item, true);
        }
    }

    /// The operator is shown this; a run as well if it is an answer.
    fn note(&self, target: &RequestTarget, Item { metadata }: Item, is_answer: bool) {
        let Some(name) = metadata.name else { return };
        let (name, kind) = ((metadata.namespace, name), || target.resource.clone());
        let known = &mut *self.0.lock();
        newer(known.shown.entry(name.clone()).or_default().entry(kind()).or_default(), &metadata.shown);
        if is_answer {
            for (_, given) in known.runs.iter_mut().filter(|((of, _), _)| *of == name) {
                newer(given.entry(kind()).or_default(), &metadata.shown);
            }
        }
    }

    fn judge(&self, target: &RequestTarget, request: &Request<Body>) {
        let body = request.body().try_clone().and_then(|body| body.collect_bytes().now_or_never()?.ok());
        let body: Option<Value> = body.and_then(|body| serde_json::from_slice(&body).ok());
        let (Some(body), Some(name)) = (body, &target.name) else { return };
        let name = (target.namespace.clone(), name.clone());
        let known = &mut *self.0.lock();
        let runs = known.runs.iter().filter(|((of, _), _)| *of == name);
        let given = runs.filter_map(|(_, given)| given.get(&target.resource)).map(|given| given.generation);
        let Some(given) = given.max() else { return };
        if let Some(observed) = observed(&body).into_iter().find(|observed| *observed > given) {
            known.violations.push(format!(
                "{}: a status about generation {observed}, of which its run has seen nothing: it was given {given}",
                target.object()
            ));
        }
    }
}

impl Observer for ObservedGenerations {
    fn observe(&self, observation: &Observation<'_>) {
        let of = |key: &ObjectKey| (key.namespace().map(str::to_owned), key.name().to_owned());
        let known = &mut *self.0.lock();
        match *observation {
            Observation::RunStarted { controller, key, .. } => {
                let given = known.shown.get(&of(key)).cloned().unwrap_or_default();
                known.runs.insert((of(key), controller.to_owned()), given);
            }
            Observation::RunFinished { controller, key, .. } => {
                known.runs.remove(&(of(key), controller.to_owned()));
            }
            _ => {}
        }
    }
}

/// Most kinds have no generation, and needn't be parsed.
fn parsed<'c, T: Deserialize<'c>>(content: &'c [u8]) -> Option<T> {
    let content = std::str::from_utf8(content).ok().filter(|content| content.contains("\"generation\":"))?;
    serde_json::from_str(content).ok()
}

fn newer(known: &mut Shown, shown: &Shown) {
    if known.uid != shown.uid || known.generation < shown.generation {
        known.clone_from(shown);
    }
}

/// The generations that a body, or a JSON patch, says were observed.
fn observed(body: &Value) -> Vec<i64> {
    const FIELD: &str = "observedGeneration";
    match body {
        Value::Object(fields) => {
            let of_path =
                fields.get("path").and_then(Value::as_str).is_some_and(|path| path.ends_with(FIELD));
            let own = fields.get(if of_path { "value" } else { FIELD }).and_then(Value::as_i64);
            own.into_iter().chain(fields.values().flat_map(observed)).collect()
        }
        Value::Array(items) => items.iter().flat_map(observed).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn target(verb: Verb) -> RequestTarget {
        let text = |text: &str| Some(text.to_owned());
        let [group, version, resource] = ["example.com", "v1", "pages"].map(str::to_owned);
        RequestTarget {
            verb,
            group,
            version,
            resource,
            namespace: text("shop"),
            name: text("one"),
            subresource: None,
        }
    }

    fn shown(generation: i64) -> Vec<u8> {
        let object = json!({ "metadata": { "name": "one", "namespace": "shop", "uid": "a", "generation": generation } });
        json!({ "type": "MODIFIED", "object": object }).to_string().into_bytes()
    }

    #[test]
    fn a_status_may_be_about_what_its_run_was_given_at_the_start_or_in_an_answer() {
        let generations = ObservedGenerations::default();
        let key = &ObjectKey::namespaced("shop", "one");
        let starts = || {
            let (controller, because) = ("web", "test");
            generations.observe(&Observation::RunStarted { controller, key, because, attempt: 0 });
        };
        let writes = |body: Value| {
            let request = Request::patch("/").body(Body::from(body.to_string().into_bytes())).unwrap();
            generations.judge(&target(Verb::Apply), &request);
            generations.violations().len()
        };
        let about =
            |generation: i64| json!({ "status": { "conditions": [{ "observedGeneration": generation }] } });
        let patched = |generation: i64| json!([{ "op": "add", "path": "/status/observedGeneration", "value": generation }]);
        generations.line(&target(Verb::Watch), &shown(1));
        starts();
        generations.line(&target(Verb::Watch), &shown(2));
        assert_eq!((writes(about(1)), writes(patched(1))), (0, 0));
        assert_eq!((writes(about(2)), writes(patched(2))), (1, 2), "it was shown after the start");
        let answer: Value = serde_json::from_slice(&shown(3)).unwrap();
        generations.answer(&target(Verb::Get), answer["object"].to_string().as_bytes());
        assert_eq!((writes(about(3)), writes(about(4))), (2, 3));
        starts();
        assert_eq!(writes(about(3)), 3, "what was shown before the start");
    }
}
