//! Reads need no word about order, with random workflows: names that some nodes make and others read or ask for, objects of the
//! user, any order of declaration. What each reader sees, what is made of it, and what stays for whom is what `expected` says.

use integration_tests::prelude::*;
use operator_core::{Run, Want, dependent::Read, workflow::WorkflowBuilder};

use super::{each, lines, stage_of};
use crate::simulated::{pass, scene, under};

/// The number of workflows; nightly has more.
const WORLDS: usize = 40;
const STAGES: usize = 4;
/// The names that are read. Those below [`MADE`] may have a maker, the others are the user's.
const NAMES: usize = 5;
const MADE: usize = 3;

/// What a maker says in a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Wanted,
    None,
    Hold,
    Fail,
}

/// Makes the object of one name.
#[derive(Clone, Debug)]
struct Maker {
    name: usize,
    says: [Says; STAGES],
    /// The pair that it comes after, if it does.
    after: Option<usize>,
}

/// A reader, and a node behind it that copies what it reads; or a copier alone, which asks.
#[derive(Clone, Debug)]
struct Pair {
    reads: [Option<usize>; STAGES],
    asks: Option<Ask>,
}

/// The call by which a function asks for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ask {
    Get,
    /// Of all that belongs to the primary.
    Secondary,
}

#[derive(Clone, Debug)]
struct World {
    makers: Vec<Maker>,
    pairs: Vec<Pair>,
    /// Which objects the user has at the end of each stage.
    theirs: [[bool; NAMES]; STAGES],
    /// The order in which makers, readers and copiers are declared.
    declared: Vec<usize>,
}

impl World {
    fn of(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let pairs = (0..1 + random.below(4)).map(|_| {
            let reads = std::array::from_fn(|_| random.chance(85).then(|| random.below(NAMES)));
            Pair { reads, asks: random.pick(&[None, None, Some(Ask::Get), Some(Ask::Secondary)]) }
        });
        let mut pairs: Vec<Pair> = pairs.collect();
        let makers = (0..MADE).filter_map(|name| {
            let made = random.chance(75);
            let says = std::array::from_fn(|_| match random.below(8) {
                0 | 1 => Says::None,
                2 => Says::Hold,
                3 => Says::Fail,
                _ => Says::Wanted,
            });
            let after = random.chance(45).then(|| random.below(pairs.len()));
            // What asks for all has read of each maker: one behind it would be in a circle.
            let after = after.filter(|pair| pairs[*pair].asks != Some(Ask::Secondary));
            made.then_some(Maker { name, says, after })
        });
        let makers: Vec<Maker> = makers.collect();
        // What comes after a pair has a later name than all that the pair reads: there is no circle.
        for Maker { name, after, .. } in &makers {
            let Some(pair) = after else { continue };
            let may_read = |read: &usize| read < name || *read >= MADE;
            pairs[*pair].reads.iter_mut().for_each(|reads| *reads = reads.filter(may_read));
        }
        // An answer holds for the moment. It is the last one if it is known from the start whether the object is wanted.
        let is_early = |read: &usize| makers.iter().any(|maker| maker.name == *read && maker.after.is_none());
        for pair in pairs.iter_mut().filter(|pair| pair.asks.is_some()) {
            pair.reads.iter_mut().for_each(|reads| *reads = reads.filter(is_early));
        }
        let theirs = std::array::from_fn(|_| std::array::from_fn(|name| name >= MADE && random.chance(60)));
        let mut declared: Vec<usize> = (0..makers.len() + 2 * pairs.len()).collect();
        declared.sort_by_key(|_| random.below(1_000));
        Self { makers, pairs, theirs, declared }
    }
}

impl World {
    /// Whether a pair reads an object for which a watch has to start: until it has, what comes after the pair waits, and its old
    /// content is what others see.
    fn watches_more(&self, stage: usize) -> bool {
        let is_made = |name: usize| self.makers.iter().any(|maker| maker.name == name);
        let is_new =
            |pair: &Pair| pair.reads[stage] != stage.checked_sub(1).and_then(|last| pair.reads[last]);
        self.pairs.iter().any(|pair| pair.reads[stage].is_some_and(|name| !is_made(name)) && is_new(pair))
    }
}

/// The objects by name, each with its content.
type There = BTreeMap<String, String>;

