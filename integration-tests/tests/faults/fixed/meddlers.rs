//! A webhook interferes with each write, or with creations only: after two runs nothing is written any more, whatever the words of the node,
//! or the status says why the object can't be as it is wanted.

use integration_tests::prelude::*;
use k8s_openapi::{NamespaceResourceScope, api::batch::v1::Job};
use operator_core::{
    Node, One,
    client::TransportHook,
    dependent::matcher::{GenericMatcher, Matcher},
    resource::KubeObject,
    testing::LogCapture,
};

use super::{touch, warned, writes};
use crate::{
    heals::{conditions, telling},
    simulated::{pass, scene, under_hooks},
};

/// What a webhook does to the object of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meddler {
    /// Another value in a field of ours, when it is created.
    AtCreation,
    /// The same in each write.
    Always,
    /// A field beside ours.
    Adds,
    /// A field beside ours, with another value each time.
    Stamps,
}

const MEDDLERS: [Meddler; 4] = [Meddler::AtCreation, Meddler::Always, Meddler::Adds, Meddler::Stamps];

impl Meddler {
    /// In front of the server: it changes the value at `pointer` of what is written of this kind.
    fn hook(self, plural: &'static str, pointer: &'static str) -> TransportHook {
        let stamps = Arc::new(AtomicUsize::new(0));
        TransportHook::around(move |request, inner| {
            let stamps = Arc::clone(&stamps);
            async move {
                let is_write = matches!(request.method().as_str(), "PATCH" | "POST" | "PUT");
                if !is_write || !request.uri().path().contains(&format!("/{plural}")) {
                    return inner.send(request).await;
                }
                let is_post = *request.method() == http::Method::POST;
                let (parts, body) = request.into_parts();
                let mut body: Value = serde_json::from_slice(&body.collect_bytes().await?)?;
                // An apply that creates has a version that no object has.
                let is_new = is_post || body["metadata"]["resourceVersion"] == "1";
                let (parent, field) = pointer.rsplit_once('/').unwrap_or_default();
                match body.pointer_mut(parent).filter(|_| self != Self::AtCreation || is_new) {
                    Some(parent) if matches!(self, Self::AtCreation | Self::Always) => {
                        parent[field] = "meddled".into()
                    }
                    Some(_) => {
                        let stamp = stamps.fetch_add(usize::from(self == Self::Stamps), Ordering::SeqCst);
                        body["metadata"]["annotations"]["example.com/stamp"] = stamp.to_string().into();
                    }
                    None => {}
                }
                inner.send(http::Request::from_parts(parts, body.to_string().into_bytes().into())).await
            }
        })
    }
}

type Child<K> = Node<TestResource, One<K>>;
type Word<K> = fn(Child<K>) -> Child<K>;

fn generic<K>() -> Matcher<K> {
    Matcher::Generic(GenericMatcher::new())
}

fn strict<K>() -> Matcher<K> {
    Matcher::Generic(GenericMatcher::new().labels_and_annotations_equality(true))
}

/// The words of a node, by their names.
fn words<K: KubeObject + Resource<Scope = NamespaceResourceScope>>() -> Vec<(&'static str, Word<K>)> {
    vec![
        ("nothing", |node| node),
        ("use_ssa(false)", |node| node.use_ssa(false)),
        ("recreate_when_immutable", |node| node.recreate_when_immutable()),
        ("use_ssa(false), recreate_when_immutable", |node| node.use_ssa(false).recreate_when_immutable()),
        ("matcher, generic", |node| node.matcher(generic())),
        ("use_ssa(false), matcher, strict", |node| node.use_ssa(false).matcher(strict())),
        ("matcher, never content", |node| node.matcher(Matcher::custom(|_, _| false))),
        ("recreate_when_immutable, matcher, generic", |node| {
            node.recreate_when_immutable().matcher(generic())
        }),
        ("create_only", |node| node.create_only()),
        ("without_owner, detect_api_version_change", |node| node.without_owner().detect_api_version_change()),
    ]
}

/// One kind of child: a field of ours with a value, and whether it can't be changed.
struct Field<K> {
    plural: &'static str,
    pointer: &'static str,
    path: &'static str,
    is_immutable: bool,
    desired: fn(&TestResource) -> K,
}

fn job(primary: &TestResource) -> Job {
    let spec =
        json!({ "restartPolicy": "Never", "containers": [{ "name": "a", "image": primary.spec.value }] });
    from_json(&json!({ "metadata": meta_of(primary, "a"), "spec": { "suspend": true, "template": { "spec": spec } } }))
        .expect("a job")
}

fn deployment(primary: &TestResource) -> Deployment {
    let labels = json!({ "app": "a" });
    let spec = json!({ "containers": [{ "name": "a", "image": primary.spec.value }] });
    let template = json!({ "metadata": { "labels": labels }, "spec": spec });
    let spec = json!({ "replicas": 1, "selector": { "matchLabels": labels }, "template": template });
    from_json(&json!({ "metadata": meta_of(primary, "a"), "spec": spec })).expect("a deployment")
}

