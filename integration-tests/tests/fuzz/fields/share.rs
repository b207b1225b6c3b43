//! How many of the real server's refusals are also ours, and which fields lack some.

use std::{fmt::Write as _, path::Path};

use integration_tests::prelude::*;

use super::{
    ask::{Asked, PANICS, Way},
    bases::Kind,
};
use crate::compare::{Answer, without_addresses};

/// So many of a thousand refusals of values by the real server are ours, with equal causes. Raise it as they grow.
const FLOOR: usize = 985;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/in-process-fidelity.md");
const BEGIN: &str =
    "<!-- fields: UPDATE_FIELDS=1 FIELDS_KINDS=all cargo test --workspace --test fuzz wrong_values -->\n";
const END: &str = "<!-- end of fields -->";

/// What became of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// Both accept it.
    Accepted,
    /// Both refuse it, for the same reason.
    Refused,
    /// Both refuse it, with other words.
    OtherWords,
    /// Only the real server refuses it.
    Missing,
    /// Only ours refuses it.
    Stricter,
    /// Ours says that it doesn't do this.
    NotDone,
}

/// The counts of a kind.
#[derive(Debug, Default)]
struct Count {
    /// Refusals of values by the real server, and how many of them are ours.
    refusals: usize,
    ours: usize,
    /// The same for refusals of types: values that can't be read at all.
    unreadable: usize,
    ours_unreadable: usize,
    /// The fields with other refusals than ours.
    unchecked: BTreeMap<String, usize>,
    asked: usize,
}

/// All counts, and all differences.
#[derive(Default)]
pub(super) struct Share {
    kinds: BTreeMap<String, Count>,
    order: Vec<String>,
    differences: Vec<String>,
    stricter: Vec<String>,
}

impl Share {
    /// Counts the answers of a kind; returns a line about it.
    pub(super) fn add(&mut self, kind: &Kind, all: &[Asked]) -> String {
        let name = match kind.api_version {
            "events.k8s.io/v1" => format!("{} ({})", kind.name, kind.api_version),
            _ => kind.name.to_owned(),
        };
        let mut count = Count::default();
        for asked in all {
            if asked.real.code == PANICS {
                continue;
            }
            count.asked += 1;
            let verdict = verdict(asked);
            if asked.real.code == 422 || asked.real.code == 403 {
                count.refusals += 1;
                count.ours += usize::from(verdict == Verdict::Refused);
            } else if !asked.real.is_success() {
                count.unreadable += 1;
                count.ours_unreadable += usize::from(verdict == Verdict::Refused);
            }
            if matches!(verdict, Verdict::Accepted | Verdict::Refused) {
                continue;
            }
            let line = described(&name, asked, verdict);
            if verdict == Verdict::Stricter {
                self.stricter.push(line.clone());
            }
            if verdict != Verdict::Stricter && verdict != Verdict::NotDone {
                *count.unchecked.entry(asked.field.clone()).or_default() += 1;
            }
            self.differences.push(line);
        }
        let line = format!(
            "{name}: {} asked, {} of {} refusals of values, {} of {} of types",
            count.asked, count.ours, count.refusals, count.ours_unreadable, count.unreadable
        );
        self.order.push(name.clone());
        self.kinds.insert(name, count);
        line
    }

    fn sum(&self, of: impl Fn(&Count) -> usize) -> usize {
        self.kinds.values().map(of).sum()
    }

    pub(super) fn total(&self) -> String {
        let (ours, all) = (self.sum(|count| count.ours), self.sum(|count| count.refusals));
        let (ours_unreadable, unreadable) =
            (self.sum(|count| count.ours_unreadable), self.sum(|count| count.unreadable));
        format!(
            "fields: {ours} of {all} refusals of values ({}), {ours_unreadable} of {unreadable} of types ({}), in {} requests",
            percent(ours, all),
            percent(ours_unreadable, unreadable),
            self.sum(|count| count.asked)
        )
    }

    /// All differences, a few lines each.
    pub(super) fn list(&self) -> String {
        format!("{}\n{}", self.total(), self.differences.join("\n"))
    }

    pub(super) fn check_stricter(&self) -> anyhow::Result<()> {
        let first: Vec<_> = self.stricter.iter().take(20).cloned().collect();
        anyhow::ensure!(
            self.stricter.is_empty(),
            "{} values are refused that the real server takes\n{}",
            self.stricter.len(),
            first.join("\n")
        );
        Ok(())
    }

    pub(super) fn check_floor(&self) -> anyhow::Result<()> {
        let (ours, all) = (self.sum(|count| count.ours), self.sum(|count| count.refusals));
        anyhow::ensure!(all > 1_000, "only {all} values were refused, so little was compared");
        anyhow::ensure!(
            1_000 * ours >= FLOOR * all,
            "{ours} of {all} refusals are fewer than {FLOOR} of a thousand; FIELDS_LIST=file lists what is missing"
        );
        Ok(())
    }

