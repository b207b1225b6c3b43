//! Fifty primaries, each with a Secret and a config map made from the Secret's content: all are created without an
//! error, and all are deleted.

use integration_tests::prelude::*;
use k8s_openapi::ByteString;
use operator_core::Context;

const PRIMARIES: usize = 50;

fn secret(primary: &TestResource) -> Secret {
    let value = ByteString(primary.spec.value.clone().into_bytes());
    Secret {
        metadata: meta_of(primary, "secret"),
        data: Some([("value".to_owned(), value)].into()),
        ..Secret::default()
    }
}

#[operator_test]
async fn dependents_that_read_each_other_are_all_created_without_an_error() -> Result<()> {
    let scene = Scene::new("dependent-cross-ref").await?;
    let script = Script::idle();
    let map = node(|primary: &TestResource, context: &Context<TestResource>| {
        let secret = context.secondary::<Secret>()?.ok_or("the secret is there before the config map")?;
        let held = secret.data.as_ref().and_then(|data| data.get("value")).ok_or("it holds a value")?;
        let held = String::from_utf8(held.0.clone()).map_err(BoxError::from)?;
        Ok::<_, BoxError>(map_of(primary, "map", &held))
    });
    let workflow = Workflow::builder().nodes((secret, map.named("map").after(secret))).build()?;
    let operator = scene.start_managed(&script, &workflow).await?;
    for index in 0..PRIMARIES {
        scene.create(&format!("p{index}"), &format!("value {index}")).await?;
    }
    let created = operator.settled().await?;
    assert_eq!(script.runs.count(), PRIMARIES, "no run failed, and own writes cause none");
    assert_eq!(created.writes().count(), 2 * PRIMARIES);
    let values = scene.values().await?;
    for index in 0..PRIMARIES {
        let held = values.get(&format!("p{index}-map")).context("each has its config map")?;
        assert_eq!(*held, format!("value {index}"));
        scene.delete(&format!("p{index}")).await?;
    }
    scene.until_values([]).await
}
