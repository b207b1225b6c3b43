//! An event that joins what is already pending allocates nothing.

use operator_core::{
    ObjectKey,
    bench::{Effect, Input, Machine, MachineConfig, Uid},
    environment::Now,
    observe::{Cause, SourceIndex},
};

const KEYS: usize = 10_000;

/// A machine that knows its keys by `cause`, of which fifty are running and all others queued.
fn machine(keys: &[ObjectKey], cause: Cause, effects: &mut Vec<Effect>) -> Machine {
    let mut machine = Machine::new(MachineConfig { max_concurrent: 50, ..MachineConfig::default() });
    machine.on(Input::Start { opening: 0, namespace: None }, Now::START, effects);
    for (number, key) in keys.iter().enumerate() {
        let uid = Uid::new(&number.to_string());
        machine.on(
            Input::PrimaryChanged { key: key.clone(), uid, cause, deleting: false },
            Now::START,
            effects,
        );
    }
    effects.clear();
    machine
}

fn events_for(keys: &[ObjectKey]) -> Vec<Input> {
    let cause = Cause::Source(SourceIndex(0));
    keys.iter().map(|key| Input::Related { key: key.clone(), cause }).collect()
}

/// How many allocations the machine makes while it takes in these events.
fn allocations(machine: &mut Machine, events: Vec<Input>, effects: &mut Vec<Effect>) -> u64 {
    let counted = allocation_counter::measure(|| {
        for event in events {
            machine.on(event, Now::START, effects);
        }
    });
    assert!(effects.is_empty(), "events that join others ask for nothing: {effects:?}");
    counted.count_total
}

#[test]
fn the_allocator_counts() {
    let counted = allocation_counter::measure(|| drop(std::hint::black_box(vec![0_u8; 64])));
    assert_eq!(counted.count_total, 1);
}

#[test]
fn events_of_running_and_queued_primaries_allocate_nothing() {
    let keys: Vec<_> = (0..KEYS).map(|number| ObjectKey::namespaced("shop", &number.to_string())).collect();
    let mut effects = Vec::new();
    let mut machine = machine(&keys, Cause::Created, &mut effects);
    assert_eq!(machine.running(), 50);
    assert_eq!(allocations(&mut machine, events_for(&keys), &mut effects), 0);
}

#[test]
fn the_strings_of_a_key_are_those_that_came_with_the_first_event() {
    let key = ObjectKey::namespaced("shop", "one");
    let mut effects = Vec::new();
    let mut machine = Machine::new(MachineConfig::default());
    machine.on(Input::Start { opening: 0, namespace: None }, Now::START, &mut effects);
    let (uid, cause) = (Uid::new("1"), Cause::Created);
    machine.on(
        Input::PrimaryChanged { key: key.clone(), uid, cause, deleting: false },
        Now::START,
        &mut effects,
    );
    let run = effects.into_iter().find_map(|effect| match effect {
        Effect::Run(run) => Some(run),
        _ => None,
    });
    assert_eq!(run.expect("it runs at once").key.name().as_ptr(), key.name().as_ptr());
}

#[test]
fn a_burst_on_one_primary_allocates_nothing() {
    let keys = [ObjectKey::namespaced("shop", "one")];
    let mut effects = Vec::new();
    let mut machine = machine(&keys, Cause::Created, &mut effects);
    let burst = (0..KEYS).flat_map(|_| events_for(&keys)).collect();
    assert_eq!(allocations(&mut machine, burst, &mut effects), 0);
}
