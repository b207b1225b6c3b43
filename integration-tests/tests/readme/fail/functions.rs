//! Functions that aren't dependents, and nodes that are wired wrongly: the first words of each error name the user's
//! function or type, and its notes say what to write.
#![allow(dead_code, unused_imports, unused_variables, unused_must_use, unreachable_code)]

use std::{rc::Rc, sync::Arc};

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Pod, Secret, Service},
};
use operator_core::{ControllerBuilder, controller::NoReconciler, kube::CustomResource, prelude::*, the};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "WebPage", namespaced)]
struct WebPageSpec {
    html: String,
}

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Zone", namespaced)]
struct ZoneSpec {
    domain: String,
}

fn of() -> ControllerBuilder<NoReconciler<WebPage>> {
    Controller::of::<WebPage>()
}

fn html(_: &WebPage) -> ConfigMap {
    todo!()
}
fn web(_: &WebPage) -> Result<Deployment> {
    todo!()
}
fn service(_: &WebPage) -> Service {
    todo!()
}
fn rolled_out(_: &Deployment) -> Verdict {
    todo!()
}

mod another_primary {
    use super::*;
    fn record(_: &Zone) -> Secret {
        todo!()
    }
    fn plain() {
        of().workflow((html, record)); //~ this dependent takes `&Zone`, but the workflow is one of `WebPage`
    }
    fn wired() {
        of().workflow((html, record.named("dns"))); //~ `operator_core::Node<Zone, One<k8s_openapi::api::core::v1::Secret>>` can't be a node of a workflow of `WebPage`
    }
    fn after() {
        of().workflow((html, web.after(record))); //~ this dependent takes `&Zone`, but the workflow is one of `WebPage`
    }
    fn with_context(_: &WebPage, _: &Context<Zone>) -> ConfigMap {
        todo!()
    }
    fn context() {
        of().workflow((html, with_context)); //~ `&operator_core::Context<Zone>` can't be an argument of a dependent or a condition of `WebPage`
    }
}

mod answers {
    use super::*;
    struct NoError;
    fn name(_: &WebPage) -> String {
        todo!()
    }
    fn fallible(_: &WebPage) -> Result<String> {
        todo!()
    }
    fn nothing(_: &WebPage) {}
    fn pods(_: &WebPage) -> Option<Vec<Pod>> {
        todo!()
    }
    fn want(_: &WebPage) -> Want<String> {
        todo!()
    }
    async fn later(_: &WebPage) -> String {
        todo!()
    }
    fn borrowed(page: &WebPage) -> &WebPage {
        page
    }
    fn no_error(_: &WebPage) -> Result<ConfigMap, NoError> {
        todo!()
    }
    fn plain() {
        of().workflow((html, name)); //~ a dependent can't return `std::string::String`
    }
    fn wired() {
        of().workflow((html, fallible.after(html))); //~ a dependent can't return `std::result::Result<std::string::String, Box<(dyn StdError + Send + Sync + 'static)>>`
    }
    fn unit() {
        of().workflow((html, nothing)); //~ a dependent can't return `()`
    }
    fn option_of_several() {
        of().workflow((html, pods)); //~ a dependent can't return `std::option::Option<Vec<k8s_openapi::api::core::v1::Pod>>`
    }
    fn want_of_no_kind() {
        of().workflow((html, want)); //~ a dependent can't return `operator_core::Want<std::string::String>`
    }
    fn asynchronous() {
        of().workflow((html, later)); //~ a dependent can't return `std::string::String`
    }
    fn reference() {
        of().workflow((html, borrowed)); //~ `for<'a> fn(&'a WebPage) -> &'a WebPage {borrowed}` can't be a dependent or a condition
    }
    fn error() {
        of().workflow((html, no_error)); //~ a dependent can't return `std::result::Result<k8s_openapi::api::core::v1::ConfigMap, NoError>`
    }
    fn closure() {
        of().workflow((html, (|page: &WebPage| page.spec.html.clone()).named("x"))); //~ a dependent can't return `std::string::String` //~ `operator_core::Node<WebPage, One<std::string::String>>` can't be a node of a workflow of `WebPage`
    }
}

