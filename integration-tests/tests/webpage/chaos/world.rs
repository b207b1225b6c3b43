//! The namespace of the pages, and what the clients remember of it.

use integration_tests::prelude::*;
use kube::api::{ApiResource, DynamicObject};
use webpage::{RBAC, WebPage};

use super::{
    acts::{ACTS, ACTS_ON_DEPENDENTS, Act, Stripped},
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
    /// The sign of its owner that was removed first from an object, by uid.
    stripped: Mutex<BTreeMap<String, Stripped>>,
    /// The Deployments to which others have added a container, by uid.
    pub(super) sidecars: Mutex<BTreeSet<String>>,
    /// Whether the operator has dependents, which know their objects by their marks.
    pub(super) on_dependents: bool,
    /// How many acts of each name the API server has taken.
    done: Mutex<BTreeMap<&'static str, usize>>,
}

impl<'j> World<'j> {
    pub(super) async fn new(
        cluster: &TestCluster,
        journal: &'j Journal,
        on_dependents: bool,
    ) -> Result<Self> {
        cluster.apply_files("default", [RBAC]).await?;
        let (client, namespace) = (cluster.client()?, cluster.namespace("chaos").await?);
        // The role takes effect a moment after it was written.
        let pages: Api<WebPage> = Api::namespaced(cluster.client_as(keeper::ACCOUNT)?, &namespace);
        until("the role to be effective", async || pages.list(&Default::default()).await.ok()).await?;
        Ok(Self {
            client,
            namespace,
            journal,
            on_dependents,
            labels: Mutex::default(),
            stripped: Mutex::default(),
            sidecars: Mutex::default(),
            done: Mutex::default(),
        })
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

    /// Whether that may be removed from this object, after what it has lost before.
    pub(super) fn may_strip(&self, uid: &str, what: Stripped) -> bool {
        *self.stripped.lock().entry(uid.to_owned()).or_insert(what) == what
    }

    /// Whether the object has lost a sign of its owner.
    pub(super) fn was_stripped(&self, object: &DynamicObject) -> bool {
        object.uid().is_some_and(|uid| self.stripped.lock().contains_key(&uid))
    }

    /// Remembers a container that was added.
    pub(super) fn sidecar(&self, object: &DynamicObject) {
        self.sidecars.lock().extend(object.uid());
    }

    /// Counts an act that was taken.
    pub(super) fn taken(&self, act: &Act) {
        *self.done.lock().entry(act.name()).or_default() += 1;
    }

    /// The kinds of acts that haven't happened.
    pub(super) fn missing(&self) -> Vec<&'static str> {
        let done = self.done.lock();
        let further = ACTS_ON_DEPENDENTS.into_iter().filter(|_| self.on_dependents);
        ACTS.into_iter().chain(further).filter(|name| !done.contains_key(name)).collect()
    }

    /// Whether each kind of act has happened, and the operator was killed.
    pub(super) fn enough_has_happened(&self, kills: usize) -> Result<()> {
        let done = self.done.lock().clone();
        let labels = self.labels.lock().len();
        self.journal.note(&format!("{kills} kills, {labels} labels of others, acts: {done:?}"));
        let missing = self.missing();
        ensure!(missing.is_empty(), "nothing is shown, as none of these came to be: {missing:?}");
        ensure!(kills > 1, "nothing is shown, as the operator was killed {kills} times");
        Ok(())
    }
}
