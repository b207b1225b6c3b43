//! What is declared is what runs.

use std::{io, marker::PhantomData, sync::Arc};

use integration_tests::TestResource;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::CustomResourceExt;
use operator_core::{
    BoxError, Cleaner, Context, Controller, ControllerConfiguration, DeleteControl, Desired,
    KubernetesDependent, Operator, Reconciler, UpdateControl,
    controller::IntoController,
    dependent::{Capabilities, IntoDependent},
    workflow::{Condition, ConditionResult, NodeView},
};

#[derive(KubernetesDependent, Default)]
#[dependent(primary = Pod, resource = ConfigMap, name = "maps", capabilities = crud_no_gc)]
struct Map;

impl Desired<Pod> for Map {
    type Resource = ConfigMap;

    fn desired(&self, _pod: &Pod, _context: &Context<Pod>) -> Result<ConfigMap, BoxError> {
        Ok(ConfigMap::default())
    }
}

#[derive(KubernetesDependent)]
#[dependent(primary = Pod)]
struct Keys<T: Send + Sync + 'static>(String, PhantomData<T>);

impl<T: Send + Sync + 'static> Desired<Pod> for Keys<T> {
    type Resource = Secret;

    fn desired(&self, _pod: &Pod, _context: &Context<Pod>) -> Result<Secret, BoxError> {
        let mut secret = Secret::default();
        secret.metadata.name = Some(self.0.clone());
        Ok(secret)
    }
}

struct Scheduled;

impl Condition<Pod> for Scheduled {
    async fn check(
        &self,
        _node: &NodeView<'_, Pod>,
        pod: &Arc<Pod>,
        _context: &Context<Pod>,
    ) -> Result<ConditionResult, BoxError> {
        let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
        Ok(ConditionResult::when(node.is_some(), "not on a node yet"))
    }
}

macro_rules! reconciles_pods {
    ($($reconciler:ty),*) => {$(
        impl Reconciler for $reconciler {
            type Primary = Pod;
            type Error = io::Error;

            async fn reconcile(
                &self,
                _pod: Arc<Pod>,
                _context: &Context<Pod>,
            ) -> Result<UpdateControl<Pod>, Self::Error> {
                Ok(UpdateControl::no_update())
            }
        }
    )*};
}

/// Neither derive may depend on what its user imports.
mod elsewhere {
    #[derive(operator_core::ControllerConfiguration)]
    pub(super) struct Plain;

    #[derive(operator_core::ControllerConfiguration)]
    pub(super) struct Cleans;

    const SECOND: std::time::Duration = std::time::Duration::from_secs(1);

    const NO_TIME: std::time::Duration = std::time::Duration::ZERO;

    #[derive(operator_core::ControllerConfiguration)]
    #[controller(
        primary = super::Pod,
        name = "everything",
        namespaces = ["a", super::NAMESPACE],
        retry(unlimited, initial_interval = SECOND, multiplier = 2),
        rate_limit(limit = 3, per = "1m"),
        max_reconciliation_interval = None,
        reconcile_timeout = "1m30s",
        on_update = |new, old| new.metadata.labels != old.metadata.labels,
        owns(k8s_openapi::api::core::v1::Service),
        configure = |builder| builder.index("node", |_| Vec::new()),
    )]
    pub(super) struct Everything;

    #[derive(operator_core::ControllerConfiguration)]
    #[controller(retry(initial_interval = NO_TIME))]
    pub(super) struct Hasty;
}

const NAMESPACE: &str = "b";

#[derive(ControllerConfiguration)]
#[workflow(
    explicit_invocation,
    dependent(Map),
    dependent(Keys = |reconciler| Keys::<u8>(reconciler.prefix.clone(), PhantomData), depends_on(Map),
        reconcile_precondition = Scheduled, ready_postcondition = |pod, _| pod.status.is_some()),
    dependent(Keys<u16> = Keys::<u16>(self.prefix.clone(), PhantomData), name = "more-keys", depends_on(Keys, Map), hold_unless = Scheduled),
)]
struct Managed {
    prefix: String,
}

reconciles_pods!(elsewhere::Plain, elsewhere::Cleans, elsewhere::Everything, elsewhere::Hasty, Managed);

impl Cleaner for elsewhere::Cleans {
    async fn cleanup(&self, _pod: Arc<Pod>, _context: &Context<Pod>) -> Result<DeleteControl, Self::Error> {
        Ok(DeleteControl::default_delete())
    }
}

fn declared(reconciler: impl IntoController) -> Controller {
    reconciler.into_controller().expect("the declaration is sound")
}

/// Whether the controller puts a finalizer on its primaries, which is a patch of them.
fn has_finalizer(controller: &Controller) -> bool {
    let mut access = controller.access().into_iter();
    access.any(|right| {
        right.resource_type.kind() == "Pod" && right.subresource.is_none() && right.verbs.contains(&"patch")
    })
}

#[test]
fn a_cleaner_is_found_without_being_named() {
    assert!(!has_finalizer(&declared(elsewhere::Plain)));
    assert!(has_finalizer(&declared(elsewhere::Cleans)));
}

#[test]
fn keys_reach_the_controller() {
    let controller = declared(elsewhere::Everything);
    assert_eq!(controller.name(), "everything");
    assert!(controller.access().iter().any(|right| right.resource_type.kind() == "Service"));
}

#[test]
fn what_makes_no_sense_is_an_error_of_the_declaration() {
    let mistakes =
        elsewhere::Hasty.into_controller().expect_err("runs would follow one another without a pause");
    let what: Vec<String> = mistakes.iter().map(|mistake| mistake.what()).collect();
    assert_eq!(what, ["controller `hasty`: the interval between retries is 0ns"]);
}

#[test]
fn a_workflow_has_the_nodes_of_the_attribute() {
    let managed = Managed { prefix: "keys-".to_owned() };
    let workflow = managed.workflow().expect("the declaration is sound").expect("there is a workflow");
    assert_eq!(workflow.node_names().collect::<Vec<_>>(), ["Map", "Keys", "more-keys"]);
    // Without garbage collection the map has to be deleted before its primary goes.
    assert!(has_finalizer(&declared(managed)));
}

#[test]
fn a_derived_controller_is_registered_as_it_is() {
    let operator = Operator::builder().register(elsewhere::Plain);
    operator.assert_sound();
    assert_eq!(operator.controllers()[0].name(), "plain");
}

#[test]
fn a_controller_of_a_type_brings_its_definition_unless_another_is_named() {
    fn map(_: &TestResource) -> ConfigMap {
        ConfigMap::default()
    }
    let controller = || Controller::of::<TestResource>().workflow((map,));
    let own = TestResource::crd();
    assert_eq!(Operator::builder().register(controller()).crds(), std::slice::from_ref(&own));
    let mut other = own.clone();
    other.spec.scope = "Cluster".to_owned();
    assert_eq!(Operator::builder().register(controller()).crd(other.clone()).crds(), [other.clone()]);
    assert_eq!(Operator::builder().crd(other.clone()).register(controller()).crds(), [other]);
    let two = Operator::builder().register(controller()).register(controller().name("second"));
    assert_eq!(two.crds(), [own]);
}

#[test]
fn a_dependent_is_what_its_keys_say() {
    let map = Map.into_dependent();
    assert_eq!((map.name(), map.capabilities()), ("maps", Capabilities::CRUD_NO_GC));
    let keys = Keys::<u8>(String::new(), PhantomData).into_dependent();
    assert_eq!((keys.name(), keys.capabilities()), ("Keys", Capabilities::CRUD));
}
