//! Random histories of Jobs, and a model that says which may be made.
//!
//! Two controllers make Jobs for one primary, by two replicas of their operator. What a replica knows of the primary's annotations and of
//! Jobs may be old, a run may die after any of its writes, and a node may be renamed, by replicas that begin anew. In each case:
//!
//! - what a run has noted as done, and all runs since then have wanted, is never made again;
//! - what isn't there is left alone only where a run has seen it done, and no run that knew all has forgotten it since.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use k8s_openapi::api::{batch::v1::Job, core::v1::ConfigMap};
use proptest::prelude::*;
use serde_json::json;

use super::Jobs;
use crate::{
    properties::{daily, many},
    resource::{
        AnyObject, ControllerMarks, DoneBy, DoneJobs, MarkNames, ObjectKey, ResourceType, fingerprint,
    },
};

const CONTROLLERS: [&str; 2] = ["shop", "bank"];
const NODES: [&str; 2] = ["migration", "moved"];
const JOBS: usize = 3;
const CONTENTS: usize = 2;
const REPLICAS: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Running,
    Succeeded,
    Failed,
}

/// A Job, by its number and that of its content.
type What = (usize, usize);

/// The Jobs of a controller that are there, with contents and states.
type There = BTreeMap<usize, (usize, State)>;

/// The possible events. The first number is always that of the controller.
#[derive(Clone, Debug)]
enum Step {
    /// The primary changes: these contents are wanted now.
    Want(usize, [Option<usize>; JOBS]),
    End(usize, usize, State),
    /// Its time is over, or someone has deleted it.
    Remove(usize, usize),
    Rename(usize),
    /// The replica sees the annotations, and the Jobs, as they are by now; with both it was started anew.
    Sync(usize, bool, bool),
    /// A replica runs, and dies after so many writes.
    Run(usize, usize, usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (controller, job, replica) = (0..CONTROLLERS.len(), 0..JOBS, 0..REPLICAS);
    let wanted = proptest::array::uniform3(proptest::option::weighted(0.8, 0..CONTENTS));
    let state = prop_oneof![3 => Just(State::Succeeded), 1 => Just(State::Failed)];
    let writes = prop_oneof![4 => Just(usize::MAX), 1 => 0..4_usize];
    let step = prop_oneof![
        1 => (controller.clone(), wanted).prop_map(|(of, wanted)| Step::Want(of, wanted)),
        6 => (controller.clone(), job.clone(), state).prop_map(|(of, job, state)| Step::End(of, job, state)),
        6 => (controller.clone(), job).prop_map(|(of, job)| Step::Remove(of, job)),
        1 => controller.clone().prop_map(Step::Rename),
        8 => (replica.clone(), any::<bool>(), any::<bool>()).prop_map(|(at, told, jobs)| Step::Sync(at, told, jobs)),
        12 => (controller, replica, writes).prop_map(|(of, at, writes)| Step::Run(of, at, writes)),
    ];
    proptest::collection::vec(step, 1..120)
}

/// One of the controllers, with its only node.
struct Owner {
    marks: ControllerMarks,
    node: usize,
    wanted: [Option<usize>; JOBS],
    there: There,
    /// The Jobs that must not be created again.
    must: BTreeSet<What>,
    /// The Jobs that may be left alone though they don't exist.
    may: BTreeSet<What>,
}

fn marks(controller: usize, node: usize) -> ControllerMarks {
    let nodes = [(NODES[node], &ResourceType::of::<Job>())].into_iter().collect();
    ControllerMarks::new(MarkNames::default(), CONTROLLERS[controller], BTreeSet::new(), nodes)
}

/// The knowledge of a replica.
#[derive(Clone, Default)]
struct Known {
    primary: ConfigMap,
    jobs: [There; CONTROLLERS.len()],
}

struct World {
    primary: ConfigMap,
    owners: [Owner; CONTROLLERS.len()],
    replicas: [Known; REPLICAS],
    prints: BTreeMap<(usize, What), String>,
}

fn object(controller: usize, (job, content): What, state: State) -> AnyObject {
    let name = format!("{}-{job}", CONTROLLERS[controller]);
    let condition = |of: &str| json!({ "conditions": [{ "type": of, "status": "True" }] });
    let status = match state {
        State::Running => json!({ "active": 1 }),
        State::Succeeded => condition("Complete"),
        State::Failed => condition("Failed"),
    };
    let template = json!({ "spec": { "containers": [{ "name": "run", "args": [content.to_string()] }] } });
    let job = json!({ "metadata": { "name": name, "namespace": "shop" }, "spec": { "template": template }, "status": status });
    Arc::new(serde_json::from_value::<Job>(job).expect("it is a Job"))
}

impl World {
    fn new() -> Self {
        let owner = |controller| Owner {
            marks: marks(controller, 0),
            node: 0,
            wanted: [None; JOBS],
            there: There::new(),
            must: BTreeSet::new(),
            may: BTreeSet::new(),
        };
        let all = (0..CONTROLLERS.len()).flat_map(|of| {
            (0..JOBS).flat_map(move |job| (0..CONTENTS).map(move |content| (of, (job, content))))
        });
        let print =
            |(of, what)| fingerprint(&*object(of, what, State::Running), true).expect("it can be spelled");
        Self {
            primary: ConfigMap::default(),
            owners: [0, 1].map(owner),
            replicas: <[Known; REPLICAS]>::default(),
            prints: all.map(|of| (of, print(of))).collect(),
        }
    }

