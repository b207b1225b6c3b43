//! Each cause of a failure × the default retry. The cause ends at a random moment, and six minutes later everything is done, without
//! an event.

use integration_tests::prelude::*;
use operator_core::{
    Run, UpdateControl,
    dependent::Records,
    testing::{OtherSystem, faults::Fault, seed_of_the_day},
};

use super::minutes;
use crate::simulated::{pass, scene, under};

/// The longest that a cause lasts, in seconds.
const LONGEST: usize = 3 * 60 * 60;

/// Why runs fail for a while.
#[derive(Clone, Debug)]
enum Cause {
    /// The reconciler's error.
    Error,
    /// The reconciler panics.
    Panic,
    /// The reconciler doesn't return before its deadline.
    Deadline,
    /// The function of a node fails.
    Node,
    /// The status function panics.
    Status,
    /// Another system is down.
    System,
    /// An object of someone else has the child's name.
    Object,
    /// This happens to each write of the child.
    Refusal(Fault),
}

fn causes() -> Vec<Cause> {
    let statuses = [
        StatusAnswer::new(400, "BadRequest", "admission webhook \"a.example.com\" denied the request"),
        StatusAnswer::forbidden("a right is missing"),
        StatusAnswer::conflict(),
        StatusAnswer::new(422, "Invalid", "ValidatingAdmissionPolicy 'a' denied request: no label team"),
        StatusAnswer::too_many_requests(3600),
        StatusAnswer::internal(),
        StatusAnswer::new(
            500,
            "",
            "failed to create typed patch object (a/b; v1, Kind=ConfigMap): .c: field not declared in schema",
        ),
        StatusAnswer::unavailable().retry_after(86_400),
    ];
    let faults = statuses.into_iter().map(Fault::Status).chain([Fault::Refused, Fault::Hang]);
    [Cause::Error, Cause::Panic, Cause::Deadline, Cause::Node, Cause::Status, Cause::System, Cause::Object]
        .into_iter()
        .chain(faults.map(Cause::Refusal))
        .collect()
}

/// What fails while the cause is there.
#[derive(Clone)]
struct Trouble {
    cause: Cause,
    is_there: Arc<AtomicBool>,
}

impl Trouble {
    fn is(&self, cause: fn(&Cause) -> bool) -> bool {
        cause(&self.cause) && self.is_there.load(Ordering::Relaxed)
    }
}

async fn ends_after(cause: Cause, seconds: u64) -> Result<()> {
    let scene = scene().await?;
    let trouble = Trouble { cause: cause.clone(), is_there: Arc::new(AtomicBool::new(true)) };
    let faults = match &cause {
        Cause::Refusal(fault) => Faults::new([Rule::writes().resource("configmaps").fault(fault.clone())]),
        _ => Faults::none(),
    };
    if matches!(cause, Cause::Object) {
        let mut theirs = ConfigMap::default();
        theirs.metadata.name = Some("one-a".to_owned());
        scene.api::<ConfigMap>().create(&PostParams::default(), &theirs).await?;
    }
    let system: Words = OtherSystem::new();
    system.outage(matches!(cause, Cause::System));
    let of_script = trouble.clone();
    let script = Script::new(move |_, _: Arc<TestResource>, _| {
        let trouble = of_script.clone();
        assert!(!trouble.is(|cause| matches!(cause, Cause::Panic)), "the reconciler is broken");
        Box::pin(async move {
            if trouble.is(|cause| matches!(cause, Cause::Deadline)) {
                std::future::pending::<()>().await;
            }
            ensure!(!trouble.is(|cause| matches!(cause, Cause::Error)), "not now");
            Ok(UpdateControl::no_update())
        })
    });
    let of_node = trouble.clone();
    let map = wish(move |primary: &TestResource, _| {
        if of_node.is(|cause| matches!(cause, Cause::Node)) {
            return Err("not now".into());
        }
        Ok(map_of(primary, "a", primary.value()))
    });
    let record = Records::new(Word::new(&system)).id_in_status("recordId").named("word");
    let workflow = Workflow::builder().nodes((node(map).named("a"), record)).build()?;
    let of_status = trouble.clone();
    let status = move |primary: &TestResource, run: &Run<TestResource>| {
        assert!(!of_status.is(|cause| matches!(cause, Cause::Status)), "the status function is broken");
        let conditions = run.conditions(primary);
        TestStatus { conditions, ..TestStatus::default() }
    };
    let controller = scene.managed(&script, &workflow).name("keeper").status(status);
    let controller = controller.reconcile_timeout(Duration::from_secs(20));
    let _operator = under(&faults, &scene, controller).await?;
    scene.create("one", "first").await?;
    pass(seconds).await;
    let ready = async || -> Result<bool> {
        let status = scene.resources.get("one").await?.status.unwrap_or_default();
        let is_ready = status.conditions.iter().any(|told| told.type_ == "Ready" && told.status == "True");
        Ok(is_ready && scene.values().await?.contains_key("one-a") && words_in(&system) == ["first"])
    };
    ensure!(!ready().await?, "it did no harm");
    trouble.is_there.store(false, Ordering::Relaxed);
    faults.off();
    system.outage(false);
    if matches!(cause, Cause::Object) {
        scene.api::<ConfigMap>().delete("one-a", &DeleteParams::default()).await?;
    }
    minutes(6).await;
    ensure!(
        ready().await?,
        "six minutes later it isn't done: {:?}",
        scene.resources.get("one").await?.status
    );
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn what_fails_for_a_while_is_done_six_minutes_after_that() {
    let mut random = Random::new(seed_of_the_day());
    let mut wrong = Vec::new();
    for cause in causes() {
        let seconds = 60 + random.below(LONGEST) as u64;
        if let Err(error) = ends_after(cause.clone(), seconds).await {
            wrong.push(format!("{cause:?} for {seconds} s: {error:#}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), causes().len(), wrong.join("\n"));
}
