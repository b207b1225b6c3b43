//! All rounds together: the median of each number, its ratio to kube-rs's, and the allowed ratio.
//!
//! A ratio is the median of the rounds' ratios. A machine that is shared is slower in one minute than in another, and
//! that is the same for all operators of a round: their ratio varies less than the numbers do.

use std::collections::{BTreeMap, BTreeSet};

use crate::cost::{Cost, Phase};

const SUBJECTS: [&str; 4] = ["ours", "managed", "kube-rs", "bare"];

/// The allowed ratio of our number to another operator's in the same run.
#[derive(Clone, Copy)]
enum Budget {
    AtMost(f64),
    AtLeast(f64),
    /// It is only shown.
    None,
}

/// What a cost comes to.
type Figure = fn(&Cost) -> f64;

struct Row {
    figure: &'static str,
    phase: Phase,
    of: Figure,
    /// The operator with which ours are compared.
    beside: &'static str,
    budget: Budget,
}

fn rows() -> Vec<Row> {
    use Budget::{AtLeast, AtMost};
    let row = |figure, phase, of, budget| Row { figure, phase, of, beside: "kube-rs", budget };
    let (cpu, own): (Figure, Figure) = (|cost| cost.cpu_seconds, |cost| cost.own);
    let (p50, p99): (Figure, Figure) = (|cost| cost.delay(0.5), |cost| cost.delay(0.99));
    vec![
        row("memory of its own after a cold start, MiB", Phase::ColdStart, own, AtMost(0.65)),
        row("CPU of a cold start, s", Phase::ColdStart, cpu, AtMost(0.85)),
        row("CPU of a burst, s", Phase::Burst, cpu, AtMost(0.75)),
        row("CPU of a foreign label on many, s", Phase::ColdLabels, cpu, AtMost(0.9)),
        row("CPU of single updates, s", Phase::Updates, cpu, AtMost(1.0)),
        row("deletions of a burst per second", Phase::Deletion, Cost::per_second, AtLeast(1.0)),
        Row {
            beside: "bare",
            ..row("single update p50, ms (beside bare)", Phase::Updates, p50, AtMost(1.15))
        },
        row("peak memory of a cold start, MiB", Phase::ColdStart, |cost| cost.peak, Budget::None),
        row("memory beside foreign objects, MiB", Phase::Beside, own, Budget::None),
        row("CPU beside foreign objects, s", Phase::Beside, cpu, Budget::None),
        row("deletions of many per second", Phase::ColdDeletion, Cost::per_second, Budget::None),
        row("burst until ready p50, ms", Phase::Burst, p50, Budget::None),
        row("burst until ready p99, ms", Phase::Burst, p99, Budget::None),
        row("single update p99, ms", Phase::Updates, p99, Budget::None),
        row("memory after a burst, MiB", Phase::Burst, own, Budget::None),
        row("CPU of a restart, s", Phase::Restart, cpu, Budget::None),
        row("memory after a restart, MiB", Phase::Restart, own, Budget::None),
        row("CPU of a foreign label, s", Phase::Labels, cpu, Budget::None),
        row("CPU of the deletion of a burst, s", Phase::Deletion, cpu, Budget::None),
        row("CPU of the deletion of many, s", Phase::ColdDeletion, cpu, Budget::None),
    ]
}

/// The costs of all rounds.
#[derive(Default)]
pub(crate) struct Report {
    costs: BTreeMap<(Phase, &'static str), Vec<Cost>>,
}

impl Report {
    /// Notes a phase of a round, and prints it.
    pub(crate) fn note(&mut self, phase: Phase, subject: &'static str, cost: Cost) {
        println!("{subject:8} {phase:28} {cost}");
        self.costs.entry((phase, subject)).or_default().push(cost);
    }

    fn median(&self, phase: Phase, subject: &'static str, of: impl Fn(&Cost) -> f64) -> Option<f64> {
        median(self.costs.get(&(phase, subject))?.iter().map(of).collect())
    }

    /// The ratio of a number to the one that it is compared with, in the same round.
    fn ratio(&self, row: &Row, subject: &'static str) -> Option<f64> {
        let (own, base) = (self.costs.get(&(row.phase, subject))?, self.costs.get(&(row.phase, row.beside))?);
        let pairs = own.iter().zip(base).map(|(own, base)| ((row.of)(own), (row.of)(base)));
        median(pairs.filter(|(_, base)| *base > 0.0).map(|(own, base)| own / base).collect())
    }

    /// Prints the medians.
    pub(crate) fn print(&self) {
        println!(
            "Medians of the rounds; the ratios, of the same round, are to kube-rs, or to whom the row names.\n"
        );
        let [first, second, third, fourth] = SUBJECTS;
        println!(
            "{:42} {first:>9} {second:>9} {third:>9} {fourth:>9}  {:>8} {:>8}  budget",
            "figure", "ours /", "managed /"
        );
        for row in rows() {
            let medians = SUBJECTS.map(|subject| self.median(row.phase, subject, row.of));
            if medians.iter().all(Option::is_none) {
                continue;
            }
            let ratios = [first, second].map(|subject| self.ratio(&row, subject));
            let numbers = medians.map(|median| format!("{:>9}", text(median)));
            let ratios_shown = ratios.map(|ratio| format!("{:>8}", text(ratio)));
            println!(
                "{:42} {}  {}  {}",
                row.figure,
                numbers.join(" "),
                ratios_shown.join(" "),
                verdict(row.budget, ratios)
            );
        }
        self.print_requests();
    }

    /// Prints how many requests of each verb an operator has made in a phase, as the median of the rounds.
    fn print_requests(&self) {
        println!("\nRequests by verb, medians of the rounds.\n");
        for phase in Phase::ALL {
            for subject in SUBJECTS {
                let Some(costs) = self.costs.get(&(phase, subject)) else { continue };
                let verbs: BTreeSet<&String> = costs.iter().flat_map(|cost| cost.requests.keys()).collect();
                let requests = verbs.into_iter().map(|verb| {
                    let count = |cost: &Cost| cost.requests.get(verb).copied().unwrap_or_default();
                    let median = self.median(phase, subject, |cost| {
                        f64::from(u32::try_from(count(cost)).unwrap_or(u32::MAX))
                    });
                    format!("{verb} {:.0}", median.unwrap_or_default())
                });
                println!("{phase:28} {subject:8} {}", requests.collect::<Vec<_>>().join(", "));
            }
        }
    }
}

/// The one in the middle; of an even number, the mean of the two there.
fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}

fn text(number: Option<f64>) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.2}"))
}

/// The budget as text, and the operators that miss it.
fn verdict(budget: Budget, ratios: [Option<f64>; 2]) -> String {
    let (words, is_kept): (_, Box<dyn Fn(f64) -> bool>) = match budget {
        Budget::None => return String::new(),
        Budget::AtMost(most) => (format!("at most {most:.2}"), Box::new(move |ratio| ratio <= most)),
        Budget::AtLeast(least) => (format!("at least {least:.2}"), Box::new(move |ratio| ratio >= least)),
    };
    let ours = SUBJECTS.into_iter().zip(ratios);
    let missed: Vec<_> =
        ours.filter(|(_, ratio)| ratio.is_some_and(|ratio| !is_kept(ratio))).map(|(name, _)| name).collect();
    if missed.is_empty() { words } else { format!("{words}, missed by {}", missed.join(" and ")) }
}
