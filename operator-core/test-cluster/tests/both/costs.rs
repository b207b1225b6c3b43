//! What rules in CEL cost, to the unit: each expression of the table is given as much beside it as brings it to the limit of
//! one evaluation, and one unit more.
//!
//! A rule is `self.n.all(x, EXPRESSION)` and a filler whose cost is chosen by the lengths of two texts.

use serde_json::{Value, json};

use super::{masked, real, send};
use crate::harness::both::ours;

/// The units of one step of the filler: a tenth of what is looked for.
const COARSE: u64 = 1000;
/// As many expressions as one definition may have, each with its filler.
const TOGETHER: usize = 20;

fn expressions() -> Vec<&'static str> {
    include_str!("costs.txt").lines().collect()
}

fn schema(expression: &str) -> Value {
    let text = |most: u64| json!({ "type": "string", "maxLength": most });
    let number = json!({ "type": "integer" });
    let part = "z".repeat(10_000);
    let rule =
        format!("self.n.all(x, {expression}) && !self.b.contains('{part}') && (self.s + '').size() >= 0");
    json!({
        "type": "object",
        "properties": {
            "n": { "type": "array", "maxItems": 20, "items": number },
            "t": { "type": "array", "maxItems": 5, "items": text(10) },
            "m": { "type": "object", "maxProperties": 5, "additionalProperties": number },
            "o": { "type": "object", "properties": {
                "a": text(10), "b": number, "zz": text(10),
                "c": { "type": "object", "properties": { "d": text(10) } },
                "y": { "type": "object", "properties": { "zz": text(10) } },
            } },
            "p": { "x-kubernetes-int-or-string": true },
            "long": text(100), "b": text(10_000), "s": text(10_000),
        },
        "x-kubernetes-validations": [{ "rule": rule }],
    })
}

/// A text that costs so many units.
fn units(units: u64) -> String {
    "a".repeat(usize::try_from((units * 10).saturating_sub(5)).expect("a length"))
}

/// What a rule looks at, with a filler of so many units.
fn value(items: u64, filler: u64) -> Value {
    let n: Vec<u64> = (1..=items).collect();
    json!({
        "n": n, "t": ["abc", "defgh", "ij"], "m": { "k": 1, "l": 2 }, "p": 5, "long": "l".repeat(73),
        "o": { "a": "abc", "b": 5, "c": { "d": "e" } },
        "b": units(filler / COARSE), "s": units(filler % COARSE),
    })
}

/// Makes a definition on both servers; the real one takes a moment.
async fn define(real: &kube::Client, ours: &kube::Client, plural: &str, kind: &str, properties: &Value) {
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{plural}.costs.example.com") },
        "spec": {
            "group": "costs.example.com", "scope": "Cluster",
            "names": { "plural": plural, "kind": kind },
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": {
                "type": "object", "properties": { "spec": { "type": "object", "properties": properties } },
            } } }],
        },
    });
    let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for client in [real, ours] {
        let (code, answer) = send(client, None, "POST", path, &definition).await;
        assert_eq!(code, 201, "{}", answer["message"]);
    }
    let group = "/apis/costs.example.com/v1";
    let served = async || {
        let (code, _) = send(real, None, "GET", &format!("{group}/{plural}"), &Value::Null).await;
        let (_, paths) = send(real, None, "GET", group, &Value::Null).await;
        code == 200 && paths.to_string().contains(plural)
    };
    let look = async || Ok(served().await.then_some(()));
    test_cluster::eventually("the definition is served", look).await.expect("a definition that is served");
}

struct Place<'p> {
    plural: &'p str,
    kind: &'p str,
}

impl Place<'_> {
    async fn create(&self, client: &kube::Client, spec: &Value) -> (u16, Value) {
        let path = format!("/apis/costs.example.com/v1/{}?dryRun=All", self.plural);
        let object = json!({
            "apiVersion": "costs.example.com/v1", "kind": self.kind, "metadata": { "name": "c" }, "spec": spec,
        });
        send(client, None, "POST", &path, &object).await
    }

    /// The most that may be added.
    async fn most(&self, client: &kube::Client, spec: impl Fn(u64) -> Value) -> u64 {
        let first = self.create(client, &spec(0)).await;
        assert_eq!(first.0, 201, "{} {}", spec(0), first.1["message"]);
        let (mut fits, mut not) = (0, 998_999);
        while not - fits > 1 {
            let middle = u64::midpoint(fits, not);
            if self.create(client, &spec(middle)).await.0 == 201 { fits = middle } else { not = middle }
        }
        fits
    }
}

#[tokio::test]
async fn an_evaluation_costs_what_it_costs_on_the_real_server() {
    let (real, ours, mut differences) = (real().await, ours().client(), String::new());
    for (part, expressions) in expressions().chunks(TOGETHER).enumerate() {
        let (plural, kind) = (format!("cost{part}s"), format!("Cost{part}"));
        let field = |at: usize| format!("e{at}");
        let properties: Value = expressions
            .iter()
            .enumerate()
            .map(|(at, one)| (field(at), schema(one)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        define(&real, &ours, &plural, &kind, &properties).await;
        let place = Place { plural: &plural, kind: &kind };
        for (at, expression) in expressions.iter().enumerate() {
            let spec = |items: u64| move |filler: u64| json!({ field(at): value(items, filler) });
            let most = place.most(&ours, spec(20)).await;
            let mut same = true;
            for filler in [most, most + 1] {
                let there = masked(place.create(&real, &spec(20)(filler)).await);
                let here = masked(place.create(&ours, &spec(20)(filler)).await);
                same &= there == here;
            }
            if !same {
                let (twenty, one) = (place.most(&real, spec(20)).await, place.most(&real, spec(1)).await);
                let each = (place.most(&ours, spec(1)).await - most, one - twenty);
                differences.push_str(&format!(
                    "{expression}: 19 times cost {} here and {} there, once {} more there\n",
                    each.0,
                    each.1,
                    i128::from(place.most(&ours, spec(1)).await) - i128::from(one)
                ));
            }
        }
    }
    assert!(differences.is_empty(), "the costs differ:\n{differences}");
}
