//! Definitions that change: fields, defaults, rules and keys of lists, versions that appear, disappear, are no longer
//! served or become the stored ones, names; while objects exist.
//!
//! ```text
//!  definition ─▶ probe ─▶ objects written and read ─▶ changed definition ─▶ probe ─▶ objects … ─▶ its end
//! ```
//!
//! The real server serves what a definition says a moment after it has been written. So each change also changes the
//! default of a field, and a dry run in each version asks for it until both servers serve the same one.

use integration_tests::prelude::*;

use super::{
    Ask, Both, Sort,
    definitions::{Defined, VERSIONS, spec},
    tell_all,
};
use crate::prepare_in_process;

const SORT: Sort = Sort { name: "changed", story, stories: 24, answers: 40 };

/// The real server takes a moment to serve what a definition says, and a busy machine longer.
const SERVED: Duration = Duration::from_secs(60);

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const ONE: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.<s>.example.com";

/// Asks in each version for the default that tells which form of the definition is served.
fn probe() -> impl Iterator<Item = Ask> {
    VERSIONS.iter().map(|name| {
        let body = json!({
            "apiVersion": format!("<s>.example.com/{name}"), "kind": "Thing", "metadata": {"name": "probe"},
        });
        let path = format!("{}/probe", things(name));
        Ask::apply(path, body).query("dryRun", "All").until_same("/marker").needed()
    })
}

fn things(version: &str) -> String {
    format!("/apis/<s>.example.com/{version}/namespaces/<s>-a/things")
}

/// Something is done with one of the objects.
fn act(random: &mut Random) -> Ask {
    // Each object is written in one version: managed fields of several versions are not converted.
    let at = random.below(VERSIONS.len());
    let (version, name) = (VERSIONS[at], ["a", "b", "c"][at]);
    let all = things(version);
    let one = format!("{all}/{name}");
    let mut body = json!({
        "apiVersion": format!("<s>.example.com/{version}"), "kind": "Thing", "metadata": {"name": name},
        "spec": spec(random),
    });
    let validation = |ask: Ask, random: &mut Random| match random.below(4) {
        0 => ask.query("fieldValidation", "Strict"),
        _ => ask,
    };
    match random.below(20) {
        0..=3 => validation(Ask::post(all, body).query("fieldManager", "one"), random),
        4 | 5 => {
            body["metadata"]["resourceVersion"] = format!("<version things/{name}>").into();
            if random.chance(50) {
                body["status"] = json!({"phase": "x"});
            }
            validation(Ask::put(one, body).query("fieldManager", "two"), random)
        }
        6..=8 => Ask::apply(one, body).query("force", random.pick(&["true", "false"])),
        9 | 10 => {
            validation(Ask::merge(one, json!({"spec": spec(random)})).query("fieldManager", "two"), random)
        }
        11 | 12 => Ask::merge(one, json!({"metadata": {"labels": {"l": random.pick(&["1", "2"])}}})),
        13 => Ask::merge(format!("{one}/status"), json!({"status": {"phase": random.pick(&["x", "y"])}})),
        14 => Ask::delete(one, Value::Null),
        15 | 16 => Ask::get(format!("{}/{name}", things(random.pick(&VERSIONS)))),
        17 => {
            Ask::get(all).query("fieldSelector", random.pick(&["spec.b=x", "spec.b!=y", "metadata.name=a"]))
        }
        _ => Ask::get(all),
    }
}

/// The definition is written as it is now, in one of the ways to do so.
fn write(defined: &Defined, random: &mut Random) -> Vec<Ask> {
    match random.below(3) {
        0 => {
            let mut body = defined.body();
            body["metadata"]["resourceVersion"] =
                "<version customresourcedefinitions/things.<s>.example.com>".into();
            vec![Ask::get(ONE).needed(), Ask::put(ONE, body)]
        }
        1 => vec![Ask::apply(ONE, defined.body()).query("force", "true")],
        _ => vec![Ask::merge(ONE, json!({"spec": defined.body()["spec"]}))],
    }
}

fn story(random: &mut Random) -> Vec<Ask> {
    let mut defined = Defined::new(random);
    let mut asks = vec![Ask::post("/api/v1/namespaces", json!({"metadata": {"name": "<s>-a"}})).needed()];
    asks.push(Ask::post(DEFINITIONS, defined.body()).needed());
    asks.extend(probe());
    // It is served before it says so itself.
    asks.push(Ask::get(ONE).needed());
    for _ in 0..4 {
        asks.extend((0..6).map(|_| act(random)));
        let before = defined.clone();
        defined.change(random);
        asks.extend(write(&defined, random));
        asks.extend(probe());
        // New names are accepted a moment later.
        asks.push(Ask::get(ONE).needed());
        if random.chance(25) {
            // What is refused changes nothing.
            asks.push(defined.wrong(random, ONE));
        }
        if random.chance(15) {
            asks.push(defined.migrated(random, ONE));
        }
        if random.chance(10) {
            // And back again.
            defined = defined.back_to(before);
            asks.extend(write(&defined, random));
            asks.extend(probe());
            asks.push(Ask::get(ONE).needed());
        }
    }
    asks.extend((0..4).map(|_| act(random)));
    asks.push(Ask::get(ONE));
    asks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changed() -> anyhow::Result<()> {
    let (real, _cluster) = crate::prepare_real().await?;
    let both = Both { real, model: prepare_in_process().await?, patience: SERVED, collected: Vec::new() };
    tell_all(&both, &SORT).await
}
