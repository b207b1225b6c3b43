//! Each wait that a server can request, or that the library makes for something, has an end. The book has a table of them.

use integration_tests::prelude::*;
use operator_core::Verdict;

use super::{World, minutes, telling};
use crate::simulated::{pass, scene, under};

/// Five minutes are the longest wait that a server can request; the rest is for its random part, and for the retry.
const LONGEST: u64 = 400;

/// What happens to one request.
fn answers() -> [(&'static str, Fault); 3] {
    let day = 86_400;
    [
        ("503, in a day", Fault::Status(StatusAnswer::unavailable().retry_after(day))),
        ("429, in a day", Fault::Status(StatusAnswer::too_many_requests(day))),
        ("no answer", Fault::Hang),
    ]
}

/// How long it takes until nothing is left to do.
async fn until(world: &World, left: impl AsyncFn(&World) -> Result<Vec<String>>) -> Result<u64> {
    for waited in (0..=LONGEST).step_by(4) {
        if left(world).await?.is_empty() {
            return Ok(waited);
        }
        pass(4).await;
    }
    bail!("after {LONGEST} s there is something left to do: {:?}", left(world).await?);
}

/// The life of a primary whose request of that number gets this answer: it is created, changed, a child of it is deleted,
/// and it is deleted. Whether there was such a request.
async fn life(number: u64, fault: Fault) -> Result<bool> {
    // An Event that couldn't be written is not written later.
    let requests = Rule::when("not an Event", |head| !head.uri.path().contains("/events"));
    let rule = requests.nth(number).fault(fault);
    let world = World::start(&Faults::new([rule.clone()]), false).await?;
    world.scene.create("one", "first").await?;
    until(&world, async |world| world.missing("first").await).await?;
    world.scene.set("one", "second").await?;
    until(&world, async |world| world.missing("second").await).await?;
    world.scene.api::<ConfigMap>().delete("one-b", &DeleteParams::default()).await?;
    until(&world, async |world| world.missing("second").await).await?;
    world.scene.delete("one").await?;
    until(&world, async |world| world.left().await).await?;
    Ok(rule.fired() > 0)
}

#[tokio::test(start_paused = true)]
async fn whichever_request_is_put_off_for_a_day_or_not_answered_all_is_done_within_minutes() {
    let (mut wrong, mut number) = (Vec::new(), 0);
    loop {
        number += 1;
        // Each request gets two of the three answers.
        let answers = answers().into_iter().enumerate().filter(|(kind, _)| *kind as u64 != number % 3);
        let mut fired = false;
        for (_, (name, fault)) in answers {
            match life(number, fault).await {
                Ok(has_fired) => fired |= has_fired,
                Err(error) => {
                    fired = true;
                    wrong.push(format!("request {number}, {name}: {error:#}"));
                }
            }
        }
        if !fired {
            break;
        }
    }
    assert!(number > 15, "a life has more than {number} requests");
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), 2 * number, wrong.join("\n"));
}

const INTERVAL: u64 = 60;

/// What the library has to evaluate again, an hour later.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Again {
    Nothing,
    Expectation,
    Condition,
    Both,
}

#[tokio::test(start_paused = true)]
async fn whatever_a_primary_waits_for_it_runs_within_the_maximum_interval() -> Result<()> {
    const HOUR: Duration = Duration::from_secs(3600);
    for again in [Again::Nothing, Again::Expectation, Again::Condition, Again::Both] {
        let scene = scene().await?;
        let script = Script::new(move |run, _: Arc<TestResource>, context| {
            Box::pin(async move {
                if run == 1 && matches!(again, Again::Expectation | Again::Both) {
                    context.expect("something", HOUR, |_, _| false)?;
                }
                Ok(UpdateControl::no_update())
            })
        });
        let asks = matches!(again, Again::Condition | Again::Both);
        let map = wanted_map("a").ready(move |_: &ConfigMap| {
            let verdict = Verdict::when(!asks, "not yet");
            if asks { verdict.again_in(HOUR) } else { verdict }
        });
        let controller = scene.managed(&script, &workflow_of_one(map)?).name("keeper");
        let controller = controller.max_reconciliation_interval(Duration::from_secs(INTERVAL));
        let _operator = under(&Faults::none(), &scene, controller).await?;
        scene.create("one", "first").await?;
        pass(3 * 3600).await;
        let instants = script.runs.instants("one");
        let longest = instants.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or_default();
        let late = longest > Duration::from_secs(INTERVAL);
        ensure!(!late && instants.len() > 170, "{again:?}: {} runs, {longest:?} apart", instants.len());
    }
    Ok(())
}

/// A read of the live primary is refused for a minute, while the user changes the primary. The run was given the state before.
#[tokio::test(start_paused = true)]
async fn a_run_that_fails_before_it_begins_says_nothing_about_a_change_that_came_meanwhile() -> Result<()> {
    let scene = scene().await?;
    let looks = Rule::on(Verb::Get).resource("testresources").status(StatusAnswer::unavailable());
    let faults = Faults::new([looks.clone()]);
    faults.off();
    let _operator = under(&faults, &scene, telling(&scene, &workflow_of_one(wanted_map("a"))?)).await?;
    let ready = async || -> Result<(String, Option<i64>)> {
        let conditions = scene.resources.get("one").await?.status.unwrap_or_default().conditions;
        let ready = conditions.into_iter().find(|of| of.type_ == "Ready").context("a condition")?;
        Ok((ready.status, ready.observed_generation))
    };
    scene.create("one", "first").await?;
    pass(10).await;
    ensure!(ready().await? == ("True".to_owned(), Some(1)), "{:?}", ready().await?);
    faults.on();
    scene.api::<ConfigMap>().delete("one-a", &DeleteParams::default()).await?;
    pass(5).await;
    ensure!(looks.fired() > 0, "the run looks at its primary first");
    scene.set("one", "second").await?;
    let mut waited = 0;
    while ready().await?.0 == "True" && waited < LONGEST {
        pass(1).await;
        waited += 1;
    }
    ensure!(ready().await? == ("False".to_owned(), Some(1)), "after {waited} s: {:?}", ready().await?);
    faults.off();
    minutes(6).await;
    ensure!(ready().await? == ("True".to_owned(), Some(2)), "{:?}", ready().await?);
    Ok(())
}
