//! Order is only order, with random workflows over both words: what exists after each of three stages, in which order it was
//! removed, which object it is, and what each node says is what the [oracle] expects.

mod nodes;
mod oracle;
mod parts;
mod reads;

use integration_tests::prelude::*;
use operator_core::{Run, testing::seed_of_the_day};

use crate::simulated::{pass, scene, under};
use nodes::{Around, in_order, objects, workflow};
use oracle::{Objects, expected};

/// The number of workflows; nightly has more.
const WORLDS: usize = 50;
const STAGES: usize = 3;
/// The names that pass from node to node.
const SHARED: usize = 3;

/// What a node says in a stage.
#[derive(Clone, Debug)]
enum Says {
    Names { names: BTreeSet<String>, ready: bool },
    None,
    Hold,
    Fail,
    Inactive,
}

#[derive(Clone, Debug)]
struct OneNode {
    /// The nodes that it comes after, and whether it requires each.
    after: Vec<(usize, bool)>,
    says: Vec<Says>,
    /// Whether it may take no part.
    needs: bool,
    /// Whether its names are the keys of records, and not the names of config maps.
    is_records: bool,
}

#[derive(Clone, Debug)]
struct World {
    nodes: Vec<OneNode>,
    /// The order in which they are declared.
    declared: Vec<usize>,
    /// For each stage the calls of the reconciler, each with the nodes that it names; none is the whole. Without stages, the
    /// framework runs the workflow.
    calls: Vec<Vec<Vec<usize>>>,
}

impl World {
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let count = 2 + random.below(5);
        let mut nodes: Vec<OneNode> = (0..count)
            .map(|node| {
                let before: Vec<usize> = (0..node).filter(|_| random.chance(45)).collect();
                let after = before.into_iter().map(|other| (other, random.chance(40))).collect();
                OneNode { after, says: Vec::new(), needs: random.chance(20), is_records: random.chance(30) }
            })
            .collect();
        for stage in 0..STAGES {
            for (number, node) in nodes.iter_mut().enumerate() {
                let says = match random.below(12) {
                    0 | 1 => Says::None,
                    2 => Says::Hold,
                    3 => Says::Fail,
                    4 if node.needs => Says::Inactive,
                    _ => {
                        let own =
                            (0..3).filter(|_| random.chance(50)).map(|item| format!("own-{number}-{item}"));
                        let mut names: BTreeSet<String> = own.collect();
                        // As a name with a hash of the content. Without names the node is complete.
                        if random.chance(85) {
                            names.insert(format!("hash-{number}-{}", random.below(stage + 1)));
                        }
                        Says::Names { names, ready: random.chance(85) }
                    }
                };
                node.says.push(says);
            }
            // Each shared name has one node that wants it, so that it passes on from stage to stage. The one that has it may
            // say so only if it can be asked.
            for name in 0..SHARED {
                let last = |node: &OneNode| stage > 0 && node.wants(stage - 1, name);
                let is_unsure = nodes.iter().any(|node| {
                    (0..stage).any(|stage| node.wants(stage, name))
                        && matches!(node.says[stage], Says::Hold | Says::Fail | Says::Inactive)
                });
                let (any, stays) = (random.below(count), random.chance(40));
                let taker = nodes.iter().position(last).filter(|_| stays).unwrap_or(any);
                if is_unsure || nodes[taker].is_records {
                    continue;
                }
                if let Says::Names { names, .. } = &mut nodes[taker].says[stage] {
                    names.insert(shared(name));
                }
            }
        }
        let mut declared: Vec<usize> = (0..count).collect();
        declared.sort_by_key(|_| random.below(1_000));
        Self { nodes, declared, calls: Vec::new() }
    }

    /// Whether its turn may come late, so that nobody waits for its word.
    fn is_late(&self, node: usize) -> bool {
        self.nodes[node].needs || !self.nodes[node].after.is_empty()
    }

    /// The nodes behind this one.
    fn behind(&self, node: usize) -> BTreeSet<usize> {
        let mut behind = BTreeSet::new();
        for other in node + 1..self.nodes.len() {
            if self.nodes[other].after.iter().any(|(of, _)| *of == node || behind.contains(of)) {
                behind.insert(other);
            }
        }
        behind
    }

    /// Whether two nodes, one behind the other, swap names from one stage to the next, which is an error.
    fn swaps(&self) -> bool {
        let passes = |from: usize, to: usize, stage: usize| {
            let had =
                (0..SHARED).filter(|name| (0..stage).any(|before| self.nodes[from].wants(before, *name)));
            had.into_iter().any(|name| self.nodes[to].wants(stage, name))
        };
        (1..STAGES).any(|stage| {
            (0..self.nodes.len()).any(|one| {
                self.behind(one).iter().any(|other| passes(one, *other, stage) && passes(*other, one, stage))
            })
        })
    }
}

