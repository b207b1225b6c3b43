//! Bad luck: a crash before and after each write, another actor before each request, and storms.

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use operator_core::{
    sim_test,
    testing::simulation::{FaultPlan, Objects, Sim},
};
use serde_json::json;
use tomcat::{Tomcat, Webapp};

use crate::{shop, url, webapp};

/// In any case, pods download the wars that are handed to them, and no others.
fn downloads_what_is_handed_over(objects: &Objects) -> Result<(), String> {
    let mut wanted: Vec<String> = Vec::new();
    for war in objects.all::<ConfigMap>() {
        wanted.extend(war.data.and_then(|mut data| data.remove("url")));
    }
    let pods = objects.all::<Deployment>().into_iter().filter_map(|web| web.spec?.template.spec);
    let containers = pods.flat_map(|pod| pod.init_containers.unwrap_or_default());
    let mut downloaded: Vec<String> =
        containers.filter_map(|download| download.args.and_then(|args| args.last().cloned())).collect();
    wanted.sort();
    downloaded.sort();
    if wanted == downloaded || objects.all::<Tomcat>().is_empty() {
        return Ok(());
    }
    Err(format!("{wanted:?} is handed over, and {downloaded:?} is downloaded"))
}

#[sim_test(schedules = 20)]
async fn a_shop_and_its_webapps(sim: Sim) {
    sim.operator(tomcat::operator);
    sim.invariant(downloads_what_is_handed_over);
    sim.faults(FaultPlan::storm().crash_at_every_write().somebody_acts_before_every_request());
    sim.user(async |user| {
        user.apply(webapp("early", "/early")).await;
        user.apply(shop(2)).await;
        user.apply(webapp("late", "/late")).await;
        user.patch::<Webapp>("late", json!({ "spec": { "url": url("later") } })).await;
        user.delete::<Webapp>("early").await;
        user.patch::<Tomcat>("shop", json!({ "spec": { "version": "11.1" } })).await;
    });
    sim.settle().await;
    sim.assert_same_as_calm_run();
}
