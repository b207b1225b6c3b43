//! The derived declaration is the one that runs.

use std::{fmt::Display, marker::PhantomData};

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Pod;
use operator_core::{
    Cleaner, Context, ControllerConfiguration, Dependent, One, Reconciler, Verdict, Want,
    controller::IntoController,
    dependent::{Deletion, External, Records, Standalone, Token},
    resource::KubeObject,
};

fn maps(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

struct Keys<T>(String, PhantomData<T>);

impl<T: Send + Sync + 'static> Dependent<Pod> for Keys<T> {
    type Shape = One<Secret>;

    async fn want(&self, _pod: &Arc<Pod>, _context: &Context<Pod>) -> Result<Want<Secret>, BoxError> {
        let mut secret = Secret::default();
        secret.metadata.name = Some(self.0.clone());
        Ok(secret.into())
    }
}

/// A record elsewhere.
struct Record;

impl External<Pod> for Record {
    type Resource = String;
    type Want = Option<String>;

    fn want(&self, _: &Pod) -> Option<String> {
        None
    }

    async fn observe(&self, _: &str) -> Result<Option<String>, BoxError> {
        Ok(None)
    }

    async fn create(&self, want: &String, _: &Token) -> Result<(String, String), BoxError> {
        Ok((want.clone(), want.clone()))
    }

    async fn update(&self, _: &str, _: &String, want: &String) -> Result<String, BoxError> {
        Ok(want.clone())
    }

    async fn delete(&self, _: &str) -> Result<Deletion, BoxError> {
        Ok(Deletion::Gone)
    }
}

fn scheduled(_: &Secret, pod: &Pod) -> Verdict {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
    Verdict::when(node.is_some(), "not on a node yet")
}

fn has_status(pod: &Pod) -> bool {
    pod.status.is_some()
}

macro_rules! reconciles_pods {
    ($($reconciler:ty),*) => {$(
        impl Reconciler for $reconciler {
            type Primary = Pod;

            async fn reconcile(
                &self,
                _pod: &Pod,
                _context: &mut Context<Pod>,
            ) -> Result<UpdateControl<Pod>, BoxError> {
                Ok(UpdateControl::no_update())
            }
        }
    )*};
}

fn keys(_: &Pod) -> Secret {
    Secret::default()
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
        retry(without_max_attempts, without_max_interval, initial_interval = SECOND, multiplier = 2),
        rate_limiter(limit = 3, per = "1m"),
        max_reconciliation_interval = None,
        reconcile_timeout = "1m30s",
        on_update = |new, old| new.metadata.labels != old.metadata.labels,
        owns(k8s_openapi::api::core::v1::Service),
        index("node", |pod| pod.spec.iter().filter_map(|spec| spec.node_name.clone()).collect()),
        index("owner", super::owner),
        refers_to::<super::ConfigMap>(super::settings),
        watches_referenced(operator_core::InformerEventSource::<super::Secret>::new(), |_| Vec::new()),
    )]
    pub(super) struct Everything;

    /// What is said of a controller may use the value.
    #[derive(operator_core::ControllerConfiguration)]
    #[controller(
        primary = super::Pod,
        name = self.name.clone(),
        namespaces = self.namespaces.iter(),
        on_add = {
            let node = self.node.clone();
            move |pod| pod.spec.iter().any(|spec| spec.node_name.as_ref() == Some(&node))
        },
        watches = operator_core::InformerEventSource::<super::Secret>::new().label_selector(&*self.selector),
        configure = |builder| match self.owns {
            true => builder.owns::<k8s_openapi::api::core::v1::Service>(),
            false => builder,
        },
        index("node", {
            let node = self.node.clone();
            move |_| vec![node.clone()]
        }),
    )]
    #[workflow(children::map)]
    pub(super) struct OfItself {
        pub(super) name: String,
        pub(super) namespaces: Vec<String>,
        pub(super) node: String,
        pub(super) selector: String,
        pub(super) owns: bool,
    }

    /// A generic one.
    #[derive(operator_core::ControllerConfiguration)]
    #[controller(primary = super::TestResource, finalizer = format!("{}/of", self.0))]
    pub(super) struct Generic<T: std::fmt::Display + Send + Sync + 'static>(pub(super) T);

    #[derive(operator_core::ControllerConfiguration)]
    #[controller(retry(initial_interval = NO_TIME))]
    pub(super) struct Hasty;

    mod children {
        pub(super) fn map(_: &super::super::Pod) -> super::super::ConfigMap {
            super::super::ConfigMap::default()
        }
    }

    #[derive(operator_core::ControllerConfiguration)]
    #[controller(primary = super::Pod, formerly = ["pods"])]
    #[workflow(
        prune_data,
        retired::<k8s_openapi::api::core::v1::Service>("old"),
        super::keys(after(children::map, more)),
        children::map(adopt(operator_core::dependent::Adoption::IfUnowned), create_only),
        more(after(children::map), named = "more-maps") = move |pod: &super::Pod| children::map(pod),
    )]
    pub(super) struct Wired;

    #[derive(operator_core::ControllerConfiguration)]
    #[controller(primary = super::Pod)]
    #[workflow(explicit_invocation, children::map)]
    pub(super) struct NobodyInvokes;

    #[derive(operator_core::ControllerConfiguration)]
    #[controller(primary = super::Pod)]
    pub(super) struct NothingToDo;

    use children::map as same;

    #[derive(operator_core::ControllerConfiguration)]
    #[controller(primary = super::Pod)]
    #[workflow(children::map, same)]
    pub(super) struct Twice;
}

