//! The nodes of a random workflow: functions that return config maps, and records in another system.

use integration_tests::prelude::*;
use operator_core::{
    Verdict, Want,
    dependent::{Deletion, External, Found, Records, Token},
    testing::OtherSystem,
    workflow::{Activation, Cluster, NodeKey, Predecessor, Secondary, WorkflowBuilder, declare::NodeRef},
};

use super::{Objects, OneNode, Says, World, stage_of};

/// What the nodes of a world share with the test.
#[derive(Clone)]
pub(super) struct Around {
    /// The nodes that take no part in the present stage.
    pub(super) out: Arc<Mutex<BTreeSet<usize>>>,
    /// The system with the records.
    pub(super) system: Words,
    /// What was written since the test has looked last, to the server and to the other system.
    pub(super) written: Arc<Mutex<Vec<String>>>,
}

impl Around {
    pub(super) fn new() -> Self {
        Self { out: Arc::default(), system: OtherSystem::new(), written: Arc::default() }
    }

    /// Notes each write to the server.
    pub(super) fn noting(&self) -> Faults {
        let written = Arc::clone(&self.written);
        Faults::new([Rule::writes().meanwhile(move |target| {
            written.lock().push(target.to_string());
            async {}
        })])
    }

    /// The records by key, each with its node and its id.
    pub(super) fn records(&self) -> BTreeMap<String, (usize, String)> {
        let all = self.system.records().into_iter().filter(|(_, _, body)| body.is_some());
        let named = all.filter_map(|(id, token, _)| {
            let (node, key) = in_token(&token)?;
            Some((key.to_owned(), (node, id)))
        });
        named.collect()
    }
}

/// The node of a record, and its key.
fn in_token(token: &str) -> Option<(usize, &str)> {
    let mut parts = token.split('/').skip(1);
    let node = parts.next()?.strip_prefix("node-")?.parse().ok()?;
    Some((node, parts.next()?))
}

/// The verb of a line that was written, and the name of its object.
pub(super) fn written_to(line: &str) -> Option<(&str, &str)> {
    let (verb, object) = line.split_once(' ')?;
    Some((verb, object.rsplit('/').next()?))
}

/// Whether a node takes part in the present stage.
struct TakesPart(Arc<Mutex<BTreeSet<usize>>>, usize);

impl Activation for TakesPart {
    async fn check(&self, _: &Cluster<'_>) -> Result<Verdict, BoxError> {
        let is_out = self.0.lock().contains(&self.1);
        Ok(Verdict::when(!is_out, "it takes no part"))
    }
}

/// A node of either form, as others refer to it.
#[derive(Clone)]
pub(super) struct Named(NodeKey);

impl NodeRef<TestResource, Named> for &Named {
    type Seen = ();

    fn seen(_: &[Secondary]) {}
}

impl Predecessor<TestResource, Named> for &Named {
    fn key(self) -> NodeKey {
        self.0.clone()
    }
}

pub(super) fn name_of(node: usize) -> String {
    format!("node-{node}")
}

impl OneNode {
    /// What its function returns for the primary, each item made of a name and a content.
    fn answer<T>(&self, primary: &TestResource, item: impl Fn(&str, String) -> T) -> Result<Want<Vec<T>>> {
        let stage = stage_of(primary);
        Ok(match &self.says[stage] {
            Says::Names { names, .. } => {
                Want::of(names.iter().map(|name| item(name, format!("made in {stage}"))).collect())
            }
            Says::None => Want::none("not wanted"),
            Says::Hold => Want::hold("Later", "not now"),
            Says::Fail => bail!("it can't say"),
            // It isn't asked.
            Says::Inactive => Want::of(Vec::new()),
        })
    }

    fn is_ready(&self, primary: &TestResource) -> bool {
        !matches!(&self.says[stage_of(primary)], Says::Names { ready: false, .. })
    }
}

/// A record for each name, in a system that can be searched.
struct Keys {
    node: OneNode,
    word: Word,
    written: Arc<Mutex<Vec<String>>>,
}

impl Keys {
    fn note(&self, verb: &str, id: &str) {
        let all = self.word.system.records();
        let token = all.iter().find(|(of, ..)| of == id).map(|(_, token, _)| token.clone());
        self.written.lock().push(format!("{verb} records/{}", token.unwrap_or_default()));
    }
}

impl External<TestResource> for Keys {
    type Resource = String;
    type Want = Result<Want<Vec<(String, String)>>>;

    fn want(&self, primary: &TestResource) -> Self::Want {
        self.node.answer(primary, |name, content| (name.to_owned(), content))
    }

