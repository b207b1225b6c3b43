//! Random stories of objects with rules, patterns and formats: ten requests to one object, answered alike by both.

use serde_json::{Map, Value, json};
use test_cluster::seed_of_the_day;

use super::{
    kinds::{define, definition, object, of_spec},
    rules, values,
};
use crate::harness::both::{Answer, Both};

const STORIES: u64 = 40;
const REQUESTS: usize = 8;
const GROUP: &str = "stories.example.com";

/// The numbers of a story, by SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(limit).unwrap()).unwrap()
    }
}

/// Fields and values that a kind may have.
fn fields_of(kind: &str) -> Vec<(String, Value)> {
    if kind == "Check" {
        let cases = values::cases().into_iter();
        return cases
            .flat_map(|(field, all)| all.into_iter().map(move |value| (field.to_owned(), value)))
            .collect();
    }
    let specs = rules::specs().into_iter();
    specs.flat_map(|spec| spec.as_object().unwrap().clone()).collect()
}

fn spec(fields: &[(String, Value)], kind: &str, random: &mut Random) -> Value {
    let mut spec = Map::new();
    if kind == "Check" {
        spec.insert("pattern".to_owned(), json!("a1"));
    }
    for _ in 0..=random.below(3) {
        let (name, value) = &fields[random.below(fields.len())];
        spec.insert(name.clone(), value.clone());
    }
    Value::Object(spec)
}

/// The same definition in the group of the stories: other tests have kinds of these names.
fn in_group(mut definition: Value) -> Value {
    let plural = definition["spec"]["names"]["plural"].as_str().unwrap().to_owned();
    definition["metadata"]["name"] = format!("{plural}.{GROUP}").into();
    definition["spec"]["group"] = GROUP.into();
    definition
}

/// Puts the lines of a message into an order: what doesn't fit its type is listed by the real server in that of a map in Go,
/// which is another one each time.
fn order_lines(message: &mut Value) {
    let Some((what, lines)) = message.as_str().and_then(|text| text.split_once("errors:\n")) else { return };
    let mut lines: Vec<&str> = lines.split('\n').collect();
    lines.sort_unstable();
    *message = format!("{what}errors:\n{}", lines.join("\n")).into();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn random_stories_are_answered_alike() {
    let both = Both::start().await;
    define(&both, &in_group(definition("checks", "Check", &of_spec(&values::schema())))).await;
    define(&both, &in_group(definition("ruleds", "Ruled", &of_spec(&rules::schema())))).await;
    let first = std::env::var("FUZZ_SEED").ok().and_then(|seed| seed.parse().ok());
    let first = first.unwrap_or_else(|| seed_of_the_day() * 1_000);
    let (mut answers, mut refused, mut differences) = (0, 0, Vec::new());
    for seed in first..first + STORIES {
        let mut random = Random(seed);
        let (kind, plural) = [("Check", "checks"), ("Ruled", "ruleds")][random.below(2)];
        let (fields, path) = (fields_of(kind), format!("/apis/{GROUP}/v1/{plural}"));
        let name = format!("s{seed}");
        for step in 0..REQUESTS {
            let mut body = object(kind, &name, &spec(&fields, kind, &mut random));
            body["apiVersion"] = format!("{GROUP}/v1").into();
            let at = format!("{path}/{name}");
            let (method, at, body) = match random.below(10) {
                _ if step == 0 => ("POST", path.clone(), body),
                0..5 => ("MERGE", at, json!({"spec": body["spec"]})),
                5 => ("MERGE", at, json!({"spec": null})),
                _ => ("APPLY", format!("{at}?fieldManager=m&force=true"), body),
            };
            let (mut real, mut model) = both.pair(method, &at, &body).await;
            for answer in [&mut real, &mut model] {
                order_lines(&mut answer.1["message"]);
            }
            answers += 1;
            refused += usize::from(real.0 == 422);
            if real != model {
                let shown = |answer: &Answer| {
                    format!("{} {} {}", answer.0, answer.1["message"], answer.1["details"]["causes"])
                };
                let told = format!("FUZZ_SEED={seed} step {step}: {method} {at} {body}");
                differences.push(format!("{told}\n  real  {}\n  model {}", shown(&real), shown(&model)));
                break;
            }
        }
    }
    assert!(differences.is_empty(), "{} differ\n{}", differences.len(), differences.join("\n"));
    assert!(answers > 200 && refused > 80, "{answers} answers, {refused} refusals");
}