mod arguments {
    use super::*;
    struct Quota;
    fn owned_text(_: &WebPage, name: String) -> ConfigMap {
        todo!()
    }
    fn text(_: &WebPage, name: &str) -> ConfigMap {
        todo!()
    }
    fn quota(_: &WebPage, quota: &Quota) -> ConfigMap {
        todo!()
    }
    fn none() -> ConfigMap {
        todo!()
    }
    fn owned(_: WebPage) -> ConfigMap {
        todo!()
    }
    fn mutable(_: &mut WebPage) -> ConfigMap {
        todo!()
    }
    fn forever(_: &'static WebPage) -> ConfigMap {
        todo!()
    }
    fn plain() {
        of().workflow((html, owned_text)); //~ `std::string::String` can't be an argument of a dependent or a condition of `WebPage`
    }
    fn wired() {
        of().workflow((html, text.after(html))); //~ `&str` can't be an argument of a dependent or a condition of `WebPage`
    }
    fn data_by_reference() {
        of().workflow((html, quota)); //~ `&Quota` can't be an argument of a dependent or a condition of `WebPage`
    }
    fn no_argument() {
        of().workflow((html, none)); //~ `fn() -> k8s_openapi::api::core::v1::ConfigMap {none}` can't be a dependent or a condition
    }
    fn owned_primary() {
        of().workflow((html, owned)); //~ `fn(WebPage) -> k8s_openapi::api::core::v1::ConfigMap {owned}` can't be a dependent or a condition
    }
    fn owned_primary_wired() {
        of().workflow((html, node(owned).after(html))); //~ `fn(WebPage) -> k8s_openapi::api::core::v1::ConfigMap {owned}` is not a dependent of `_` //~ `fn(WebPage) -> k8s_openapi::api::core::v1::ConfigMap {owned}` can't be a dependent or a condition
    }
    fn mutable_primary() {
        of().workflow((html, mutable)); //~ `for<'a> fn(&'a mut WebPage) -> k8s_openapi::api::core::v1::ConfigMap {mutable}` can't be a dependent or a condition
    }
    fn static_primary() {
        of().workflow((html, forever)); //~ `fn(&'static WebPage) -> k8s_openapi::api::core::v1::ConfigMap {forever}` can't be a dependent or a condition
    }
    fn closure_without_type() {
        of().workflow((html, |page| ConfigMap::default())); //~ `{closure@src/bin/functions.rs:169:30: 169:36}` can't be a dependent or a condition
    }
}

mod futures {
    use super::*;
    async fn owning(page: Arc<WebPage>) -> Secret {
        let count = Rc::new(1);
        std::future::ready(()).await;
        drop(count);
        todo!()
    }
    async fn borrowing(page: &WebPage) -> Secret {
        let count = Rc::new(1);
        std::future::ready(()).await;
        drop(count);
        todo!()
    }
    async fn condition(web: &Deployment) -> bool {
        let count = Rc::new(1);
        std::future::ready(()).await;
        drop(count);
        todo!()
    }
    fn owned_arguments() {
        of().workflow((html, owning)); //~ future cannot be sent between threads safely
    }
    fn borrowed_arguments() {
        of().workflow((html, borrowing)); //~ future cannot be sent between threads safely
    }
    fn of_a_condition() {
        of().workflow((html, web.ready(condition))); //~ future cannot be sent between threads safely
    }
}

