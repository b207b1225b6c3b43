//! The life of records: created, changed, created anew, deleted.

use integration_tests::prelude::*;
use operator_core::dependent::{Pushes, Records};

use super::Play;

#[operator_test]
async fn a_record_is_made_with_its_token_changed_and_deleted_with_its_primary() -> Result<()> {
    let play = Play::one("record-life").await?;
    let operator = play.start_with("first").await?;
    play.until(&["first"]).await?;
    operator.settled().await?;
    assert_eq!(play.id().await?.as_deref(), Some("id-1"));
    let token = play.token().await?;
    assert_eq!(play.system.made_for(&token), 1);
    assert_eq!(play.system.calls(), [format!("find {token}"), format!("create {token}")]);

    play.set("second").await?;
    play.until(&["second"]).await?;
    play.ends().await?;
    assert_eq!(words_in(&play.system), [""; 0]);
    assert_eq!(play.system.records().len(), 1, "nothing else was ever made");
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_record_that_is_not_wanted_any_more_goes_and_its_id_too() -> Result<()> {
    let play = Play::one("record-unwanted").await?;
    let operator = play.start_with("first").await?;
    play.until_id().await?;
    play.set("").await?;
    play.until(&[]).await?;
    operator.settled().await?;
    assert_eq!(play.id().await?, None);
    play.set("again").await?;
    play.until(&["again"]).await?;
    assert_eq!(play.until_id().await?, "id-2");
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn several_records_follow_what_is_wanted_each_with_its_id() -> Result<()> {
    let play = Play::several("records-several").await?;
    let operator = play.start_with("a=1 b=2 c=3").await?;
    play.until(&["1", "2", "3"]).await?;
    operator.settled().await?;
    let ids = play.scene.resources.get("one").await?.status.context("a status")?.record_ids;
    assert_eq!(ids.keys().collect::<Vec<_>>(), ["a", "b", "c"]);
    play.set("b=2 c=4 d=5").await?;
    play.until(&["2", "4", "5"]).await?;
    operator.settled().await?;
    let left = play.scene.resources.get("one").await?.status.context("a status")?.record_ids;
    assert_eq!(left.keys().collect::<Vec<_>>(), ["b", "c", "d"]);
    assert_eq!((&left["b"], &left["c"]), (&ids["b"], &ids["c"]), "what stays has its id");
    play.ends().await?;
    assert_eq!(words_in(&play.system), [""; 0]);
    assert_eq!(play.system.records().len(), 4);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_deletion_that_takes_time_keeps_the_primary_until_the_record_is_gone() -> Result<()> {
    let play = Play::one("record-slow").await?;
    play.system.deletes_in(Duration::from_secs(3));
    let operator = play.start_with("first").await?;
    play.until_id().await?;
    play.scene.delete("one").await?;
    operator.settled().await?;
    if !words_in(&play.system).is_empty() {
        assert!(
            play.scene.resources.get_opt("one").await?.is_some(),
            "the record is there, and its primary is not"
        );
    }
    play.until_gone().await?;
    assert_eq!(words_in(&play.system), [""; 0]);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_record_that_others_delete_is_made_again_and_one_that_they_change_is_changed_back() -> Result<()> {
    let play = Play::one_with("record-meddled", |record| record.polled(Duration::from_secs(1))).await?;
    let operator = play.start_with("first").await?;
    let id = play.until_id().await?;
    assert!(play.system.meddle(&id, Some("theirs".to_owned())));
    play.until(&["first"]).await?;
    assert!(play.system.meddle(&id, None));
    play.until(&["first"]).await?;
    operator.stop().await;
    assert_eq!(play.system.records().len(), 2);
    Ok(())
}

#[operator_test]
async fn what_is_polled_together_is_listed_once_for_all_primaries() -> Result<()> {
    let play =
        Play::one_with("records-together", |record| record.polled_together(Duration::from_secs(10))).await?;
    let operator = play.start().await?;
    for name in ["one", "two", "three"] {
        play.scene.create(name, name).await?;
    }
    play.until(&["one", "three", "two"]).await?;
    let id = play.until_id().await?;
    assert!(play.system.meddle(&id, Some("theirs".to_owned())));
    play.until(&["one", "three", "two"]).await?;
    operator.stop().await;
    let calls = play.system.calls();
    assert!(calls.iter().any(|call| call == "list"), "{calls:?}");
    assert_eq!(calls.iter().filter(|call| call.starts_with("get")).count(), 0, "{calls:?}");
    Ok(())
}

#[operator_test]
async fn a_record_is_looked_at_when_the_other_system_says_that_it_has_changed() -> Result<()> {
    let pushes = Pushes::new();
    let play = Play::of("record-pushed", |system| {
        let record = Records::new(Word::new(system)).id_in_status("recordId");
        Ok(Workflow::builder().nodes((record.pushed_by(&pushes).named("word"),)).build()?)
    })
    .await?;
    let operator = play.start_with("first").await?;
    let id = play.until_id().await?;
    operator.settled().await?;
    assert!(play.system.meddle(&id, Some("theirs".to_owned())));
    pushes.changed("somebody else's");
    pushes.changed(&id);
    play.until(&["first"]).await?;
    operator.settled().await?;
    let looked = play.system.calls().iter().filter(|call| call.starts_with("get")).count();
    assert_eq!(looked, 1, "{:?}", play.system.calls());
    operator.stop().await;
    Ok(())
}
