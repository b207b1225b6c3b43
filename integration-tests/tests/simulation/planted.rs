//! The example of the documentation: an operator with a bug that no ordinary test finds.

use integration_tests::prelude::*;
use kube::api::ObjectMeta;
use operator_core::{
    Context, Reconciler,
    testing::simulation::{FaultPlan, Oracle, Settings, Sim, explore},
};
use webpage::{WebPage, WebPageStatus};

use crate::page;

// ANCHOR: operator
struct Hasty;

impl Reconciler for Hasty {
    type Primary = WebPage;

    async fn reconcile(
        &self,
        page: &WebPage,
        context: &mut Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>, BoxError> {
        let status =
            WebPageStatus { observed_generation: page.metadata.generation, ..WebPageStatus::default() };
        if page.status.as_ref() == Some(&status) {
            return Ok(UpdateControl::no_update()); // done before, nothing to do
        }
        let operations = context.resource_operations();
        let mut written = page.clone();
        written.status = Some(status);
        operations.update_status(&written).await?;
        operations.server_side_apply(&html(page, context)).await?;
        Ok(UpdateControl::no_update())
    }
}
// ANCHOR_END: operator

fn html(page: &WebPage, context: &Context<WebPage>) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(page.name_any()),
            namespace: page.namespace(),
            owner_references: context.owner_reference(page).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        data: Some([("index.html".to_owned(), page.spec.html.clone())].into()),
        ..ConfigMap::default()
    }
}

fn declare() -> OperatorBuilder {
    let controller = Controller::of::<WebPage>().reconciler(Hasty).name("hasty").owns::<ConfigMap>();
    Operator::builder().register(controller)
}

// ANCHOR: simulation
async fn a_page_has_its_config_map(sim: Sim) {
    sim.operator(declare);
    sim.faults(FaultPlan::none().crash_at_every_write());
    sim.user(async |user| drop(user.apply(page("hello", "<h1>Hello</h1>")).await));
    sim.settle().await;
    sim.assert_same_as_calm_run();
}
// ANCHOR_END: simulation

#[test]
fn a_status_that_is_written_before_what_it_says_is_found() {
    let settings = Settings::schedules(0);
    let failure = explore("planted", settings, a_page_has_its_config_map).expect_err("the bug is found");
    let oracles: Vec<Oracle> = failure.violations.iter().map(|violation| violation.oracle).collect();
    assert_eq!(oracles, [Oracle::SameState], "{failure}");
    let story = failure.story.join("\n");
    assert!(story.contains("update webpages/default/hello/status: crash after it is done"), "{failure}");
    assert!(failure.violations[0].message.contains("configmaps/default/hello doesn't exist"), "{failure}");
    assert!(failure.diverges.is_none() && failure.tape.weight() == 1, "{failure}");
}
