//! The operator dies while it calls the other system, or before it has written the outcome. The next process leaves one
//! record, or none; `docs/src/records.md` has the table.

use integration_tests::prelude::*;
use operator_core::dependent::Records;

use super::Play;

/// How a record is found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// Its id follows from its primary.
    ById,
    /// By its token.
    ByToken,
    /// By a person, who looks for it.
    ByHand,
    /// It is one of several, and by its token.
    EachByToken,
    /// It is one of several, and by a person.
    EachByHand,
}

use Found::{ByHand, ById, ByToken, EachByHand, EachByToken};

const ALL: [Found; 5] = [ById, ByToken, ByHand, EachByToken, EachByHand];

impl Found {
    async fn play(self, name: &str) -> Result<Play> {
        let name = format!("{name}-{self:?}").to_lowercase();
        Play::of(&name, |system| {
            let builder = Workflow::builder();
            let word = match self {
                ByHand | EachByHand | ById => Word::unsearchable(system),
                ByToken | EachByToken => Word::new(system),
            };
            let builder = match self {
                ById => {
                    let record = Records::<_, TestResource>::new(word).id_of(|_| "id-1".to_owned());
                    builder.nodes((record.named("word"),))
                }
                ByToken | ByHand => {
                    builder.nodes((Records::new(word).id_in_status("recordId").named("word"),))
                }
                EachByToken | EachByHand => {
                    let records = Records::new(EachWord(word)).id_in_status("recordIds");
                    builder.nodes((records.named("word"),))
                }
            };
            Ok(builder.build()?)
        })
        .await
    }

    /// The primary's value, if the record should be this word.
    fn value(self, word: &str) -> String {
        match self {
            EachByToken | EachByHand => format!("a={word}"),
            ById | ByToken | ByHand => word.to_owned(),
        }
    }
}

impl Play {
    /// Whether the id is in the status.
    async fn is_kept(&self) -> Result<bool> {
        let status = self.scene.resources.get("one").await?.status.unwrap_or_default();
        Ok(status.record_id.is_some() || !status.record_ids.is_empty())
    }

    /// Says that the open attempt has created nothing.
    async fn forget_attempt(&self) -> Result<()> {
        let begun = self.until_it_waits().await?;
        self.forget(&begun).await
    }

    /// The record exists and is known: it is changed, and deleted with its primary.
    async fn ends_well(&self, found: Found, operator: TestOperator) -> Result<()> {
        self.scene.patch("one", json!({ "spec": { "value": found.value("last") } })).await?;
        self.until(&["last"]).await.with_context(|| format!("{found:?}"))?;
        assert_eq!(self.system.records().len(), 1, "{found:?}: {:?}", self.system.records());
        self.scene.delete("one").await?;
        self.until_gone().await.with_context(|| format!("{found:?}"))?;
        assert_eq!(words_in(&self.system), [""; 0], "{found:?}");
        assert_eq!(self.system.unfired(), [""; 0], "{found:?}");
        operator.stop().await;
        Ok(())
    }
}

#[operator_test]
async fn a_create_that_never_arrived_is_repeated_unless_nobody_can_know_that() -> Result<()> {
    for found in ALL {
        let play = found.play("crash-before").await?;
        play.scene.failures.allow("It isn't repeated, because the other system can't be searched");
        let is_first = AtomicBool::new(true);
        play.system.on_call(move |call| {
            let hangs = call.starts_with("before create") && is_first.swap(false, Ordering::Relaxed);
            async move {
                if hangs {
                    std::future::pending::<()>().await;
                }
            }
        });
        let operator = play.start().await?;
        play.scene.create("one", &found.value("first")).await?;
        eventually("a create on its way", async || {
            Ok(play.system.calls().iter().any(|call| call.starts_with("create")).then_some(()))
        })
        .await?;
        drop(operator);
        assert_eq!(words_in(&play.system), [""; 0]);
        let operator = play.start().await?;
        if matches!(found, ByHand | EachByHand) {
            play.forget_attempt().await.with_context(|| format!("{found:?}"))?;
        }
        play.until(&["first"]).await.with_context(|| format!("{found:?}"))?;
        play.ends_well(found, operator).await?;
    }
    Ok(())
}

#[operator_test]
async fn after_a_crash_a_record_whose_id_follows_from_its_primary_is_found_by_it() -> Result<()> {
    let play = ById.play("crash-create").await?;
    play.dies_in_create("first", &["first"]).await?;
    let operator = play.start().await?;
    operator.settled().await?;
    play.ends_well(ById, operator).await
}

#[operator_test]
async fn after_a_crash_one_of_several_that_cannot_be_searched_for_waits_until_a_person_writes_its_id()
-> Result<()> {
    let play = EachByHand.play("crash-several").await?;
    play.scene.failures.expect("It isn't repeated, because the other system can't be searched");
    play.dies_in_create("a=first", &["first"]).await?;
    let operator = play.start().await?;
    eventually("a run that waits", async || {
        Ok((play.scene.failures.seen("can't be searched") > 0).then_some(()))
    })
    .await?;
    assert_eq!(play.system.records().len(), 1, "nothing is made twice without a word");
    let id = Patch::Merge(json!({ "status": { "recordIds": { "a": "id-1" } } }));
    play.scene.resources.patch_status("one", &PatchParams::default(), &id).await?;
    play.ends_well(EachByHand, operator).await
}

