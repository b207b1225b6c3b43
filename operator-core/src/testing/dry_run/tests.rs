//! Runs of small controllers.

mod events;
mod made;
mod times;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service, ServicePort, ServiceSpec},
    },
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::DryRun;
use crate::{
    controller::{Controller, ControllerBuilder, NoReconciler},
    event_source::external::PerResourcePollingEventSource,
    processor::GenericRetry,
    reconciler::{BoxError, Context, Reconciler, Removal, Run, UpdateControl, traits::Cleaner},
    resource::ObjectKey,
    status::conditions::{self, ConditionUpdate},
    workflow::{conditions::served::served, declare::wire::Wire},
};

#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Page", namespaced, status = "PageStatus")]
struct PageSpec {
    html: String,
    #[serde(default)]
    published: bool,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct PageStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
}

fn html(page: &Page) -> ConfigMap {
    let data = [("index.html".to_owned(), page.spec.html.clone())];
    ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
}

fn web(page: &Page) -> Result<Deployment, serde_json::Error> {
    let labels = json!({ "page": page.metadata.name });
    serde_json::from_value(json!({
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": labels },
            "template": {
                "metadata": { "labels": labels },
                "spec": { "containers": [{ "name": "web", "image": "nginx" }] },
            },
        },
    }))
}

fn service(page: &Page) -> Option<Service> {
    let spec = ServiceSpec {
        ports: Some(vec![ServicePort { port: 80, ..ServicePort::default() }]),
        ..ServiceSpec::default()
    };
    page.spec.published.then(|| Service { spec: Some(spec), ..Service::default() })
}

fn status(page: &Page, run: &Run<Page>) -> PageStatus {
    PageStatus { conditions: run.conditions(page) }
}

fn controller() -> ControllerBuilder<NoReconciler<Page>> {
    Controller::of::<Page>().workflow((html, web.after(html), service.after(web))).status(status)
}

fn page() -> Page {
    Page::new("hello", PageSpec { html: "<h1>hello</h1>".to_owned(), published: true })
}

/// The Deployment as its node makes it, with one of so many replicas ready.
fn half_ready() -> Deployment {
    let mut web = web(&page()).expect("it is right");
    web.status =
        serde_json::from_value(json!({ "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1 }))
            .expect("it is right");
    web
}

fn ready(deployment: &Deployment) -> Deployment {
    let mut web = deployment.clone();
    web.status = serde_json::from_value(json!({
        "observedGeneration": web.metadata.generation,
        "replicas": 1,
        "updatedReplicas": 1,
        "readyReplicas": 1,
        "availableReplicas": 1,
        "conditions": [
            { "type": "Available", "status": "True" },
            { "type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable" },
        ],
    }))
    .expect("it is right");
    web
}

#[test]
fn a_first_run_creates_what_comes_first() {
    let run = controller().dry_run(&page()).blocking();
    assert_eq!(
        run.writes(),
        ["apply ConfigMap/hello-html", "apply Deployment/hello-web", "apply Page/hello/status"]
    );
    let body = run.body("apply ConfigMap/hello-html");
    assert_eq!(body["data"]["index.html"], "<h1>hello</h1>");
    assert_eq!(body["metadata"]["ownerReferences"][0]["kind"], "Page");
    assert_eq!(
        run.states(),
        [
            "html: created",
            "web: created, not ready: 0/1 replicas created",
            "service: waiting for web to be ready: 0/1 replicas created",
        ]
    );
    assert!(run.get(service).is_none() && run.get(html).is_some());
    let status = run.status().expect("a status is written");
    assert_eq!(status["conditions"][0]["reason"], "Waiting");
    assert_eq!(run.primary().and_then(|page| page.status).expect("it has one").conditions.len(), 3);
    assert_eq!((run.error(), run.next_run()), (None, Some(Duration::from_secs(10 * 60 * 60))));
    assert_eq!(run.events(), []);
}

#[test]
fn what_is_as_desired_is_left_and_what_waits_has_a_reason() {
    let run = controller().dry_run(&page()).made(html, &html(&page())).made(web, &half_ready()).blocking();
    assert_eq!(run.writes(), ["apply Page/hello/status"]);
    assert_eq!(run.state(service).to_string(), "waiting for web to be ready: 0/1 updated replicas available");
    let changed = ConfigMap::default();
    let run = controller().dry_run(&page()).made(html, &changed).made(web, &half_ready()).blocking();
    assert_eq!(run.writes(), ["apply ConfigMap/hello-html", "apply Page/hello/status"]);
}

#[test]
fn the_next_run_finds_what_this_one_has_left() {
    let first = controller().dry_run(&page()).blocking();
    let again = first.again().blocking();
    assert_eq!(again.writes(), [], "the status doesn't say what a run did, so it is the same");
    assert_eq!(again.again().blocking().writes(), []);
    let web = first.get(web).expect("it was created");
    let second = first.again().known(&ready(&web)).blocking();
    assert_eq!(second.writes(), ["apply Service/hello-service", "apply Page/hello/status"]);
    assert!(second.run().is_some_and(Run::all_ready));
    let mut page = second.primary().expect("it stays");
    page.spec.published = false;
    page.metadata.generation = page.metadata.generation.map(|generation| generation + 1);
    let third = second.again().known(&page).blocking();
    assert_eq!(third.writes(), ["delete Service/hello-service", "apply Page/hello/status"]);
}

#[test]
fn what_is_somebody_else_s_is_not_taken_over() {
    let foreign = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "hello-html" } });
    let run = controller().dry_run(&page()).known(&foreign).blocking();
    assert_eq!(run.writes(), ["apply ConfigMap/hello-html -> 409", "apply Page/hello/status"]);
    let error = run.error().expect("the node fails");
    assert!(error.contains("hello-html exists already"), "{error}");
    assert!(run.state(html).to_string().starts_with("failed"));
    assert_eq!(run.next_run(), Some(Duration::from_secs(2)));
}

