//! Random lives of two components, against an oracle that knows the whole history and the table, and nothing of what is stored.

use proptest::prelude::*;

use super::*;
use crate::health::tests::table::{self, Line};

/// One run of one component.
#[derive(Clone, Debug)]
struct Scene {
    stage: u8,
    parts: Vec<Part>,
}

/// One run of both: milliseconds after the one before, whether the generation is a new one, and the scenes.
#[derive(Clone, Debug)]
struct Turn {
    after: i64,
    is_new: bool,
    scenes: [Scene; 2],
}

/// The reasons that a node has in a component that is on.
const ORDINARY: std::ops::Range<usize> = 8..22;

fn parts() -> impl Strategy<Value = Vec<Part>> {
    let reason = prop_oneof![
        8 => prop::sample::select(ORDINARY.filter(|at| *at != 12).collect::<Vec<_>>()),
        6 => Just(19_usize),
        1 => prop::sample::select(vec![0_usize, 2, 3]),
    ];
    let after_grace =
        prop::sample::select(vec![None, Some(Reason::Healthy), Some(Reason::Degraded), Some(Reason::Down)]);
    let one = (reason, after_grace, prop::bool::weighted(0.2), any::<bool>()).prop_map(
        |(reason, after_grace, is_auxiliary, is_quiet)| {
            let row = Row::new(table::lines()[reason].reason, format!("text {reason}"));
            Part { node: format!("node {reason}"), row, after_grace, is_auxiliary, is_quiet }
        },
    );
    prop::collection::vec(one, 0..4)
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let scene = || {
        let stage = prop_oneof![12 => Just(4_u8), 4 => 0_u8..4];
        (stage, parts()).prop_map(|(stage, parts)| Scene { stage, parts })
    };
    let after = prop_oneof![3 => 0_i64..120_000, 1 => 0_i64..600_000];
    let turn = (after, prop::bool::weighted(0.15), scene(), scene())
        .prop_map(|(after, is_new, one, other)| Turn { after, is_new, scenes: [one, other] });
    prop::collection::vec(turn, 1..14)
}

/// What is expected of one run.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    reason: &'static str,
    message: String,
    is_true: bool,
    since: Option<i64>,
    again_in: Option<i64>,
    warnings: usize,
    transition: i64,
}

/// The history of one component.
#[derive(Default)]
struct Oracle {
    /// Milliseconds, generation, whether it ran, whether it failed, and what was expected.
    past: Vec<(i64, u32, bool, bool, Expected)>,
}

fn line_of(reason: Reason) -> &'static Line {
    table::lines().iter().find(|line| line.reason == reason).expect("each reason has a line")
}

fn join(parts: &[&Part]) -> String {
    parts.iter().map(|part| part.row.message.as_str()).collect::<Vec<_>>().join("; ")
}

/// The worst of these parts, by the table, and the texts of its class.
fn worst(parts: &[&Part]) -> Option<(&'static Line, String)> {
    let mut sorted: Vec<(usize, &Line)> =
        parts.iter().enumerate().map(|(at, part)| (at, line_of(part.row.reason))).collect();
    sorted.sort_by_key(|(at, line)| (line.is_true, u8::MAX - line.priority, *at));
    let (_, line) = sorted.into_iter().next()?;
    let together: Vec<&Part> = parts
        .iter()
        .copied()
        .filter(|part| {
            let other = line_of(part.row.reason);
            other.reason == line.reason || (other.class.is_some() && other.class == line.class)
        })
        .collect();
    Some((line, join(&together)))
}

impl Oracle {
    /// Since when it converges, in milliseconds: the first run of the unbroken time in which it was on and not healthy, or the last one
    /// with a new generation. Runs that failed begin nothing.
    fn since(&self, now: i64, generation: u32, fails: bool) -> Option<i64> {
        let is_unbroken = |past: &&(i64, u32, bool, bool, Expected)| past.2 && !past.4.is_true;
        let mut stretch: Vec<(i64, u32, bool)> =
            self.past.iter().rev().take_while(is_unbroken).map(|past| (past.0, past.1, past.3)).collect();
        stretch.reverse();
        stretch.push((now, generation, fails));
        let mut since = None;
        let mut before = None;
        for (time, generation, fails) in stretch {
            let is_new = before.is_some_and(|before| before != generation);
            before = Some(generation);
            since = match since {
                None if fails => None,
                Some(since) if !is_new => Some(since),
                _ => Some(time),
            };
        }
        since
    }