impl OneNode {
    fn wants(&self, stage: usize, name: usize) -> bool {
        matches!(&self.says[stage], Says::Names { names, .. } if names.contains(&shared(name)))
    }
}

fn shared(name: usize) -> String {
    format!("shared-{name}")
}

fn stage_of(primary: &TestResource) -> usize {
    primary.spec.value.parse().unwrap_or_default()
}

/// Lives in that number of random worlds, or in as many as the environment variable says.
async fn each<W: std::fmt::Debug>(
    (variable, worlds): (&str, usize),
    world_of: impl Fn(u64) -> W,
    live: impl AsyncFn(&W) -> Result<()>,
) -> Result<()> {
    let seed = seed_of_the_day();
    let worlds = std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(worlds);
    for number in 0..worlds {
        let world = world_of(seed.wrapping_mul(1_000).wrapping_add(number as u64));
        live(&world).await.with_context(|| format!("TEST_SEED={seed}, world {number}: {world:#?}"))?;
    }
    Ok(())
}

/// The states of the nodes by name.
fn lines(run: &Run<TestResource>) -> BTreeMap<String, String> {
    run.nodes().iter().map(|node| (node.name.to_string(), node.state.to_string())).collect()
}

async fn live(world: &World) -> Result<()> {
    let scene = scene().await?;
    let around = Around::new();
    // The status function is called at each end of a run.
    let outcomes: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
    let noted = Arc::clone(&outcomes);
    let status = move |_: &TestResource, run: &Run<TestResource>| {
        *noted.lock() = lines(run);
        TestStatus::default()
    };
    let (workflow, nodes) = workflow(world, &around);
    let controller = match world.calls.is_empty() {
        true => scene.managed(&Script::idle(), &workflow.build()?),
        false => scene.managed(&parts::calling(world, nodes), &workflow.explicit_invocation().build()?),
    };
    let controller = controller.status(status);
    let operator = under(&around.noting(), &scene, controller).await?;
    let mut known = BTreeMap::new();
    for stage in 0..STAGES {
        let is_out = |node: &usize| matches!(world.nodes[*node].says[stage], Says::Inactive);
        *around.out.lock() = (0..world.nodes.len()).filter(is_out).collect();
        match stage {
            0 => drop(scene.create("one", "0").await?),
            _ => drop(scene.set("one", &stage.to_string()).await?),
        }
        pass(60).await;
        operator.settled().await?;
        let written = std::mem::take(&mut *around.written.lock());
        let now = objects(&scene, &around).await?;
        let makers: Objects = known.iter().map(|(name, (by, _))| (String::clone(name), *by)).collect();
        let is: Objects = now.iter().map(|(name, (by, _))| (name.clone(), *by)).collect();
        let expected = expected(world, stage, &makers);
        ensure!(is == expected.objects, "stage {stage}: {is:?}, and not {:?}: {written:?}", expected.objects);
        in_order(world, &written, &makers, &is).context(format!("stage {stage}"))?;
        for (name, (_, uid)) in &now {
            let same = known.get(name).is_none_or(|(_, before)| before == uid);
            ensure!(same, "stage {stage}: {name} is another object: {written:?}");
        }
        let lines = outcomes.lock().clone();
        for (node, says) in expected.states.iter().enumerate() {
            let (name, says) = (nodes::name_of(node), *says);
            let state = lines.get(&name).map_or("", |state| state);
            let fits = match says {
                "ready" => {
                    ["created", "updated", "matched", "deleted"].iter().any(|word| state.starts_with(word))
                        && !state.contains("not ready")
                }
                "not ready" => state.contains(", not ready"),
                "" => state.is_empty(),
                other => state.starts_with(other),
            };
            ensure!(fits, "stage {stage}: {name} is {state}, and {says} is expected: {lines:?}");
        }
        known = now;
    }
    scene.delete("one").await?;
    pass(60).await;
    ensure!(scene.resources.get_opt("one").await?.is_none(), "the primary has gone");
    ensure!(around.records().is_empty(), "its records have, too: {:?}", around.records());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_not_wanted_goes_last_and_takes_along_only_what_requires_it() -> Result<()> {
    let live = async |world: &World| if world.swaps() { Ok(()) } else { live(world).await };
    each(("ORDER_WORLDS", WORLDS), World::of, live).await
}

/// Nobody else would delete them: another system has no garbage collector.
#[tokio::test(start_paused = true)]
async fn records_of_a_node_that_takes_no_part_are_deleted_with_their_primary() -> Result<()> {
    let names = Says::Names { names: ["own".to_owned()].into(), ready: true };
    let says = vec![names.clone(), names, Says::Inactive];
    let node = OneNode { after: Vec::new(), says, needs: true, is_records: true };
    live(&World { nodes: vec![node], declared: vec![0], calls: Vec::new() }).await
}