const MAP: Field<ConfigMap> = Field {
    plural: "configmaps",
    pointer: "/data/value",
    path: "data.value",
    is_immutable: false,
    desired: |primary| map_of(primary, "a", primary.value()),
};

const JOB: Field<Job> = Field {
    plural: "jobs",
    pointer: "/spec/template/spec/containers/0/image",
    path: "spec.template.spec.containers",
    is_immutable: true,
    desired: job,
};

const DEPLOYMENT: Field<Deployment> = Field {
    plural: "deployments",
    pointer: "/spec/template/spec/containers/0/image",
    path: "spec.template.spec.containers",
    is_immutable: false,
    desired: deployment,
};

const ROUNDS: usize = 4;

async fn meddled<K>(field: &Field<K>, meddler: Meddler, said: &str, word: Word<K>) -> Result<()>
where
    K: KubeObject<DynamicType = ()> + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let scene = scene().await?;
    let (log, _guard) = LogCapture::start();
    let workflow = workflow_of_one(word(wanted("a", field.desired)))?;
    let controller = telling(&scene, &workflow).generation_aware(false);
    let operator = under_hooks([meddler.hook(field.plural, field.pointer)], &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(60).await;
    // What is refused is tried again.
    let is_taken = |write: &String| !write.ends_with("-> 422");
    let mut first = writes(&operator, field.plural).await?;
    first.retain(is_taken);
    let deletions = first.iter().filter(|write| write.starts_with("DELETE")).count();
    ensure!(deletions == 0 && first.len() <= 4, "at first: {first:?}");
    touch(&scene, 0).await?;
    pass(60).await;
    let mut second = writes(&operator, field.plural).await?;
    second.retain(is_taken);
    ensure!(second.len() <= 3, "in the second run: {second:?}");
    let mut later = Vec::new();
    for round in 1..=ROUNDS {
        touch(&scene, round).await?;
        pass(60).await;
        later.extend(writes(&operator, field.plural).await?);
    }
    let child = scene.api::<K>().get("one-a").await?;
    let value = serde_json::to_value(&child)?.pointer(field.pointer).cloned().unwrap_or_default();
    let told = conditions(&scene).await?;
    // What can't be changed is told, and tried again now and then.
    if told.get("Stalled").is_some_and(|(status, _)| status == "True") {
        let message = &told["Stalled"].1;
        // A Job can't be replaced without what the server has added.
        let is_replaced = said.contains("use_ssa(false)");
        ensure!(field.is_immutable && (value == "meddled" || is_replaced), "{value}: {told:?}");
        let is_recreated = said.contains("recreate");
        let words =
            if is_recreated { "differs right after it was created, at " } else { "recreate_when_immutable" };
        ensure!(message.contains(words) && (!is_recreated || message.contains(field.path)), "{message}");
        ensure!(later.iter().all(|write| write.ends_with("-> 422")), "{later:?}");
        return Ok(());
    }
    ensure!(later.is_empty(), "after two runs: {later:?}");
    let warned = warned(&log, "differs right after it was written");
    ensure!(warned.len() <= 1, "{warned:?}");
    // An apply says nothing of values.
    let is_by_value = said.contains("use_ssa(false)") || said.contains("matcher");
    if meddler == Meddler::Always && !field.is_immutable && is_by_value {
        ensure!(warned.iter().any(|paths| paths.contains(field.path)), "{warned:?}");
    }
    if meddler == Meddler::AtCreation && is_by_value && !said.contains("never") {
        ensure!(value == "first", "an update can undo it: {value}");
    }
    // Whoever changes it is still noticed.
    if !matches!(said, "create_only") && !field.is_immutable && meddler != Meddler::Always {
        let other = Patch::Merge(json!({ "metadata": { "labels": { "operator-core.io/node": "edited" } } }));
        scene.api::<K>().patch("one-a", &PatchParams::default(), &other).await?;
        pass(60).await;
        let node = scene.api::<K>().get("one-a").await?.labels().get("operator-core.io/node").cloned();
        ensure!(node.as_deref() == Some("a"), "it was edited, and is {node:?}");
    }
    Ok(())
}

async fn all<K>(field: Field<K>) -> Result<()>
where
    K: KubeObject<DynamicType = ()> + Resource<DynamicType = (), Scope = NamespaceResourceScope>,
{
    let mut wrong = Vec::new();
    for meddler in MEDDLERS {
        for (said, word) in words::<K>() {
            if let Err(error) = meddled(&field, meddler, said, word).await {
                wrong.push(format!("{meddler:?}, {said}: {error:#}"));
            }
        }
    }
    ensure!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_map_comes_to_rest_under_each_webhook_with_each_word() -> Result<()> {
    all(MAP).await
}

#[tokio::test(start_paused = true)]
async fn a_deployment_comes_to_rest_under_each_webhook_with_each_word() -> Result<()> {
    all(DEPLOYMENT).await
}

#[tokio::test(start_paused = true)]
async fn a_job_comes_to_rest_under_each_webhook_with_each_word() -> Result<()> {
    all(JOB).await
}
