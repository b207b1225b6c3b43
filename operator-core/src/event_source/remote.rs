//! Another cluster, whose objects an informer follows.

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use kube::{Client, Config};
use parking_lot::Mutex;
use tower::BoxError;

use crate::{
    client::{self, Clients, TransportHook},
    environment::Environment,
    observe::error_chain,
    resource::{Cluster, MappingAnnotations},
};

use super::{SecondaryToPrimary, Wiring};

/// A cluster other than the operator's own. An informer follows objects there with
/// [`InformerEventSource::on`](crate::InformerEventSource::on). JOSDK: `withKubernetesClient` of an
/// `InformerEventSourceConfiguration`.
///
/// All sources with clones of one value share a client. Two different values of one name in the declaration of an operator
/// are a mistake: make one, and clone it. The rights that the sources need, `list` and `watch`, are granted in
/// that cluster: [`Controller::access`](crate::Controller::access) lists those in the operator's own.
///
/// ```
/// use k8s_openapi::api::core::v1::{ConfigMap, Pod};
/// use operator_core::{Controller, InformerEventSource, ObjectKey, Reconciler, RemoteCluster};
///
/// # fn declared(reconciler: impl Reconciler<Primary = Pod>, edge: kube::Config) {
/// let edge = RemoteCluster::new("edge", edge);
/// let maps = InformerEventSource::<ConfigMap>::new()
///     .name("maps at the edge")
///     .on(&edge)
///     .map_to_primary(|map| vec![ObjectKey::of(map)]);
/// # let _ =
/// Controller::builder(reconciler).watches(maps);
/// # }
/// ```
#[derive(Clone)]
pub struct RemoteCluster(Arc<Remote>);

struct Remote {
    /// Different for each value.
    number: u64,
    cluster: Cluster,
    config: Config,
    hooks: Vec<TransportHook>,
    clients: Mutex<Vec<(Weak<OneOperator>, Client)>>,
}

impl Remote {
    fn new(cluster: Cluster, config: Config, hooks: Vec<TransportHook>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, cluster, config, hooks, clients: Mutex::default() }
    }
}

impl RemoteCluster {
    /// The cluster that `config` reaches, for example from
    /// [`from_kubeconfig`](crate::client::from_kubeconfig). `name` is in the keys of its objects, and in all reports
    /// about it.
    #[must_use]
    pub fn new(name: &str, config: Config) -> Self {
        Self(Arc::new(Remote::new(Cluster::named(name), config, Vec::new())))
    }

    /// Wraps the transport of its client; a later hook wraps an earlier one. The operator's hooks aren't used here.
    #[must_use]
    pub fn transport(self, hook: TransportHook) -> Self {
        let Remote { cluster, config, hooks, .. } = &*self.0;
        let hooks = hooks.iter().cloned().chain([hook]).collect();
        Self(Arc::new(Remote::new(cluster.clone(), config.clone(), hooks)))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.cluster.name().unwrap_or_default()
    }

    pub(super) fn cluster(&self) -> &Cluster {
        &self.0.cluster
    }

    /// Distinguishes it from others of its name.
    pub(crate) fn number(&self) -> u64 {
        self.0.number
    }

    /// The default mapping of its objects: their owners are in that cluster, too.
    pub(super) fn mapper(&self) -> SecondaryToPrimary {
        SecondaryToPrimary::Annotations(MappingAnnotations::default())
    }

    /// The client for a source there, or in the operator's own cluster.
    pub(super) fn client_for(remote: Option<&Self>, wiring: &Wiring) -> Client {
        match remote {
            Some(remote) => remote.client(&wiring.clients, &wiring.environment),
            None => wiring.clients.direct.clone(),
        }
    }

    /// The operator's client for it, which is dropped with the last clone of this value. If the client can't be built,
    /// each request fails with the reason, and only the sources that need the cluster report that.
    fn client(&self, clients: &Clients, environment: &Environment) -> Client {
        let operator = environment.shared::<OneOperator>();
        let mut known = self.0.clients.lock();
        known.retain(|(operator, _)| operator.strong_count() > 0);
        let is_its = |of: &Weak<OneOperator>| of.as_ptr() == Arc::as_ptr(&operator);
        if let Some((_, client)) = known.iter().find(|(of, _)| is_its(of)) {
            return client.clone();
        }
        let client = clients.elsewhere(&self.0.config, &self.0.hooks);
        let client = client.unwrap_or_else(|error| without(&error));
        known.push((Arc::downgrade(&operator), client.clone()));
        client
    }
}

/// Distinguishes operators, which have separate clients for other clusters.
#[derive(Default)]
struct OneOperator;

/// A client that sends nothing.
fn without(error: &client::Error) -> Client {
    let error = error_chain(error);
    let service = tower::service_fn(move |_: http::Request<kube::client::Body>| {
        let error = BoxError::from(error.clone());
        async move { Err::<http::Response<kube::client::Body>, _>(error) }
    });
    Client::new(service, "default")
}

impl fmt::Debug for RemoteCluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteCluster").field(&self.name()).finish()
    }
}
