use std::time::Duration;

use k8s_openapi::api::{apps::v1::Deployment, core::v1::ConfigMap};
use operator_core::{prelude::*, reconciler::Expectation};

const REPLICAS: &str = "three replicas";

fn are_ready(_: &ConfigMap, cx: &Context<ConfigMap>) -> bool {
    let web = cx.secondary::<Deployment>().ok().flatten();
    web.and_then(|web| web.status.as_ref()?.ready_replicas) == Some(3)
}

#[derive(ControllerConfiguration)]
#[controller(owns(Deployment))]
struct Rollout;

impl Reconciler for Rollout {
    type Primary = ConfigMap;

    async fn reconcile(
        &self,
        _: &ConfigMap,
        cx: &mut Context<ConfigMap>,
    ) -> Result<UpdateControl<ConfigMap>> {
        match cx.expectation(REPLICAS) {
            Expectation::None => drop(cx.expect(REPLICAS, Duration::from_secs(30), are_ready)?),
            Expectation::Waiting { left } => println!("for {left:?} at most"),
            Expectation::Fulfilled => println!("ready"),
            Expectation::TimedOut => println!("not ready in time"),
        }
        Ok(UpdateControl::no_update())
    }
}

#[cfg(test)]
mod tests {
    use operator_core::testing::DryRun;
    use serde_json::json;

    use super::*;

    #[test]
    fn it_waits_for_half_a_minute() {
        let map: ConfigMap = serde_json::from_value(json!({ "metadata": { "name": "web" } })).expect("a map");
        let first = DryRun::of(Rollout.controller(), &map).blocking();
        assert_eq!(first.next_run(), Some(Duration::from_secs(30)));
    }
}
