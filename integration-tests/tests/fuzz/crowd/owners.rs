//! Objects whose owner is deleted, and namespaces with everything in them.
//!
//! The real server's controllers act later, so after each write both servers are listed until they agree. Where the order in
//! which they act decides what becomes of an object, the story ends: see [`super::order`].

use integration_tests::prelude::*;
use operator_core::testing::{ControlPlane, Controllers, Part};

use super::{Ask, Both, Sort, tell_all};
use crate::{definitions, prepare_in_process_with};

const SORT: Sort = Sort { name: "owners", story, stories: 30, answers: 35 };

/// The real controller of namespaces waits some ten seconds before it looks again at one that isn't empty.
const IN_THE_END: Duration = Duration::from_secs(45);

const KINDS: [(&str, &str, &str); 3] = [
    ("/api/v1", "configmaps", "ConfigMap"),
    ("/api/v1", "secrets", "Secret"),
    ("/apis/fuzz.example.com/v1", "samples", "Sample"),
];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const CLUSTER: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

fn api_version(base: &str) -> &str {
    base.trim_start_matches("/apis/").trim_start_matches("/api/")
}

/// References to what may be there, and to what was never.
fn references(random: &mut Random) -> Value {
    let mut references = Vec::<Value>::new();
    for _ in 0..[0, 1, 1, 1, 2, 2][random.below(6)] {
        let (base, plural, kind) = random.pick(&KINDS);
        let name = random.pick(&NAMES);
        let mut reference = match random.below(12) {
            0 => {
                json!({"apiVersion": "v1", "kind": kind, "name": "never", "uid": format!("<uid {plural}/never>")})
            }
            1 => json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "name": "<s>-owner",
                "uid": "<uid clusterroles/<s>-owner>",
            }),
            _ => json!({
                "apiVersion": api_version(base), "kind": kind, "name": name, "uid": format!("<uid {plural}/{name}>"),
            }),
        };
        if random.chance(50) {
            reference["blockOwnerDeletion"] = random.chance(80).into();
        }
        if random.chance(20) && references.iter().all(|reference| reference["controller"] != true) {
            reference["controller"] = true.into();
        }
        if references.iter().all(|other| other["uid"] != reference["uid"]) {
            references.push(reference);
        }
    }
    references.into()
}

/// Lists everything until the servers agree.
fn settled(namespace: &str) -> Vec<Ask> {
    let list = |(base, plural, _): (&str, &str, &str)| {
        Ask::get(format!("{base}/namespaces/<s>-{namespace}/{plural}")).needed()
    };
    KINDS.into_iter().map(list).collect()
}

fn write(random: &mut Random, namespace: &str) -> Ask {
    let (base, plural, kind) = random.pick(&KINDS);
    let all = format!("{base}/namespaces/<s>-{namespace}/{plural}");
    let one = format!("{all}/{}", random.pick(&NAMES));
    match random.below(20) {
        0..=6 => {
            let name = random.pick(&NAMES);
            let mut body = json!({"apiVersion": api_version(base), "kind": kind, "metadata": {"name": name}});
            body["metadata"]["ownerReferences"] = references(random);
            if random.chance(15) {
                body["metadata"]["finalizers"] = json!(["example.com/held"]);
            }
            Ask::post(all, body)
        }
        7 | 8 => Ask::merge(one, json!({"metadata": {"ownerReferences": references(random)}})),
        9 | 10 => Ask::merge(one, json!({"metadata": {"finalizers": null}})),
        11 => Ask::merge(one, json!({"metadata": {"finalizers": ["example.com/held"]}})),
        12 => Ask::merge(
            one,
            json!({"metadata": {"finalizers": [random.pick(&["orphan", "foregroundDeletion"])]}}),
        ),
        13 => Ask::delete(all, policy(random)),
        _ => Ask::delete(one, policy(random)),
    }
}

fn policy(random: &mut Random) -> Value {
    match random.below(6) {
        0 | 1 => json!({"propagationPolicy": "Foreground"}),
        2 => json!({"propagationPolicy": "Orphan"}),
        3 => json!({"propagationPolicy": "Background"}),
        _ => Value::Null,
    }
}

/// References to objects of a family, all of which are there unless something has become of them.
fn relations(random: &mut Random, family: &[Member]) -> Value {
    let mut references = Vec::<Value>::new();
    for _ in 0..[0, 1, 1, 1, 2, 2, 3][random.below(7)] {
        let Some(member) = (!family.is_empty()).then(|| random.pick(family)) else { break };
        let mut reference = member.reference();
        if random.chance(70) {
            reference["blockOwnerDeletion"] = random.chance(80).into();
        }
        if references.iter().all(|other| other["uid"] != reference["uid"]) {
            references.push(reference);
        }
    }
    references.into()
}

/// An object of a close family.
#[derive(Clone, Copy, PartialEq)]
struct Member {
    base: &'static str,
    plural: &'static str,
    kind: &'static str,
    name: &'static str,
}