/// What there is after a stage, and what each maker, reader and copier says.
struct Expected {
    there: There,
    states: Vec<&'static str>,
}

/// Computed from the answers alone, in rounds until nothing changes. `copied` has the name that each copy was last made of.
fn expected(world: &World, stage: usize, before: &There, copied: &mut [Option<usize>]) -> Expected {
    let (makers, pairs) = (world.makers.len(), world.pairs.len());
    let mut there = before.clone();
    let mut states = vec!["waiting"; makers + 2 * pairs];
    let is_going = |name: usize| world.makers.iter().any(|maker| maker.name == name && maker.is_out(stage));
    for _ in 0..=states.len() {
        for (at, maker) in world.makers.iter().enumerate() {
            let may = maker.after.is_none_or(|pair| states[makers + 2 * pair + 1] == "ready");
            states[at] = match maker.says[stage] {
                Says::None => "deleted",
                Says::Hold => "held",
                Says::Fail if may => "failed",
                Says::Wanted if may => "ready",
                Says::Fail | Says::Wanted => "waiting",
            };
            if states[at] == "ready" {
                there.insert(name_of(maker.name), content_of(stage));
            }
        }
        for (at, pair) in world.pairs.iter().enumerate() {
            let seen =
                pair.reads[stage].map(|name| there.get(&name_of(name)).filter(|_| !is_going(name)).cloned());
            let (reader, copier) = match seen {
                // It never waits, and its last answer is what there is.
                seen if pair.asks.is_some() => ("", seen.flatten().or(Some("nothing".to_owned()))),
                None => ("left", Some("nothing".to_owned())),
                Some(None) => ("not ready", None),
                Some(content) => ("ready", content),
            };
            states[makers + 2 * at] = reader;
            if let Some(content) = copier {
                states[makers + 2 * at + 1] = "ready";
                there.insert(format!("copy-{at}"), content);
                copied[at] = pair.reads[stage];
            }
        }
    }
    // Last, what isn't wanted, unless a copy is of it, or waits for it.
    let mut is_free = vec![false; makers];
    for (at, maker) in world.makers.iter().enumerate().rev() {
        let exists = before.contains_key(&name_of(maker.name));
        let is_kept = (0..pairs).any(|pair| {
            let reads = world.pairs[pair].reads[stage] == Some(maker.name);
            let is_of_it = copied[pair] == Some(maker.name) || exists && reads;
            let mut behind = (at..makers).filter(|other| world.makers[*other].after == Some(pair));
            is_of_it && !(states[makers + 2 * pair + 1] == "ready" && behind.all(|other| is_free[other]))
        });
        // Another one that can't say what it wants might want the name.
        let is_unsure = world.makers.iter().any(|other| {
            let is_early = other.name != maker.name && other.after.is_none();
            is_early && matches!(other.says[stage], Says::Hold | Says::Fail)
        });
        match states[at] {
            "deleted" if exists && is_kept => states[at] = "waiting",
            "deleted" if exists && is_unsure => states[at] = "deleting",
            "deleted" => drop(there.remove(&name_of(maker.name))),
            _ => {}
        }
        // A reader that reads nothing isn't wanted, and what comes after it keeps it as any other node.
        let reader = maker.after.map(|pair| makers + 2 * pair).filter(|reader| states[*reader] == "left");
        is_free[at] = !is_kept && matches!(states[at], "ready" | "deleted");
        if let Some(reader) = reader.filter(|_| !is_free[at]) {
            states[reader] = "waiting";
        }
    }
    Expected { there, states }
}

fn name_of(name: usize) -> String {
    format!("name-{name}")
}

fn content_of(stage: usize) -> String {
    format!("made in {stage}")
}

impl Maker {
    fn is_out(&self, stage: usize) -> bool {
        self.says[stage] == Says::None
    }
}

fn map(name: String, content: &str) -> ConfigMap {
    let mut map =
        ConfigMap { data: Some([("content".to_owned(), content.to_owned())].into()), ..Default::default() };
    map.metadata.name = Some(name);
    map
}

fn content(map: &ConfigMap) -> String {
    map.data.as_ref().and_then(|data| data.get("content")).cloned().unwrap_or_default()
}

