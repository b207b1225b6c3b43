//! A function decides whether a dependent of the user's own exists, in each allowed form.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::prelude::*;

use super::says;

fn yes_or_no(primary: &TestResource) -> bool {
    says(primary, "on")
}

fn with_a_reason(primary: &TestResource) -> Verdict {
    Verdict::when(says(primary, "on"), "it is switched off")
}

fn as_a_wish(primary: &TestResource) -> Want<()> {
    if says(primary, "hold") {
        return Want::hold("Odd", "it is left alone");
    }
    if says(primary, "on") { Want::of(()) } else { Want::none("it isn't wanted") }
}

fn or_an_error(primary: &TestResource) -> Result<bool, BoxError> {
    if says(primary, "broken") { Err("the first form is broken".into()) } else { Ok(yes_or_no(primary)) }
}

fn or_an_error_with_a_reason(primary: &TestResource) -> Result<Verdict, BoxError> {
    Ok(with_a_reason(primary))
}

fn or_an_error_as_a_wish(primary: &TestResource) -> Result<Want<()>, BoxError> {
    if says(primary, "broken") { Err("the second form is broken".into()) } else { Ok(as_a_wish(primary)) }
}

fn of_the_context(primary: &TestResource, cx: &Context<TestResource>) -> bool {
    says(primary, "on") && cx.primary_key().to_string().ends_with("one")
}

const SUFFIXES: [&str; 7] = ["-bool", "-verdict", "-want", "-tried", "-judged", "-wished", "-seen"];

#[operator_test]
async fn each_form_makes_removes_holds_and_fails() -> Result<()> {
    let scene = Scene::new("functions-only-if").await?;
    scene.failures.expect("the first form is broken");
    let system = ExternalSystem::default();
    let [bool, verdict, want, tried, judged, wished, seen] =
        SUFFIXES.map(|suffix| one_record(&system, suffix));
    let nodes = (
        bool.only_if(yes_or_no),
        verdict.only_if(with_a_reason),
        want.only_if(as_a_wish),
        tried.only_if(or_an_error),
        judged.only_if(or_an_error_with_a_reason),
        wished.only_if(or_an_error_as_a_wish),
        seen.only_if(of_the_context),
    );
    let (script, outcomes) = looking_on::<TestResource>();
    let operator = scene.start(scene.controller(&script).workflow(nodes)).await?;
    let known = async |what: &str, is: &[&str]| {
        eventually(what, async || {
            let mut found: Vec<_> = system.all().into_iter().map(|record| record.name).collect();
            found.sort_unstable();
            let mut expected: Vec<_> = is.iter().map(|suffix| format!("one{suffix}")).collect();
            expected.sort_unstable();
            Ok((found == expected).then_some(()))
        })
        .await
    };

    scene.create("one", "off").await?;
    operator.settled().await?;
    known("nothing, in any form", &[]).await?;
    scene.patch("one", json!({ "spec": { "value": "on" } })).await?;
    known("all, in each form", &SUFFIXES).await?;

    scene.patch("one", json!({ "spec": { "value": "hold" } })).await?;
    known("what is held", &["-want", "-wished"]).await?;
    eventually("the reasons", async || {
        let lines = outcomes.lines("one");
        Ok(lines.iter().any(|line| line.starts_with("record-want: held")).then_some(()))
    })
    .await?;

    scene.patch("one", json!({ "spec": { "value": "broken on" } })).await?;
    known("those that aren't broken", &["-bool", "-verdict", "-want", "-judged", "-wished", "-seen"]).await?;
    assert_eq!(system.named("one-wished")[0].data, "on-wished", "one that can't tell is left as it was");

    scene.patch("one", json!({ "spec": { "value": "off" } })).await?;
    known("nothing any more", &[]).await?;
    Ok(())
}
