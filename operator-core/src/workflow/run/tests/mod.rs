//! Runs with scripted dependents and conditions, without a cluster.

mod activation;
mod cleanup;
mod dropped;
mod elsewhere;
mod fake;
mod part;
mod reconcile;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use k8s_openapi::api::core::v1::ConfigMap;
use parking_lot::Mutex;
use tokio::time::{Instant, sleep};

use crate::{
    dependent::{DependentSource, want::Want},
    reconciler::{BoxError, OfflineParts, Run},
    results::Verdict,
    workflow::{Activation, Cluster, Workflow},
};

use fake::{Called, Fake, Node};

type Offline = crate::reconciler::Offline<ConfigMap>;

/// How long each call of a dependent takes.
const ROUND_TRIP: Duration = Duration::from_millis(100);

/// What the dependents of a test have done, in order.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn say(&self, line: String) {
        self.0.lock().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// Answers what the test says, and counts how often it was asked.
#[derive(Clone, Default)]
struct Says {
    answer: Arc<Mutex<Option<String>>>,
    asked: Arc<AtomicUsize>,
}

impl Says {
    fn yes() -> Self {
        Self::default()
    }

    fn no(reason: &str) -> Self {
        let says = Self::default();
        *says.answer.lock() = Some(reason.to_owned());
        says
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

impl Says {
    fn answer(&self) -> Verdict {
        self.asked.fetch_add(1, Ordering::SeqCst);
        match &*self.answer.lock() {
            None => Verdict::met().with_detail(7_u32),
            Some(reason) => Verdict::not_met(reason.as_str()),
        }
    }

    /// Gives this answer from now on.
    fn change(&self, answer: Option<&str>) {
        *self.answer.lock() = answer.map(str::to_owned);
    }
}

impl Says {
    /// As a condition of the primary.
    fn met(self) -> impl Fn(&ConfigMap) -> Verdict + Send + Sync + 'static {
        move |_| self.answer()
    }

    /// The same, where the node is held otherwise.
    fn held(self) -> impl Fn(&ConfigMap) -> Want<()> + Send + Sync + 'static {
        move |_| {
            let answer = self.answer();
            if answer.is_met() { Want::Is(()) } else { Want::hold("Held", answer.reason()) }
        }
    }
}

impl Activation for Says {
    async fn check(&self, _: &Cluster<'_>) -> Result<Verdict, BoxError> {
        Ok(self.answer())
    }
}

/// Can't be answered.
struct Breaks {
    panics: bool,
}

impl Breaks {
    fn answer<T>(&self) -> Result<T, BoxError> {
        assert!(!self.panics, "a bug");
        Err("nobody knows".into())
    }

    fn met(self) -> impl Fn(&ConfigMap) -> Result<Verdict, BoxError> + Send + Sync + 'static {
        move |_| self.answer()
    }

    fn held(self) -> impl Fn(&ConfigMap) -> Result<Want<()>, BoxError> + Send + Sync + 'static {
        move |_| self.answer()
    }
}

impl Activation for Breaks {
    async fn check(&self, _: &Cluster<'_>) -> Result<Verdict, BoxError> {
        self.answer()
    }
}

fn workflow(nodes: impl IntoIterator<Item = Node>) -> Workflow<ConfigMap> {
    let builder = nodes.into_iter().fold(Workflow::builder(), |builder, node| builder.nodes((node,)));
    builder.build().unwrap()
}

fn primary(name: &str) -> Arc<ConfigMap> {
    let mut map = ConfigMap::default();
    (map.metadata.name, map.metadata.namespace) = (Some(name.to_owned()), Some("shop".to_owned()));
    Arc::new(map)
}

/// One run for a primary called `one`, and how many round trips it took.
async fn reconciled(workflow: &Workflow<ConfigMap>) -> (Run<ConfigMap>, u128) {
    let primary = primary("one");
    let context = Offline::new(OfflineParts::default()).context(&primary);
    let started = Instant::now();
    let result = workflow.reconcile(&primary, &context).await;
    (result, started.elapsed().as_millis() / ROUND_TRIP.as_millis())
}

fn lines(result: &impl ToString) -> Vec<String> {
    result.to_string().lines().map(str::to_owned).collect()
}