    fn table(&self) -> String {
        let mut text = String::from(
            "| kind | refusals by the real server | of them ours | fields with others |\n|---|---|---|---|\n",
        );
        let mut templates: BTreeMap<&str, usize> = BTreeMap::new();
        for name in &self.order {
            let count = &self.kinds[name];
            let (all, ours) = (count.refusals + count.unreadable, count.ours + count.ours_unreadable);
            let mut own: Vec<&str> = Vec::new();
            for (field, times) in &count.unchecked {
                match field.split_once("template.spec.").filter(|_| !field.starts_with("spec.volumeClaim")) {
                    Some((_, field)) => *templates.entry(field).or_default() += times,
                    None => own.push(field),
                }
            }
            let own: Vec<_> = own.iter().map(|field| format!("`{field}`")).collect();
            let _ = writeln!(text, "| {name} | {all} | {} | {} |", percent(ours, all), own.join(", "));
        }
        let pod = self.kinds.get("Pod");
        let is_of_pod =
            |field: &str| pod.is_some_and(|pod| pod.unchecked.contains_key(&format!("spec.{field}")));
        let only: Vec<_> =
            templates.keys().filter(|field| !is_of_pod(field)).map(|field| format!("`{field}`")).collect();
        if pod.is_some() && !only.is_empty() {
            let _ = writeln!(text, "| templates of Pods only | | | {} |", only.join(", "));
        }
        text
    }

    /// Writes the page's table, or checks that nothing is unchecked that isn't in it.
    pub(super) fn keep_page(&self) -> anyhow::Result<()> {
        let page = std::fs::read_to_string(Path::new(PAGE))?;
        let (before, rest) =
            page.split_once(BEGIN).ok_or_else(|| anyhow::anyhow!("{PAGE} has no {BEGIN}"))?;
        let (old, after) = rest.split_once(END).ok_or_else(|| anyhow::anyhow!("{PAGE} has no {END}"))?;
        let new = format!("\n{}\n", self.table());
        if std::env::var("UPDATE_FIELDS").is_ok() {
            std::fs::write(Path::new(PAGE), format!("{before}{BEGIN}{new}{END}{after}"))?;
            return Ok(());
        }
        // Fields that are checked by now may stay in the table until somebody writes it again.
        let row = |kind: &str| old.lines().find(|line| line.starts_with(kind)).unwrap_or_default();
        let mut missing: Vec<String> = Vec::new();
        for line in new.lines() {
            let Some((kind, _)) = line.trim_start_matches('|').split_once('|') else { continue };
            let known = row(&format!("|{kind}|"));
            let fields = line.split('`').skip(1).step_by(2);
            let fields = fields.filter(|field| !known.contains(&format!("`{field}`")));
            missing.extend(fields.map(|field| format!("{} {field}", kind.trim())));
        }
        anyhow::ensure!(
            missing.is_empty(),
            "fields differ that the table in {PAGE} doesn't have; UPDATE_FIELDS=1 writes it anew: {}",
            missing.join(", ")
        );
        Ok(())
    }
}

fn percent(part: usize, all: usize) -> String {
    if all == 0 {
        return "100.0 %".to_owned();
    }
    let thousandths = 1_000 * part / all;
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

fn verdict(asked: &Asked) -> Verdict {
    let (real, model) = (&asked.real, &asked.model);
    match (real.is_success(), model.is_success()) {
        _ if model.code == 501 => Verdict::NotDone,
        (true, true) => Verdict::Accepted,
        (true, false) => Verdict::Stricter,
        (false, true) => Verdict::Missing,
        (false, false) if reasons(real) == reasons(model) => Verdict::Refused,
        (false, false) => Verdict::OtherWords,
    }
}

/// Code, message and causes of a refusal, without what two servers can't agree on.
fn reasons(answer: &Answer) -> (u16, String, Vec<String>) {
    let causes = answer.body["details"]["causes"].as_array();
    let mut causes: Vec<_> = causes
        .into_iter()
        .flatten()
        .map(|cause| {
            let text = |field: &str| cause[field].as_str().unwrap_or_default().to_owned();
            format!("{} {}: {}", text("reason"), text("field"), masked(&text("message")))
        })
        .collect();
    causes.sort();
    // A message of several causes has them in the order in which Go goes through its maps.
    let message = if causes.len() > 1 {
        String::new()
    } else {
        masked(answer.body["message"].as_str().unwrap_or_default())
    };
    (answer.code, message, causes)
}

/// Without identities; and without what Go's comparison of two objects prints in a form of its own each time.
fn masked(text: &str) -> String {
    let text = text.split('\n').next().unwrap_or_default();
    let words = text.split_inclusive(|letter: char| !letter.is_ascii_hexdigit() && letter != '-');
    let masked = words.map(|word| {
        let id = word.trim_end_matches(|letter: char| !letter.is_ascii_hexdigit());
        let is_id = id.len() == 36 && id.matches('-').count() == 4;
        if is_id { word.replace(id, "(uid)") } else { word.to_owned() }
    });
    without_addresses(&masked.collect::<String>())
}

fn described(kind: &str, asked: &Asked, verdict: Verdict) -> String {
    let given = asked.given.as_ref().map_or_else(|| "(absent)".to_owned(), Value::to_string);
    let given: String = given.chars().take(120).collect();
    let way = match asked.way {
        Way::Create => "create",
        Way::Update => "update",
        Way::Status => "status",
    };
    let said = |answer: &Answer| {
        if answer.is_success() {
            return answer.code.to_string();
        }
        let (code, message, causes) = reasons(answer);
        let causes: Vec<String> = causes.iter().map(|cause| cause.chars().take(400).collect()).collect();
        format!("{code} {message} {causes:?}")
    };
    format!(
        "{verdict:?} {kind} {way} {} = {given}\n    real: {}\n    ours: {}",
        asked.field,
        said(&asked.real),
        said(&asked.model)
    )
}
