//! Every style of the sample `webpage` under bad luck: crashes before and after each write, another actor before each
//! request, pairs of faults, and storms.
//!
//! Optimised, `cargo test --profile simulation --workspace --test simulation` runs several times as many schedules;
//! `SIM_SCHEDULES` sets the number of storms, and `SIM_SWEEPS=all` leaves out none of the sweeps.

mod addons;
mod ordinary;
mod planted;
mod readiness;
mod records;
mod statuses;

use integration_tests::prelude::*;
use kube::api::ObjectMeta;
use operator_core::{
    sim_test,
    testing::simulation::{FaultPlan, Objects, Sim},
};
use webpage::{STYLES, WebPage, WebPageSpec, styles::Declare};

/// In a simulation, much of the time goes into objects that live for a moment.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub(crate) fn page(name: &str, html: &str) -> WebPage {
    WebPage {
        metadata: ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() },
        spec: WebPageSpec { html: html.to_owned(), exposed: false },
        status: None,
    }
}

fn declare(style: &str) -> Declare {
    let found = STYLES.iter().find(|(name, _)| *name == style);
    found.expect("a style of the sample").1
}

/// A page says that it is served when its pods are ready, and at no other time.
pub(crate) fn says_whether_it_is_served(objects: &Objects) -> Result<(), String> {
    let deployments = objects.all::<Deployment>();
    for page in objects.all::<WebPage>() {
        let web = deployments.iter().find(|web| {
            (&web.metadata.namespace, &web.metadata.name) == (&page.metadata.namespace, &page.metadata.name)
        });
        let available = web.and_then(|web| web.status.as_ref()?.available_replicas) == Some(1);
        let told = page.status.is_some_and(|status| status.ready);
        let is_servable = !page.spec.html.contains("error");
        if told != (available && is_servable) {
            let name = page.metadata.name.unwrap_or_default();
            return Err(format!("the page {name} says ready={told}, and its pods are ready: {available}"));
        }
    }
    Ok(())
}

/// The actions of two people on their pages: edit, expose, hide, break and repair them, and change the operator's objects.
async fn life_of_two_pages(sim: Sim, style: &str) {
    sim.operator(declare(style));
    sim.invariant(says_whether_it_is_served);
    let sweeps =
        FaultPlan::storm().crash_at_every_write().somebody_acts_before_every_request().pairs_of_faults();
    sim.faults(sweeps);
    // One of the pages is broken, and repaired later. A reconciler fails then; a node is held.
    if style != "managed" {
        sim.expected_in_calm_run("the html contains the word \"error\"");
    }
    sim.user(async |user| {
        user.apply(page("a", "<h1>one</h1>")).await;
        user.patch::<WebPage>("a", json!({ "spec": { "exposed": true } })).await;
        user.delete::<Service>("a").await;
        user.patch::<WebPage>("a", json!({ "spec": { "html": "<h1>two</h1>", "exposed": false } })).await;
    });
    sim.user(async |user| {
        user.apply(page("b", "an error")).await;
        user.patch::<WebPage>("b", json!({ "spec": { "html": "<h1>repaired</h1>" } })).await;
        user.delete::<ConfigMap>("b-html").await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}

#[sim_test(schedules = 10)]
async fn managed(sim: Sim) {
    life_of_two_pages(sim, "managed").await;
}

#[sim_test(schedules = 10)]
async fn standalone(sim: Sim) {
    life_of_two_pages(sim, "standalone").await;
}

#[sim_test(schedules = 10)]
async fn low_level(sim: Sim) {
    life_of_two_pages(sim, "low-level").await;
}

/// Under no name but its own: a page that is replaced while the operator is behind.
#[sim_test(schedules = 20)]
async fn a_page_that_is_replaced(sim: Sim) {
    sim.operator(declare("managed"));
    sim.invariant(says_whether_it_is_served);
    sim.faults(FaultPlan::storm());
    sim.user(async |user| {
        user.apply(page("a", "<h1>one</h1>")).await;
        user.delete::<WebPage>("a").await;
        user.until_gone::<WebPage>("a").await;
        user.apply(page("a", "<h1>two</h1>")).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}
