//! A Secret's value is in no log at any level, no status, no Event, no metric and no observation, whatever goes
//! wrong with the Secret.

use integration_tests::prelude::*;
use k8s_openapi::{
    ByteString,
    api::{core::v1::Event, events::v1::Event as NewEvent},
};
use operator_core::observe::{Observation, Observer};

use super::says;

/// The secret value.
const CANARY: &str = "tweety-7f3a";

fn password(primary: &TestResource) -> ByteString {
    ByteString(format!("{CANARY}/{}", primary.spec.value).into_bytes())
}

/// The Secret of a primary, which changes with the primary's value.
fn secret(primary: &TestResource) -> Secret {
    Secret {
        metadata: meta_of(primary, "secret"),
        data: Some([("password".to_owned(), password(primary))].into()),
        ..Secret::default()
    }
}

/// Writes down the observations, as an observer that logs them would.
#[derive(Debug)]
struct Notes(LogText);

impl Observer for Notes {
    fn observe(&self, observation: &Observation<'_>) {
        self.0.add(&format!("{observation:?}\n"));
    }
}

/// The server's message about an invalid Secret, which repeats its content.
fn quoting(code: u16, reason: &str) -> Answer {
    let words = format!("Secret \"one-secret\" is invalid: data[password]: Invalid value: \"{CANARY}\"");
    Answer::json(
        code,
        &json!({
            "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason,
            "message": words,
            "details": {
                "name": "one-secret", "kind": "secrets",
                "causes": [{ "reason": "FieldValueInvalid", "message": words, "field": "data[password]" }],
            },
        }),
    )
}

/// An invalid Secret: the value is in the place of a map.
fn undecodable() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "data": CANARY, "type": "Opaque",
        "metadata": { "name": "odd", "namespace": "odd", "uid": "odd", "resourceVersion": "1" },
    })
}

/// Bad answers to lists and watches, for the operator's start.
fn disturb_reads(faulty: &Faulty) {
    let list = json!({ "metadata": { "resourceVersion": "1" }, "items": [undecodable()] });
    let no_list = json!({ "metadata": {}, "items": CANARY });
    let page = format!("<html><body>upstream said: {CANARY}</body></html>");
    faulty.lists([
        Answer::Instead(502, page),
        quoting(500, "InternalError"),
        Answer::json(200, &no_list),
        Answer::json(200, &list),
    ]);
    let line = |event: &str, object: &Value| format!("{}\n", json!({ "type": event, "object": object }));
    faulty.watches([
        Answer::Instead(200, line("MODIFIED", &undecodable()) + &line("ADDED", &json!(CANARY))),
        Answer::Instead(200, line("ERROR", &undecodable())),
        Answer::Instead(200, line("ERROR", &json!([CANARY]))),
        Answer::Instead(200, format!("\"{CANARY}\"\n")),
        Answer::Instead(200, line(CANARY, &json!({}))),
        Answer::json(
            410,
            &json!({ "kind": "Status", "code": 410, "reason": "Expired", "message": "too old" }),
        ),
    ]);
}

/// Bad answers to writes, and to the reads that follow some of them.
fn bad_writes() -> Vec<(&'static str, Vec<Answer>, Vec<Answer>)> {
    let page = format!("<html><body>upstream said: {CANARY}</body></html>");
    let plain = |code| Answer::json(code, &json!({ "message": CANARY, "data": CANARY }));
    vec![
        ("a refusal by the server itself", vec![quoting(500, "InternalError")], vec![]),
        ("a refusal by a proxy", vec![Answer::Instead(502, page), plain(503)], vec![]),
        ("a denial", vec![quoting(403, "Forbidden")], vec![]),
        ("an answer that is lost", vec![Answer::Lost], vec![]),
        ("an answer that is no secret", vec![Answer::Replaced(200, undecodable().to_string())], vec![]),
        (
            "an answer that is no json",
            vec![Answer::Replaced(200, format!("{{\"data\": \"{CANARY}\""))],
            vec![],
        ),
        ("a conflict", vec![quoting(409, "Conflict")], vec![]),
        (
            "a conflict, and a live state that is none",
            vec![quoting(409, "Conflict")],
            vec![Answer::Instead(200, undecodable().to_string())],
        ),
        (
            "a conflict, and no live state",
            vec![quoting(409, "Conflict")],
            vec![quoting(500, "InternalError")],
        ),
    ]
}

