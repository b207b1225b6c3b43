//! Parts of a random workflow: in each stage the reconciler calls one or two of them, or the whole. Within a call the rules are
//! those of the whole, and a node outside keeps what it comes after.

use integration_tests::prelude::*;
use operator_core::workflow::{NodeKey, Predecessor, declare::Part};

use super::{STAGES, Says, World, each, live, nodes::Named, stage_of};

/// The number of workflows; nightly has more.
const WORLDS: usize = 50;

impl World {
    fn in_parts(seed: u64) -> Self {
        let (mut world, mut random) = (Self::of(seed), Random::new(!seed));
        let count = world.nodes.len();
        for says in world.nodes.iter_mut().flat_map(|node| &mut node.says) {
            // Who takes a name over isn't known before the other one is in the same part.
            if let Says::Names { names, .. } = says {
                names.retain(|name| !name.starts_with("shared"));
            }
        }
        let mut call = |whole| match random.chance(whole) {
            true => Vec::new(),
            false => (0..1 + random.below(2)).map(|_| random.below(count)).collect(),
        };
        world.calls = (0..STAGES)
            .map(|stage| match stage {
                // Something should be there.
                0 => vec![call(50), call(50)],
                _ => (0..1 + seed as usize % 2).map(|_| call(20)).collect(),
            })
            .collect();
        world
    }

    /// The nodes of each call of a stage: those that it names, and all that they come after.
    pub(super) fn parts(&self, stage: usize) -> Vec<BTreeSet<usize>> {
        let whole = || (0..self.nodes.len()).collect();
        let Some(calls) = self.calls.get(stage) else { return vec![whole()] };
        let part = |named: &Vec<usize>| {
            let mut part: BTreeSet<usize> = named.iter().copied().collect();
            for node in (0..self.nodes.len()).rev().filter(|_| !named.is_empty()) {
                if part.contains(&node) {
                    part.extend(self.nodes[node].after.iter().map(|(before, _)| *before));
                }
            }
            if named.is_empty() { whole() } else { part }
        };
        calls.iter().map(part).collect()
    }
}

/// A part that isn't known when this is compiled.
struct Chosen(Vec<Named>);

impl Part<TestResource, Chosen> for Chosen {
    fn keys(self, keys: &mut Vec<NodeKey>) {
        keys.extend(self.0.iter().map(Predecessor::<TestResource, Named>::key));
    }
}

/// A reconciler that makes the calls of the stage, and fails if one of them has failed.
pub(super) fn calling(world: &World, nodes: Vec<Named>) -> Script {
    let calls = world.calls.clone();
    Script::new(move |_, primary: Arc<TestResource>, cx| {
        let calls = calls[stage_of(&primary)].iter();
        let calls = calls.map(|named| named.iter().map(|node| nodes[*node].clone()).collect::<Vec<_>>());
        let calls: Vec<_> = calls.map(Chosen).collect();
        Box::pin(async move {
            let mut outcome = Ok(());
            for call in calls {
                let called = if call.0.is_empty() { cx.run().await } else { cx.run_only(call).await };
                outcome = outcome.and(called.map(drop));
            }
            outcome?;
            Ok(UpdateControl::no_update())
        })
    })
}

#[tokio::test(start_paused = true)]
async fn a_part_keeps_the_rules_and_what_a_node_outside_comes_after() -> Result<()> {
    each(("ORDER_WORLDS", WORLDS), World::in_parts, async |world| live(world).await).await
}
