//! A page whose pods are ready late, no longer, or never: its status says so.

use operator_core::testing::simulation::{FaultPlan, Settings, Sim, explore};
use serde_json::json;
use webpage::WebPage;

use crate::{declare, page, says_whether_it_is_served};

async fn a_page_in_two_versions(sim: Sim) {
    sim.operator(declare("managed"));
    sim.invariant(says_whether_it_is_served);
    sim.faults(FaultPlan::storm());
    sim.user(async |user| {
        user.apply(page("a", "<h1>one</h1>")).await;
        user.patch::<WebPage>("a", json!({ "spec": { "html": "<h1>two</h1>" } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

/// So many storms that the simulation sees to it that a third of them has trouble with readiness.
#[test]
fn a_page_says_whether_it_is_served() {
    let settings = Settings { threads: 2, ..Settings::schedules(40) };
    let report = explore("readiness", settings, a_page_in_two_versions);
    let report = report.unwrap_or_else(|failure| panic!("{failure}")).to_string();
    assert!(report.contains("of 40 storms readiness was late"), "{report}");
}