    fn step(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Want(of, wanted) => {
                self.owners[of].wanted = wanted;
                self.show_annotations();
            }
            Step::End(of, job, state) => {
                if let Some(there) =
                    self.owners[of].there.get_mut(&job).filter(|there| there.1 == State::Running)
                {
                    there.1 = state;
                }
            }
            Step::Remove(of, job) => drop(self.owners[of].there.remove(&job)),
            Step::Rename(of) => {
                let owner = &mut self.owners[of];
                owner.node = (owner.node + 1) % NODES.len();
                owner.marks = marks(of, owner.node);
                self.show_annotations();
            }
            Step::Sync(at, annotations, jobs) => {
                let replica = &mut self.replicas[at];
                if annotations {
                    replica.primary = self.primary.clone();
                }
                if jobs {
                    replica.jobs = [0, 1].map(|of| self.owners[of].there.clone());
                }
            }
            Step::Run(of, at, writes) => drop(self.run(of, at, writes)?),
        }
        Ok(())
    }

    /// Who sees a change of the primary sees what else it said by then, and so does who begins anew.
    fn show_annotations(&mut self) {
        self.replicas.iter_mut().for_each(|replica| replica.primary = self.primary.clone());
    }

    /// Changes the annotation as it is by now, which the replica then knows.
    fn write(&mut self, of: usize, at: usize, change: impl FnOnce(&mut DoneJobs)) {
        let marks = &self.owners[of].marks;
        let mut remembered = DoneJobs::of(&self.primary, marks);
        change(&mut remembered);
        let annotations = self.primary.metadata.annotations.get_or_insert_default();
        match remembered.text() {
            Some(text) => drop(annotations.insert(marks.names().done_jobs().to_owned(), text)),
            None => drop(annotations.remove(marks.names().done_jobs())),
        }
        self.replicas[at].primary = self.primary.clone();
    }