/// An operator that keeps a Secret for each primary.
async fn start(scene: &Scene, faulty: &Faulty, numbers: &Numbers, notes: LogText) -> Result<TestOperator> {
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move { Ok(Said::status(said(&*primary.spec.value))) })
    })
    .on_error(|_, _, error| {
        // As telling as a user can make it.
        let chain: Vec<String> = std::iter::successors(Some(error), |error| error.source())
            .map(|error| format!("{error} {error:?}"))
            .collect();
        said(chain.join(": "))
    });
    let workflow = workflow_of_one(wanted("secret", secret))?;
    let controller = script
        .controller()
        .workflow(&workflow)
        .retry(GenericRetry::linear(Duration::from_millis(100), 1_000)?)
        .namespaces([&scene.namespace]);
    let builder = scene
        .operator()
        .transport(faulty.hook())
        .metrics(numbers.recorder())
        .observer(Arc::new(Notes(notes)))
        .register(controller);
    Ok(TestOperator::start_unsynced(builder).await?)
}

/// Waits until the Secret holds what the primary's value asks for.
async fn kept(scene: &Scene, primary: &TestResource) -> Result<()> {
    let is_kept = |secret: &Secret| {
        secret.data.as_ref().and_then(|data| data.get("password")) == Some(&password(primary))
    };
    let secrets = scene.api::<Secret>();
    eventually("the secret", async || Ok(secrets.get_opt("one-secret").await?.filter(is_kept).map(drop)))
        .await
}

/// Everything in the namespace that people can see.
async fn shown(scene: &Scene) -> Result<String> {
    let list = ListParams::default();
    let primaries = scene.resources.list(&list).await?.items;
    let mut events = vec![json!(scene.api::<NewEvent>().list(&list).await?.items)];
    if !scene.cluster.is_in_process() {
        events.push(json!(scene.api::<Event>().list(&list).await?.items));
    }
    Ok(json!([primaries, events]).to_string())
}

#[operator_test(flavor = "current_thread")]
async fn no_value_of_a_secret_is_shown_whatever_goes_wrong() -> Result<()> {
    let scene = Scene::new("canary").await?;
    scene.failures.expect("no answer");
    scene.failures.expect("(403 Forbidden)");
    scene.failures.expect("(500 InternalError)");
    scene.failures.expect("(502 Unknown)");
    scene.failures.expect("(503 Unknown)");
    scene.failures.expect("answer cannot be read");
    let (log, _guard) = LogText::start();
    let (faulty, numbers) = (Faulty::of("secrets"), Numbers::default());
    disturb_reads(&faulty);
    let operator = start(&scene, &faulty, &numbers, log.clone()).await?;
    let one = scene.create("one", "first").await?;
    let all_read = eventually("all bad answers to lists and watches to be given", async || {
        log.add(&format!("{:?}\n", operator.unhealthy_sources().await));
        Ok((faulty.left()[..2] == [0, 0]).then_some(()))
    });
    all_read.await?;
    kept(&scene, &one).await?;

    for (what, writes, reads) in bad_writes() {
        operator.settled().await?;
        faulty.writes(writes);
        faulty.reads(reads);
        let one = scene.set("one", what).await?;
        kept(&scene, &one).await?;
        says(&scene, "one", what).await?;
        log.add(&shown(&scene).await?);
        assert_eq!(faulty.left()[3], 0, "{what}");
    }
    // A hand that changes the value, and one that owns it: the difference is logged, too.
    let secrets: Api<Secret> = scene.api();
    let theirs = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "one-secret" },
        "data": { "password": ByteString(format!("{CANARY}/theirs").into_bytes()) },
    });
    let rival = PatchParams::apply("rival").force();
    secrets.patch("one-secret", &rival, &Patch::Apply(theirs)).await?;
    let one = scene.resources.get("one").await?;
    kept(&scene, &one).await?;
    operator.settled().await?;
    log.add(&format!("{operator:?} {:?}", operator.operator().controllers()));
    operator.stop().await;
    log.add(&shown(&scene).await?);
    log.add(&numbers.text());

    let text = log.text();
    // Inside the process there is no network to speak of.
    let network: &[&str] = if scene.cluster.is_in_process() { &[] } else { &["kube_client", "hyper"] };
    let mut speak = ["TRACE", "operator_core"].iter().chain(network);
    assert!(speak.all(|who| text.contains(who)), "all are heard");
    let encoded =
        |value: &str| json!(ByteString(value.as_bytes().to_vec())).as_str().unwrap_or_default().to_owned();
    let mut found = BTreeMap::new();
    for (form, needle) in
        [("plain", CANARY.to_owned()), ("base64", encoded(&format!("{CANARY}/"))[..12].to_owned())]
    {
        let lines = text.lines().filter(|line| line.contains(&needle));
        found.insert(
            form,
            lines.map(|line| line.chars().take(600).collect::<String>()).take(5).collect::<Vec<_>>(),
        );
    }
    assert!(found.values().all(Vec::is_empty), "{found:#?}");
    assert!(text.contains("may contain values of the secret"), "something was masked");
    Ok(())
}
