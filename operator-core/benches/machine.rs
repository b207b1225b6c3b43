//! The processor's machine: many keys, one key, many timers.

#[path = "support/cpu.rs"]
mod cpu;
mod support;

use std::{hint::black_box, time::Duration};

use cpu::ThreadCpu;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use operator_core::{
    ObjectKey,
    bench::{Effect, Input, Machine, MachineConfig, Outcome, Reschedule, RunId, Uid},
    environment::Now,
    observe::{Cause, SourceIndex},
};
use support::budget;

const KEYS: usize = 10_000;
const TIMERS: usize = 100_000;
const SECONDARY: Cause = Cause::Source(SourceIndex(0));

/// A started machine whose primaries are all running, and their runs.
struct Scene {
    machine: Machine,
    effects: Vec<Effect>,
    runs: Vec<(RunId, ObjectKey)>,
    now: Now,
}

impl Scene {
    fn new(keys: usize) -> Self {
        let config = MachineConfig { max_concurrent: keys, ..MachineConfig::default() };
        let mut scene =
            Self { machine: Machine::new(config), effects: Vec::new(), runs: Vec::new(), now: Now::START };
        scene.tell(Input::Start { opening: 0, namespace: None });
        for number in 0..keys {
            let (key, uid) =
                (ObjectKey::namespaced("shop", &format!("primary-{number}")), number.to_string());
            scene.tell(Input::PrimaryChanged {
                key,
                uid: Uid::new(&uid),
                cause: Cause::Created,
                deleting: false,
            });
        }
        assert_eq!(scene.runs.len(), keys);
        scene
    }

    fn tell(&mut self, input: Input) {
        self.machine.on(input, self.now, &mut self.effects);
        self.take_runs();
    }

    fn take_runs(&mut self) {
        for effect in self.effects.drain(..) {
            if let Effect::Run(run) = effect {
                self.runs.push((run.id, run.key));
            }
        }
    }

    fn keys(&self) -> Vec<ObjectKey> {
        self.runs.iter().map(|(_, key)| key.clone()).collect()
    }

    fn finish_all(&mut self, reschedule: impl Fn(usize) -> Option<Duration>) {
        for (number, (run, key)) in std::mem::take(&mut self.runs).into_iter().enumerate() {
            self.tell(Input::Finished {
                run,
                key,
                outcome: Outcome::Success { reschedule: reschedule(number).map(Reschedule::After) },
            });
        }
    }
}

fn events(criterion: &mut Criterion<ThreadCpu>) {
    budget("events for 10 k keys through the machine: at least 1 M events/s on one core (thrpt, Melem/s)");
    let mut group = criterion.benchmark_group("machine");
    group.throughput(Throughput::Elements(KEYS as u64));

    let mut scene = Scene::new(KEYS);
    let keys = scene.keys();
    group.bench_function("coalesced events over 10 k keys", |bencher| {
        bencher.iter(|| {
            for key in &keys {
                scene.tell(Input::Related { key: key.clone(), cause: SECONDARY });
            }
            black_box(&scene.runs);
        });
    });

    let mut scene = Scene::new(KEYS);
    let keys = scene.keys();
    scene.finish_all(|_| None);
    group.bench_function("events over 10 k keys, each with its run from start to end", |bencher| {
        bencher.iter(|| {
            for key in &keys {
                scene.tell(Input::Related { key: key.clone(), cause: SECONDARY });
            }
            scene.finish_all(|_| None);
            black_box(&scene.runs);
        });
    });

    let mut scene = Scene::new(KEYS);
    let key = scene.keys().swap_remove(0);
    group.bench_function("burst of 10 k events on one key", |bencher| {
        bencher.iter(|| {
            for _ in 0..KEYS {
                scene.tell(Input::Related { key: key.clone(), cause: SECONDARY });
            }
            black_box(&scene.runs);
        });
    });
    group.finish();
}

fn timers(criterion: &mut Criterion<ThreadCpu>) {
    budget("none of its own; a timer costs an event when it is set and one when it is due: at least 1 M/s");
    let mut group = criterion.benchmark_group("machine");
    group.throughput(Throughput::Elements(TIMERS as u64)).sample_size(10);
    let mut scene = Scene::new(TIMERS);
    // A multiple of a prime modulo the number spreads the deadlines, so that they are not set in their order.
    let spread = |number: usize| Some(Duration::from_millis(1 + (number * 7_919 % TIMERS) as u64));
    group.bench_function("100 k timers, set and fired, with their runs", |bencher| {
        bencher.iter(|| {
            scene.finish_all(spread);
            while let Some(deadline) = scene.machine.next_deadline() {
                scene.now = deadline + Duration::from_millis(100);
                scene.machine.tick(scene.now, &mut scene.effects);
                scene.take_runs();
                if scene.runs.len() == TIMERS {
                    break;
                }
            }
        });
    });
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadCpu);
    targets = events, timers
}
criterion_main!(benches);
