//! The places of ids, and who may write there.

use integration_tests::prelude::*;
use operator_core::dependent::Records;

use super::Play;

#[operator_test]
async fn the_id_is_written_by_a_field_manager_of_its_own() -> Result<()> {
    let play = Play::one("record-manager").await?;
    let operator = play.start_with("first").await?;
    play.until_id().await?;
    let one = play.scene.resources.get("one").await?;
    let managers: BTreeSet<&str> =
        one.managed_fields().iter().filter_map(|entry| entry.manager.as_deref()).collect();
    assert!(managers.iter().any(|manager| manager.ends_with("-records")), "{managers:?}");
    operator.stop().await;
    Ok(())
}

/// The id stays, whether a status function leaves it out, repeats it, or fails.
#[operator_test]
async fn no_status_function_can_drop_the_id() -> Result<()> {
    for applies in [true, false] {
        let play = Play::one(&format!("record-status-{applies}")).await?;
        let repeats = Arc::new(AtomicBool::new(false));
        let says = Arc::clone(&repeats);
        let status = move |one: &TestResource, run: &operator_core::Run<TestResource>| {
            let old = one.status.clone().unwrap_or_default();
            let message = Some(format!("{} {}", one.spec.value, run.error().is_none()));
            match says.load(Ordering::Relaxed) {
                true => TestStatus { message, ..old },
                false => TestStatus { message, ..TestStatus::default() },
            }
        };
        let controller = play.scene.controller(&play.script).use_ssa_to_patch_primary(applies);
        let operator = play.scene.start(controller.status(status).workflow(&play.workflow)).await?;
        play.scene.create("one", "first").await?;
        let id = play.until_id().await?;
        for (value, repeat) in [("second", true), ("third", false), ("fourth", true)] {
            repeats.store(repeat, Ordering::Relaxed);
            play.set(value).await?;
            eventually("the status", async || {
                let status = play.scene.resources.get("one").await?.status.unwrap_or_default();
                Ok(status.message.is_some_and(|message| message.starts_with(value)).then_some(()))
            })
            .await?;
            operator.settled().await?;
            assert_eq!(play.id().await?.as_ref(), Some(&id), "applies: {applies}, repeats: {repeat}");
        }
        assert_eq!(play.system.records().len(), 1);
        operator.stop().await;
    }
    Ok(())
}

#[operator_test]
async fn a_status_that_sets_another_id_is_refused() -> Result<()> {
    let play = Play::one("record-another-id").await?;
    play.scene.failures.expect("the framework writes it");
    let status = |_: &TestResource, _: &operator_core::Run<TestResource>| TestStatus {
        record_id: Some("mine".to_owned()),
        ..TestStatus::default()
    };
    let controller = play.scene.controller(&play.script).status(status).workflow(&play.workflow);
    let operator = play.scene.start(controller).await?;
    play.scene.create("one", "first").await?;
    assert_eq!(play.until_id().await?, "id-1");
    eventually("a refusal", async || Ok((play.scene.failures.seen("leave the field out") > 0).then_some(())))
        .await?;
    assert_eq!(play.until_id().await?, "id-1");
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn an_id_that_somebody_drops_is_written_again() -> Result<()> {
    let play = Play::one("record-dropped-id").await?;
    let operator = play.start_with("first").await?;
    let id = play.until_id().await?;
    let drop_it = Patch::Merge(json!({ "status": { "recordId": null } }));
    play.scene.resources.patch_status("one", &PatchParams::default(), &drop_it).await?;
    play.set("second").await?;
    play.until(&["second"]).await?;
    assert_eq!(play.until_id().await?, id);
    assert_eq!(play.system.records().len(), 1);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn an_id_that_follows_from_the_primary_is_kept_nowhere() -> Result<()> {
    let play = Play::of("record-follows", |system| {
        let record = Records::<_, TestResource>::new(Word::unsearchable(system));
        let record = record.id_of(|_| "id-1".to_owned()).named("word");
        Ok(Workflow::builder().nodes((record,)).build()?)
    })
    .await?;
    play.scene.failures.allow("the connection to the other system broke");
    play.scene.failures.allow("is not called for this record before");
    play.system.lose_answers(1, "create");
    let operator = play.start_with("first").await?;
    play.until(&["first"]).await?;
    operator.settled().await?;
    play.set("second").await?;
    play.until(&["second"]).await?;
    let one = play.scene.resources.get("one").await?;
    assert_eq!(one.annotations().get("operator-core.io/attempts"), None);
    assert_eq!(play.id().await?, None);
    play.ends().await?;
    assert_eq!(play.system.records().len(), 1);
    operator.stop().await;
    Ok(())
}

/// The ids of one record, or of several, in an object of the cluster; after a restart they are found there.
#[operator_test]
async fn ids_may_be_kept_in_an_object_of_the_cluster() -> Result<()> {
    for (name, secret, several) in
        [("one-map", false, false), ("one-secret", true, false), ("map-of-several", false, true)]
    {
        let play = Play::of(name, |system| {
            let word = Word::new(system);
            let builder = Workflow::builder();
            let builder = match (several, secret) {
                (true, _) => builder.nodes((Records::new(EachWord(word)).id_in_config_map().named("word"),)),
                (false, true) => builder.nodes((Records::new(word).id_in_secret().named("word"),)),
                (false, false) => builder.nodes((Records::new(word).id_in_config_map().named("word"),)),
            };
            Ok(builder.build()?)
        })
        .await?;
        let operator = play.start().await?;
        let (first, second) = if several { ("a=1 b=2", "b=3") } else { ("1", "3") };
        play.scene.create("one", first).await?;
        play.until(if several { &["1", "2"] } else { &["1"] }).await?;
        operator.settled().await?;
        let ids: Vec<String> = match secret {
            true => play
                .scene
                .api::<Secret>()
                .get("one-word")
                .await?
                .data
                .unwrap_or_default()
                .into_keys()
                .collect(),
            false => play
                .scene
                .api::<ConfigMap>()
                .get("one-word")
                .await?
                .data
                .unwrap_or_default()
                .into_keys()
                .collect(),
        };
        assert_eq!(ids, if several { vec!["a", "b"] } else { vec!["id"] });
        drop(operator);
        let operator = play.start().await?;
        play.set(second).await?;
        play.until(&["3"]).await?;
        operator.settled().await?;
        assert_eq!(play.system.records().len(), if several { 2 } else { 1 }, "{name}");
        play.ends().await?;
        play.until(&[]).await?;
        operator.stop().await;
    }
    Ok(())
}
