//! The writes of the first run of each page.

use http::Request;
use integration_tests::prelude::*;
use kube::client::Body;
use operator_core::{
    client::TransportHook,
    observe::{Observation, Observer},
    testing::faults::RequestTarget,
};

/// Clones share what is recorded.
#[derive(Clone, Debug, Default)]
pub(super) struct Recorder(Arc<Recorded>);

#[derive(Debug, Default)]
struct Recorded {
    writes: Mutex<BTreeMap<String, Vec<(String, Value)>>>,
    /// The pages whose first run is over.
    finished: Mutex<BTreeSet<String>>,
}

impl Recorder {
    pub(super) fn hook(&self) -> TransportHook {
        let recorded = Arc::clone(&self.0);
        TransportHook::around(move |request, inner| {
            let recorded = Arc::clone(&recorded);
            async move {
                let target = RequestTarget::of(&request).filter(|target| target.verb.is_write());
                let (head, body) = request.into_parts();
                let bytes = body.collect_bytes().await?;
                let content = serde_json::from_slice(&bytes).unwrap_or_default();
                let answer = inner.send(Request::from_parts(head, Body::from(bytes))).await;
                if let (Some(target), Ok(answer)) = (target, &answer) {
                    recorded.wrote(&target, answer.status().as_u16(), content);
                }
                answer
            }
        })
    }

    pub(super) fn observer(&self) -> Arc<dyn Observer> {
        Arc::clone(&self.0) as _
    }

    /// The number of pages whose first run is over.
    pub(super) fn finished(&self) -> usize {
        self.0.finished.lock().len()
    }

    /// The writes of the first run of a page, named as a dry run names them.
    pub(super) fn written(&self, page: &str) -> Vec<(String, Value)> {
        self.0.writes.lock().get(page).cloned().unwrap_or_default()
    }
}

impl Recorded {
    fn wrote(&self, target: &RequestTarget, code: u16, body: Value) {
        let name = target.name.clone().unwrap_or_default();
        // A page and its children, one of which has a name of its own.
        let page = name.strip_suffix("-html").unwrap_or(&name).to_owned();
        if self.finished.lock().contains(&page) {
            return;
        }
        let verb = match target.verb {
            Verb::Apply => "apply",
            Verb::Create => "create",
            Verb::Update => "update",
            Verb::Delete => "delete",
            _ => "patch",
        };
        let kind = match &*target.resource {
            "configmaps" => "ConfigMap",
            "deployments" => "Deployment",
            "services" => "Service",
            "ingresses" => "Ingress",
            "webpages" => "WebPage",
            other => other,
        };
        let subresource = target.subresource.iter().map(|name| format!("/{name}")).collect::<String>();
        let refused = if code < 400 { String::new() } else { format!(" -> {code}") };
        let write = format!("{verb} {kind}/{name}{subresource}{refused}");
        self.writes.lock().entry(page).or_default().push((write, body));
    }
}

impl Observer for Recorded {
    fn observe(&self, observation: &Observation<'_>) {
        if let Observation::RunFinished { key, .. } = observation {
            self.finished.lock().insert(key.name().to_owned());
        }
    }
}