/// The other system has answered, and only this process knew the id.
#[operator_test]
async fn an_id_that_was_never_written_is_searched_for_or_written_by_a_person() -> Result<()> {
    for found in [ByToken, ByHand, EachByToken, EachByHand] {
        let play = found.play("crash-id").await?;
        play.scene.failures.allow("It isn't repeated, because the other system can't be searched");
        // The first one is the dry run that finds out whether an id can be written.
        let faults = Faults::new([Rule::writes().subresource("status").nth(2).fault(Fault::Hang)]);
        let controller = play.scene.controller(&play.script).workflow(&play.workflow);
        let operator = play.scene.operator().transport(faults.hook()).register(controller);
        let operator = TestOperator::start(operator).await?;
        play.scene.create("one", &found.value("first")).await?;
        eventually("a write of the id", async || Ok(faults.unfired().is_empty().then_some(()))).await?;
        drop(operator);
        assert_eq!(words_in(&play.system), ["first"]);
        assert!(!play.is_kept().await?, "{found:?}: the id is nowhere");
        let operator = play.start().await?;
        if matches!(found, ByHand | EachByHand) {
            eventually("a run that waits", async || {
                Ok((play.scene.failures.seen("can't be searched") > 0).then_some(()))
            })
            .await?;
            let status = match found {
                EachByHand => json!({ "recordIds": { "a": "id-1" } }),
                _ => json!({ "recordId": "id-1" }),
            };
            let id = Patch::Merge(json!({ "status": status }));
            play.scene.resources.patch_status("one", &PatchParams::default(), &id).await?;
        }
        play.ends_well(found, operator).await?;
    }
    Ok(())
}

#[operator_test]
async fn an_update_that_was_not_answered_is_looked_at_after_a_crash() -> Result<()> {
    for found in ALL {
        let play = found.play("crash-update").await?;
        play.system.never_answer(1, "update");
        let operator = play.start().await?;
        play.scene.create("one", &found.value("first")).await?;
        play.until(&["first"]).await?;
        operator.settled().await?;
        play.scene.patch("one", json!({ "spec": { "value": found.value("second") } })).await?;
        play.until(&["second"]).await?;
        drop(operator);
        let operator = play.start().await?;
        operator.settled().await?;
        let updates = play.system.calls().iter().filter(|call| call.starts_with("update")).count();
        assert_eq!(updates, 1, "{found:?}: it is as wanted");
        play.ends_well(found, operator).await?;
    }
    Ok(())
}

#[operator_test]
async fn a_deletion_that_was_not_answered_is_finished_after_a_crash() -> Result<()> {
    for found in ALL {
        let play = found.play("crash-delete").await?;
        play.system.never_answer(1, "delete");
        let operator = play.start().await?;
        play.scene.create("one", &found.value("first")).await?;
        play.until(&["first"]).await?;
        operator.settled().await?;
        play.scene.delete("one").await?;
        play.until(&[]).await?;
        drop(operator);
        assert!(play.scene.resources.get_opt("one").await?.is_some(), "{found:?}: nobody knows yet");
        let operator = play.start().await?;
        play.until_gone().await.with_context(|| format!("{found:?}"))?;
        assert_eq!(play.system.records().len(), 1, "{found:?}");
        operator.stop().await;
    }
    Ok(())
}

/// The record is no longer wanted, and its id is removed after it. Then it is wanted again.
#[operator_test]
async fn a_deletion_during_the_life_of_the_primary_is_finished_after_a_crash() -> Result<()> {
    for found in [ByToken, ByHand, EachByToken, EachByHand] {
        let play = found.play("crash-unwanted").await?;
        play.system.never_answer(1, "delete");
        let operator = play.start().await?;
        play.scene.create("one", &found.value("first")).await?;
        play.until(&["first"]).await?;
        operator.settled().await?;
        play.set("").await?;
        play.until(&[]).await?;
        drop(operator);
        assert!(play.is_kept().await?, "{found:?}: the id goes after the record");
        let operator = play.start().await?;
        operator.settled().await?;
        assert!(!play.is_kept().await?, "{found:?}");
        play.scene.patch("one", json!({ "spec": { "value": found.value("again") } })).await?;
        play.until(&["again"]).await.with_context(|| format!("{found:?}"))?;
        play.scene.delete("one").await?;
        play.until_gone().await.with_context(|| format!("{found:?}"))?;
        assert_eq!(words_in(&play.system), [""; 0], "{found:?}");
        operator.stop().await;
    }
    Ok(())
}

#[operator_test]
async fn a_deletion_that_takes_time_is_waited_for_after_a_crash() -> Result<()> {
    let play = ByToken.play("crash-slow").await?;
    play.system.deletes_in(Duration::from_secs(5));
    let operator = play.start_with("first").await?;
    play.until(&["first"]).await?;
    operator.settled().await?;
    play.scene.delete("one").await?;
    eventually("a deletion that is asked for", async || {
        Ok(play.system.calls().iter().any(|call| call.starts_with("delete")).then_some(()))
    })
    .await?;
    drop(operator);
    let operator = play.start().await?;
    play.until_gone().await?;
    assert_eq!(words_in(&play.system), [""; 0], "the record goes before its primary");
    operator.stop().await;
    Ok(())
}
