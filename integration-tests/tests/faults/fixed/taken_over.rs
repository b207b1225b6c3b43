//! An object that a node may write, whoever has made it, and that others have changed meanwhile: it heals, or the state says which word of
//! the node, or which deed of a person, would help.

use integration_tests::prelude::*;
use operator_core::{
    Node, One,
    dependent::{
        Adoption,
        matcher::{GenericMatcher, Matcher},
    },
    testing::seed_of_the_day,
};

use crate::{
    heals::{conditions, minutes, telling},
    simulated::{scene, under},
};

/// Who has made the object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Maker {
    /// This node, for this primary.
    Node,
    /// This node, for an earlier incarnation of the primary, which has left it behind.
    EarlierIncarnation,
    /// A node that the controller no longer has.
    FormerNode,
    /// Another controller.
    Other,
    /// Somebody who hasn't left a sign.
    Nobody,
}

const MAKERS: [Maker; 5] =
    [Maker::Node, Maker::EarlierIncarnation, Maker::FormerNode, Maker::Other, Maker::Nobody];

/// What others have done to the object.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Deed {
    Nothing,
    StripOwner,
    StripLabels,
    StripMark,
    StripAll,
    /// A field that an apply overrules.
    Field,
    /// The number of a port, which is the key of its list: its name would be there twice.
    Port,
    /// A `valueFrom` beside our `value`.
    ValueFrom,
    /// Another kind of strategy, with a field that ours must not have.
    Beside,
    /// It was made with another selector, which can't be changed.
    Selector,
    Finalizer,
    /// It is being deleted, and a finalizer keeps it.
    Deletion,
}

const DEEDS: [Deed; 12] = [
    Deed::Nothing,
    Deed::StripOwner,
    Deed::StripLabels,
    Deed::StripMark,
    Deed::StripAll,
    Deed::Field,
    Deed::Port,
    Deed::ValueFrom,
    Deed::Beside,
    Deed::Selector,
    Deed::Finalizer,
    Deed::Deletion,
];

const HOLD: &str = "example.com/hold";

impl Deed {
    fn patch(self) -> Option<Value> {
        let container = "/spec/template/spec/containers/0";
        let replace = |path: &str, value: Value| json!([{ "op": "replace", "path": path, "value": value }]);
        let metadata = |fields: &[&str]| {
            let remove = |field: &&str| json!({ "op": "remove", "path": format!("/metadata/{field}") });
            Value::Array(fields.iter().map(remove).collect())
        };
        Some(match self {
            Self::Nothing | Self::Selector => return None,
            Self::StripOwner => metadata(&["ownerReferences"]),
            Self::StripLabels => metadata(&["labels"]),
            Self::StripMark => metadata(&["annotations"]),
            Self::StripAll => metadata(&["ownerReferences", "labels", "annotations"]),
            Self::Field => replace("/spec/replicas", 3.into()),
            Self::Port => replace(&format!("{container}/ports/0/containerPort"), 81.into()),
            Self::ValueFrom => {
                let theirs =
                    json!({ "name": "A", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } });
                replace(&format!("{container}/env/0"), theirs)
            }
            Self::Beside => {
                let theirs = json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } });
                replace("/spec/strategy", theirs)
            }
            Self::Finalizer | Self::Deletion => {
                json!([{ "op": "add", "path": "/metadata/finalizers", "value": [HOLD] }])
            }
        })
    }
}

type Child = Node<TestResource, One<Deployment>>;

