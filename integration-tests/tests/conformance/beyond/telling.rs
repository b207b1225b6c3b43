//! What a reconciler tells is logged, and is an Event.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::Event;
use operator_core::{Context, Level, OperatorBuilder};

const LEVELS: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

/// Tells each word of the primary's value, at the level of its first letter, and says in the status that it has run.
fn telling() -> Script {
    Script::new(|_, one: Arc<TestResource>, cx: &mut Context<TestResource>| {
        Box::pin(async move {
            for word in one.spec.value.split(' ').filter(|word| !word.is_empty()) {
                let level = LEVELS.into_iter().find(|level| level.as_str()[..1] == word[..1]);
                cx.tell(level.context("a level")?, word, format!("it is {word}"));
            }
            Ok(Said::status(said(one.spec.value.clone())))
        })
    })
}

fn operator(scene: &Scene, numbers: &Numbers) -> OperatorBuilder {
    let controller = scene.controller(&telling()).name("teller").records_events(true);
    scene.operator().metrics(numbers.recorder()).register(controller)
}

#[operator_test(flavor = "current_thread")]
async fn what_is_told_is_in_the_log_and_among_the_events() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::new("telling").await?;
    let operator = TestOperator::start(operator(&scene, &Numbers::default())).await?;
    scene.create("one", "Ebroken Wslow Imade Dlooked Tpassed").await?;
    operator.settled().await?;
    let said = [
        (Level::ERROR, "Ebroken", "Warning"),
        (Level::WARN, "Wslow", "Warning"),
        (Level::INFO, "Imade", "Normal"),
        (Level::DEBUG, "Dlooked", "Normal"),
        (Level::TRACE, "Tpassed", "Normal"),
    ];
    for (level, reason, _) in said {
        let lines = log.lines(level);
        let line = lines.iter().find(|line| line.field("reason") == reason);
        assert_eq!(line.map(|line| line.field("message")), Some(&*format!("it is {reason}")), "{lines:#?}");
    }
    let all = scene.api::<Event>().list(&ListParams::default()).await?.into_iter();
    let found: BTreeSet<_> =
        all.map(|event| [event.reason, event.type_, event.message].map(Option::unwrap_or_default)).collect();
    let expected = said.map(|(_, reason, of)| [reason.to_owned(), of.to_owned(), format!("it is {reason}")]);
    assert_eq!(found, expected.into());
    Ok(())
}
