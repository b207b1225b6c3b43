//! Order is only order, with random workflows over both words: what exists after each of three stages, in which order it was
//! removed, which object it is, and what each node says is what the [oracle] expects.

mod oracle;
mod reads;

use integration_tests::prelude::*;
use operator_core::{
    Many, Node, Run, Verdict, Want,
    testing::seed_of_the_day,
    workflow::{Activation, Cluster, WorkflowBuilder},
};

use crate::simulated::{pass, scene, under};
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
}

#[derive(Clone, Debug)]
struct World {
    nodes: Vec<OneNode>,
    /// The order in which they are declared.
    declared: Vec<usize>,
}

impl World {
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let count = 2 + random.below(5);
        let mut nodes: Vec<OneNode> = (0..count)
            .map(|node| {
                let before: Vec<usize> = (0..node).filter(|_| random.chance(45)).collect();
                let after = before.into_iter().map(|other| (other, random.chance(40))).collect();
                OneNode { after, says: Vec::new(), needs: random.chance(20) }
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
                        // As a name with a hash of the content.
                        names.insert(format!("hash-{number}-{}", random.below(stage + 1)));
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
                if is_unsure {
                    continue;
                }
                if let Says::Names { names, .. } = &mut nodes[taker].says[stage] {
                    names.insert(shared(name));
                }
            }
        }
        let mut declared: Vec<usize> = (0..count).collect();
        declared.sort_by_key(|_| random.below(1_000));
        Self { nodes, declared }
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

/// Whether a node takes part in the present stage.
struct Part(Arc<Mutex<BTreeSet<usize>>>, usize);

impl Activation for Part {
    async fn check(&self, _: &Cluster<'_>) -> Result<Verdict, BoxError> {
        let is_out = self.0.lock().contains(&self.1);
        Ok(Verdict::when(!is_out, "it takes no part"))
    }
}

fn name_of(node: usize) -> String {
    format!("node-{node}")
}

fn node_of(
    world: &World,
    number: usize,
    all: &[Node<TestResource, Many<ConfigMap>>],
) -> Node<TestResource, Many<ConfigMap>> {
    let OneNode { after, says, .. } = world.nodes[number].clone();
    let answers = says.clone();
    let wanted = move |primary: &TestResource| -> Result<Want<Vec<ConfigMap>>> {
        let stage = stage_of(primary);
        Ok(match &says[stage] {
            Says::Names { names, .. } => {
                let map = |name: &String| {
                    let mut map = map_of(primary, "x", &format!("{number} in {stage}"));
                    map.metadata.name = Some(name.clone());
                    map
                };
                Want::of(names.iter().map(map).collect())
            }
            Says::None => Want::none("not wanted"),
            Says::Hold => Want::hold("Later", "not now"),
            Says::Fail => bail!("it can't say"),
            // It isn't asked.
            Says::Inactive => Want::of(Vec::new()),
        })
    };
    let ready = move |primary: &TestResource| {
        !matches!(&answers[stage_of(primary)], Says::Names { ready: false, .. })
    };
    let node = operator_core::node(wanted).named(name_of(number)).ready(ready);
    after.iter().fold(node, |node, (other, requires)| match requires {
        true => node.requires(&all[*other]),
        false => node.after(&all[*other]),
    })
}

/// The workflow. Nodes are made in their order, and declared in any.
fn workflow(world: &World, out: &Arc<Mutex<BTreeSet<usize>>>) -> WorkflowBuilder<TestResource> {
    let mut all = Vec::new();
    for number in 0..world.nodes.len() {
        let node = node_of(world, number, &all);
        let needs = world.nodes[number].needs;
        all.push(if needs { node.needs(Part(Arc::clone(out), number)) } else { node });
    }
    let mut all: Vec<_> = all.into_iter().map(Some).collect();
    let nodes = world.declared.iter().filter_map(|number| all[*number].take());
    nodes.fold(Workflow::builder(), |builder, node| builder.nodes((node,)))
}

async fn objects(scene: &Scene) -> Result<BTreeMap<String, (usize, String)>> {
    let maps = scene.api::<ConfigMap>().list(&Default::default()).await?.items;
    let made = maps.into_iter().filter_map(|map| {
        let node = map.labels().get("operator-core.io/node")?.strip_prefix("node-")?.parse().ok()?;
        Some((map.name_any(), (node, map.uid()?)))
    });
    Ok(made.collect())
}

/// In which order a stage has written: each object of a node that is removed goes after what is behind the node was written or
/// removed.
fn in_order(world: &World, written: &[String], makers: &Objects, takers: &Objects) -> Result<()> {
    let name = |line: &str| line.split(['/', ' ']).nth(2).map(str::to_owned);
    let of = |line: &String| {
        let name = name(line)?;
        let by = if line.starts_with("DELETE") { makers } else { takers };
        by.get(&name).copied()
    };
    for (at, line) in written.iter().enumerate().filter(|(_, line)| line.starts_with("DELETE")) {
        let Some(node) = of(line) else { continue };
        let behind = world.behind(node);
        let late = written[at..].iter().find(|later| of(later).is_some_and(|other| behind.contains(&other)));
        ensure!(late.is_none(), "{line} comes before {late:?}: {written:?}");
    }
    Ok(())
}

async fn live(world: &World) -> Result<()> {
    let scene = scene().await?;
    let out = Arc::new(Mutex::new(BTreeSet::new()));
    // The status function is called at each end of a run.
    let outcomes: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = Arc::clone(&outcomes);
    let status = move |_: &TestResource, run: &Run<TestResource>| {
        *noted.lock() = run.nodes().iter().map(|node| format!("{}: {}", node.name, node.state)).collect();
        TestStatus::default()
    };
    let controller = scene.managed(&Script::idle(), &workflow(world, &out).build()?).status(status);
    let operator = under(&Faults::none(), &scene, controller).await?;
    let mut known = BTreeMap::new();
    for stage in 0..STAGES {
        let is_out = |node: &usize| matches!(world.nodes[*node].says[stage], Says::Inactive);
        *out.lock() = (0..world.nodes.len()).filter(is_out).collect();
        match stage {
            0 => drop(scene.create("one", "0").await?),
            _ => drop(scene.set("one", &stage.to_string()).await?),
        }
        pass(60).await;
        let written = operator.settled().await?.written();
        let now = objects(&scene).await?;
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
        for (position, node) in world.declared.iter().enumerate() {
            let (line, says) = (&lines[position], expected.states[*node]);
            let state = line.split_once(": ").map_or("", |(_, state)| state);
            let fits = match says {
                "ready" => {
                    ["created", "updated", "matched", "deleted"].iter().any(|word| state.starts_with(word))
                        && !state.contains("not ready")
                }
                "not ready" => state.contains(", not ready"),
                other => state.starts_with(other),
            };
            ensure!(fits, "stage {stage}: {line}, and {says} is expected: {lines:?}");
        }
        known = now;
    }
    scene.delete("one").await?;
    pass(60).await;
    ensure!(scene.resources.get_opt("one").await?.is_none(), "the primary has gone");
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_is_not_wanted_goes_last_and_takes_along_only_what_requires_it() -> Result<()> {
    let live = async |world: &World| if world.swaps() { Ok(()) } else { live(world).await };
    each(("ORDER_WORLDS", WORLDS), World::of, live).await
}
