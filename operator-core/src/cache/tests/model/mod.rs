//! The cache against a small model of the API server, with writes of ours and of others in any order, and events that come
//! late, or merged by a list after a gap. With one collection for all objects or one for each, with a plain store or a
//! bounded one.

mod checks;
mod world;

use proptest::prelude::*;

use crate::cache::{Change, ChangeKind};

use world::{NAMES, Shape, Told, World};

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Others create, change, mark for deletion, or delete.
    ForeignCreate(usize),
    ForeignUpdate(usize),
    ForeignMark(usize),
    ForeignDelete(usize),
    /// A change of another collection, which only moves the version.
    Elsewhere,
    /// An own write starts; its request reaches the server and changes the object, or changes nothing; its answer arrives;
    /// it ends.
    Begin(usize),
    Request(usize),
    RequestWithoutEffect(usize),
    Answer(usize),
    Finish(usize),
    /// All of an own write.
    Write(usize),
    /// A write whose echo is to be told.
    Remember(usize),
    /// The watch of a collection shows its next event, or that there is none.
    Deliver(usize),
    Bookmark(usize),
    /// A list of a collection is made by the server; one item of it arrives; its end arrives.
    ListMade(usize),
    ListItem(usize),
    ListEnd(usize),
    /// An object that is not held in full is asked for; the server's answer arrives.
    Fetch(usize),
    Fetched(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = 0..NAMES.len();
    let scope = 0..NAMES.len();
    let step = prop_oneof![
        2 => name.clone().prop_map(Step::ForeignCreate),
        4 => name.clone().prop_map(Step::ForeignUpdate),
        1 => name.clone().prop_map(Step::ForeignMark),
        2 => name.clone().prop_map(Step::ForeignDelete),
        1 => Just(Step::Elsewhere),
        5 => name.clone().prop_map(Step::Begin),
        5 => name.clone().prop_map(Step::Request),
        2 => name.clone().prop_map(Step::RequestWithoutEffect),
        5 => name.clone().prop_map(Step::Answer),
        5 => name.clone().prop_map(Step::Finish),
        3 => name.clone().prop_map(Step::Write),
        1 => name.clone().prop_map(Step::Remember),
        12 => scope.clone().prop_map(Step::Deliver),
        2 => scope.clone().prop_map(Step::Bookmark),
        1 => scope.clone().prop_map(Step::ListMade),
        3 => scope.clone().prop_map(Step::ListItem),
        1 => scope.prop_map(Step::ListEnd),
        3 => name.clone().prop_map(Step::Fetch),
        3 => name.prop_map(Step::Fetched),
    ];
    prop::collection::vec(step, 1..80)
}

fn shapes() -> impl Strategy<Value = Shape> {
    (1..=NAMES.len(), prop_oneof![Just(None), (0..3u64).prop_map(Some)])
        .prop_map(|(scopes, max_objects)| Shape { scopes, max_objects })
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn nothing_foreign_is_lost_and_nothing_own_is_told(steps in steps(), shape in shapes()) {
        let mut world = World::new(shape);
        for step in steps {
            world.step(step);
            world.check_reads()?;
        }
        world.check_end()?;
    }

    #[test]
    fn only_own_writes_are_never_told(
        steps in prop::collection::vec((0..NAMES.len(), 0..3u8, any::<bool>()), 1..40),
        shape in shapes(),
    ) {
        let mut world = World::new(shape);
        for (name, deliveries, effect) in steps {
            world.step(Step::Begin(name));
            world.step(if effect { Step::Request(name) } else { Step::RequestWithoutEffect(name) });
            // The echo may overtake the answer.
            world.step(if deliveries == 1 { Step::Deliver(name) } else { Step::Elsewhere });
            world.step(Step::Answer(name));
            world.step(Step::Finish(name));
            for _ in 0..deliveries {
                world.step(Step::Deliver(name));
            }
            world.check_reads()?;
        }
        world.check_end()?;
        let exists = |kind: &_| matches!(kind, ChangeKind::Added { .. } | ChangeKind::Updated { .. });
        let told = world.told.iter();
        let told = told.filter(|told| matches!(told, Told::Change(Change { kind, .. }, _) if exists(kind)));
        prop_assert_eq!(told.count(), 0);
    }
}
