//! A status function under bad luck: in the end each status shows the state of its page, also of a page that can't be
//! served and is never retried.

use integration_tests::prelude::*;
use operator_core::{
    prelude::{Result, *},
    sim_test,
    testing::simulation::{FaultPlan, Sim},
};
use webpage::{
    WebPage, WebPageStatus,
    dependents::{html, ingress, service, web},
};

use crate::{page, says_whether_it_is_served};

struct WebPages;

impl Reconciler for WebPages {
    type Primary = WebPage;

    async fn reconcile(
        &self,
        page: &WebPage,
        _: &mut Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>, BoxError> {
        if page.spec.html.contains("error") {
            return Err(Permanent::new("the html contains the word \"error\"").into());
        }
        Ok(UpdateControl::no_update())
    }
}

/// The whole report of the run, except for the times.
fn status(page: &WebPage, run: &Run<WebPage>) -> WebPageStatus {
    let conditions = run.conditions(page);
    let told: Vec<_> = conditions.iter().map(|of| [&*of.type_, &of.status, &of.message].join(" ")).collect();
    WebPageStatus {
        html_config_map: run.get(html).map(|map| map.name_any()),
        ready: run.all_ready(),
        error_message: Some(told.join(", ")),
        observed_generation: page.metadata.generation,
    }
}

fn declare() -> OperatorBuilder {
    let pages = Controller::of::<WebPage>()
        .reconciler(WebPages)
        .name("webpage-operator")
        .workflow((html, web.after(html), service.after(html), ingress.after(service)))
        .status(status);
    Operator::builder().register(pages)
}

#[sim_test(schedules = 10)]
async fn statuses_are_right_in_the_end(sim: Sim) {
    sim.operator(declare);
    sim.invariant(says_whether_it_is_served);
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
