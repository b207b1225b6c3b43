//! Wrong declarations and wrong answers: nothing is created.

use integration_tests::prelude::*;
use operator_core::dependent::Records;

use super::Play;

#[operator_test]
async fn a_field_that_the_server_drops_or_refuses_is_found_before_anything_is_created() -> Result<()> {
    for (field, words) in [
        ("droppedId", "the server drops `status.droppedId`"),
        ("refusedId", "the server refuses an id in `status.refusedId`"),
    ] {
        let play = Play::of("record-field", |system| {
            let record = Records::new(Word::new(system)).id_in_status(field).named("word");
            Ok(Workflow::builder().nodes((record,)).build()?)
        })
        .await?;
        play.scene.failures.expect(words);
        let operator = play.start_with("first").await?;
        eventually("a failed run", async || Ok((play.scene.failures.seen(words) > 0).then_some(()))).await?;
        assert!(play.system.records().is_empty());
        operator.stop().await;
    }
    Ok(())
}

#[operator_test]
async fn records_without_a_place_for_their_ids_are_refused_before_anything_starts() -> Result<()> {
    let play = Play::of("record-nowhere", |system| {
        Ok(Workflow::builder().nodes((Records::new(Word::new(system)).named("word"),)).build()?)
    })
    .await?;
    let error = play.start().await.err().context("it starts")?;
    let words = format!("{error:#}");
    assert!(
        words.contains("node `word` has records outside the cluster, but no place for their ids"),
        "{words}"
    );
    assert!(words.contains(".id_in_status(\"recordId\")"), "{words}");
    Ok(())
}

#[operator_test]
async fn a_field_that_the_status_lacks_or_that_holds_something_else_is_refused_before_anything_starts()
-> Result<()> {
    for (field, words) in [
        ("recordID", "the status has no field `recordID`"),
        ("observedGeneration", "`status.observedGeneration` can't hold them: invalid type: string"),
        ("recordIds", "`status.recordIds` can't hold them: invalid type: string"),
    ] {
        let play = Play::of("record-field-type", |system| {
            let record = Records::new(Word::new(system)).id_in_status(field).named("word");
            Ok(Workflow::builder().nodes((record,)).build()?)
        })
        .await?;
        let error = play.start().await.err().context("it starts")?;
        let told = format!("{error:#}");
        assert!(told.contains(words), "{told}");
        assert!(told.contains("pub record_id: Option<String>"), "{told}");
    }
    Ok(())
}

#[operator_test]
async fn two_nodes_that_keep_their_ids_in_one_field_are_refused_before_anything_starts() -> Result<()> {
    let play = Play::of("record-one-field", |system| {
        let record = || Records::new(Word::new(system)).id_in_status("recordId");
        Ok(Workflow::builder().nodes((record().named("word"), record().named("other"))).build()?)
    })
    .await?;
    let error = play.start().await.err().context("it starts")?;
    let told = format!("{error:#}");
    assert!(
        told.contains("the nodes `word` and `other` keep their ids in the same field, `status.recordId`"),
        "{told}"
    );
    Ok(())
}

#[operator_test]
async fn a_record_that_was_made_twice_for_one_token_is_told() -> Result<()> {
    let play = Play::one("record-twice").await?;
    play.scene.failures.expect("2 records in the other system were created for");
    play.scene.create("one", "first").await?;
    let token = play.token().await?;
    for _ in 0..2 {
        play.system.create(&token, "first".to_owned()).await?;
    }
    let operator = play.start().await?;
    eventually("a failed run", async || {
        Ok((play.scene.failures.seen("delete the others there") > 0).then_some(()))
    })
    .await?;
    assert_eq!(play.system.records().len(), 2);
    assert!(play.system.meddle("id-2", None));
    assert_eq!(play.until_id().await?, "id-1");
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_key_that_is_wanted_twice_is_refused() -> Result<()> {
    let play = Play::several("records-twice").await?;
    play.scene.failures.expect("wants two records with the key `a`");
    let operator = play.start_with("a=1 a=2").await?;
    eventually("a failed run", async || Ok((play.scene.failures.seen("the key `a`") > 0).then_some(())))
        .await?;
    assert!(play.system.records().is_empty());
    operator.stop().await;
    Ok(())
}
