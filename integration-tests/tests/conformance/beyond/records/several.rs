//! Several records of a primary: the operations on each of them in a run.

use integration_tests::prelude::*;
use operator_core::workflow::Operation::{self, Created, Deleted, Matched, Updated};

use super::Play;

/// An operator that notes what its runs have come to.
async fn noting(play: &Play) -> Result<(TestOperator, Outcomes)> {
    let (script, outcomes) = looking_on::<TestResource>();
    let retry = GenericRetry::default().with_initial_interval(Duration::from_millis(10))?;
    let controller = play.scene.controller(&script).retry(retry).workflow(&play.workflow);
    Ok((play.scene.start(controller).await?, outcomes))
}

/// What the last run has done, by the records' keys.
fn done(outcomes: &Outcomes) -> Result<Vec<(String, Operation)>> {
    let last = outcomes.last("one").context("a run")?;
    let done = node_of(&last, "words").reconciled.as_ref().context("records")?;
    Ok(done.operations().iter().map(|(what, of)| (of.id().to_owned(), *what)).collect())
}

fn all<const N: usize>(done: [(&str, Operation); N]) -> Vec<(String, Operation)> {
    done.map(|(key, what)| (key.to_owned(), what)).into()
}

#[operator_test]
async fn each_run_tells_what_was_done_to_each_record() -> Result<()> {
    let play = Play::several("records-done").await?;
    let (operator, outcomes) = noting(&play).await?;
    play.scene.create("one", "b=1 c=3 d=4").await?;
    play.until(&["1", "3", "4"]).await?;
    operator.settled().await?;
    assert_eq!(done(&outcomes)?, all([("b", Created), ("c", Created), ("d", Created)]));
    play.set("a=1 b=2 c=3").await?;
    play.until(&["1", "2", "3"]).await?;
    operator.settled().await?;
    assert_eq!(done(&outcomes)?, all([("a", Created), ("b", Updated), ("c", Matched), ("d", Deleted)]));
    // Another order is no other state.
    play.set("c=3 b=2 a=1").await?;
    operator.settled().await?;
    assert_eq!(done(&outcomes)?, all([("a", Matched), ("b", Matched), ("c", Matched)]));
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn one_that_fails_stops_no_other_and_is_named() -> Result<()> {
    let play = Play::several("records-one-fails").await?;
    play.scene.failures.expect("1 of 2 items failed: ");
    play.system.refuse(1, "create", "there is no such number");
    let operator = play.start_with("a=1 b=2").await?;
    eventually("a failed run", async || {
        Ok((play.scene.failures.seen("there is no such number") > 0).then_some(()))
    })
    .await?;
    play.until(&["1", "2"]).await?;
    assert_eq!(play.system.records().len(), 2, "what was refused is made later, and the other one once");
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn several_are_gone_when_the_last_one_is() -> Result<()> {
    let play = Play::several("records-gone").await?;
    let operator = play.start_with("a=1 b=2").await?;
    play.until(&["1", "2"]).await?;
    operator.settled().await?;
    play.system.deletes_in(Duration::from_secs(3600));
    play.scene.delete("one").await?;
    operator.settled().await?;
    assert!(play.system.meddle("id-1", None), "somebody hurries one of them on");
    let asked = || play.system.calls().iter().filter(|call| *call == "delete id-2").count();
    let before = asked();
    eventually("a run that asks again", async || Ok((asked() > before).then_some(()))).await?;
    operator.settled().await?;
    assert_eq!(words_in(&play.system).len(), 1);
    assert!(play.scene.resources.get_opt("one").await?.is_some(), "one is left, and its primary is not");
    assert!(play.system.meddle("id-2", None));
    play.until_gone().await?;
    operator.stop().await;
    Ok(())
}
