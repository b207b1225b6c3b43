//! All forms of functions in one place, and what is wrong with wiring.

#![expect(
    clippy::needless_pass_by_value,
    clippy::manual_async_fn,
    clippy::extra_unused_type_parameters,
    reason = "the forms are what is tested"
)]

mod elsewhere;
mod groups;

use std::{future::Future, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Secret, Service},
    networking::v1::Ingress,
};

use super::{Predecessor, declared::node, reference::the, wire::Wire as _};

use crate::{
    dependent::{
        function::{dependent::Dependent, wanted::One},
        want::Want,
    },
    reconciler::{BoxError, Context, Data, ManagedWorkflow},
    results::Verdict,
    workflow::{Activation, Cluster, Workflow, WorkflowBuilder, conditions::served::served},
};

type Result<T, E = BoxError> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
#[error("own")]
struct OwnError;

struct Quota(usize);

// The types that a function may return.
fn html(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}
fn web(_: &Pod) -> Result<Deployment> {
    Ok(Deployment::default())
}
fn service(_: &Pod) -> Result<Service, OwnError> {
    Err(OwnError)
}
fn ingress(_: &Pod) -> Option<Ingress> {
    None
}
fn secret(_: &Pod) -> Result<Option<Secret>> {
    Ok(None)
}
fn pods(_: &Pod) -> Vec<Pod> {
    Vec::new()
}
fn pods_fallible(_: &Pod) -> Result<Vec<Pod>, OwnError> {
    Ok(Vec::new())
}
fn held(_: &Pod) -> Want<Secret> {
    Want::hold("Held", "held")
}
fn held_fallible(_: &Pod) -> Result<Want<Secret>> {
    Ok(Secret::default().into())
}
fn held_pods(_: &Pod) -> Result<Want<Vec<Pod>>> {
    Ok(Want::none("none"))
}

// The arguments that it may take.
fn with_context(_: &Pod, context: &Context<Pod>) -> Option<ConfigMap> {
    context.primary().map(|_| ConfigMap::default())
}
fn with_data(_: &Pod, quota: Data<Quota>) -> Vec<ConfigMap> {
    vec![ConfigMap::default(); quota.0]
}
fn with_all(_: &Pod, quota: Option<Data<Quota>>, context: &Context<Pod>, _: Data<u8>) -> Option<ConfigMap> {
    quota.and_then(|_| with_context(&Pod::default(), context))
}

// Async ones.
async fn borrows(pod: &Pod) -> Result<Secret> {
    std::future::ready(()).await;
    let mut secret = Secret::default();
    secret.metadata.name.clone_from(&pod.metadata.name);
    Ok(secret)
}
async fn borrows_all(pod: &Pod, context: &Context<Pod>, quota: Data<Quota>) -> Want<Secret> {
    std::future::ready(()).await;
    Want::none(format!("{:?} {:?} {}", pod.metadata.name, context.primary_key(), quota.0))
}
fn boxed(pod: &Pod) -> BoxFuture<'_, Result<Secret>> {
    Box::pin(async move { borrows(pod).await })
}
fn by_impl(pod: &Pod) -> impl Future<Output = Option<Secret>> + Send {
    async move { pod.spec.is_some().then(Secret::default) }
}
async fn owns(_: Arc<Pod>) -> Result<Secret> {
    std::future::ready(()).await;
    Ok(Secret::default())
}
async fn owns_all(_: Arc<Pod>, context: Context<Pod>, _: Data<Quota>) -> Want<Vec<Secret>> {
    std::future::ready(()).await;
    Want::none(context.controller_name())
}

// From anywhere.
mod a {
    pub(super) fn map(_: &super::Pod) -> super::ConfigMap {
        super::ConfigMap::default()
    }
}
mod b {
    pub(super) fn map(_: &super::Pod) -> super::ConfigMap {
        super::ConfigMap::default()
    }
}
fn of_team<T: 'static>(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}
struct Children;
impl Children {
    fn role(_: &Pod) -> Secret {
        Secret::default()
    }
}
trait Site {
    fn page(&self) -> ConfigMap;
}
impl Site for Pod {
    fn page(&self) -> ConfigMap {
        ConfigMap::default()
    }
}
const fn nothing(_: &Pod) -> Option<Service> {
    None
}