#[test]
fn what_names_the_primary_as_its_owner_is_its_own() {
    let mut page = page();
    page.metadata.uid = Some("the-uid".to_owned());
    let own = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": "hello-html",
            "ownerReferences": [{ "apiVersion": "example.com/v1", "kind": "Page", "name": "hello", "uid": "the-uid" }],
        },
        "data": { "index.html": "<h1>hello</h1>" },
    });
    let run = controller().dry_run(&page).known(&own).blocking();
    // Its informer doesn't show what has no marks: it is found by the refusal, and gets them.
    assert_eq!(run.writes()[..2], ["apply ConfigMap/hello-html -> 409", "apply ConfigMap/hello-html"]);
    assert_eq!(run.state(html).to_string(), "updated");
}

#[tokio::test]
async fn it_can_be_awaited_and_has_a_time() {
    let now: Timestamp = "2030-05-06T07:08:09Z".parse().unwrap();
    let run = controller().dry_run(&page()).now(now).await;
    let status = run.status().expect("a status is written");
    assert_eq!(status["conditions"][0]["lastTransitionTime"], "2030-05-06T07:08:09Z");
}

/// A user's condition beside the library's: both have the time of the run.
#[test]
fn conditions_of_users_have_its_time_as_well() {
    let now: Timestamp = "2030-05-06T07:08:09Z".parse().unwrap();
    let status = |page: &Page, run: &Run<Page>| {
        let mut conditions = run.conditions(page);
        let update = ConditionUpdate {
            r#type: "Draining",
            status: false.into(),
            reason: "Done",
            message: "",
            observed_generation: page.metadata.generation,
        };
        conditions::set(&mut conditions, &update, run.now());
        PageStatus { conditions }
    };
    let run = Controller::of::<Page>().workflow((html,)).status(status).dry_run(&page()).now(now).blocking();
    let status = run.status().expect("a status is written");
    let times: Vec<_> = status["conditions"].as_array().into_iter().flatten().collect();
    assert!(
        times.len() > 1 && times.iter().all(|one| one["lastTransitionTime"] == "2030-05-06T07:08:09Z"),
        "{status}"
    );
}

#[tokio::test]
#[should_panic(expected = "write `.await` there")]
async fn a_runtime_of_its_own_is_not_started_inside_another() {
    let _ = controller().dry_run(&page()).blocking();
}

#[test]
fn the_same_run_is_planned_each_time() {
    let bodies = || {
        let run = controller().dry_run(&page()).blocking();
        run.writes().iter().map(|write| run.body(write).to_string()).collect::<Vec<_>>()
    };
    assert_eq!(bodies(), bodies());
}

#[test]
#[should_panic(expected = "follows no Secret (v1), only")]
fn an_object_that_nobody_follows_is_a_mistake() {
    let secret = json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "a" } });
    let _ = controller().dry_run(&page()).known(&secret).blocking();
}

#[test]
#[should_panic(expected = "it has neither a workflow nor a reconciler")]
fn a_wrong_declaration_is_told() {
    let _ = Controller::of::<Page>().dry_run(&page());
}

