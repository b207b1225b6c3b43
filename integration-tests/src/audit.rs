//! Which calls one operator made, as the API server has seen them.
//!
//! What a test counts inside the operator's process can miss a client that goes around the counting; the API server's
//! audit log can't.

use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

use anyhow::{Context as _, Result};
use http::header::USER_AGENT;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};
use operator_core::{
    OperatorBuilder,
    testing::{AuditEvent, AuditReader, TestCluster},
};

use crate::{Scene, TestObject, eventually};

/// By what a caller is recognized.
#[derive(Clone, Debug)]
enum Caller {
    Agent(String),
    User(String),
}

impl Caller {
    fn made(&self, event: &AuditEvent) -> bool {
        match self {
            Self::Agent(agent) => event.user_agent == *agent,
            Self::User(user) => event.user == *user,
        }
    }
}

/// Follows one caller through the audit log.
pub struct Audit {
    log: AuditReader,
    client: Client,
    caller: Caller,
    /// Entries that were read and come after those that were told.
    read: Vec<AuditEvent>,
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").field("caller", &self.caller).finish_non_exhaustive()
    }
}

impl Audit {
    /// The calls with that user agent, from now on.
    ///
    /// # Errors
    /// When the cluster has no audit log, or can't be reached.
    pub async fn of_agent(cluster: &TestCluster, agent: impl Into<String>) -> Result<Self> {
        Self::of(cluster, Caller::Agent(agent.into())).await
    }

    /// The calls of that user, impersonated or not, from now on.
    ///
    /// # Errors
    /// As [`of_agent`](Self::of_agent).
    pub async fn of_user(cluster: &TestCluster, user: impl Into<String>) -> Result<Self> {
        Self::of(cluster, Caller::User(user.into())).await
    }

    async fn of(cluster: &TestCluster, caller: Caller) -> Result<Self> {
        let (log, client) = (cluster.audit_from_now()?, cluster.client()?);
        let mut audit = Self { log, client, caller, read: Vec::new() };
        audit.calls().await?;
        Ok(audit)
    }

    /// The calls since the last time that this was asked.
    ///
    /// A call is missing only as long as its answer is: the API server's log is a blocking one, which has the entry before
    /// the answer's end is sent. A request of our own, which is waited for, shows that the log has come that far.
    ///
    /// # Errors
    /// When the log can't be read, or doesn't get to our request in time.
    pub async fn calls(&mut self) -> Result<Calls> {
        static MARKERS: AtomicUsize = AtomicUsize::new(0);
        let marker = format!("audit-marker-{}", MARKERS.fetch_add(1, Ordering::Relaxed));
        Api::<ConfigMap>::default_namespaced(self.client.clone()).get_opt(&marker).await?;
        let what = format!("{marker} in the audit log");
        let new = eventually(&what, async || {
            self.read.extend(self.log.read()?);
            let end = self.read.iter().rposition(|event| event.name == marker);
            Ok(end.map(|end| self.read.drain(..=end).collect::<Vec<_>>()))
        });
        let new = new.await?;
        Ok(Calls(new.into_iter().filter(|event| self.caller.made(event)).collect()))
    }

    /// The same, and those to come until they are as `is_enough` says.
    ///
    /// # Errors
    /// As [`calls`](Self::calls), and when they don't get there in time.
    pub async fn calls_until(&mut self, what: &str, is_enough: impl Fn(&Calls) -> bool) -> Result<Calls> {
        let mut calls = Calls::default();
        let enough = eventually(what, async || {
            calls.0.extend(self.calls().await?.0);
            Ok(is_enough(&calls).then_some(()))
        });
        enough.await.with_context(|| format!("so far {:?}", calls.counts()))?;
        Ok(calls)
    }
}

/// Calls, in the order in which the API server has answered them.
#[derive(Clone, Debug, Default)]
pub struct Calls(Vec<AuditEvent>);

impl Calls {
    /// The entries of the log.
    #[must_use]
    pub fn events(&self) -> &[AuditEvent] {
        &self.0
    }

    /// What is left without the lists and watches of whole collections, which are the caches' business. Those that select
    /// one object by its name stay.
    #[must_use]
    pub fn about_objects(&self) -> Self {
        let is_about_object = |event: &&AuditEvent| {
            !matches!(event.verb.as_str(), "list" | "watch") || event.uri.contains("metadata.name")
        };
        Self(self.0.iter().filter(is_about_object).cloned().collect())
    }

    /// How many calls there were of each kind, as in "patch testresources/status". A watch counts when it starts.
    #[must_use]
    pub fn counts(&self) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        // A watch that was answered has another entry when it ends, be it only now that it has.
        let ended = |event: &&AuditEvent| {
            event.verb == "watch" && event.stage == "ResponseComplete" && event.code == 200
        };
        for event in self.0.iter().filter(|event| !ended(event)) {
            let slash = if event.subresource.is_empty() { "" } else { "/" };
            let call = format!("{} {}{slash}{}", event.verb, event.resource, event.subresource);
            *counts.entry(call).or_default() += 1;
        }
        counts
    }
}

impl<K: TestObject> Scene<K> {
    /// An operator without controllers yet that has a user agent of its own, and the calls that it makes.
    ///
    /// # Errors
    /// When the cluster has no audit log, or can't be reached.
    pub async fn audited(&self) -> Result<(OperatorBuilder, Audit)> {
        static OPERATORS: AtomicUsize = AtomicUsize::new(0);
        let agent = format!("operator-{}-{}", OPERATORS.fetch_add(1, Ordering::Relaxed), self.namespace);
        let mut config = self.cluster.config();
        config.headers.push((USER_AGENT, agent.parse()?));
        Ok((self.operator().config(config), Audit::of_agent(&self.cluster, agent).await?))
    }
}
