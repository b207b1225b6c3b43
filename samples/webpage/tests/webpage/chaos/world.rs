//! The namespace of the pages, and what the clients remember of it.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use kube::{
    Api, Client, ResourceExt,
    api::{ApiResource, DynamicObject},
};
use operator_core::testing::TestCluster;
use parking_lot::Mutex;
use webpage::{RBAC, WebPage};

use super::{
    acts::{ACTS, Act},
    journal::Journal,
    keeper,
};
use crate::support::until;

/// A label that a client has put on an object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Labelled {
    /// The object's uid.
    pub(super) uid: String,
    pub(super) key: String,
}

/// The namespace of the pages.
pub(super) struct World<'j> {
    pub(super) client: Client,
    pub(super) namespace: String,
    pub(super) journal: &'j Journal,
    /// The values that were written last.
    pub(super) labels: Mutex<BTreeMap<Labelled, String>>,
    /// How many acts of each name the API server has taken.
    done: Mutex<BTreeMap<&'static str, usize>>,
}

impl<'j> World<'j> {
    pub(super) async fn new(cluster: &TestCluster, journal: &'j Journal) -> Result<Self> {
        cluster.apply_yaml("default", RBAC).await?;
        let (client, namespace) = (cluster.client()?, cluster.namespace("chaos").await?);
        // The role takes effect a moment after it was written.
        let pages: Api<WebPage> = Api::namespaced(cluster.client_as(keeper::ACCOUNT)?, &namespace);
        until("the role to be effective", async || pages.list(&Default::default()).await.ok()).await?;
        Ok(Self { client, namespace, journal, labels: Mutex::default(), done: Mutex::default() })
    }

    pub(super) fn pages(&self) -> Api<WebPage> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(super) fn objects(&self, kind: &ApiResource) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), &self.namespace, kind)
    }

    /// Remembers a label of an object.
    pub(super) fn labelled(&self, object: &DynamicObject, key: &str, value: &str) {
        let labelled = Labelled { uid: object.uid().unwrap_or_default(), key: key.to_owned() };
        self.labels.lock().insert(labelled, value.to_owned());
    }

    /// Counts an act that was taken.
    pub(super) fn taken(&self, act: &Act) {
        *self.done.lock().entry(act.name()).or_default() += 1;
    }

    /// Whether each kind of act has happened, and the operator was killed.
    pub(super) fn enough_has_happened(&self, kills: usize) -> Result<()> {
        let done = self.done.lock().clone();
        let labels = self.labels.lock().len();
        self.journal.note(&format!("{kills} kills, {labels} labels of others, acts: {done:?}"));
        let missing: Vec<_> = ACTS.into_iter().filter(|name| !done.contains_key(name)).collect();
        ensure!(missing.is_empty(), "nothing is shown, as none of these came to be: {missing:?}");
        ensure!(kills > 1, "nothing is shown, as the operator was killed {kills} times");
        Ok(())
    }
}