/// Of another kind, so that it can't be what a reader waits for.
fn copied(of: usize, content: &str) -> Secret {
    let data = [("content".to_owned(), k8s_openapi::ByteString(content.as_bytes().to_vec()))];
    let mut copy = Secret { data: Some(data.into()), ..Default::default() };
    copy.metadata.name = Some(format!("copy-{of}"));
    copy
}

fn copy_of(secret: &Secret) -> String {
    let data = secret.data.as_ref().and_then(|data| data.get("content"));
    data.map(|data| String::from_utf8_lossy(&data.0).into_owned()).unwrap_or_default()
}

/// The workflow; the nodes in any order.
fn workflow(world: &World) -> WorkflowBuilder<TestResource> {
    let pairs = world.pairs.iter().enumerate().map(|(at, pair)| {
        let (reads, copies, asks) = (pair.reads, pair.reads, pair.asks);
        let reader = move |primary: &TestResource| -> Option<Read<ConfigMap>> {
            reads[stage_of(primary)].map(|name| Read::named(name_of(name)))
        };
        let copy =
            move |primary: &TestResource, context: &operator_core::Context<TestResource>| -> Result<Secret> {
                let Some(name) = copies[stage_of(primary)] else {
                    return Ok(copied(at, "nothing"));
                };
                let key = ObjectKey::namespaced(&primary.namespace().unwrap_or_default(), &name_of(name));
                let read = match asks {
                    Some(Ask::Secondary) => context.secondary_named::<ConfigMap>(&name_of(name))?,
                    Some(Ask::Get) => context.get(&key)?,
                    None => Some(context.get(&key)?.context("its reader has seen it")?),
                };
                Ok(copied(at, &read.map_or("nothing".to_owned(), |read| content(&read))))
            };
        let copier = operator_core::node(copy).named(format!("copier-{at}"));
        if asks.is_some() {
            return (None, copier);
        }
        let reader = operator_core::node(reader).named(format!("reader-{at}"));
        let copier = copier.after(&reader);
        (Some(reader), copier)
    });
    let (mut readers, copiers): (Vec<_>, Vec<_>) = pairs.unzip();
    let makers = world.makers.iter().map(|maker| {
        let Maker { name, says, after } = maker.clone();
        let wanted = move |primary: &TestResource| -> Result<Want<ConfigMap>> {
            let stage = stage_of(primary);
            Ok(match says[stage] {
                Says::Wanted => Want::of(map(name_of(name), &content_of(stage))),
                Says::None => Want::none("not wanted"),
                Says::Hold => Want::hold("Later", "not now"),
                Says::Fail => bail!("it can't say"),
            })
        };
        let node = operator_core::node(wanted).named(format!("maker-{name}"));
        after.iter().fold(node, |node, pair| node.after(&copiers[*pair]))
    });
    let mut makers: Vec<_> = makers.collect::<Vec<_>>().into_iter().map(Some).collect();
    let mut copiers: Vec<_> = copiers.into_iter().map(Some).collect();
    world.declared.iter().fold(Workflow::builder(), |builder, at| match at.checked_sub(world.makers.len()) {
        None => builder.nodes((makers[*at].take().expect("it is declared once"),)),
        Some(at) if at % 2 == 0 => match readers[at / 2].take() {
            Some(reader) => builder.nodes((reader,)),
            None => builder,
        },
        Some(at) => builder.nodes((copiers[at / 2].take().expect("it is declared once"),)),
    })
}

async fn live(world: &World) -> Result<()> {
    let scene = scene().await?;
    let outcomes: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
    let noted = Arc::clone(&outcomes);
    let status = move |_: &TestResource, run: &Run<TestResource>| {
        *noted.lock() = lines(run);
        TestStatus::default()
    };
    let controller = scene.managed(&Script::idle(), &workflow(world).build()?).status(status);
    let operator = under(&Faults::none(), &scene, controller).await?;
    let maps = scene.api::<ConfigMap>();
    let (mut before, mut copied) = (There::new(), vec![None; world.pairs.len()]);
    for stage in 0..STAGES {
        if stage == 0 {
            scene.create("one", "0").await?;
        } else {
            scene.set("one", &stage.to_string()).await?;
        }
        pass(60).await;
        check(world, stage, &scene, &operator, &outcomes, (&mut before, &mut copied))
            .await
            .context("its own doing")?;
        // The user's objects come and go: each is an event of those that name it.
        for name in MADE..NAMES {
            let named = name_of(name);
            match (world.theirs[stage][name], before.contains_key(&named)) {
                (true, false) => {
                    maps.create(&PostParams::default(), &map(named.clone(), "theirs")).await?;
                    before.insert(named, "theirs".to_owned());
                }
                (false, true) => {
                    maps.delete(&named, &DeleteParams::default()).await?;
                    before.remove(&named);
                }
                _ => {}
            }
        }
        pass(60).await;
        check(world, stage, &scene, &operator, &outcomes, (&mut before, &mut copied))
            .await
            .context("the user's doing")?;
    }
    Ok(())
}

