//! StatefulSets and DaemonSets.

use serde_json::{Value, json};

use super::{Story, counts, is_seen, template, with_image};

const DB: &str = "apps/v1/statefulsets/db";
const AGENT: &str = "apps/v1/daemonsets/agent";

fn is_out(replicas: i64, updated: i64) -> impl Fn(&Value) -> bool {
    move |db| {
        let all = ["replicas", "availableReplicas"].map(|field| (field, replicas));
        is_seen(db) && counts(db, &all) && counts(db, &[("updatedReplicas", updated)])
    }
}

impl Story {
    async fn same_sets(&mut self, plural: &str, kind: &str) {
        for of in [&*format!("apps/v1/{plural}"), "v1/pods", "apps/v1/controllerrevisions"] {
            self.same(of).await;
        }
        self.same_events(kind).await;
    }
}

#[tokio::test]
async fn the_pods_of_a_stateful_set_come_and_go_in_order() {
    let mut story = Story::new("ordered").await;
    let db = json!({
        "metadata": { "name": "db" },
        "spec": {
            "replicas": 3, "serviceName": "db", "selector": { "matchLabels": { "app": "db" } },
            "template": template("db", "db:1"),
        },
    });
    story.send("POST", "apps/v1/statefulsets", &db).await;
    story.until(DB, "available", is_out(3, 3)).await;
    story.same_sets("statefulsets", "StatefulSet").await;
    let partition = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 2 } } } });
    story.send("MERGE", DB, &partition).await;
    story.send("JSON", DB, &with_image("db:2")).await;
    story.until(DB, "partly updated", is_out(3, 1)).await;
    story.same_sets("statefulsets", "StatefulSet").await;
    let all = json!({ "spec": { "updateStrategy": { "rollingUpdate": { "partition": 0 } } } });
    story.send("MERGE", DB, &all).await;
    story
        .until(DB, "updated", |db| {
            is_out(3, 3)(db) && db["status"]["currentRevision"] == db["status"]["updateRevision"]
        })
        .await;
    story.same_sets("statefulsets", "StatefulSet").await;
    story.send("MERGE", DB, &json!({ "spec": { "replicas": 1 } })).await;
    story.until(DB, "smaller", is_out(1, 1)).await;
    story.same_sets("statefulsets", "StatefulSet").await;
    story.end();
}

#[tokio::test]
async fn the_claims_of_a_stateful_set_stay_or_go_as_it_says() {
    let mut story = Story::new("retention").await;
    let db = json!({
        "metadata": { "name": "db" },
        "spec": {
            "replicas": 2, "serviceName": "db", "selector": { "matchLabels": { "app": "db" } },
            "podManagementPolicy": "Parallel",
            "persistentVolumeClaimRetentionPolicy": { "whenScaled": "Delete", "whenDeleted": "Retain" },
            "template": template("db", "db:1"),
            "volumeClaimTemplates": [{
                "metadata": { "name": "data" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"], "storageClassName": "none",
                    "resources": { "requests": { "storage": "1Gi" } },
                },
            }],
        },
    });
    story.send("POST", "apps/v1/statefulsets", &db).await;
    story.until("v1/pods", "two", |list| list["items"].as_array().is_some_and(|pods| pods.len() == 2)).await;
    story.same("v1/persistentvolumeclaims").await;
    story.same_events("StatefulSet").await;
    story.send("MERGE", DB, &json!({ "spec": { "replicas": 1 } })).await;
    let one = |list: &Value| list["items"].as_array().is_some_and(|items| items.len() == 1);
    story.until("v1/pods", "one", one).await;
    story.until("v1/persistentvolumeclaims", "one", one).await;
    story.same("v1/persistentvolumeclaims").await;
    story.same_events("StatefulSet").await;
    story.end();
}

#[tokio::test]
async fn a_daemon_set_is_updated_within_its_limits() {
    for (namespace, strategy) in [
        ("daemons", json!({ "maxUnavailable": 1, "maxSurge": 0 })),
        ("surging", json!({ "maxUnavailable": 0, "maxSurge": 1 })),
    ] {
        let mut story = Story::new(namespace).await;
        let agent = json!({
            "metadata": { "name": "agent" },
            "spec": {
                "selector": { "matchLabels": { "app": "agent" } }, "template": template("agent", "agent:1"),
                "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": strategy },
            },
        });
        let is_out = |agent: &Value| {
            let all = ["updatedNumberScheduled", "numberAvailable", "desiredNumberScheduled"];
            is_seen(agent) && counts(agent, &all.map(|field| (field, 1)))
        };
        story.send("POST", "apps/v1/daemonsets", &agent).await;
        story.until(AGENT, "available", is_out).await;
        story.same_sets("daemonsets", "DaemonSet").await;
        story.send("JSON", AGENT, &with_image("agent:2")).await;
        story.until(AGENT, "updated", is_out).await;
        let one = |list: &Value| list["items"].as_array().is_some_and(|items| items.len() == 1);
        story.until("v1/pods", "one", one).await;
        story.same_sets("daemonsets", "DaemonSet").await;
        story.end();
    }
}
