//! A status function under bad luck: in the end each status says what its page has come to, also that of a page that can't be served
//! and is never retried.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::{CustomResourceExt, ResourceExt};
use operator_core::{
    BoxError, Context, ControllerConfiguration, Operator, OperatorBuilder, Permanent, Reconciler, Run,
    UpdateControl, sim_test,
    testing::simulation::{FaultPlan, Sim},
    workflow::conditions::Ready,
};
use serde_json::json;
use webpage::{
    WebPage, WebPageStatus,
    dependents::{Exposed, HtmlConfigMap, Servable, WebDeployment, WebIngress, WebService},
};

use crate::page;

#[derive(ControllerConfiguration)]
#[controller(primary = WebPage, name = "webpage-operator", status = status)]
#[workflow(
    dependent(HtmlConfigMap, hold_unless = Servable),
    dependent(WebDeployment, depends_on(HtmlConfigMap), ready_postcondition = Ready),
    dependent(WebService, depends_on(HtmlConfigMap)),
    dependent(WebIngress, depends_on(WebService), reconcile_precondition = Exposed),
)]
struct WebPages;

impl Reconciler for WebPages {
    type Primary = WebPage;
    type Error = BoxError;

    async fn reconcile(
        &self,
        page: Arc<WebPage>,
        _: &Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>, BoxError> {
        if page.spec.html.contains("error") {
            return Err(Permanent::new("the html contains the word \"error\"").into());
        }
        Ok(UpdateControl::no_update())
    }
}

/// Says all that the run says, but for the times.
fn status(page: &WebPage, run: &Run<WebPage>) -> WebPageStatus {
    let conditions = run.conditions(page);
    let told: Vec<_> = conditions.iter().map(|of| [&*of.type_, &of.status, &of.message].join(" ")).collect();
    WebPageStatus {
        html_config_map: run
            .secondary("HtmlConfigMap")
            .and_then(|map| Some(map.get::<ConfigMap>()?.name_any())),
        ready: run.all_ready(),
        error_message: Some(told.join(", ")),
        observed_generation: page.metadata.generation,
    }
}

fn declare() -> OperatorBuilder {
    Operator::builder().crd(WebPage::crd()).register(WebPages)
}

#[sim_test(schedules = 10)]
async fn statuses_are_right_in_the_end(sim: Sim) {
    sim.operator(declare);
    sim.faults(FaultPlan::storm().crash_at_every_write());
    sim.expected_in_calm_run("the html contains the word \"error\"");
    sim.user(async |user| {
        user.apply(page("a", "<h1>one</h1>")).await;
        user.patch::<WebPage>("a", json!({ "spec": { "html": "an error" } })).await;
        user.patch::<WebPage>("a", json!({ "spec": { "html": "<h1>two</h1>", "exposed": true } })).await;
    });
    sim.user(async |user| {
        user.apply(page("b", "an error")).await;
        user.patch::<WebPage>("b", json!({ "spec": { "html": "another error" } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}
