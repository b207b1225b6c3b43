//! Which calls one operator made, as the API server has seen them.
//!
//! What a test counts inside the operator's process can miss a client that goes around the counting; the API server's
//! audit log can't.

use std::{
    collections::BTreeMap,
    fmt,
    sync::atomic::{AtomicUsize, Ordering},
};

use http::header::{HeaderValue, USER_AGENT};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{Api, Client};

use super::{AuditEvent, AuditReader, Error, TestCluster, eventually};
use crate::operator::OperatorBuilder;

/// Follows one caller through the audit log: an operator, or a user.
///
/// What a test counts inside the operator's process can miss a client that goes around the counting; the API server's
/// audit log can't. [`TestCluster::audited`] gives an operator a user agent of its own.
pub struct Audit {
    log: AuditReader,
    client: Client,
    /// Whether the caller has made the call of this entry.
    is_theirs: Box<dyn Fn(&AuditEvent) -> bool + Send + Sync>,
    /// Entries that were read and not returned yet.
    read: Vec<AuditEvent>,
}

impl fmt::Debug for Audit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}

impl Audit {
    /// The calls with that user agent, from now on.
    ///
    /// # Errors
    /// If the cluster has no audit log, or can't be reached.
    pub async fn of_agent(cluster: &TestCluster, agent: impl Into<String>) -> Result<Self, Error> {
        let agent = agent.into();
        Self::of(cluster, move |event| event.user_agent == agent).await
    }

    /// The calls of that user, impersonated or not, from now on.
    ///
    /// # Errors
    /// As [`of_agent`](Self::of_agent).
    pub async fn of_user(cluster: &TestCluster, user: impl Into<String>) -> Result<Self, Error> {
        let user = user.into();
        Self::of(cluster, move |event| event.user == user).await
    }

    async fn of(
        cluster: &TestCluster,
        is_theirs: impl Fn(&AuditEvent) -> bool + Send + Sync + 'static,
    ) -> Result<Self, Error> {
        let (log, client) = (cluster.audit_from_now()?, cluster.client()?);
        let mut audit = Self { log, client, is_theirs: Box::new(is_theirs), read: Vec::new() };
        audit.calls().await?;
        Ok(audit)
    }

    /// The calls since the last call of this function.
    ///
    /// A call is missing only as long as its answer is: the API server's log is a blocking one, which has the entry before
    /// the answer's end is sent. A request of our own, which is waited for, shows that the log has come that far.
    ///
    /// # Errors
    /// If the log can't be read, or doesn't get to our request in time.
    pub async fn calls(&mut self) -> Result<Calls, Error> {
        static MARKERS: AtomicUsize = AtomicUsize::new(0);
        let marker = format!("audit-marker-{}", MARKERS.fetch_add(1, Ordering::Relaxed));
        let marked = Api::<ConfigMap>::default_namespaced(self.client.clone()).get_opt(&marker).await;
        marked.map_err(Error::kube("mark a place in the audit log"))?;
        let what = format!("{marker} in the audit log");
        let new = eventually(&what, async || {
            self.read.extend(self.log.read()?);
            let end = self.read.iter().rposition(|event| event.name == marker);
            Ok(end.map(|end| self.read.drain(..=end).collect::<Vec<_>>()))
        });
        let new = new.await?;
        Ok(Calls(new.into_iter().filter(|event| (self.is_theirs)(event)).collect()))
    }

    /// The same, and those to come until they are as `is_enough` says.
    ///
    /// # Errors
    /// As [`calls`](Self::calls), and if they don't get there in time.
    pub async fn calls_until(
        &mut self,
        what: &str,
        is_enough: impl Fn(&Calls) -> bool,
    ) -> Result<Calls, Error> {
        let mut calls = Calls::default();
        let enough = eventually(what, async || {
            calls.0.extend(self.calls().await?.0);
            Ok(is_enough(&calls).then_some(()))
        });
        match enough.await {
            Err(Error::InVain { what, seconds }) => {
                let what = format!("{what}; so far {:?}", calls.counts());
                Err(Error::InVain { what, seconds })
            }
            Err(other) => Err(other),
            Ok(()) => Ok(calls),
        }
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

impl TestCluster {
    /// Gives an operator a user agent of its own, and follows its calls from now on. A [`connect`](Self::connect) or
    /// [`OperatorBuilder::config`] comes before.
    ///
    /// # Errors
    /// If the cluster has no audit log, or can't be reached.
    pub async fn audited(&self, operator: OperatorBuilder) -> Result<(OperatorBuilder, Audit), Error> {
        static OPERATORS: AtomicUsize = AtomicUsize::new(0);
        let number = OPERATORS.fetch_add(1, Ordering::Relaxed);
        let agent = format!("audited-operator-{}-{number}", std::process::id());
        let mut config = operator.configured().cloned().unwrap_or_else(|| self.config());
        let value = HeaderValue::from_str(&agent).map_err(|error| Error::Looking {
            what: "the calls of an operator".to_owned(),
            source: error.into(),
        })?;
        config.headers.push((USER_AGENT, value));
        Ok((operator.config(config), Audit::of_agent(self, agent).await?))
    }
}
