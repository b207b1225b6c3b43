//! Lists, their selectors and pages, and deletions of collections.

use integration_tests::prelude::*;

use super::{
    Ask, Both, SOON, Sort,
    subjects::{FIELDS, NAMES, SUBJECTS, Subject, TERMS, WRONG, WRONG_FIELDS},
    tell_all,
};
use crate::prepare_in_process;

const SORT: Sort = Sort { name: "lists", story, stories: 60, answers: 12 };

fn labels(random: &mut Random) -> Value {
    let mut labels = json!({"story": "<s>"});
    for (key, values) in [
        ("a", &["1", "2", "10"][..]),
        ("b", &["x", "y"]),
        ("c", &["", "z"]),
        ("example.com/x", &["1"]),
        ("in", &["1"]),
    ] {
        if random.chance(40) {
            labels[key] = random.pick(values).into();
        }
    }
    labels
}

fn label_selector(random: &mut Random) -> String {
    if random.chance(15) {
        return random.pick(WRONG).to_owned();
    }
    let terms: Vec<_> = (0..=random.below(3)).map(|_| random.pick(TERMS)).collect();
    terms.join(random.pick(&[",", ", ", " ,"]))
}

fn field_selector(random: &mut Random, own: &[&'static str]) -> String {
    let term = |random: &mut Random| {
        if !own.is_empty() && random.chance(45) { random.pick(own) } else { random.pick(FIELDS) }
    };
    if random.chance(15) {
        return random.pick(WRONG_FIELDS).to_owned();
    }
    let terms: Vec<_> = (0..=random.below(2)).map(|_| term(random)).collect();
    terms.join(",")
}

struct Place<'s> {
    subject: &'s Subject,
    all: String,
    of_story: String,
}

impl Place<'_> {
    fn name(&self, random: &mut Random) -> String {
        let name = random.pick(&NAMES);
        // Services are names in DNS, too.
        let name = if self.subject.0 == "services" { name.replace('.', "-") } else { name.to_owned() };
        if self.subject.3 { name } else { format!("<s>-{name}") }
    }

    fn of(&self, random: &mut Random) -> (String, String) {
        let namespace = if random.chance(75) { "a" } else { "b" };
        let path = if self.subject.3 {
            format!("{}/namespaces/<s>-{namespace}/{}", self.subject.1, self.subject.0)
        } else {
            self.all.clone()
        };
        (path, namespace.to_owned())
    }

    fn create(&self, random: &mut Random) -> Ask {
        let (path, namespace) = self.of(random);
        let mut body = (self.subject.4)(random);
        body["metadata"] = json!({"name": self.name(random), "labels": labels(random)});
        body["kind"] = self.subject.2.into();
        body["apiVersion"] = self.subject.1.trim_start_matches("/apis/").trim_start_matches("/api/").into();
        if random.chance(12) {
            body["metadata"]["finalizers"] = json!(["example.com/x"]);
        }
        if !body["involvedObject"].is_null() {
            body["involvedObject"]["namespace"] = format!("<s>-{namespace}").into();
        }
        Ask::post(path, body).query("fieldManager", "one")
    }

    /// A list of what is the story's. In pages only where nobody else writes: there may always be more.
    fn list(&self, random: &mut Random, in_pages: bool) -> Ask {
        let everywhere = !self.subject.3 || (!in_pages && random.chance(40));
        let path = if everywhere { self.all.clone() } else { self.of(random).0 };
        let mut selector = if random.chance(45) { label_selector(random) } else { String::new() };
        if everywhere {
            // Others are told at the same time.
            selector = if selector.is_empty() {
                self.of_story.clone()
            } else {
                format!("{},{selector}", self.of_story)
            };
        }
        let ask = Ask::get(path);
        let ask = if selector.is_empty() { ask } else { ask.query("labelSelector", selector) };
        if random.chance(35) {
            ask.query("fieldSelector", field_selector(random, self.subject.5))
        } else {
            ask
        }
    }

    fn options(&self, ask: Ask, in_pages: bool, random: &mut Random) -> Ask {
        let mut ask = ask;
        if in_pages {
            ask = ask.query("limit", random.pick(&["1", "2", "3", "1", "2", "500", "0", "-1", "x", ""]));
        }
        if random.chance(30) {
            ask = ask.query(
                "resourceVersion",
                random.pick(&["0", "<listed 0>", "<listed 1>", "<listed 2>", "x", "-1", ""]),
            );
            if random.chance(60) {
                ask = ask.query(
                    "resourceVersionMatch",
                    random.pick(&["Exact", "NotOlderThan", "Exact", "exact", ""]),
                );
            }
        } else if random.chance(5) {
            ask = ask.query("resourceVersionMatch", random.pick(&["Exact", "NotOlderThan", "x"]));
        }
        if random.chance(10) {
            ask = ask.header("accept", "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1");
        } else if random.chance(3) {
            ask = ask.header("accept", "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1");
        }
        if random.chance(3) {
            ask = ask.query(
                random.pick(&["timeoutSeconds", "allowWatchBookmarks", "pretty"]),
                random.pick(&["1", "x", "true"]),
            );
        }
        ask
    }

    fn deletion(&self, random: &mut Random) -> Value {
        match random.below(12) {
            0 => {
                json!({"propagationPolicy": random.pick(&["Orphan", "Foreground", "Background", "Other", ""])})
            }
            1 => json!({"orphanDependents": random.chance(50)}),
            2 => json!({"dryRun": random.pick(&[json!(["All"]), json!([]), json!(["x"])])}),
            3 => json!({"gracePeriodSeconds": random.pick(&[0, 5, -1])}),
            4 => json!({"preconditions": {"uid": format!("<uid {}/a>", self.subject.0)}}),
            5 => json!({"preconditions": {"resourceVersion": format!("<version {}/a>", self.subject.0)}}),
            6 => json!({"propagationPolicy": "Background", "orphanDependents": true}),
            7 => {
                json!({"kind": "DeleteOptions", "apiVersion": random.pick(&["v1", "meta.k8s.io/v1", "x/v1"])})
            }
            8 => json!({"kind": "Other", "apiVersion": "v1"}),
            9 => json!({"ignoreStoreReadErrorWithClusterBreakingPotential": random.chance(50)}),
            _ => Value::Null,
        }
    }
}