/// Fails as long as it is told to, and cleans up.
struct Pages {
    fails: bool,
}

impl Cleaner for Pages {
    type Primary = Page;

    async fn reconcile(&self, page: &Page, cx: &mut Context<Page>) -> Result<UpdateControl<Page>, BoxError> {
        if self.fails {
            return Err(format!("attempt {}", cx.retry_info().map_or(0, |retry| retry.attempt)).into());
        }
        let names: Vec<_> = cx.external::<String>().iter().map(|name| name.to_string()).collect();
        let owner = cx.owner_reference(page).into_iter().collect();
        let mut map =
            ConfigMap { data: Some([("names".to_owned(), names.join(","))].into()), ..ConfigMap::default() };
        map.metadata.name = Some("names".to_owned());
        map.metadata.namespace.clone_from(&page.metadata.namespace);
        map.metadata.owner_references = Some(owner);
        cx.apply(&map).await?;
        if let Some(source) = cx.external_source::<String>(None) {
            source.created(cx.primary_key(), Arc::new("mine".to_owned()));
        }
        Ok(UpdateControl::no_update().reschedule_after(Duration::from_secs(60)))
    }

    async fn cleanup(&self, _: &Page, cx: &mut Context<Page>) -> Result<Removal, BoxError> {
        match cx.secondary::<ConfigMap>()? {
            Some(map) => {
                cx.delete(&*map).await?;
                Ok(Removal::again_in(Duration::from_secs(5)))
            }
            None => Ok(Removal::Done),
        }
    }
}

fn pages(fails: bool) -> ControllerBuilder<Pages> {
    let names = PerResourcePollingEventSource::with_id(
        "names",
        Duration::from_secs(60),
        String::clone,
        async |_: Arc<Page>| -> Result<Vec<String>, BoxError> { panic!("nobody asks the other system") },
    );
    Controller::builder(Pages { fails }).owns::<ConfigMap>().watches(names)
}

#[test]
fn other_systems_are_given_by_hand() {
    let run = pages(false).dry_run(&page()).external(["a".to_owned(), "b".to_owned()]).blocking();
    assert_eq!(run.writes(), ["apply Page/hello", "apply ConfigMap/names"]);
    assert_eq!(run.body("apply ConfigMap/names")["data"]["names"], "a,b");
    let finalizers = &run.body("apply Page/hello")["metadata"]["finalizers"];
    assert_eq!(finalizers, &json!(["pages.example.com/finalizer"]));
    assert_eq!(run.external::<String>().len(), 3);
    assert_eq!(run.next_run(), Some(Duration::from_secs(60)));
    let run = run.again().blocking();
    assert_eq!(run.body("apply ConfigMap/names")["data"]["names"], "a,b,mine");
    let run = pages(false).dry_run(&page()).blocking();
    assert_eq!(run.body("apply ConfigMap/names")["data"]["names"], "");
}

#[test]
fn a_retry_is_one() {
    let run = |attempt| pages(true).retry(GenericRetry::josdk()).dry_run(&page()).retry(attempt).blocking();
    assert_eq!(run(0).error(), Some("attempt 0"));
    assert_eq!(run(3).error(), Some("attempt 3"));
    assert_eq!(run(3).next_run(), Some(Duration::from_millis(4_500)));
    assert_eq!(run(5).next_run(), Some(Duration::from_secs(10 * 60 * 60)), "that was the last one");
}

#[test]
#[should_panic(expected = "has no attempt 6")]
fn a_policy_has_an_end() {
    let _ = pages(true).retry(GenericRetry::josdk()).dry_run(&page()).retry(6).blocking();
}

#[test]
fn a_clean_up_is_a_run_as_well() {
    let run = pages(false).dry_run(&page()).deleting().blocking();
    assert_eq!(run.writes(), ["patch Page/hello"], "the finalizer");
    assert!(run.primary().is_none() && run.next_run().is_none());

    let living = pages(false).dry_run(&page()).blocking();
    let run = living.again().deleting().blocking();
    assert_eq!(run.writes(), ["delete ConfigMap/names"]);
    assert_eq!(run.next_run(), Some(Duration::from_secs(5)));
    assert_eq!(run.again().blocking().writes(), ["patch Page/hello"]);
}

