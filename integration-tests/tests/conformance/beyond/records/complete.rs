//! Results of other nodes in the cluster are part of a record.

use integration_tests::prelude::*;
use k8s_openapi::ByteString;
use operator_core::{
    Context,
    dependent::{Deletion, External, Records, Token},
    testing::OtherSystem,
};

/// A word, followed by what is in a Secret.
struct Signed(OtherSystem<String>);

impl External<TestResource> for Signed {
    type Resource = String;
    type Want = Option<String>;

    fn want(&self, one: &TestResource) -> Option<String> {
        Some(one.spec.value.clone())
    }

    fn complete(&self, want: &String, cx: &Context<TestResource>) -> Result<Option<String>, BoxError> {
        if want == "unsigned" {
            return Err("it is not signed".into());
        }
        let secret = cx.secondary::<Secret>()?.ok_or("there is no Secret")?;
        let signature = secret.data.as_ref().and_then(|data| data.get("signature")).ok_or("it is empty")?;
        Ok(Some(format!("{want} {}", std::str::from_utf8(&signature.0)?)))
    }

    async fn observe(&self, id: &str) -> Result<Option<String>, BoxError> {
        Ok(self.0.get(id).await?)
    }

    async fn create(&self, want: &String, token: &Token) -> Result<(String, String), BoxError> {
        Ok(self.0.create(token.as_str(), want.clone()).await?)
    }

    async fn update(&self, id: &str, _: &String, want: &String) -> Result<String, BoxError> {
        Ok(self.0.update(id, want.clone()).await?)
    }

    async fn delete(&self, id: &str) -> Result<Deletion, BoxError> {
        Ok(self.0.delete(id).await?)
    }
}

fn signature(one: &TestResource) -> Secret {
    let signature = format!("by {}", one.spec.value);
    let data = [("signature".to_owned(), ByteString(signature.into_bytes()))];
    Secret { data: Some(data.into()), ..Secret::default() }
}

#[operator_test]
async fn a_record_is_completed_by_what_its_node_comes_after() -> Result<()> {
    let scene = Scene::new("record-complete").await?;
    scene.failures.expect("it is not signed");
    let system = OtherSystem::new();
    let signed = Records::new(Signed(system.clone())).id_in_status("recordId").after(signature);
    let workflow = Workflow::builder().nodes((signature, signed)).build()?;
    let script = Script::<TestResource>::idle();
    let operator = scene.start(scene.controller(&script).workflow(&workflow)).await?;
    let has =
        async |word: &str| eventually(word, async || Ok((words_in(&system) == [word]).then_some(()))).await;
    scene.create("one", "first").await?;
    has("first by first").await?;
    scene.patch("one", serde_json::json!({ "spec": { "value": "second" } })).await?;
    has("second by second").await?;
    let calls = operator.settled().await.map(|_| system.calls())?;
    let changes = calls.iter().filter(|call| !call.starts_with("get") && !call.starts_with("find"));
    assert_eq!(changes.count(), 2, "nothing is written before it is complete: {calls:?}");

    // What can't be completed stays as it is.
    scene.patch("one", serde_json::json!({ "spec": { "value": "unsigned" } })).await?;
    eventually("a failed run", async || Ok((scene.failures.seen("not signed") > 0).then_some(()))).await?;
    assert_eq!(words_in(&system), ["second by second"]);
    scene.delete("one").await?;
    eventually("the end of the record", async || Ok(words_in(&system).is_empty().then_some(()))).await?;
    operator.stop().await;
    Ok(())
}