fn namespace(letter: &str) -> Ask {
    Ask::post("/api/v1/namespaces", json!({"metadata": {"name": format!("<s>-{letter}")}})).needed()
}

fn story(random: &mut Random) -> Vec<Ask> {
    let subject = &SUBJECTS[random.below(SUBJECTS.len())];
    let all = format!("{}/{}", subject.1, subject.0);
    let place = Place { subject, all, of_story: "story=<s>".to_owned() };
    let mut asks = if subject.3 { vec![namespace("a"), namespace("b")] } else { Vec::new() };
    for _ in 0..3 + random.below(4) {
        asks.push(place.create(random));
    }
    for _ in 0..14 {
        let (path, _) = place.of(random);
        let one = format!("{path}/{}", place.name(random));
        match random.below(100) {
            roll if roll < 12 => asks.push(place.create(random)),
            roll if roll < 20 => {
                asks.push(
                    Ask::merge(one, json!({"metadata": {"labels": labels(random)}}))
                        .query("fieldManager", "two"),
                );
            }
            roll if roll < 28 => {
                let options = place.deletion(random);
                asks.push(Ask::delete(one, options));
            }
            roll if roll < 34 => {
                asks.push(Ask::get(one).query("resourceVersion", random.pick(&["", "0", "<listed 0>", "x"])))
            }
            roll if roll < 46 => {
                let options = place.deletion(random);
                let list = place.list(random, true);
                asks.push(list.into_deletion().with_body(options));
            }
            roll if roll < 62 && subject.3 => {
                let list = place.list(random, true);
                let limit = random.pick(&["1", "2", "3", ""]);
                let page = list.clone().query("limit", limit);
                asks.push(page);
                for _ in 0..random.below(3) {
                    let limit = random.pick(&["1", "2", "1", ""]);
                    let mut next = list.clone().query("limit", limit).query("continue", "<page>");
                    if random.chance(10) {
                        next = next.query("resourceVersion", random.pick(&["0", "<listed 0>"]));
                    }
                    if random.chance(5) {
                        next = next.query("resourceVersionMatch", random.pick(&["Exact", "NotOlderThan"]));
                    }
                    asks.push(next);
                    if random.chance(40) {
                        asks.push(place.create(random));
                    }
                }
            }
            _ => {
                let in_pages = subject.3 && random.chance(60);
                let list = place.list(random, in_pages);
                asks.push(place.options(list, in_pages, random));
            }
        }
    }
    asks
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists() -> anyhow::Result<()> {
    let (real, _cluster) = crate::prepare_real().await?;
    let both = Both { real, model: prepare_in_process().await?, patience: SOON, collected: Vec::new() };
    tell_all(&both, &SORT).await
}
