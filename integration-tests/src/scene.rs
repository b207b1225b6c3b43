//! The surroundings of a test: a namespace, a custom resource, and the operator under test.

use std::{
    fmt::{self, Debug},
    sync::Arc,
    time::Duration,
};

use anyhow::{Result, bail};
use futures::{FutureExt, future::BoxFuture};
use k8s_openapi::{
    NamespaceResourceScope, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client, Resource,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
use operator_core::{
    ControllerBuilder, ObjectKey, Operator, OperatorBuilder, Workflow,
    controller::IntoController,
    resource::KubeObject,
    testing::{ObservedGenerations, Profile, TestCluster, TestOperator},
};
use serde_json::Value;

use crate::{
    ClusterTestResource, Failures, Script, TestObject, TestResource, cluster, cluster_with, failures::Judge,
};

/// How long a condition may take to become true: far more than needed.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// [`operator_core::testing::eventually`] for tests with errors of `anyhow`.
///
/// # Errors
/// If there is no value within a minute; the message says what was waited for.
pub async fn eventually<T>(what: &str, mut probe: impl AsyncFnMut() -> Result<Option<T>>) -> Result<T> {
    let probe = async || Ok(probe().await?);
    Ok(operator_core::testing::eventually(what, probe).await?)
}

/// A namespace of its own in the shared control plane, with a custom resource: a [`TestResource`], unless the test is
/// about definitions or the scope.
#[derive(Clone)]
pub struct Scene<K: TestObject = TestResource> {
    /// The control plane; most tests share one.
    pub cluster: TestCluster,
    /// This test's namespace.
    pub namespace: String,
    /// A client with all rights.
    pub client: Client,
    /// The custom resources: those of the namespace, or all where they are cluster-scoped.
    pub resources: Api<K>,
    /// The runs that fail, of all operators of this scene: one that isn't announced here fails the test.
    pub failures: Failures,
    _judge: Judge,
}

impl<K: TestObject> fmt::Debug for Scene<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scene").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

impl Scene {
    /// Sets the scene for the test called `name`.
    ///
    /// # Errors
    /// When the control plane can't be started.
    pub async fn new(name: &str) -> Result<Self> {
        Self::on(cluster().await?, name).await
    }

    /// Sets the scene on a control plane where Deployments and StatefulSets become ready.
    ///
    /// # Errors
    /// When the control plane can't be started.
    pub async fn with_workloads(name: &str) -> Result<Self> {
        Self::on(cluster_with(Profile::Full).await?, name).await
    }

    /// Starts an operator with one controller, whose reconciler is `script`.
    ///
    /// The future is boxed: everything generic over primary and reconciler is compiled here, once for all tests.
    ///
    /// # Errors
    /// When the declaration is wrong.
    #[must_use = "nothing starts before this is awaited"]
    pub fn start_script<'s>(&'s self, script: &Script) -> BoxFuture<'s, Result<TestOperator>> {
        self.start(self.controller(script)).boxed()
    }

    /// The same with a managed workflow.
    ///
    /// # Errors
    /// When the declaration is wrong.
    #[must_use = "nothing starts before this is awaited"]
    pub fn start_managed<'s>(
        &'s self,
        script: &Script,
        workflow: &Workflow<TestResource>,
    ) -> BoxFuture<'s, Result<TestOperator>> {
        self.start(self.managed(script, workflow)).boxed()
    }
}

impl<K: TestObject + Resource<Scope = NamespaceResourceScope>> Scene<K> {
    /// Sets the scene for the test called `name` on this cluster, whatever definitions it has.
    ///
    /// # Errors
    /// When the control plane can't be reached.
    pub async fn on(cluster: TestCluster, name: &str) -> Result<Self> {
        Self::with(cluster, name, Api::namespaced).await
    }

    /// A controller for this namespace.
    pub fn controller(&self, script: &Script<K>) -> ControllerBuilder<Script<K>> {
        script.controller().namespaces([&self.namespace])
    }
}

impl Scene<ClusterTestResource> {
    /// Sets the scene for the test called `name`, whose custom resources are cluster-scoped. All tests see them: they
    /// are distinguished by their names.
    ///
    /// # Errors
    /// When the control plane can't be started.
    pub async fn cluster_scoped(name: &str) -> Result<Self> {
        Self::with(cluster().await?, name, |client, _| Api::all(client)).await
    }
}

