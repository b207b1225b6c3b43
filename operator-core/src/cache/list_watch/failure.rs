//! Failures, in the server's words, with advice for the user. Pure.

use std::time::Duration;

use crate::resource::{Cluster, ResourceType};

/// A request that failed, or an error that a watch showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cache) struct Failure {
    /// The HTTP status; `None` if the server was not reached, or its answer could not be parsed.
    pub(in crate::cache) status: Option<u16>,
    /// The server's own words, or the connection's error.
    pub(in crate::cache) reason: String,
    /// How long the server asks clients to wait.
    pub(in crate::cache) retry_after: Option<Duration>,
    /// The name of the object that it concerns, if the server names it.
    pub(in crate::cache) object: Option<String>,
}

impl Failure {
    /// A failure without an answer.
    pub(in crate::cache) fn new(reason: impl Into<String>) -> Self {
        Self { status: None, reason: reason.into(), retry_after: None, object: None }
    }

    /// 410: the requested version is too old.
    pub(super) fn is_expired(&self) -> bool {
        self.status == Some(410)
    }

    /// The server can't stream lists: it is too old, or streaming is switched off (`WatchList`), or its API doesn't have
    /// the parameter.
    pub(super) fn refuses_streaming(&self) -> bool {
        const WORDS: [&str; 6] = [
            "sendinitialevents",
            "resourceversionmatch",
            "feature gate",
            "watchlist",
            "unknown field",
            "unknown parameter",
        ];
        let reason = self.reason.to_ascii_lowercase();
        matches!(self.status, Some(400 | 422)) && WORDS.iter().any(|words| reason.contains(words))
    }

    /// The server may not know the version from which a watch should start. A storage that was restored from a backup
    /// has lower versions than the cache, and answers "Too large resource version" for a long time. Other refusals say
    /// nothing about the version, and a new list would only be a further burden for a server in trouble.
    pub(super) fn doubts_version(&self) -> bool {
        match self.status {
            Some(400) => true,
            Some(504) => self.reason.to_ascii_lowercase().contains("resource version"),
            Some(_) | None => false,
        }
    }
}

/// What is listed and watched, for advice.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) resource_type: ResourceType,
    pub(super) namespace: Option<String>,
    pub(super) cluster: Cluster,
}

impl Subject {
    /// What went wrong, with the name of the cluster if it is another one.
    pub(super) fn reason(&self, failure: &Failure) -> String {
        match self.cluster.name() {
            Some(cluster) => format!("cluster {cluster}: {}", failure.reason),
            None => failure.reason.clone(),
        }
    }

    /// What the user can do about a failure, if that is known.
    pub(super) fn advice(&self, failure: &Failure) -> Option<String> {
        let Some(cluster) = self.cluster.name() else { return self.advice_here(failure) };
        match failure.status {
            None | Some(401 | 500..) => Some(format!(
                "check that this process can reach cluster {cluster}, and the address, the certificates and the \
                 credentials in the configuration that `RemoteCluster::new(\"{cluster}\", …)` is given; it is tried again"
            )),
            Some(_) => self.advice_here(failure).map(|advice| format!("in cluster {cluster}: {advice}")),
        }
    }

    fn advice_here(&self, failure: &Failure) -> Option<String> {
        let name = self.resource_type.full_name();
        match failure.status? {
            404 if self.is_built_in() => Some(format!(
                "this cluster doesn't serve {} of {}: enable that version of the API, or use another",
                self.resource_type.plural(),
                self.resource_type.api_version(),
            )),
            404 if self.resource_type.missing_plural().is_some() => {
                Some("install its CustomResourceDefinition".to_owned())
            }
            404 => Some(format!(
                "install the CustomResourceDefinition `{name}`, for example with the operator's `crd` command: \
                 `<operator> crd | kubectl apply -f -`"
            )),
            403 => {
                let user = failure.reason.split_once("User \"").and_then(|(_, rest)| rest.split_once('"'));
                let user = user.map_or("the operator's service account", |(user, _)| user);
                let place = match (&self.namespace, self.resource_type.is_namespaced()) {
                    (Some(namespace), true) => format!(" in namespace {namespace}"),
                    (None, true) => " in all namespaces".to_owned(),
                    (_, false) => String::new(),
                };
                Some(format!("grant list and watch on {name}{place} to {user}"))
            }
            _ => None,
        }
    }

    /// Groups without a dot and those under k8s.io belong to Kubernetes: they have no definitions from users.
    fn is_built_in(&self) -> bool {
        let group = self.resource_type.group();
        !group.contains('.') || group.ends_with(".k8s.io")
    }
}
