//! Objects that the server refuses.

use integration_tests::prelude::*;

use super::says;

/// A config map as the primary's value requires.
fn sized(primary: &TestResource) -> ConfigMap {
    let mut map = map_of(primary, "map", "small");
    match primary.spec.value.as_str() {
        "too large to be stored" => drop(map.data.insert(filled(2 << 20))),
        "too large to be read" => drop(map.data.insert(filled(4 << 20))),
        "too long in its annotations" => {
            map.metadata.annotations = Some([("note".to_owned(), "x".repeat(300 << 10))].into());
        }
        _ => {}
    }
    map
}

fn filled(bytes: usize) -> std::collections::BTreeMap<String, String> {
    [("value".to_owned(), "x".repeat(bytes))].into()
}

#[operator_test]
async fn f25_an_object_that_is_too_large_is_a_clear_error_and_no_hot_loop() -> Result<()> {
    let scene = Scene::new("f25").await?;
    scene.failures.expect("may not be more than 1048576 bytes");
    scene.failures.expect("may not be more than 262144 bytes");
    scene.failures.expect("Request entity too large");
    let workflow = workflow_of_one(wanted("map", sized))?;
    let script = Script::new(|_, primary: Arc<TestResource>, _| {
        Box::pin(async move { Ok(Said::status(said(&*primary.spec.value))) })
    })
    .on_error(|_, _, error| said(error.to_string()));
    let operator = scene.start_managed(&script, &workflow).await?;
    scene.create("one", "small").await?;
    says(&scene, "one", "small").await?;
    // A limit of the schema may be another one later; that of a request isn't.
    for (value, words, most) in [
        ("too large to be stored", "Too long: may not be more than", 5),
        ("too large to be read", "too large", 1),
        ("too long in its annotations", "metadata.annotations", 5),
    ] {
        operator.settled().await?;
        scene.set("one", value).await?;
        let message = says(&scene, "one", words).await?;
        assert!(message.len() < 2_000, "nothing of the object is repeated: {} bytes", message.len());
        let settled = operator.settled().await?;
        let runs = settled.runs_of(&scene.key("one"));
        assert!((1..=most).contains(&runs), "{value}: {runs} runs in a few seconds");
        scene.set("one", "small again").await?;
        says(&scene, "one", "small again").await?;
    }
    Ok(())
}