impl<K: TestObject> Scene<K> {
    async fn with(
        cluster: TestCluster,
        name: &str,
        resources: impl FnOnce(Client, &str) -> Api<K>,
    ) -> Result<Self> {
        let namespace = cluster.namespace(name).await?;
        let client = cluster.client()?;
        let resources = resources(client.clone(), &namespace);
        let failures = Failures::default();
        let _judge = Judge::of(&failures);
        Ok(Self { cluster, namespace, client, resources, failures, _judge })
    }

    /// Installs the definition of the custom resource if the scene was set without it, and waits until it is served.
    ///
    /// # Errors
    /// When the control plane refuses it.
    pub async fn install_crd(&self) -> Result<()> {
        self.define(K::crd()).await
    }

    /// The same with another definition of this name: with further versions, for example.
    ///
    /// # Errors
    /// When the control plane refuses it.
    pub async fn define(&self, definition: CustomResourceDefinition) -> Result<()> {
        // The cluster itself would install it once and for all, and tests delete definitions.
        let definitions = Api::<CustomResourceDefinition>::all(self.client.clone());
        let ours = PatchParams::apply("integration-tests").force();
        definitions.patch(K::crd_name(), &ours, &Patch::Apply(definition)).await?;
        let list = ListParams::default().limit(1);
        eventually("the definition to be served", async || {
            Ok(self.resources.list(&list).await.ok().map(drop))
        })
        .await
    }

    /// The objects of type `O` in this test's namespace.
    #[must_use]
    pub fn api<O>(&self) -> Api<O>
    where
        O: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// The key of an object in this test's namespace.
    #[must_use]
    pub fn key(&self, name: &str) -> ObjectKey {
        ObjectKey::namespaced(&self.namespace, name)
    }

    /// An operator without controllers yet, for this cluster. A failed run of it has to be announced, and each status that
    /// it writes has to be about a generation that its run was given.
    pub fn operator(&self) -> OperatorBuilder {
        let generations = ObservedGenerations::default();
        let builder = self.cluster.connect(Operator::builder()).transport(generations.hook());
        let builder = builder.observer(Arc::new(generations.clone()));
        self.failures.also(generations);
        builder.observer(Arc::new(self.failures.clone()))
    }

    /// Starts an operator with one controller.
    ///
    /// # Errors
    /// When the declaration is wrong.
    pub async fn start(&self, controller: impl IntoController) -> Result<TestOperator> {
        Ok(TestOperator::start(self.operator().register(controller)).await?)
    }

    /// Creates a test resource.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn create(&self, name: &str, value: &str) -> Result<K> {
        Ok(self.resources.create(&PostParams::default(), &K::named(name, value)).await?)
    }

    /// Changes a test resource by a merge patch.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn patch(&self, name: &str, patch: Value) -> Result<K> {
        Ok(self.resources.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await?)
    }

    /// Marks a test resource for deletion.
    ///
    /// # Errors
    /// When the server refuses.
    pub async fn delete(&self, name: &str) -> Result<()> {
        self.resources.delete(name, &DeleteParams::default()).await?;
        Ok(())
    }

    /// Waits until a test resource meets `is_so`.
    ///
    /// # Errors
    /// When it doesn't get there within [`DEADLINE`]; the message shows its last state.
    pub async fn until(&self, what: &str, name: &str, is_so: impl Fn(&K) -> bool) -> Result<K> {
        until(&self.resources, what, name, is_so).await
    }

    /// Waits until a test resource is gone.
    ///
    /// # Errors
    /// When it still exists after [`DEADLINE`].
    pub async fn until_gone(&self, name: &str) -> Result<()> {
        eventually(&format!("the end of {name}"), async || {
            Ok(self.resources.get_opt(name).await?.is_none().then_some(()))
        })
        .await
    }

    /// Waits until an object of another type in this namespace meets `is_so`.
    ///
    /// # Errors
    /// When it doesn't get there within [`DEADLINE`]; the message shows its last state.
    pub async fn until_other<O>(&self, what: &str, name: &str, is_so: impl Fn(&O) -> bool) -> Result<O>
    where
        O: KubeObject + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        until(&self.api::<O>(), what, name, is_so).await
    }
}

async fn until<O>(api: &Api<O>, what: &str, name: &str, is_so: impl Fn(&O) -> bool) -> Result<O>
where
    O: KubeObject + Debug,
{
    let mut last = None;
    let reached = eventually(what, async || {
        last = api.get_opt(name).await?;
        Ok(last.clone().filter(|object| is_so(object)))
    });
    match reached.await {
        Ok(object) => Ok(object),
        Err(error) => bail!("{error:#}; its last state was {last:#?}"),
    }
}