const NAMESPACE: &str = "b";

fn owner(pod: &Pod) -> Vec<String> {
    pod.metadata.owner_references.iter().flatten().map(|owner| owner.name.clone()).collect()
}

fn settings(pod: &Pod) -> Vec<ObjectKey> {
    pod.metadata.namespace.iter().map(|namespace| ObjectKey::namespaced(namespace, "settings")).collect()
}

#[derive(ControllerConfiguration)]
#[workflow(
    explicit_invocation,
    maps(without_owner),
    keys(after(maps), ready(scheduled, has_status)) = Keys::<u8>(self.prefix.clone(), PhantomData),
    records(after(maps), only_if(has_status)) = Records::new(Record).id_in_config_map(),
    more(named = "more-keys", after(keys, records)) = Keys::<u16>(self.prefix.clone(), PhantomData),
)]
struct Managed {
    prefix: String,
}

reconciles_pods!(elsewhere::Plain, elsewhere::Everything, elsewhere::Hasty, Managed);

reconciles_pods!(elsewhere::OfItself);

impl<T: Display + Send + Sync + 'static> Cleaner for elsewhere::Generic<T> {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        _: &TestResource,
        _: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, _: &TestResource, _: &mut Context<TestResource>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

impl Cleaner for elsewhere::Cleans {
    type Primary = Pod;

    async fn reconcile(&self, _: &Pod, _: &mut Context<Pod>) -> Result<UpdateControl<Pod>, BoxError> {
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, _pod: &Pod, _context: &mut Context<Pod>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
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
    let reads = |kind: &str| controller.access().iter().any(|right| right.resource_type.kind() == kind);
    assert!(["Service", "ConfigMap", "Secret"].into_iter().all(reads));
}

#[test]
fn settings_may_use_the_reconciler() {
    let declared = |owns| {
        declared(elsewhere::OfItself {
            name: "of-itself".to_owned(),
            namespaces: vec!["a".to_owned()],
            node: "node".to_owned(),
            selector: "app=web".to_owned(),
            owns,
        })
    };
    let reads = |controller: &Controller, kind: &str| {
        controller.access().iter().any(|right| right.resource_type.kind() == kind)
    };
    let controller = declared(true);
    assert_eq!(controller.name(), "of-itself");
    assert!(["ConfigMap", "Secret", "Service"].iter().all(|kind| reads(&controller, kind)));
    assert!(!reads(&declared(false), "Service"));
}

#[test]
fn a_generic_reconciler_brings_the_definition_and_is_called_like_its_type() {
    let operator = Operator::builder().register(elsewhere::Generic("example.com"));
    operator.assert_sound();
    assert_eq!(operator.crds(), [TestResource::crd()]);
    assert_eq!(operator.controllers()[0].name(), "generic");
    // Its finalizer is made of its content.
    assert!(elsewhere::Generic("no domain").into_controller().is_err());
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
    assert_eq!(workflow.node_names().collect::<Vec<_>>(), ["maps", "keys", "records", "more-keys"]);
    // Without garbage collection the map has to be deleted before its primary goes.
    assert!(has_finalizer(&declared(managed)));
}

#[test]
fn a_workflow_of_functions_needs_no_reconciler() {
    let workflow = elsewhere::Wired.workflow().expect("the declaration is sound").expect("there is one");
    assert_eq!(workflow.node_names().collect::<Vec<_>>(), ["keys", "map", "more-maps"]);
    assert_eq!(
        workflow.outline().to_string().lines().take(3).collect::<Vec<_>>(),
        ["map", "  more-maps", "    keys (also after map)"]
    );
    let controller = declared(elsewhere::Wired);
    assert_eq!(controller.name(), "pod", "it is called like its kind");
    // All that its nodes make is garbage-collected.
    assert!(!has_finalizer(&controller));
    // What a former node has made is looked for.
    assert!(controller.access().iter().any(|right| right.resource_type.kind() == "Service"));
}

#[test]
fn what_the_derive_cannot_see_is_told_when_the_controller_is_built() {
    fn what(controller: impl IntoController) -> Vec<String> {
        let mistakes = controller.into_controller().expect_err("something is wrong");
        mistakes.iter().map(|mistake| mistake.what()).collect()
    }
    assert_eq!(
        what(elsewhere::NobodyInvokes),
        ["controller `pod`: its workflow is invoked explicitly, but there is no reconciler that could do so"]
    );
    assert_eq!(
        what(elsewhere::NothingToDo),
        ["controller `pod`: it has neither a workflow nor a reconciler"]
    );
    // One function by two paths: its type tells.
    let twice = what(elsewhere::Twice);
    assert!(twice[0].ends_with("map` is two nodes of the workflow"), "{twice:?}");
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

fn may_delete<P: KubeObject>(dependent: &Standalone<P>) -> bool {
    dependent.access().iter().any(|right| right.verbs.contains(&"delete"))
}

#[test]
fn a_dependent_is_what_is_said_of_it() {
    let map = node(maps).without_owner().standalone();
    assert_eq!((map.name(), may_delete(&map)), ("maps", true));
    let kept = node(maps).named("kept").retained().standalone();
    assert_eq!((kept.name(), may_delete(&kept)), ("kept", false));
    let keys = node::<Pod, _, _>(Keys::<u8>(String::new(), PhantomData)).standalone();
    assert_eq!((keys.name(), may_delete(&keys)), ("Keys", true));
}
