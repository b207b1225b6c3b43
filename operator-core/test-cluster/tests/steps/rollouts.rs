//! Deployments.

use serde_json::{Value, json};

use super::{NONE, Story, counts, has, is_seen, template, with_image};

const WEB: &str = "apps/v1/deployments/web";
const ALL: &str = "apps/v1/deployments";
const SETS: &str = "apps/v1/replicasets";
const PODS: &str = "v1/pods";

fn web(replicas: i64, surge: i64, unavailable: i64) -> Value {
    json!({
        "metadata": { "name": "web" },
        "spec": {
            "replicas": replicas,
            "selector": { "matchLabels": { "app": "web" } },
            "strategy": { "rollingUpdate": { "maxSurge": surge, "maxUnavailable": unavailable } },
            "template": template("web", "web:1"),
        },
    })
}

fn is_out(replicas: i64) -> impl Fn(&Value) -> bool {
    move |web| {
        let counted = ["replicas", "updatedReplicas", "availableReplicas"].map(|field| (field, replicas));
        is_seen(web) && counts(web, &counted) && counts(web, &[("terminatingReplicas", 0)])
    }
}

impl Story {
    async fn same_rollout(&mut self) {
        for of in [ALL, SETS, PODS] {
            self.same(of).await;
        }
        self.same_events("Deployment").await;
        // Two ReplicaSets are looked at at the same time.
        self.same_events_in_any_order("ReplicaSet").await;
    }
}

#[tokio::test]
async fn a_rollout_adds_first_or_takes_away_first() {
    for (namespace, replicas, surge, unavailable) in [("surge", 2, 1, 0), ("room", 2, 0, 1)] {
        let mut story = Story::new(namespace).await;
        story.send("POST", ALL, &web(replicas, surge, unavailable)).await;
        story.until(WEB, "available", is_out(replicas)).await;
        story.same_rollout().await;
        story.send("JSON", WEB, &with_image("web:2")).await;
        story.until(WEB, "updated", is_out(replicas)).await;
        story.same_rollout().await;
        story.send("MERGE", WEB, &json!({ "spec": { "replicas": 1 } })).await;
        story.until(WEB, "smaller", is_out(1)).await;
        story.same_rollout().await;
        story.end();
    }
}

#[tokio::test]
async fn a_rollout_that_fails_is_said_so_and_taken_back() {
    let mut story = Story::new("late").await;
    let mut late = web(2, 1, 0);
    late["spec"]["progressDeadlineSeconds"] = 2.into();
    story.send("POST", ALL, &late).await;
    story.until(WEB, "available", is_out(2)).await;
    let nobody = json!([
        { "op": "add", "path": "/spec/template/spec/schedulerName", "value": "nobody" },
        { "op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "web:2" },
    ]);
    story.send("JSON", WEB, &nobody).await;
    story.until(WEB, "late", |web| has(web, "Progressing", "False")).await;
    story.same_rollout().await;
    let back = json!([
        { "op": "replace", "path": "/spec/template/spec/schedulerName", "value": "default-scheduler" },
        { "op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "web:1" },
    ]);
    story.send("JSON", WEB, &back).await;
    story.until(WEB, "back", is_out(2)).await;
    story.same_rollout().await;
    story.end();
}

#[tokio::test]
async fn a_paused_deployment_is_only_scaled() {
    let mut story = Story::new("paused").await;
    story.send("POST", ALL, &web(1, 1, 0)).await;
    story.until(WEB, "available", is_out(1)).await;
    story.send("MERGE", WEB, &json!({ "spec": { "paused": true } })).await;
    story.until(WEB, "paused", |web| has(web, "Progressing", "Unknown")).await;
    story.send("JSON", WEB, &with_image("web:2")).await;
    story.send("MERGE", WEB, &json!({ "spec": { "replicas": 2 } })).await;
    story.until(WEB, "scaled", |web| is_seen(web) && counts(web, &[("availableReplicas", 2)])).await;
    story.same_rollout().await;
    story.send("MERGE", WEB, &json!({ "spec": { "paused": false } })).await;
    story.until(WEB, "updated", is_out(2)).await;
    story.same_rollout().await;
    story.end();
}

#[tokio::test]
async fn what_was_left_behind_is_adopted() {
    let mut story = Story::new("orphans").await;
    story.send("POST", ALL, &web(2, 1, 0)).await;
    story.until(WEB, "available", is_out(2)).await;
    story.send("DELETE", WEB, &json!({ "propagationPolicy": "Orphan" })).await;
    let is_alone = |list: &Value| list["items"][0]["metadata"]["ownerReferences"].is_null();
    story.until(SETS, "alone", is_alone).await;
    story.until(WEB, "gone", |web| web["code"] == 404).await;
    story.same(SETS).await;
    story.same(PODS).await;
    story.send("POST", ALL, &web(2, 1, 0)).await;
    story.until(WEB, "available", is_out(2)).await;
    story.same_rollout().await;
    story.send("DELETE", WEB, &json!({ "propagationPolicy": "Foreground" })).await;
    story.until(WEB, "gone", |web| web["code"] == 404).await;
    for of in [SETS, PODS] {
        story.until(of, "empty", |list| list["items"].as_array().is_some_and(Vec::is_empty)).await;
    }
    story.end();
}

#[tokio::test]
async fn all_go_before_new_ones_come() {
    let mut story = Story::new("recreate").await;
    let mut recreate = web(2, 0, 0);
    recreate["spec"]["strategy"] = json!({ "type": "Recreate" });
    story.send("POST", ALL, &recreate).await;
    story.until(WEB, "available", is_out(2)).await;
    story.send("JSON", WEB, &with_image("web:2")).await;
    story.until(WEB, "updated", is_out(2)).await;
    story.same_rollout().await;
    story.send("DELETE", WEB, &NONE).await;
    story.end();
}