/// A word of the node: its name, and the node with it.
type Word = (&'static str, fn(Child) -> Child);

const WORDS: [Word; 10] = [
    ("use_ssa(false)", |node| node.use_ssa(false)),
    ("recreate_when_immutable", |node| node.recreate_when_immutable()),
    ("create_only", |node| node.create_only()),
    ("without_owner", |node| node.without_owner()),
    ("retained", |node| node.retained()),
    ("adopt(IfUnowned)", |node| node.adopt(Adoption::IfUnowned)),
    ("adopt(Always)", |node| node.adopt(Adoption::Always)),
    ("matcher(generic)", |node| node.matcher(Matcher::Generic(GenericMatcher::new()))),
    ("detect_api_version_change", |node| node.detect_api_version_change()),
    ("prune_data", |node| node.prune_data()),
];

fn web(primary: &TestResource, app: &str) -> Deployment {
    let container = json!({ "name": "web", "image": "web:1", "env": [{ "name": "A", "value": "a" }],
        "ports": [{ "name": "http", "containerPort": 80 }] });
    let template = json!({ "metadata": { "labels": { "app": app } }, "spec": { "containers": [container] } });
    let spec = json!({ "replicas": 0, "strategy": { "type": "Recreate" }, "selector": { "matchLabels": { "app": app } },
        "template": template });
    from_json(&json!({ "metadata": meta_of(primary, "web"), "spec": spec })).expect("a deployment")
}

fn node_of(name: &'static str, app: &'static str) -> Child {
    wanted(name, move |primary: &TestResource| web(primary, app)).ready_when_applied()
}

/// The object as its maker, and then others, leave it. No operator runs any more.
async fn made(scene: &Scene, maker: Maker, deed: Deed) -> Result<()> {
    let app = if deed == Deed::Selector { "before" } else { "web" };
    let api = scene.api::<Deployment>();
    let one = scene.create("one", "first").await?;
    let strip = async |fields: Value| {
        let metadata = Patch::Merge(json!({ "metadata": fields }));
        api.patch("one-web", &PatchParams::default(), &metadata).await.map(drop)
    };
    match maker {
        Maker::Node | Maker::EarlierIncarnation | Maker::FormerNode => {
            let name = if maker == Maker::FormerNode { "old" } else { "web" };
            let controller = telling(scene, &workflow_of_one(node_of(name, app))?);
            let operator = under(&Faults::none(), scene, controller).await?;
            minutes(1).await;
            operator.stop().await;
        }
        Maker::Other | Maker::Nobody => {
            let mut theirs = web(&one, app);
            theirs.metadata.labels = Some([("theirs".to_owned(), "1".to_owned())].into());
            theirs.metadata.annotations = Some([("theirs".to_owned(), "1".to_owned())].into());
            api.create(&PostParams::default(), &theirs).await?;
            if maker == Maker::Other {
                let labels =
                    json!({ "operator-core.io/controller": "other", "operator-core.io/node": "web" });
                strip(json!({ "labels": labels })).await?;
            }
        }
    }
    if maker == Maker::EarlierIncarnation {
        strip(json!({ "ownerReferences": null })).await?;
        scene.delete("one").await?;
        scene.until_gone("one").await?;
        scene.create("one", "first").await?;
    }
    if let Some(mut patch) = deed.patch() {
        // What isn't there can't be removed: an orphan has no owner.
        let object = serde_json::to_value(api.get("one-web").await?)?;
        let is_there = |one: &Value| object.pointer(one["path"].as_str().unwrap_or_default()).is_some();
        let operations = patch.as_array_mut().context("operations")?;
        operations.retain(|operation| operation["op"] != "remove" || is_there(operation));
        let patch = Patch::<Deployment>::Json(serde_json::from_value(patch)?);
        let editor = PatchParams { field_manager: Some("kubectl-edit".to_owned()), ..PatchParams::default() };
        api.patch("one-web", &editor, &patch).await?;
    }
    if deed == Deed::Deletion {
        api.delete("one-web", &DeleteParams::default()).await?;
    }
    Ok(())
}

/// What isn't as it is wanted.
fn wrong(child: &Deployment, uid: &str) -> Result<Vec<String>> {
    let child = serde_json::to_value(child)?;
    let container = "/spec/template/spec/containers/0";
    let wanted = [
        ("/spec/replicas".to_owned(), json!(0)),
        ("/spec/strategy".to_owned(), json!({ "type": "Recreate" })),
        ("/spec/selector/matchLabels/app".to_owned(), json!("web")),
        (format!("{container}/env"), json!([{ "name": "A", "value": "a" }])),
        (format!("{container}/ports"), json!([{ "name": "http", "containerPort": 80, "protocol": "TCP" }])),
        ("/metadata/labels/operator-core.io~1controller".to_owned(), json!("keeper")),
        ("/metadata/labels/operator-core.io~1node".to_owned(), json!("web")),
        ("/metadata/labels/operator-core.io~1owner".to_owned(), json!(uid)),
    ];
    let differs = |(pointer, value): &(String, Value)| child.pointer(pointer) != Some(value);
    Ok(wanted.into_iter().filter(differs).map(|(pointer, _)| pointer).collect())
}

async fn taken_over(maker: Maker, deed: Deed, words: &[Word]) -> Result<bool> {
    let scene = scene().await?;
    made(&scene, maker, deed).await?;
    let node = words.iter().fold(node_of("web", "web"), |node, (_, word)| word(node));
    let _operator = under(&Faults::none(), &scene, telling(&scene, &workflow_of_one(node)?)).await?;
    minutes(10).await;
    let api = scene.api::<Deployment>();
    if deed == Deed::Deletion {
        // Whoever holds it lets go.
        let free = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
        api.patch("one-web", &PatchParams::default(), &free).await.ok();
        minutes(10).await;
    }
    let uid = scene.resources.get("one").await?.uid().unwrap_or_default();
    let told = conditions(&scene).await?;
    let of = |kind: &str| told.get(kind).map_or("", |(status, _)| &**status);
    let wrong = match api.get_opt("one-web").await? {
        Some(child) => wrong(&child, &uid)?,
        None => vec!["it doesn't exist".to_owned()],
    };
    let creates_only = words.iter().any(|(word, _)| *word == "create_only");
    if wrong.is_empty() || (creates_only && of("Ready") == "True") {
        ensure!((of("Ready"), of("Stalled")) == ("True", "False"), "it is as it is wanted: {told:?}");
        return Ok(true);
    }
    let helps = [".adopt(Adoption::", "`.recreate_when_immutable()`", "delete it"];
    let message = told.get("Stalled").map_or("", |(_, message)| &**message);
    ensure!(
        of("Stalled") == "True" && helps.iter().any(|word| message.contains(word)),
        "{wrong:?}, and {told:?}"
    );
    Ok(false)
}

/// Which of these heal: counted.
async fn all(cases: impl IntoIterator<Item = (Maker, Deed, Vec<Word>)>) -> Result<(usize, usize)> {
    let (mut healed, mut count, mut wrong) = (0, 0, Vec::new());
    for (maker, deed, words) in cases {
        count += 1;
        match taken_over(maker, deed, &words).await {
            Ok(heals) => healed += usize::from(heals),
            Err(error) => {
                let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
                wrong.push(format!("{maker:?}, {deed:?}, {words:?}: {error:#}"));
            }
        }
    }
    ensure!(wrong.is_empty(), "{} of {count} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok((healed, count))
}

/// Each with each: who has made it, and what others have done.
fn situations() -> impl Iterator<Item = (Maker, Deed)> {
    MAKERS.into_iter().flat_map(|maker| DEEDS.into_iter().map(move |deed| (maker, deed)))
}

/// Three of the five choices in each situation, other ones each day: after three days, all of them.
#[tokio::test(start_paused = true)]
async fn with_no_word_and_with_those_that_say_how_it_heals_or_says_what_would_help() -> Result<()> {
    let choices: [&[usize]; 5] = [&[], &[0], &[1], &[6], &[1, 6]];
    let today = usize::try_from(seed_of_the_day())?;
    let cases = situations().enumerate().flat_map(|(at, (maker, deed))| {
        [0, 1, 2].map(|other| {
            let choice = choices[(at + today + other) % choices.len()];
            (maker, deed, choice.iter().map(|at| WORDS[*at]).collect())
        })
    });
    let (healed, count) = all(cases).await?;
    ensure!(healed * 3 > count * 2, "{healed} of {count}");
    Ok(())
}

/// Two words at a time: as many of them each day as a few seconds allow.
#[tokio::test(start_paused = true)]
async fn with_two_words_it_heals_or_says_what_would_help() -> Result<()> {
    const EACH_DAY: usize = 40;
    let mut cases: Vec<_> = situations()
        .flat_map(|(maker, deed)| {
            let pairs =
                (0..WORDS.len()).flat_map(|one| (one + 1..WORDS.len()).map(move |other| (one, other)));
            pairs.map(move |(one, other)| (maker, deed, vec![WORDS[one], WORDS[other]]))
        })
        .collect();
    let number = cases.len();
    // A stride that has no divisor in common with the number reaches all of them in some days.
    let first = usize::try_from(seed_of_the_day())? * EACH_DAY;
    let today: Vec<_> = (0..EACH_DAY).map(|at| cases[(first + at) * 7 % number].clone()).collect();
    cases.clear();
    all(today).await.map(drop)
}

/// A Service whose primary was replaced, without an owner, and with another port under the same name.
#[operator_test]
async fn a_port_of_a_service_that_is_taken_over_is_put_back() -> Result<()> {
    let service = |primary: &TestResource| -> Service {
        let spec = json!({ "ports": [{ "name": "http", "port": 80 }], "selector": { "app": "web" } });
        from_json(&json!({ "metadata": meta_of(primary, "web"), "spec": spec })).expect("a service")
    };
    let scene = Scene::new("taken-over").await?;
    let workflow = || workflow_of_one(wanted("web", service));
    let operator = scene.start_managed(&Script::idle(), &workflow()?).await?;
    scene.create("one", "first").await?;
    operator.settled().await?;
    operator.stop().await;
    let api = scene.api::<Service>();
    let orphaned = json!([
        { "op": "remove", "path": "/metadata/ownerReferences" },
        { "op": "replace", "path": "/spec/ports/0/port", "value": 81 },
    ]);
    let orphaned = Patch::<Service>::Json(serde_json::from_value(orphaned)?);
    let before = api.patch("one-web", &PatchParams::default(), &orphaned).await?;
    scene.delete("one").await?;
    scene.until_gone("one").await?;
    scene.create("one", "first").await?;
    let operator = scene.start_managed(&Script::idle(), &workflow()?).await?;
    operator.settled().await?;
    let after = api.get("one-web").await?;
    assert_eq!(after.uid(), before.uid(), "it is the same object");
    assert_eq!(after.owner_references().len(), 1);
    let ports = after.spec.and_then(|spec| spec.ports).context("ports")?;
    assert_eq!(ports.iter().map(|port| port.port).collect::<Vec<_>>(), [80]);
    Ok(())
}
