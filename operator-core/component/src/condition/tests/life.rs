//! Two components in one status, through the same runs, each with its own ends and times.

use operator_core::status::conditions::{find, set};

use super::*;

const GRACE: Option<Duration> = Some(Duration::from_secs(300));

/// What is stored in the status of a primary.
#[derive(Default)]
struct Stored {
    conditions: Vec<Condition>,
    since: [Option<Timestamp>; 2],
}

const TYPES: [&str; 2] = ["DatabaseReady", "WebReady"];

impl Stored {
    /// One run: the stages and rows of both. Returns both conditions, each with its transition time in seconds.
    fn run(
        &mut self,
        seconds: i64,
        generation: i64,
        both: [(Stage, Reason, Option<Reason>); 2],
    ) -> [String; 2] {
        let mut index = 0;
        both.map(|(stage, reason, after_grace)| {
            let r#type = TYPES[index];
            let before = Before::of(&self.conditions, r#type, self.since[index], Some(generation));
            let part = Part { after_grace, ..part(reason, "text") };
            let outcome = judge(&stage, &[part], &before, GRACE, at(seconds));
            set(&mut self.conditions, &outcome.row.update(r#type, Some(generation)), at(seconds));
            self.since[index] = outcome.converging_since;
            index += 1;
            let stored = find(&self.conditions, r#type).expect("it was set");
            let since = stored.last_transition_time.0.as_second() - at(0).as_second();
            format!("{}/{} since {since}", stored.status, stored.reason)
        })
    }
}

#[test]
fn each_has_its_own_transition_times() {
    let mut stored = Stored::default();
    let on = |reason| (Stage::On, reason, Some(Reason::Down));
    let waits = |reason| (Stage::NotStarted("waits".to_owned()), reason, None);
    type Both = [(Stage, Reason, Option<Reason>); 2];
    let runs: [(i64, i64, Both, [&str; 2]); 14] = [
        (
            0,
            1,
            [on(Reason::Creating), waits(Reason::Creating)],
            ["False/Creating since 0", "False/PrerequisiteNotMet since 0"],
        ),
        // Another reason is no transition.
        (
            10,
            1,
            [on(Reason::Scaling), waits(Reason::Creating)],
            ["False/Creating since 0", "False/PrerequisiteNotMet since 0"],
        ),
        (
            20,
            1,
            [on(Reason::Healthy), on(Reason::Creating)],
            ["True/Healthy since 20", "False/Creating since 0"],
        ),
        // What it has waited to start takes nothing from its grace period.
        (
            310,
            1,
            [on(Reason::Healthy), on(Reason::Creating)],
            ["True/Healthy since 20", "False/Creating since 0"],
        ),
        (
            320,
            1,
            [on(Reason::Scaling), on(Reason::Creating)],
            ["False/Scaling since 320", "False/Down since 0"],
        ),
        // A new generation begins anew, for the one that isn't healthy.
        (
            400,
            2,
            [on(Reason::Healthy), on(Reason::Updating)],
            ["True/Healthy since 400", "False/Updating since 0"],
        ),
        (
            699,
            2,
            [on(Reason::Healthy), on(Reason::Updating)],
            ["True/Healthy since 400", "False/Updating since 0"],
        ),
        (
            700,
            2,
            [on(Reason::Failing), on(Reason::Updating)],
            ["False/Failing since 700", "False/Down since 0"],
        ),
        // A failed run neither ends nor restarts it.
        (710, 2, [on(Reason::Error), on(Reason::Error)], ["False/Error since 700", "False/Error since 0"]),
        (
            720,
            2,
            [on(Reason::Failing), on(Reason::Updating)],
            ["False/Failing since 700", "False/Down since 0"],
        ),
        (
            1000,
            2,
            [on(Reason::Failing), on(Reason::Healthy)],
            ["False/Down since 700", "True/Healthy since 1000"],
        ),
        // Suspension is true, so that from Healthy it is no transition.
        (
            1100,
            3,
            [(Stage::Suspended, Reason::Suspending, None), (Stage::Suspended, Reason::Suspended, None)],
            ["True/Suspending since 1100", "True/Suspended since 1000"],
        ),
        (
            1200,
            4,
            [
                (Stage::Off, Reason::Updating, None),
                (Stage::GateFailed("why".to_owned()), Reason::Healthy, None),
            ],
            ["False/Updating since 1200", "False/FeatureGateError since 1200"],
        ),
        (
            1300,
            4,
            [(Stage::Off, Reason::Disabled, None), on(Reason::Creating)],
            ["True/Disabled since 1300", "False/Creating since 1200"],
        ),
    ];
    for (seconds, generation, both, expected) in runs {
        assert_eq!(stored.run(seconds, generation, both), expected, "at {seconds} s");
    }
}

#[test]
fn the_same_again_writes_nothing() {
    let mut stored = Stored::default();
    let on = |reason| (Stage::On, reason, Some(Reason::Down));
    let both = || [on(Reason::Healthy), on(Reason::Blocked)];
    stored.run(0, 1, both());
    let (conditions, since) = (stored.conditions.clone(), stored.since);
    stored.run(200, 1, both());
    assert_eq!((&stored.conditions, stored.since), (&conditions, since));
}