/// Judges the end and the way: no copy is written twice, and that of what asks not more often.
async fn check(
    world: &World,
    stage: usize,
    scene: &Scene,
    operator: &operator_core::testing::TestOperator,
    outcomes: &Mutex<BTreeMap<String, String>>,
    (before, copied): (&mut There, &mut [Option<usize>]),
) -> Result<()> {
    let written = operator.settled().await?.written();
    let Expected { there, states } = expected(world, stage, before, copied);
    let listed = scene.api::<ConfigMap>().list(&Default::default()).await?.items;
    let mut is: There = listed.iter().map(|map| (map.name_any(), content(map))).collect();
    let copies = scene.api::<Secret>().list(&Default::default()).await?.items;
    is.extend(copies.iter().map(|copy| (copy.name_any(), copy_of(copy))));
    ensure!(is == there, "stage {stage}: {is:?}, and not {there:?}: {written:?} {:?}", outcomes.lock());
    for (position, says) in states.iter().enumerate() {
        let name = match position.checked_sub(world.makers.len()) {
            None => format!("maker-{}", world.makers[position].name),
            Some(at) => format!("{}-{}", ["reader", "copier"][at % 2], at / 2),
        };
        let state = outcomes.lock().get(&name).cloned().unwrap_or_default();
        let fits = match *says {
            "ready" => {
                !state.contains("not ready")
                    && ["created", "updated", "matched"].iter().any(|word| state.starts_with(word))
            }
            "not ready" => state.contains("not ready"),
            "" => state.is_empty(),
            other => state.starts_with(other),
        };
        ensure!(fits, "stage {stage}: {name} is {state}, and {says} is expected: {:?}", outcomes.lock());
    }
    for at in 0..world.pairs.len() {
        let of = format!(" secrets/copy-{at} ");
        let times = written.iter().filter(|write| write.contains(&of)).count();
        // What asks may have an answer that a later write makes an old one.
        let may_change = world.watches_more(stage) || world.pairs[at].asks.is_some();
        ensure!(times <= if may_change { 2 } else { 1 }, "stage {stage}: {times} times copied: {written:?}");
    }
    *before = there;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_reader_sees_what_is_wanted_and_what_it_reads_stays_for_what_is_made_of_it() -> Result<()> {
    each(("READ_WORLDS", WORLDS), World::of, async |world| live(world).await).await
}

/// Two reads wait at the same time, the second one for a maker behind the first one: it isn't judged before that maker is done.
#[tokio::test(start_paused = true)]
async fn a_read_that_is_settled_lets_what_comes_after_it_be_made_before_others_are_judged() -> Result<()> {
    let maker = |name, after| Maker { name, says: [Says::Wanted; STAGES], after };
    let world = World {
        makers: vec![maker(0, None), maker(1, Some(0))],
        pairs: [[Some(0); STAGES], [None, Some(1), Some(1), Some(1)]]
            .map(|reads| Pair { reads, asks: None })
            .into(),
        theirs: [[false; NAMES]; STAGES],
        declared: vec![5, 4, 3, 2, 1, 0],
    };
    live(&world).await
}

/// A node of the same run fails in all stages, and soon no attempt is left.
#[tokio::test(start_paused = true)]
async fn what_asks_before_the_maker_has_its_turn_is_asked_once_more_even_if_the_run_fails() -> Result<()> {
    let maker = |name, says| Maker { name, says: [says; STAGES], after: None };
    live(&World {
        makers: vec![maker(0, Says::Wanted), maker(1, Says::Fail)],
        pairs: vec![Pair { reads: [Some(0); STAGES], asks: Some(Ask::Get) }],
        theirs: [[false; NAMES]; STAGES],
        declared: vec![3, 0, 1, 2],
    })
    .await
}