    fn on(&self, now: i64, generation: u32, grace: Option<i64>, parts: &[Part]) -> Expected {
        let plain = |reason: &'static str, message: String, is_true| Expected {
            reason,
            message,
            is_true,
            since: None,
            again_in: None,
            warnings: 0,
            transition: 0,
        };
        let counted: Vec<&Part> =
            parts.iter().filter(|part| part.row.reason == Reason::Blocked || !part.is_auxiliary).collect();
        let is_ready = |part: &&&Part| line_of(part.row.reason).kind == "healthy";
        let unready: Vec<&Part> = counted.iter().filter(|part| !is_ready(part)).copied().collect();
        let Some((line, message)) = worst(&unready) else {
            return plain("Healthy", "Component is healthy.".to_owned(), true);
        };
        let fails = line.reason == Reason::Error;
        let whole = |millis: i64| millis.div_euclid(1000) * 1000;
        let since = self.since(now, generation, fails).map(whole);
        if fails {
            return Expected { since, ..plain("Error", message, false) };
        }
        let last = self.past.last();
        let same = last.is_some_and(|last| last.1 == generation);
        let reason = match last.map(|last| last.4.reason) {
            Some("Creating") if line.kind == "progress" => "Creating",
            Some("Updating") if line.kind == "progress" && same => "Updating",
            Some("Scaling") if line.kind == "progress" && same => "Scaling",
            _ => line.reason.as_str(),
        };
        let expected = Expected { since, ..plain(reason, message, false) };
        let began = since.expect("it converges");
        let Some(grace) = grace.filter(|grace| *grace > 0) else { return expected };
        if now < began + grace {
            return Expected { again_in: Some(began + grace - now), ..expected };
        }
        // The period is over.
        let of = |wanted: Option<&str>| -> Vec<&Part> {
            let verdict = |part: &Part| match part.row.reason {
                Reason::Blocked => Some("Down"),
                Reason::Down => Some("Down"),
                Reason::Degraded => Some("Degraded"),
                _ => part.after_grace.map(Reason::as_str),
            };
            unready.iter().copied().filter(|part| verdict(part) == wanted).collect()
        };
        let (down, degraded, silent) = (of(Some("Down")), of(Some("Degraded")), of(None));
        let works = counted.iter().filter(is_ready).any(|part| part.after_grace == Some(Reason::Healthy));
        let (reason, who) = match (down.is_empty(), degraded.is_empty(), silent.is_empty()) {
            (false, ..) => ("Down", down),
            (true, false, _) => ("Degraded", degraded),
            (true, true, false) if works => ("Degraded", silent),
            (true, true, false) => ("Down", silent),
            (true, true, true) => {
                let warnings = unready.iter().filter(|part| !part.is_quiet).count();
                return Expected { warnings, ..expected };
            }
        };
        let message = format!("Component is {}: {}", reason.to_lowercase(), join(&who));
        Expected { reason, message, ..expected }
    }

    /// What is expected of the next run, which becomes a part of the history.
    fn expect(&mut self, now: i64, generation: u32, grace: Option<i64>, scene: &Scene) -> Expected {
        let plain = |reason, message: &str, is_true| Expected {
            reason,
            message: message.to_owned(),
            is_true,
            since: None,
            again_in: None,
            warnings: 0,
            transition: 0,
        };
        let at_rest = |rest: Reason, reason, message: &str| {
            let others: Vec<&Part> = scene.parts.iter().filter(|part| part.row.reason != rest).collect();
            match worst(&others) {
                Some((line, texts)) => plain(line.reason.as_str(), &texts, line.is_true),
                None => plain(reason, message, true),
            }
        };
        let mut expected = match scene.stage {
            0 => plain("FeatureGateError", "why", false),
            1 => at_rest(Reason::Disabled, "Disabled", "Component is disabled."),
            2 => plain("PrerequisiteNotMet", "waits", false),
            3 => at_rest(Reason::Suspended, "Suspended", "All resources are suspended."),
            _ => self.on(now, generation, grace, &scene.parts),
        };
        let flipped = self.past.last().is_none_or(|last| last.4.is_true != expected.is_true);
        expected.transition =
            if flipped { now.div_euclid(1000) } else { self.past.last().map_or(0, |last| last.4.transition) };
        self.past.push((now, generation, scene.stage == 4, expected.reason == "Error", expected.clone()));
        expected
    }
}

fn stage(number: u8) -> Stage {
    match number {
        0 => Stage::GateFailed("why".to_owned()),
        1 => Stage::Off,
        2 => Stage::NotStarted("waits".to_owned()),
        3 => Stage::Suspended,
        _ => Stage::On,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..crate::properties::daily() })]

    #[test]
    fn two_components_live_as_the_oracle_says(
        turns in turns(), grace in prop::option::of(prop_oneof![Just(0_i64), 1000_i64..600_000]),
    ) {
        let types = ["DatabaseReady", "WebReady"];
        let mut conditions: Vec<Condition> = Vec::new();
        let mut since = [None; 2];
        let mut oracles = [Oracle::default(), Oracle::default()];
        let (mut millis, mut generation) = (0, 1_u32);
        let period = grace.map(|grace| Duration::from_millis(grace.unsigned_abs()));
        for turn in &turns {
            millis += turn.after;
            generation += u32::from(turn.is_new);
            let now = at(0) + Duration::from_millis(millis.unsigned_abs());
            for (index, scene) in turn.scenes.iter().enumerate() {
                let stored = Some(i64::from(generation));
                let before = Before::of(&conditions, types[index], since[index], stored);
                let outcome = judge(&stage(scene.stage), &scene.parts, &before, period, now);
                operator_core::status::conditions::set(&mut conditions, &outcome.row.update(types[index], stored), now);
                since[index] = outcome.converging_since;
                let condition = &conditions[index];
                let seen = Expected {
                    reason: outcome.row.reason.as_str(),
                    message: condition.message.clone(),
                    is_true: condition.status == "True",
                    since: outcome.converging_since.map(|since| since.as_millisecond() - at(0).as_millisecond()),
                    again_in: outcome.again_in.map(|left| i64::try_from(left.as_millis()).expect("not long")),
                    warnings: outcome.warnings.len(),
                    transition: condition.last_transition_time.0.as_second() - at(0).as_second(),
                };
                prop_assert_eq!(&condition.reason, seen.reason);
                prop_assert_eq!(seen, oracles[index].expect(millis, generation, grace, scene));
            }
        }
    }
}