#[test]
fn a_kind_that_the_cluster_lacks_is_inactive() {
    let controller = || {
        Controller::of::<Page>().workflow((
            html,
            web.after(html).needs(served::<Deployment>()),
            service.after(html).needs(served::<Page>()),
        ))
    };
    let run = controller().dry_run(&page()).blocking();
    assert_eq!(
        run.writes(),
        ["apply ConfigMap/hello-html", "apply Service/hello-service", "apply Deployment/hello-web"]
    );
    let run = controller().dry_run(&page()).lacks::<Deployment>().lacks::<Page>().blocking();
    assert_eq!(run.writes(), ["apply ConfigMap/hello-html"]);
    assert!(run.state(web).to_string().starts_with("inactive"), "{run}");
    assert!(run.state(service).to_string().starts_with("inactive"), "{run}");
}

#[test]
fn a_finished_controller_can_be_run_too() {
    let built = controller().build().unwrap();
    let run = DryRun::of(built, &page()).blocking();
    assert_eq!(run.states().len(), 3);
    let text = run.to_string();
    assert!(text.ends_with("runs again in 36000s"), "{text}");
}

/// Asks the server behind the framework's back.
struct Curious;

impl Reconciler for Curious {
    type Primary = Page;

    async fn reconcile(&self, page: &Page, cx: &mut Context<Page>) -> Result<UpdateControl<Page>, BoxError> {
        let key = ObjectKey::of(page);
        let path = format!(
            "/apis/example.com/v1/namespaces/{}/pages/{}",
            key.namespace().unwrap_or_default(),
            key.name()
        );
        let live: Value = cx.client().request(http::Request::get(&path).body(Vec::new())?).await?;
        assert_eq!(live["metadata"]["name"], "hello");
        let deleted = cx.client().request::<Value>(http::Request::delete(path).body(Vec::new())?).await;
        Err(deleted.map_or_else(BoxError::from, |_| "it was deleted".into()))
    }
}

#[test]
fn a_client_of_ones_own_reaches_the_same_server() {
    let run = Controller::builder(Curious).dry_run(&page()).blocking();
    assert_eq!(run.error(), Some("it was deleted"));
    assert_eq!(run.writes(), ["delete Page/hello"]);
    assert!(run.primary().is_none());
}

/// Wants what no server takes.
fn wrong(_: &Page) -> Service {
    serde_json::from_value(json!({ "spec": { "ports": [{ "port": 70_000 }] } })).expect("it can be written")
}

#[test]
fn a_value_that_a_server_refuses_is_refused() {
    let run = Controller::of::<Page>().workflow((wrong,)).dry_run(&page()).blocking();
    assert_eq!(run.writes(), ["apply Service/hello-wrong -> 422"]);
    assert!(run.error().is_some_and(|error| error.contains("spec.ports[0].port")), "{run}");
}

/// Says twice what it has seen, and once that it dislikes it.
struct Talkative;

impl Reconciler for Talkative {
    type Primary = Page;

    async fn reconcile(&self, _: &Page, cx: &mut Context<Page>) -> Result<UpdateControl<Page>, BoxError> {
        cx.events().normal("Seen", "a page");
        cx.events().normal("Seen", "a page");
        cx.events().warn("Ugly", "no headline");
        Ok(UpdateControl::no_update())
    }
}

#[test]
fn events_are_planned_like_all_that_is_written() {
    let run = Controller::builder(Talkative).records_events(true).dry_run(&page()).blocking();
    assert_eq!(run.events(), ["Normal Seen: a page", "Warning Ugly: no headline"]);
    assert_eq!(
        run.writes().iter().map(|write| &write[..12]).collect::<Vec<_>>(),
        ["create Event", "patch Event/", "create Event"]
    );
}

#[test]
fn a_paused_primary_is_planned_to_be_left_alone() {
    let controller = |paused: bool| {
        let controller = Controller::of::<Page>().workflow((wrong,)).records_events(true);
        controller
            .status(|page: &Page, run: &Run<Page>| json!({ "conditions": run.conditions(page) }))
            .paused_when(move |_| paused)
    };
    let run = controller(true).dry_run(&page()).blocking();
    assert!(run.run().is_some_and(Run::is_paused), "{run}");
    let reason = run.status().map(|status| status["conditions"][0]["reason"].clone());
    assert_eq!((reason, run.next_run()), (Some(json!("Suspended")), Some(Duration::from_secs(36_000))));
    assert_eq!(run.events(), ["Normal Suspended: Ready is False: it is paused"]);
    let writes = run.writes();
    assert!(writes.iter().all(|write| write.contains("status") || write.contains("Event")), "{writes:?}");
    assert!(controller(false).dry_run(&page()).blocking().run().is_some_and(|run| !run.is_paused()));
}
