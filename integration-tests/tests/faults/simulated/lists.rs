//! Versions that are too old, lists that are cut or out of date, objects that can't be decoded.

use http_body_util::BodyExt;
use integration_tests::prelude::*;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject};
use operator_core::{
    client::TransportHook,
    testing::faults::{Cut, End, LineFault},
};
use tracing::Level;

use super::watches::{PLURALS, informer_lists};
use super::{
    Script, TestResource, keeper,
    life::{same_life, same_life_under},
    over, owner, rest, said, saying, scene, under,
};

/// Answers the second list of an informer like the first.
fn same_list_twice(plural: &'static str) -> TransportHook {
    let first: Arc<Mutex<Option<bytes::Bytes>>> = Arc::default();
    TransportHook::around(move |request, inner| {
        let first = Arc::clone(&first);
        let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
        let is_it = request.method() == http::Method::GET
            && request.uri().path().ends_with(plural)
            && !request.uri().query().unwrap_or_default().contains("watch=")
            && !accept.unwrap_or_default().contains("PartialObjectMetadata");
        async move {
            let answer = inner.send(request).await?;
            if !is_it {
                return Ok(answer);
            }
            let (head, content) = answer.into_parts();
            let content = content.collect().await?.to_bytes();
            let content = first.lock().get_or_insert(content).clone();
            let body = http_body_util::Full::new(content).map_err(|never| match never {});
            Ok(http::Response::from_parts(head, body.boxed_unsync()))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn f04_a_list_from_the_past_leads_to_no_second_creation_and_no_deletion() -> Result<()> {
    for plural in PLURALS {
        let scene = scene().await?;
        let script = saying();
        let gone = Rule::watch(plural).nth(4).event(LineFault::Gone);
        let faults = Faults::new([gone.clone()]);
        let builder = scene.operator().transport(same_list_twice(plural)).transport(faults.hook());
        let operator = TestOperator::start(builder.register(keeper(&scene, &script)?)).await?;
        scene.create("one", "first").await?;
        rest(&operator).await?;
        scene.set("one", "second").await?;
        rest(&operator).await?;
        assert_eq!(gone.fired(), 1, "{plural}");
        scene.until_values([("one-a", "second"), ("one-b", "second")]).await?;
        let audit = scene.cluster.audit()?;
        let of_maps = || audit.iter().filter(|event| event.resource == "configmaps");
        assert_eq!(of_maps().filter(|event| event.code == 201).count(), 2, "{plural}: made once each");
        assert_eq!(of_maps().filter(|event| event.verb == "delete").count(), 0, "{plural}: none is deleted");
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f08_versions_that_are_too_old_lead_to_lists_with_growing_waits() -> Result<()> {
    for plural in PLURALS {
        let moments = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&moments);
        let lists = informer_lists(plural).meanwhile(move |_| {
            noted.lock().push(Instant::now());
            async {}
        });
        let refused = Rule::watch(plural).first(6).status(StatusAnswer::gone());
        same_life(&Faults::new([lists, refused]), 1).await?;
        let moments = moments.lock().clone();
        assert!(moments.len() >= 6, "{} lists", moments.len());
        let waits: Vec<Duration> = moments.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let last: Duration = waits.iter().rev().take(2).sum();
        assert!(last > Duration::from_secs(2), "the last waits are too short: {waits:?}");
        for event in 1..=4 {
            let gone = Rule::watch(plural).nth(event).event(LineFault::Gone);
            same_life(&Faults::new([gone]), 1).await?;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f08_while_versions_are_too_old_the_cache_answers_and_the_operator_is_ready() -> Result<()> {
    let scene = scene().await?;
    let script = Script::new(|run, primary: Arc<TestResource>, context| {
        Box::pin(async move {
            let map = config_map(&*primary, context, "kept");
            let seen = context.secondary::<ConfigMap>()?.is_some();
            context.resource_operations().server_side_apply(&map).await?;
            Ok(Said::status(said(format!("run {run}: {seen}"))))
        })
    });
    let ends = Rule::watch("configmaps").nth(2).event(LineFault::Gone);
    let refused =
        Rule::on(Verb::Watch).resource("configmaps").occurrences(2..=4).status(StatusAnswer::gone());
    let listing = Rule::on(Verb::List).resource("configmaps").occurrences(2..=3).fault(Fault::Hang);
    let faults = Faults::new([ends.clone(), refused, listing]);
    let builder = scene.operator().transport(faults.hook()).register(owner(&scene, &script)?);
    let operator = TestOperator::start(builder).await?;
    scene.create("one", "first").await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let edit = json!({ "metadata": { "labels": { "by": "hand" } } });
    scene.api::<ConfigMap>().patch("one", &PatchParams::default(), &Patch::Merge(edit)).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(ends.fired(), 1);
    assert!(operator.unhealthy_sources().await.is_empty(), "short trouble makes nobody unready");
    scene.set("one", "second").await?;
    scene
        .until("a run", "one", |one| {
            one.status.as_ref().and_then(|status| status.message.as_deref()) == Some("run 2: true")
        })
        .await?;
    faults.off();
    over(&operator, &scene, &["one"]).await
}

#[tokio::test(start_paused = true)]
async fn f09_a_list_that_is_cut_anywhere_syncs_nothing_and_deletes_nothing() -> Result<()> {
    for plural in PLURALS {
        for bytes in [0, 1, 40, 200, 500, 900] {
            for end in [End::Clean, End::Reset] {
                let scene = scene().await?;
                let script = saying();
                let first = scene.start(keeper(&scene, &script)?).await?;
                scene.create("one", "first").await?;
                scene.create("two", "first").await?;
                rest(&first).await?;
                first.stop().await;

                let runs = script.runs.count();
                let cut =
                    Rule::on(Verb::List).resource(plural).first(2).fault(Fault::Cut(Cut::Bytes(bytes), end));
                let faults = Faults::new([cut.clone()]);
                let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
                tokio::time::sleep(Duration::from_millis(300)).await;
                assert_eq!(cut.fired(), 1);
                assert_eq!(script.runs.count(), runs, "a run before everything was seen");
                let written = rest(&operator).await?.written();
                assert!(written.is_empty(), "{plural} cut after {bytes} ({end}): {written:?}");
                over(&operator, &scene, &["one", "two"]).await?;
            }
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f09_a_later_list_that_is_cut_deletes_nothing_either() -> Result<()> {
    for plural in PLURALS {
        for bytes in [1, 200, 500, 900] {
            let gone = Rule::watch(plural).nth(3).event(LineFault::Gone);
            let cut = informer_lists(plural).nth(2).fault(Fault::Cut(Cut::Bytes(bytes), End::Clean));
            same_life(&Faults::new([gone, cut]), 1).await?;
        }
    }
    Ok(())
}

/// Each list has a page for each object.
fn small_pages() -> TransportHook {
    TransportHook::around(|mut request, inner| async move {
        let asked = request.uri().to_string();
        if asked.contains("limit=500") {
            *request.uri_mut() = asked.replace("limit=500", "limit=1").parse()?;
        }
        inner.send(request).await
    })
}

/// Whatever happens to whichever page of a later list, it deletes nothing and hides nothing.
#[tokio::test(start_paused = true)]
async fn a_later_list_of_many_pages_comes_to_the_same() -> Result<()> {
    let faults = [
        Fault::Status(StatusAnswer::gone()),
        Fault::Status(StatusAnswer::internal()),
        Fault::Status(StatusAnswer::unavailable()),
        Fault::AnswerLost,
        Fault::Hang,
        Fault::Cut(Cut::Bytes(200), End::Clean),
        Fault::Cut(Cut::Bytes(200), End::Reset),
    ];
    for fault in faults {
        // The first list is empty. The later one has two pages, and one more if it begins again.
        for page in [2, 3] {
            let gone = Rule::watch("configmaps").nth(3).event(LineFault::Gone);
            let broken = informer_lists("configmaps").nth(page).fault(fault.clone());
            let told = format!("{fault:?} on page {page}");
            let lived = same_life_under([small_pages()], &Faults::new([gone, broken]), 1).await;
            lived.context(told)?;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f10_a_line_that_is_no_json_costs_nothing_but_itself() -> Result<()> {
    for plural in PLURALS {
        for event in 1..=4 {
            same_life(&Faults::new([Rule::watch(plural).nth(event).event(LineFault::Malformed)]), 1).await?;
        }
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn f10_an_object_that_cannot_be_decoded_is_reported_and_others_go_on() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::<TestResource>::on(TestCluster::in_process(), "faults").await?;
    scene.cluster.install_crds([anything_goes()?]).await?;
    let script = saying();
    let numbers = Numbers::default();
    let builder = scene.operator().metrics(numbers.recorder());
    let operator = TestOperator::start(builder.register(keeper(&scene, &script)?)).await?;
    let undecodable = |event: &str| {
        numbers.value("undecodable_objects", &[("controller_name", "keeper"), ("event", event)])
    };
    let resource = ApiResource::erase::<TestResource>(&());
    let untyped: Api<DynamicObject> = Api::namespaced_with(scene.client.clone(), &scene.namespace, &resource);
    let mut wrong = DynamicObject::new("wrong", &resource);
    wrong.data = json!({ "spec": { "value": 5 } });
    untyped.create(&PostParams::default(), &wrong).await?;
    scene.create("right", "first").await?;
    rest(&operator).await?;
    let warned = log.lines(Level::WARN);
    let warned = warned.iter().filter(|line| line.field("message").contains("can't be decoded"));
    assert_eq!(warned.filter(|line| line.field("object").ends_with("/wrong")).count(), 1, "said once");
    assert_eq!((undecodable("primary"), undecodable("ConfigMap")), (1.0, 0.0), "the metric counts it");
    scene.set("right", "second").await?;
    rest(&operator).await?;
    scene.until_values([("right-a", "second"), ("right-b", "second")]).await?;
    scene.set("wrong", "repaired").await?;
    rest(&operator).await?;
    assert_eq!(scene.values().await?.len(), 4);
    assert_eq!(undecodable("primary"), 0.0, "it can be decoded now");
    over(&operator, &scene, &["right", "wrong"]).await
}

/// The definition of a version ago, when a value could be anything.
fn anything_goes() -> Result<CustomResourceDefinition> {
    let mut definition = serde_json::to_value(TestResource::crd())?;
    let spec = definition.pointer_mut("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
    *spec.expect("the definition has a schema") =
        json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    Ok(serde_json::from_value(definition)?)
}

#[tokio::test(start_paused = true)]
async fn a_test_s_operator_says_what_its_caches_lack_and_doesn_t_wait_for_ever() -> Result<()> {
    let scene = Scene::<TestResource>::on(TestCluster::in_process(), "faults").await?;
    let started = TestOperator::start(scene.operator().register(saying().controller().name("early"))).await;
    let error = started.expect_err("the definition is missing").to_string();
    assert!(
        error.starts_with("not synced within 60 s: source primary of controller early in namespace "),
        "{error}"
    );
    assert!(error.contains("install the CustomResourceDefinition `testresources."), "{error}");
    Ok(())
}