mod wiring {
    use super::*;
    fn helper(x: u32) -> u32 {
        x
    }
    struct Entries;
    fn called(page: &WebPage) {
        of().workflow((html, web.after(html(page)))); //~ `k8s_openapi::api::core::v1::ConfigMap` does not name a node of a workflow of `WebPage`
    }
    fn text() {
        of().workflow((html, web.after("html"))); //~ `&str` does not name a node of a workflow of `WebPage`
    }
    fn not_a_dependent() {
        of().workflow((html, web.after(helper))); //~ `fn(u32) -> u32 {helper}` does not name a node of a workflow of `WebPage`
    }
    fn closure() {
        of().workflow((html, web.after(|page: &WebPage| page.spec.html.is_empty()))); //~ a dependent can't return `bool`
    }
    fn tuple() {
        of().workflow((html, web.after((html, service)))); //~ `(fn(&WebPage) -> ConfigMap {html}, fn(&WebPage) -> Service {service})` does not name a node of a workflow of `WebPage`
    }
    fn nothing() {
        of().workflow((html, web.after())); //~ this method takes 1 argument but 0 arguments were supplied
    }
    fn value() {
        of().workflow((html, Entries)); //~ `Entries` can't be a dependent or a condition
    }
    fn value_wired() {
        of().workflow((html, node(Entries).after(html))); //~ `Entries` is not a dependent of `_` //~ `Entries` can't be a dependent or a condition
    }
    fn value_named() {
        of().workflow((html, web.after(the::<Entries>()))); //~ `operator_core::workflow::declare::The<Entries>` does not name a node of a workflow of `WebPage`
    }
    fn no_tuple() {
        of().workflow(html); //~ `for<'a> fn(&'a WebPage) -> k8s_openapi::api::core::v1::ConfigMap {html}` is not a workflow of `WebPage`
    }
    fn seventeen() {
        of().workflow((html, html, html, html, html, html, html, html, html, html, html, html, html, html, html, html, html)); //~ is not a workflow of `WebPage`
    }
}

mod kinds {
    use super::*;
    use operator_core::kube::core::{ApiResource, DynamicObject};
    fn gateway(_: &WebPage) -> Result<Option<DynamicObject>> {
        todo!()
    }
    fn gateways(_: &WebPage) -> Vec<DynamicObject> {
        todo!()
    }
    fn resource() -> ApiResource {
        todo!()
    }
    fn not_said() {
        of().workflow((html, gateway)); //~ the kind of a `DynamicObject` is known only at run time, and its node doesn't specify it //~ `gateway.kind(resource)`
    }
    fn not_said_where_wired() {
        of().workflow((html, gateways.after(html))); //~ can't be a node of a workflow of `WebPage` //~ a node of `DynamicObject`s needs their kind: `.kind(…)`
    }
    fn said_of_what_says_it() {
        of().workflow((html, web.kind(resource()))); //~ `k8s_openapi::api::apps::v1::Deployment` determines its kind, so its node takes no `.kind(…)`
    }
    fn said_of_a_node() {
        of().workflow((html, node(web).kind(resource()))); //~ `k8s_openapi::api::apps::v1::Deployment` determines its kind, so its node takes no `.kind(…)`
    }
    fn said_by_its_name() {
        of().workflow((html, gateway.kind("Gateway"))); //~ `&str` does not specify a kind //~ write version and kind
    }
}

mod conditions {
    use super::*;
    fn there(_: &Deployment) -> Option<bool> {
        todo!()
    }
    fn exposed(page: &WebPage) -> bool {
        todo!()
    }
    fn counted(_: &Deployment, count: usize) -> bool {
        todo!()
    }
    fn of_another_kind() {
        of().workflow((html, service.ready(rolled_out))); //~ a condition of this node can't be about `k8s_openapi::api::apps::v1::Deployment`
    }
    fn wrong_answer() {
        of().workflow((html, web.ready(there))); //~ a condition can't return `std::option::Option<bool>`
    }
    fn wrong_argument() {
        of().workflow((html, web.ready(counted))); //~ `usize` can't be an argument of a dependent or a condition of `WebPage`
    }
    fn no_condition() {
        of().workflow((html, web.ready(true))); //~ `bool` is not a condition of a node that makes `k8s_openapi::api::apps::v1::Deployment`
    }
    fn gone_of_another_kind() {
        of().workflow((html, service.gone(rolled_out))); //~ a condition of this node can't be about `k8s_openapi::api::apps::v1::Deployment`
    }
    fn capability() {
        of().workflow((html, web.needs(exposed))); //~ `for<'a> fn(&'a WebPage) -> bool {exposed}` is not a capability of the cluster
    }
    fn no_kind() {
        of().workflow((html, web.needs(served::<String>()))); //~ `std::string::String` is not an object that a cluster could serve
    }
    fn closure_without_type() {
        of().workflow((html, web.ready(|web| web.status.is_some()))); //~ type annotations needed
    }
}

fn main() {}