    async fn observe(&self, id: &str) -> Result<Option<String>, BoxError> {
        self.word.observe(id).await
    }

    async fn create(&self, want: &String, token: &Token) -> Result<(String, String), BoxError> {
        self.written.lock().push(format!("create records/{}", token.as_str()));
        self.word.create(want, token).await
    }

    async fn update(&self, id: &str, is: &String, want: &String) -> Result<String, BoxError> {
        self.note("update", id);
        self.word.update(id, is, want).await
    }

    async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
        self.note("delete", id);
        self.word.delete(id).await
    }

    async fn find(&self, token: &Token) -> Result<Found<String>, BoxError> {
        self.word.find(token).await
    }
}

/// Declares a node.
type Declare = Box<dyn FnOnce(WorkflowBuilder<TestResource>) -> WorkflowBuilder<TestResource>>;

/// Gives a node of either form its name and its words.
macro_rules! declared {
    ($node:expr, $number:expr, $of:expr, $all:expr, $around:expr) => {{
        let of = $of.clone();
        let node = $node.named(name_of($number)).ready(move |primary: &TestResource| of.is_ready(primary));
        let node = $of.after.iter().fold(node, |node, (other, requires)| match requires {
            true => node.requires(&$all[*other]),
            false => node.after(&$all[*other]),
        });
        let part = TakesPart(Arc::clone(&$around.out), $number);
        let node = if $of.needs { node.needs(part) } else { node };
        let key = Predecessor::<TestResource, _>::key(&node);
        (Named(key), Box::new(|builder: WorkflowBuilder<TestResource>| builder.nodes((node,))) as Declare)
    }};
}

fn node_of(of: &OneNode, number: usize, all: &[Named], around: &Around) -> (Named, Declare) {
    let node = of.clone();
    if of.is_records {
        let (word, written) = (Word::new(&around.system), Arc::clone(&around.written));
        let records = Records::new(Keys { node, word, written }).id_in_secret();
        return declared!(records, number, of, all, around);
    }
    let wanted = move |primary: &TestResource| {
        node.answer(primary, |name, content| {
            let mut map = map_of(primary, "x", &content);
            map.metadata.name = Some(name.to_owned());
            map
        })
    };
    declared!(operator_core::node(wanted), number, of, all, around)
}

/// The workflow, and its nodes. They are made in their order, and declared in any.
pub(super) fn workflow(world: &World, around: &Around) -> (WorkflowBuilder<TestResource>, Vec<Named>) {
    let (mut all, mut declare) = (Vec::new(), Vec::new());
    for (number, of) in world.nodes.iter().enumerate() {
        let (named, declared) = node_of(of, number, &all, around);
        all.push(named);
        declare.push(Some(declared));
    }
    let nodes = world.declared.iter().filter_map(|number| declare[*number].take());
    (nodes.fold(Workflow::builder(), |builder, declare| declare(builder)), all)
}

/// The objects and records by name, each with its node, and its uid or id.
pub(super) async fn objects(scene: &Scene, around: &Around) -> Result<BTreeMap<String, (usize, String)>> {
    let maps = scene.api::<ConfigMap>().list(&Default::default()).await?.items;
    let made = maps.into_iter().filter_map(|map| {
        let node = map.labels().get("operator-core.io/node")?.strip_prefix("node-")?.parse().ok()?;
        Some((map.name_any(), (node, map.uid()?)))
    });
    Ok(made.chain(around.records()).collect())
}

/// In which order a stage has written: each object of a node that is removed goes after what is behind the node was written or
/// removed. A second call of the same run may remove once more what isn't known to be gone yet.
pub(super) fn in_order(world: &World, written: &[String], makers: &Objects, takers: &Objects) -> Result<()> {
    let of = |line: &String| {
        let (verb, name) = written_to(line)?;
        let by = if verb == "delete" { makers } else { takers };
        by.get(name).copied()
    };
    let mut removed = BTreeSet::new();
    let is_first = |line: &&String| !line.starts_with("delete ") || removed.insert(String::clone(line));
    let written: Vec<&String> = written.iter().filter(is_first).collect();
    for (at, line) in written.iter().enumerate().filter(|(_, line)| line.starts_with("delete ")) {
        let Some(node) = of(line) else { continue };
        let behind = world.behind(node);
        let late = written[at..].iter().find(|later| of(later).is_some_and(|other| behind.contains(&other)));
        ensure!(late.is_none(), "{line} comes before {late:?}: {written:?}");
    }
    Ok(())
}