    /// The work of the shell in a run; none if it has died.
    fn run(&mut self, of: usize, at: usize, mut writes: usize) -> Result<Option<()>, TestCaseError> {
        let mut may_write = || {
            let lives = writes > 0;
            writes = writes.saturating_sub(1);
            lives.then_some(())
        };
        macro_rules! lives {
            () => {
                if may_write().is_none() {
                    return Ok(None);
                }
            };
        }
        let marks = self.owners[of].marks.clone();
        let wanted: BTreeMap<usize, usize> = self.owners[of]
            .wanted
            .iter()
            .enumerate()
            .filter_map(|(job, content)| Some((job, (*content)?)))
            .collect();
        let key = |job: usize| ObjectKey::in_meta(object(of, (job, 0), State::Running).meta());
        let prints: BTreeMap<ObjectKey, String> = wanted
            .iter()
            .map(|(job, content)| (key(*job), self.prints[&(of, (*job, *content))].clone()))
            .collect();

        let known = &self.replicas[at];
        let lacks = |missing: &ObjectKey| !known.jobs[of].keys().any(|job| key(*job) == *missing);
        let remembered = DoneJobs::of(&known.primary, &marks);
        if Jobs::unknown(&prints, &remembered, &marks).any(lacks) {
            self.replicas[at].primary = self.primary.clone();
        }
        let known = &self.replicas[at];
        let knows_all = known.primary == self.primary && known.jobs[of] == self.owners[of].there;
        let node: DoneBy = marks.done_by(NODES[self.owners[of].node], false);
        let mut jobs = Jobs::new(node, prints, &DoneJobs::of(&known.primary, &marks), &marks);
        let is_wanted = |what: &What| wanted.get(&what.0) == Some(&what.1);
        self.owners[of].must.retain(is_wanted);
        if jobs.has_news() {
            lives!();
            self.write(of, at, |remembered| jobs.note_in(remembered));
        }
        jobs.noted();

        let (owner, known) = (&mut self.owners[of], &mut self.replicas[at].jobs[of]);
        owner.there.retain(|job, _| wanted.contains_key(job) || !known.contains_key(job));
        known.retain(|job, _| wanted.contains_key(job));
        let mut seen = BTreeSet::new();
        for (job, content) in wanted.iter().map(|(job, content)| (*job, *content)) {
            let actual = known.get(&job).copied();
            if actual.is_none() && jobs.is_over(&key(job)) {
                prop_assert!(owner.may.contains(&(job, content)), "{job} {content} is not made");
                continue;
            }
            let state = match actual {
                Some((there, state)) if there == content => state,
                _ => {
                    lives!();
                    let there = owner.there.get(&job).copied();
                    let is_there = there.filter(|there| there.0 == content);
                    // What is brought up to date by an old view may be gone.
                    let is_unseen = actual.is_some() && there.is_none();
                    prop_assert!(
                        is_there.is_some() || is_unseen || !owner.must.contains(&(job, content)),
                        "{job} {content} is made again"
                    );
                    let made = is_there.unwrap_or((content, State::Running));
                    owner.there.insert(job, made);
                    known.insert(job, made);
                    made.1
                }
            };
            jobs.see(&object(of, (job, content), state));
            if state == State::Succeeded {
                seen.insert((job, content));
            }
        }
        if jobs.has_news() {
            lives!();
            self.write(of, at, |remembered| jobs.note_in(remembered));
        }
        let owner = &mut self.owners[of];
        // What an old view shows may have been replaced by another content since, and that counts.
        let stands = |what: &&What| owner.there.get(&what.0).is_none_or(|there| there.0 == what.1);
        owner.must.extend(seen.iter().filter(stands));
        owner.may.extend(&seen);
        if DoneJobs::of(&self.replicas[at].primary, &marks).forget_departed(&marks) {
            lives!();
            self.write(of, at, |remembered| {
                remembered.forget_departed(&marks);
            });
        }
        if knows_all {
            self.owners[of].may.retain(is_wanted);
        }
        Ok(Some(()))
    }
}

#[test]
fn who_notes_something_upon_an_old_view_keeps_what_stands_there() {
    let (all, mut world) = (usize::MAX, World::new());
    let steps = [
        Step::Want(0, [Some(0), Some(0), None]),
        Step::Run(0, 1, all),
        Step::End(0, 0, State::Succeeded),
        Step::Sync(0, true, true),
        Step::End(0, 1, State::Succeeded),
        Step::Sync(1, false, true),
        Step::Run(0, 1, all),
        // The other replica has seen only one of them at its end, and knows nothing of what was noted since.
        Step::Run(0, 0, all),
        Step::Remove(0, 1),
        Step::Sync(0, true, true),
        Step::Run(0, 0, all),
    ];
    for step in &steps {
        world.step(step).expect("nothing is made again");
    }
    assert!(!world.owners[0].there.contains_key(&1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: many(800), ..daily() })]

    #[test]
    fn no_job_is_made_again_or_left_out(steps in steps()) {
        let mut world = World::new();
        for step in &steps {
            world.step(step)?;
        }
        // In the end the annotation has nothing unwanted.
        for of in 0..CONTROLLERS.len() {
            world.step(&Step::Want(of, [None; JOBS]))?;
            world.step(&Step::Sync(0, true, true))?;
            world.step(&Step::Run(of, 0, usize::MAX))?;
        }
        for owner in &world.owners {
            prop_assert!(owner.there.is_empty() && owner.may.is_empty(), "{:?} {:?}", owner.there, owner.may);
            prop_assert_eq!(DoneJobs::of(&world.primary, &owner.marks).text(), None);
        }
    }
}
