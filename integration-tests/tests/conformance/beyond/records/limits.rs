//! The limits of another system: a slow system, or one that is down, doesn't delay others, and is reported.

use integration_tests::prelude::*;
use operator_core::dependent::{Records, System};

use super::Play;

/// A node that has nothing to do with the other system.
fn beside(one: &TestResource) -> ConfigMap {
    let data = [("value".to_owned(), one.spec.value.clone())];
    ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
}

/// Records in a system with these limits, beside a node that has none.
async fn limited(name: &str, limits: &System) -> Result<Play> {
    Play::of(name, |system: &Words| {
        let record = Records::new(Word::new(system)).id_in_status("recordId").system(limits).named("word");
        Ok(Workflow::builder().nodes((record, beside)).build()?)
    })
    .await
}

#[operator_test]
async fn a_system_that_is_down_is_told_and_other_nodes_go_on() -> Result<()> {
    let play = limited("records-outage", &System::new("dns")).await?;
    for words in
        ["the other system is down", "system `dns` is down since", "is not called for this record before"]
    {
        play.scene.failures.allow(words);
    }
    play.system.outage(true);
    let operator = play.start().await?;
    let names = ["one", "two", "three"];
    for name in names {
        play.scene.create(name, name).await?;
    }
    let unhealthy = async || -> Result<Option<String>> {
        let sources = operator.unhealthy_sources().await;
        Ok(sources
            .into_iter()
            .find(|source| source.source == "system dns")
            .map(|source| format!("{source:?}")))
    };
    let told = eventually("an outage that is told", unhealthy).await?;
    assert!(told.contains("the other system is down"), "{told}");
    let maps = play.scene.api::<ConfigMap>();
    for name in names {
        eventually("a map", async || Ok(maps.get_opt(&format!("{name}-beside")).await?)).await?;
    }
    assert!(play.system.records().is_empty());
    let before = play.system.calls().len();
    play.system.outage(false);
    play.until(&["one", "three", "two"]).await?;
    eventually("a system that is well", async || Ok(unhealthy().await?.is_none().then_some(()))).await?;
    assert!(before < 200, "{before} calls of a system that is down");
    assert_eq!(play.system.records().len(), 3);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn so_many_calls_are_made_at_once_and_no_more() -> Result<()> {
    let play = limited("records-at-once", &System::new("dns").calls_at_once(2)).await?;
    play.system.latency(Duration::from_millis(100));
    let operator = play.start().await?;
    let names = ["a", "b", "c", "d", "e", "f"];
    for name in names {
        play.scene.create(name, name).await?;
    }
    play.until(&names).await?;
    operator.settled().await?;
    assert_eq!(play.system.most_at_once(), 2);
    operator.stop().await;
    Ok(())
}

#[operator_test]
async fn a_call_that_is_not_answered_in_time_is_searched_for_like_one_whose_answer_was_lost() -> Result<()> {
    let limits = System::new("dns").deadline(Duration::from_secs(1));
    let play = limited("records-deadline", &limits).await?;
    play.scene.failures.expect("system `dns` has not answered `create` in 1s");
    play.scene.failures.allow("is not called for this record before");
    play.system.never_answer(1, "create");
    let operator = play.start_with("first").await?;
    assert_eq!(play.until_id().await?, "id-1");
    operator.settled().await?;
    assert_eq!(play.system.records().len(), 1);
    operator.stop().await;
    Ok(())
}
