//! Workflows of functions that the derive declares wrongly. The mistakes that the macro sees are reported together;
//! those that only the compiler sees are reported at the user's own code.
#![allow(dead_code, unused_imports, unused_variables)]

use std::sync::Arc;

use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
use operator_core::{
    ControllerConfiguration, Operator, Reconciler, UpdateControl, dependent::Adoption, kube::CustomResource,
    prelude::*,
};
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

mod children {
    use super::*;
    pub fn html(_: &WebPage) -> ConfigMap {
        todo!()
    }
    pub fn service(_: &WebPage) -> Service {
        todo!()
    }
}
fn web(_: &WebPage) -> Result<Deployment> {
    todo!()
}
fn record(_: &Zone) -> Secret {
    todo!()
}
fn title(_: &WebPage) -> String {
    todo!()
}
fn owned(_: WebPage) -> ConfigMap {
    todo!()
}
fn of_team<T: 'static>(_: &WebPage) -> Secret {
    todo!()
}
fn rolled_out(_: &Deployment) -> bool {
    todo!()
}
fn exposed(_: &WebPage) -> bool {
    todo!()
}
#[derive(Clone)]
struct Records(String);
struct Plain;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    explicit_invocaton, //~ unknown key `explicit_invocaton`; did you mean `explicit_invocation`?
    children::html,
    children::html, //~ `children::html` is two nodes of this workflow
    web(aftr(children::html)), //~ unknown key `aftr`; did you mean `after`?
    children::service(after(html)), //~ `html` isn't a node of this workflow; did you mean `children::html`?
    of_team::<u8>(after("web")), //~ `after` takes nodes as they are written in this attribute
    of_team::<u16>(after(of_team::<u32>)), //~ `of_team::<u32>` isn't a node of this workflow; did you mean //~ `of_team::<u8>` and `of_team::<u16>` are both called `of_team`
    |page: &WebPage| children::html(page), //~ a closure has no name: give it one, `map = |page: &WebPage| …`
    Records(self.0.clone()), //~ a value with state has no name: give it one, `records = Records …`
    "web", //~ a node is a function, given by its path
    title(ready(|title| true)), //~ a closure needs the types of its arguments
    retired("old"), //~ `retired` takes the kind of the objects
)]
struct ToldByTheMacro(String);

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    children::html(after(children::service)),
    web(after(children::html)), //~ in a cycle: children::html -> children::service -> web -> children::html
    children::service(after(web)),
)]
struct Circle;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    record, //~ this dependent takes `&Zone`, but the workflow is one of `WebPage`
    children::html(after(record)), //~ this dependent takes `&Zone`, but the workflow is one of `WebPage`
)]
struct AnotherPrimary;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    title, //~ a dependent can't return `std::string::String`
)]
struct WrongAnswer;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    children::html,
    title(named = "title", after(children::html)), //~ a dependent can't return `std::string::String` //~ the method `after` exists for struct
)]
struct WrongAnswerWired;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    owned, //~ `fn(WebPage) -> k8s_openapi::api::core::v1::ConfigMap {owned}` can't be a dependent or a condition //~ expected `fn(&P) -> K`
)]
struct WrongArgument;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    of_team(named = "red"), //~ type annotations needed
)]
struct NoTurbofish;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    children::service(ready(rolled_out)), //~ a condition of this node can't be about `Deployment`
)]
struct ConditionOfAnotherKind;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    web(gone(true)), //~ `bool` is not a condition of a node that makes `Deployment`
)]
struct NoCondition;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    web(needs(exposed)), //~ is not a capability of the cluster
)]
struct NoCapability;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    web(adopt(true)), //~ mismatched types
)]
struct NoAdoption;

#[derive(ControllerConfiguration)] //~ `Plain` can't be a dependent or a condition
#[controller(primary = WebPage)]
#[workflow(
    plain = Plain, //~ `Plain` is not a dependent of `WebPage` //~ or a value whose type implements `Dependent<WebPage>`
)]
struct NoDependent;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage)]
#[workflow(
    web(named = 'w'), //~ `named` takes a string: `named = "web"`
)]
struct NamedByACharacter;

#[derive(ControllerConfiguration)]
#[controller(primary = Zone)] //~ type mismatch resolving `<OfWebPages as Reconciler>::Primary == Zone`
#[workflow(record)]
struct OfWebPages;

impl Reconciler for OfWebPages {
    type Primary = WebPage;

    async fn reconcile(&self, _: &WebPage, _: &mut Context<WebPage>) -> Result<UpdateControl<WebPage>> {
        Ok(UpdateControl::no_update())
    }
}

fn main() {}
