//! Creates without an answer, with and without a restart of the operator.

use integration_tests::prelude::*;
use operator_core::dependent::Records;

use super::Play;

#[operator_test]
async fn a_create_without_an_answer_is_searched_for_before_it_is_repeated() -> Result<()> {
    let play = Play::one("record-unanswered").await?;
    play.scene.failures.expect("the connection to the other system broke");
    play.scene.failures.expect("is not called for this record before");
    play.system.lose_answers(1, "create");
    let operator = play.start_with("first").await?;
    assert_eq!(play.until_id().await?, "id-1");
    operator.settled().await?;
    assert_eq!(play.system.records().len(), 1);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn after_a_crash_a_searchable_record_is_found_by_its_token() -> Result<()> {
    let play = Play::one("record-crash").await?;
    play.dies_in_create("first", &["first"]).await?;
    assert_eq!(play.id().await?, None, "nobody was told the id");
    let operator = play.start().await?;
    assert_eq!(play.until_id().await?, "id-1");
    operator.settled().await?;
    assert_eq!(play.system.records().len(), 1);
    play.ends().await?;
    assert_eq!(words_in(&play.system), [""; 0]);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn after_a_crash_a_record_that_cannot_be_searched_for_waits_until_a_person_writes_its_id() -> Result<()>
{
    let play = Play::unsearchable("record-doubt").await?;
    play.scene.failures.expect("It isn't repeated, because the other system can't be searched");
    play.dies_in_create("first", &["first"]).await?;
    let operator = play.start().await?;
    let begun = play.until_it_waits().await?;
    assert_eq!(play.system.records().len(), 1, "nothing is made twice without a word");
    assert!(begun.starts_with("20"), "{begun}");
    let id = Patch::Merge(json!({ "status": { "recordId": "id-1" } }));
    play.scene.resources.patch_status("one", &PatchParams::default(), &id).await?;
    play.set("second").await?;
    play.until(&["second"]).await?;
    assert_eq!(play.system.records().len(), 1);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_person_may_say_that_an_attempt_has_made_nothing() -> Result<()> {
    let play = Play::unsearchable("record-forgotten").await?;
    play.scene.failures.expect("It isn't repeated, because the other system can't be searched");
    play.dies_in_create("first", &["first"]).await?;
    assert!(play.system.meddle("id-1", None), "somebody deletes it by hand");
    let operator = play.start().await?;
    let begun = play.until_it_waits().await?;
    play.forget(&begun).await?;
    play.until(&["first"]).await?;
    assert_eq!(play.until_id().await?, "id-2");
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_primary_whose_record_is_in_doubt_stays_until_a_person_says_what_became_of_it() -> Result<()> {
    let play = Play::unsearchable("record-doubt-at-the-end").await?;
    play.scene.failures.expect("It isn't repeated, because the other system can't be searched");
    play.dies_in_create("first", &["first"]).await?;
    let operator = play.start().await?;
    play.scene.delete("one").await?;
    let begun = play.until_it_waits().await?;
    assert!(play.system.meddle("id-1", None));
    play.forget(&begun).await?;
    play.until_gone().await?;
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn one_of_several_whose_create_had_no_answer_is_found_even_if_it_is_not_wanted_any_more() -> Result<()>
{
    let play = Play::several("records-crash").await?;
    play.dies_in_create("a=1", &["1"]).await?;
    play.set("b=2").await?;
    let operator = play.start().await?;
    play.until(&["2"]).await?;
    operator.settled().await?;
    let left = play.scene.resources.get("one").await?.status.context("a status")?.record_ids;
    assert_eq!(left.keys().collect::<Vec<_>>(), ["b"]);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_refused_create_leaves_no_doubt() -> Result<()> {
    let play = Play::unsearchable("record-refused").await?;
    play.scene.failures.expect("the other system refuses it: too many");
    play.scene.failures.expect("is not called for this record before");
    play.system.refuse(1, "create", "too many");
    let operator = play.start_with("first").await?;
    assert_eq!(play.until_id().await?, "id-1");
    operator.stop().await;
    Ok(())
}

/// Although this process knows that there is none, so that it doesn't search.
#[operator_test]
async fn a_record_that_is_wanted_again_is_noted_too() -> Result<()> {
    let play = Play::unsearchable("record-again").await?;
    play.scene.failures.expect("It isn't repeated, because the other system can't be searched");
    let operator = play.start_with("first").await?;
    play.until_id().await?;
    play.set("").await?;
    play.until(&[]).await?;
    operator.settled().await?;
    play.system.never_answer(1, "create");
    play.set("second").await?;
    play.until(&["second"]).await?;
    drop(operator);
    let operator = play.start().await?;
    play.until_it_waits().await?;
    assert_eq!(words_in(&play.system), ["second"], "nothing is made twice without a word");
    operator.stop().await;
    Ok(())
}

/// The note of its create is then useless, and must not look like that of another one.
#[operator_test]
async fn a_record_that_is_deleted_because_it_is_not_wanted_leaves_no_doubt() -> Result<()> {
    for several in [false, true] {
        let play = if several {
            Play::several("records-withdrawn").await?
        } else {
            Play::unsearchable("record-withdrawn").await?
        };
        let operator = play.start().await?;
        for (value, words) in [("a=1", vec!["1"]), ("", vec![]), ("a=2", vec!["2"]), ("", vec![])] {
            let (value, words) =
                if several { (value, words) } else { (words.first().copied().unwrap_or_default(), words) };
            match play.scene.resources.get_opt("one").await? {
                None => drop(play.scene.create("one", value).await?),
                Some(_) => drop(play.scene.patch("one", json!({ "spec": { "value": value } })).await?),
            }
            play.until(&words).await?;
            operator.settled().await?;
            let one = play.scene.resources.get("one").await?;
            let note = one.annotations().get("operator-core.io/attempts");
            assert!(!words.is_empty() || note.is_none(), "{note:?}");
        }
        assert_eq!(play.system.records().len(), 2);
        operator.stop().await;
    }
    Ok(())
}

/// Each of several is gone at another time, and is looked for once.
#[operator_test]
async fn what_shows_late_that_it_is_gone_does_not_keep_its_primary() -> Result<()> {
    let play = Play::of("records-gone", |system| {
        let records = Records::new(EachWord(Word::new(system))).id_in_status("recordIds");
        let records = records.shows_within(Duration::from_secs(2)).named("words");
        Ok(Workflow::builder().nodes((records,)).build()?)
    })
    .await?;
    play.scene.failures.expect("the other system refuses it: not now");
    play.scene.failures.allow("but may do so within");
    play.scene.failures.allow("is not called for this record before");
    let operator = play.start_with("a=1 b=2 c=3").await?;
    play.until(&["1", "2", "3"]).await?;
    operator.settled().await?;
    play.system.refuse(1, "delete", "not now");
    play.ends().await?;
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn what_is_shown_late_is_not_made_twice() -> Result<()> {
    let play = Play::one_with("record-lag", |record| record.shows_within(Duration::from_secs(5))).await?;
    play.scene.failures.expect("but may do so within");
    play.scene.failures.allow("is not called for this record before");
    play.system.shows_after(Duration::from_secs(2)).never_answer(1, "create");
    let operator = play.start_with("first").await?;
    play.until(&["first"]).await?;
    drop(operator);
    let operator = play.start().await?;
    assert_eq!(play.until_id().await?, "id-1");
    operator.stop().await;
    assert_eq!(play.system.records().len(), 1);
    Ok(())
}

/// How long it may take until something is shown counts from its create, and not from the first read, which came before that.
#[operator_test]
async fn what_is_created_after_a_wait_may_be_shown_as_late_as_anything() -> Result<()> {
    let play =
        Play::one_with("record-lag-again", |record| record.shows_within(Duration::from_secs(4))).await?;
    play.scene.failures.expect("but may do so within");
    play.scene.failures.expect("the connection to the other system broke");
    play.scene.failures.allow("is not called for this record before");
    play.system.shows_after(Duration::from_secs(3)).lose_answers(1, "create");
    let retry = GenericRetry::linear(Duration::from_secs(1), 100)?;
    let controller = play.scene.controller(&play.script).retry(retry).workflow(&play.workflow);
    let operator = play.scene.start(controller).await?;
    play.scene.create("one", "first").await?;
    assert_eq!(play.until_id().await?, "id-1");
    operator.stop().await;
    assert_eq!(play.system.records().len(), 1);
    Ok(())
}