/// A dependent with state.
struct Records(&'static str);

impl Dependent<Pod> for Records {
    type Shape = One<ConfigMap>;

    async fn want(&self, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Want<ConfigMap>> {
        Ok(Want::none(self.0))
    }
}

// Conditions.
fn rolled_out(web: &Deployment) -> Verdict {
    Verdict::when(web.status.is_some(), "no status").again_in(Duration::from_secs(3))
}
fn scheduled(pod: &Pod) -> Result<bool, OwnError> {
    Ok(pod.spec.is_some())
}
fn of_both(_: &Deployment, pod: &Pod, _: Data<Quota>) -> Result<Verdict> {
    Ok(Verdict::when(pod.spec.is_some(), "no spec"))
}
async fn asked(web: &Deployment, _: &Pod) -> bool {
    web.spec.is_some()
}
async fn asked_of_own(_: Arc<Deployment>, _: Context<Pod>) -> Result<Verdict> {
    Ok(Verdict::met())
}
struct AtLeast(usize);
impl super::Condition<Pod, Pod> for AtLeast {
    async fn check(&self, _: &Arc<Pod>, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Verdict> {
        Ok(Verdict::when(self.0 == 0, "fewer"))
    }
}
struct Mesh;
impl Activation for Mesh {
    async fn check(&self, _: &Cluster<'_>) -> Result<Verdict> {
        Ok(Verdict::met())
    }
}

fn workflow() -> WorkflowBuilder<Pod> {
    Workflow::<Pod>::builder()
}

fn outline(workflow: WorkflowBuilder<Pod>) -> Vec<String> {
    let text = workflow.build().expect("nothing is wrong").outline().to_string();
    text.lines().map(str::to_owned).collect()
}

fn mistakes(workflow: WorkflowBuilder<Pod>) -> Vec<String> {
    let crate::workflow::BuildError(mistakes) = workflow.build().expect_err("something is wrong");
    mistakes.iter().map(ToString::to_string).collect()
}

#[test]
fn every_form_is_a_node_that_is_called_like_its_function() {
    let workflow = workflow()
        .nodes((html, web, service, ingress, secret, pods, pods_fallible, held, held_fallible, held_pods))
        .nodes((with_context, with_data, with_all, borrows, borrows_all, boxed, by_impl, owns, owns_all))
        .nodes((a::map, of_team::<u8>, Children::role, Pod::page, nothing, Records("none")));
    let built = workflow.build().expect("nothing is wrong");
    let names: Vec<_> = built.node_names().collect();
    let golden = "html web service ingress secret pods pods_fallible held held_fallible held_pods with_context \
                  with_data with_all borrows borrows_all boxed by_impl owns owns_all map of_team role page nothing \
                  Records";
    assert_eq!(names.join(" "), golden);
    let name = |key| built.any().node_name(&key).map(str::to_owned);
    assert_eq!(name(Predecessor::<Pod, _>::key(web)).as_deref(), Some("web"));
    assert_eq!(name(Predecessor::<Pod, _>::key(the::<Records>())).as_deref(), Some("Records"));
    assert_eq!(name(Predecessor::<Pod, _>::key(b::map)), None);
}

#[test]
fn what_only_looks_at_the_primary_is_judged_before_order() {
    let workflow = workflow().nodes((
        html,
        service,
        ingress,
        held_pods,
        with_context,
        with_data,
        borrows,
        boxed,
        by_impl,
        owns,
        Records(""),
    ));
    let built = workflow.build().expect("nothing is wrong");
    let judged = built.any().0.nodes.iter().filter(|node| node.is_wish_asked(false));
    assert_eq!(
        judged.map(|node| node.name().to_string()).collect::<Vec<_>>(),
        ["html", "service", "ingress", "held_pods"]
    );
    let holding = built.any().0.nodes.iter().filter(|node| node.may_be_held());
    assert_eq!(holding.map(|node| node.name().to_string()).collect::<Vec<_>>(), ["held_pods", "Records"]);
}

#[test]
fn wiring_is_told_in_the_outline() {
    let records = node(Records("x")).named("dns").after(Children::role);
    let workflow = workflow().nodes((
        html,
        Children::role,
        web.after(html).after(&records).ready(rolled_out).ready(scheduled),
        records,
        pods.needs(served::<Pod>()).needs(Mesh).after(the::<Records>()).delete_first(),
        service.ready_when_applied().gone(|_: &Service| false).after(web),
    ));
    assert_eq!(
        outline(workflow),
        [
            "html",
            "role",
            "  dns",
            "    web [ready when rolled_out and scheduled] (also after html)",
            "      service [ready when applied] [gone when closure]",
            "    pods [needs Pod of v1 and Mesh]",
            "depth 4; deleted in reverse: service, pods; by the garbage collector, in any order: web, dns, role, html",
        ]
    );
}

#[test]
fn every_form_is_a_condition() {
    fn labelled<K: kube::Resource>(object: &K) -> bool {
        object.meta().labels.is_some()
    }
    let all = workflow()
        .nodes((web.ready(rolled_out).gone(scheduled), pods.ready(AtLeast(2))))
        .nodes((node(service).ready(|service: &Service| service.spec.is_some()),))
        .nodes((ingress.ready(async |ingress: &Ingress| ingress.spec.is_some()),))
        .nodes((html.ready(labelled::<ConfigMap>), secret.ready(|pod: &Pod| pod.spec.is_some())));
    assert!(all.build().is_ok());
    for node in [node(web).ready(of_both), node(web).ready(asked), node(web).ready(asked_of_own)] {
        assert!(workflow().nodes((node,)).build().is_ok());
    }
}

#[test]
fn closures_need_a_name_and_are_found_by_their_node() {
    let host = "example.com".to_owned();
    let capturing = node(move |_: &Pod| {
        let data = [("host".to_owned(), host.clone())];
        ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
    });
    let later = async |pod: &Pod| pod.spec.is_some().then(Secret::default);
    let capturing = capturing.named("capturing");
    let workflow = workflow().nodes((web.after(&capturing), capturing, later.named("later").after(web)));
    assert_eq!(outline(workflow)[..3], ["capturing", "  web", "    later [optional]"]);
    let pointer: fn(&Pod) -> ConfigMap = a::map;
    let nameless = mistakes(self::workflow().nodes((pointer, |_: &Pod| ConfigMap::default())));
    assert_eq!(nameless.len(), 2, "{nameless:?}");
    assert!(nameless.iter().all(|mistake| mistake.ends_with("has no name: `.named(…)`")), "{nameless:?}");
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    const HERE: &str = "operator_core::workflow::declare::tests";
    let wrong = workflow().nodes((
        web.after(html),
        a::map,
        b::map,
        service.after(ingress),
        ingress.after(service),
        secret.after(a::map),
        secret,
    ));
    assert_eq!(
        mistakes(wrong),
        [
            format!("`{HERE}::secret` is two nodes of this workflow"),
            format!(
                "two nodes are called `map`: {HERE}::a::map and {HERE}::b::map; give one of them a name of its own by `.named(…)`"
            ),
            format!("`{HERE}::web` comes after `{HERE}::html`, which isn't a node of this workflow"),
            "there is a cycle of dependencies: service -> ingress -> service".to_owned(),
        ]
    );
    assert_eq!(mistakes(workflow().nodes((html.after(html),))), ["`html` depends on itself"]);
    let (empty, named) = (node(html).named(""), node(web).named("web"));
    let wrong = mistakes(workflow().nodes((empty, named, service.named("web"))));
    assert_eq!(wrong.len(), 2, "{wrong:?}");
}