impl Member {
    fn reference(self) -> Value {
        json!({
            "apiVersion": api_version(self.base), "kind": self.kind, "name": self.name,
            "uid": format!("<uid {}/{}>", self.plural, self.name),
        })
    }

    fn all(self) -> String {
        format!("{}/namespaces/<s>-a/{}", self.base, self.plural)
    }

    fn path(self) -> String {
        format!("{}/{}", self.all(), self.name)
    }
}

/// Few objects that own each other, most of which wait for something.
fn close(random: &mut Random) -> Vec<Ask> {
    let kinds = if random.chance(60) { 1 } else { 1 + random.below(KINDS.len()) };
    let names = 3 + random.below(2);
    let mut family = vec![];
    let mut asks = begin();
    for step in 0..14 {
        let (base, plural, kind) = KINDS[random.below(kinds)];
        let new = Member { base, plural, kind, name: NAMES[random.below(names)] };
        let old = if random.chance(80) && !family.is_empty() { random.pick(&family) } else { new };
        asks.push(match random.below(20) {
            roll if step < 4 || roll < 3 => {
                let metadata = json!({"name": new.name, "ownerReferences": relations(random, &family)});
                let mut body = json!({"apiVersion": api_version(base), "kind": kind, "metadata": metadata});
                if random.chance(45) {
                    let finalizers = ["example.com/held", "example.com/held", "foregroundDeletion", "orphan"];
                    body["metadata"]["finalizers"] = json!([random.pick(&finalizers)]);
                }
                if !family.contains(&new) {
                    family.push(new);
                }
                Ask::post(new.all(), body)
            }
            3..=6 => {
                Ask::merge(old.path(), json!({"metadata": {"ownerReferences": relations(random, &family)}}))
            }
            7 | 8 => Ask::merge(old.path(), json!({"metadata": {"finalizers": null}})),
            9 => Ask::merge(old.path(), json!({"metadata": {"finalizers": ["example.com/held"]}})),
            10 => {
                let said = random.pick(&["orphan", "foregroundDeletion"]);
                Ask::merge(old.path(), json!({"metadata": {"finalizers": [said, "example.com/held"]}}))
            }
            11 if random.chance(50) => Ask::delete(old.all(), policy(random)),
            12..16 => Ask::delete(old.path(), json!({"propagationPolicy": "Foreground"})),
            _ => Ask::delete(old.path(), policy(random)),
        });
        asks.extend(settled("a"));
    }
    if random.chance(25) {
        asks.push(Ask::delete("/api/v1/namespaces/<s>-a", policy(random)));
        asks.extend(settled("a"));
    }
    asks
}

fn begin() -> Vec<Ask> {
    let namespace = json!({"metadata": {"name": "<s>-a"}});
    let cluster = json!({"metadata": {"name": "<s>-owner"}});
    vec![Ask::post("/api/v1/namespaces", namespace).needed(), Ask::post(CLUSTER, cluster)]
}

fn story(random: &mut Random) -> Vec<Ask> {
    if random.chance(40) {
        return close(random);
    }
    let mut asks = begin();
    for _ in 0..12 {
        asks.push(write(random, "a"));
        asks.extend(settled("a"));
    }
    if random.chance(50) {
        asks.push(Ask::delete(format!("{CLUSTER}/<s>-owner"), policy(random)));
        asks.extend(settled("a"));
    }
    if random.chance(40) {
        let all = "/api/v1/namespaces/<s>-a";
        asks.push(Ask::delete(all, policy(random)));
        // Empty or not is what the next lists agree on.
        asks.extend(settled("a"));
        asks.push(Ask::get(all));
        // Whether the namespace is there is read from a cache by who creates something in it.
        let body = json!({"metadata": {"name": "probe"}});
        let probe = Ask::post("/api/v1/namespaces/<s>-a/configmaps", body).query("dryRun", "All");
        asks.push(probe.patiently().needed());
        asks.push(write(random, "a"));
        asks.extend(settled("a"));
        for (base, plural, _) in KINDS {
            for name in NAMES {
                let one = format!("{base}/namespaces/<s>-a/{plural}/{name}");
                asks.push(Ask::merge(one, json!({"metadata": {"finalizers": null}})));
            }
        }
        asks.extend(settled("a"));
        asks.push(Ask::get(all));
    }
    asks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners() -> anyhow::Result<()> {
    let parts = ControlPlane::builder()
        .controller_manager(true)
        .crds(definitions())
        .flag(
            Part::ControllerManager,
            "--controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller",
        )
        // By default it sends twenty requests in a second.
        .flag(Part::ControllerManager, "--kube-api-qps=2000")
        .flag(Part::ControllerManager, "--kube-api-burst=2000");
    let cluster = TestCluster::new(parts.start().await?);
    let model = prepare_in_process_with(Controllers::AtOnce).await?;
    let lists = KINDS.map(|(base, plural, _)| format!("{base}/namespaces/<s>-a/{plural}"));
    let collected = lists.into_iter().chain([format!("{CLUSTER}/<s>-owner")]).collect();
    let both = Both { real: cluster.client()?, model, patience: IN_THE_END, collected };
    tell_all(&both, &SORT).await
}
