//! What has been found to match isn't matched again: core.md's performance, issue "Kept as bytes" 1.1. A type of object counts how often
//! it is turned into JSON: for a fingerprint, for a body, and to be compared by the full matcher.

use std::{cell::Cell, collections::BTreeMap};

use anyhow::Result;
use integration_tests::{Scene, meta_of, wanted, workflow_of_one};
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::{
    Resource,
    api::{Patch, PatchParams},
};
use operator_core::{
    dependent::matcher::Matcher,
    testing::{TestOperator, faults::Faults},
};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::{TestResource, pass, saying, scene, under};

thread_local! {
    /// How often one was turned into JSON. The test and its operator share one thread.
    static SERIALIZED: Cell<usize> = const { Cell::new(0) };
}

/// A config map that counts.
#[derive(Clone, Debug, Deserialize, Resource, Serialize)]
#[resource(inherit = ConfigMap)]
struct Counting {
    metadata: ObjectMeta,
    #[serde(default, serialize_with = "counted")]
    data: BTreeMap<String, String>,
}

fn counted<S: Serializer>(data: &BTreeMap<String, String>, serializer: S) -> Result<S::Ok, S::Error> {
    SERIALIZED.set(SERIALIZED.get() + 1);
    data.serialize(serializer)
}

fn map(primary: &TestResource) -> Counting {
    let value = primary.spec.value.split(' ').next().unwrap_or_default().to_owned();
    Counting { metadata: meta_of(primary, "a"), data: [("value".to_owned(), value)].into() }
}

/// How often something was turned into JSON in the run that a new value of the primary causes, and what the run wrote.
async fn in_a_run(scene: &Scene, operator: &TestOperator, value: &str) -> Result<(usize, Vec<String>)> {
    SERIALIZED.set(0);
    scene.set("one", value).await?;
    pass(60).await;
    let mut written = operator.settled().await?.written();
    written.retain(|write| write.contains("configmaps"));
    Ok((SERIALIZED.get(), written))
}

/// The desired state for its fingerprint; and as a body, where it is held beside the actual one, which stays text.
const REMEMBERED: usize = 1;
const COMPARED: usize = 2;

#[tokio::test(start_paused = true)]
async fn what_matched_is_matched_again_only_after_a_change() -> Result<()> {
    let scene = scene().await?;
    let controller = scene.managed(&saying(), &workflow_of_one(wanted("a", map))?);
    let operator = under(&Faults::none(), &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    assert_eq!(in_a_run(&scene, &operator, "first 1").await?, (COMPARED, vec![]));
    assert_eq!(in_a_run(&scene, &operator, "first 2").await?, (REMEMBERED, vec![]));

    // Another desired state: what matched doesn't count for it.
    let (_, written) = in_a_run(&scene, &operator, "second").await?;
    assert_eq!(written, ["PATCH configmaps/one-a -> 200"]);
    assert_eq!(in_a_run(&scene, &operator, "second 1").await?, (COMPARED, vec![]));

    // Another actual state, in the field that is desired.
    let patch = Patch::Merge(json!({ "data": { "value": "somebody's" } }));
    scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &patch).await?;
    pass(60).await;
    assert_eq!(operator.settled().await?.written(), ["PATCH configmaps/one-a -> 200"]);
    operator.stop().await;
    Ok(())
}

/// A function of the user's own may answer otherwise each time.
#[tokio::test(start_paused = true)]
async fn a_matcher_of_the_users_own_is_always_asked() -> Result<()> {
    thread_local!(static ASKED: Cell<usize> = const { Cell::new(0) });
    let scene = scene().await?;
    let matcher = Matcher::custom(|_: &Counting, _: &Counting| {
        ASKED.set(ASKED.get() + 1);
        true
    });
    let workflow = workflow_of_one(wanted("a", map).matcher(matcher))?;
    let operator = under(&Faults::none(), &scene, scene.managed(&saying(), &workflow)).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    operator.settled().await?;
    ASKED.set(0);
    for run in 1..=3 {
        in_a_run(&scene, &operator, &format!("first {run}")).await?;
        assert_eq!(ASKED.get(), run);
    }
    operator.stop().await;
    Ok(())
}
