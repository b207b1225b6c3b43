//! Records in another system: the framework keeps their ids, creates none twice, and forgets none.

mod complete;
mod crash;
mod doubt;
mod dry;
mod ids;
mod life;
mod limits;
mod secret;
mod several;
mod wrong;

use integration_tests::prelude::*;
use operator_core::{dependent::Records, testing::OtherSystem};

/// A scene with an operator that manages records.
struct Play {
    scene: Scene,
    system: Words,
    script: Script,
    workflow: Workflow<TestResource>,
}

impl Play {
    async fn of(name: &str, workflow: impl FnOnce(&Words) -> Result<Workflow<TestResource>>) -> Result<Self> {
        let scene = Scene::new(name).await?;
        let system: Words = OtherSystem::new();
        let workflow = workflow(&system)?;
        Ok(Self { scene, system, script: Script::idle(), workflow })
    }

    /// One record, in a system that can be searched.
    async fn one(name: &str) -> Result<Self> {
        Self::of(name, |system| one(Word::new(system))).await
    }

    /// One record, in a system that can't be searched.
    async fn unsearchable(name: &str) -> Result<Self> {
        Self::of(name, |system| one(Word::unsearchable(system))).await
    }

    /// One record, in a system that can be searched, with these settings.
    async fn one_with(
        name: &str,
        settings: impl FnOnce(Records<Word, TestResource>) -> Records<Word, TestResource>,
    ) -> Result<Self> {
        Self::of(name, |system| {
            let record = settings(Records::new(Word::new(system)).id_in_status("recordId"));
            Ok(Workflow::builder().nodes((record.named("word"),)).build()?)
        })
        .await
    }

    /// Several records.
    async fn several(name: &str) -> Result<Self> {
        Self::of(name, |system| {
            let records = Records::new(EachWord(Word::new(system))).id_in_status("recordIds");
            Ok(Workflow::builder().nodes((records.named("words"),)).build()?)
        })
        .await
    }

    async fn start(&self) -> Result<TestOperator> {
        let retry = GenericRetry::default().with_initial_interval(Duration::from_millis(10))?;
        let controller = self.scene.controller(&self.script).retry(retry).workflow(&self.workflow);
        self.scene.start(controller).await
    }

    /// Starts an operator, and creates `one`.
    async fn start_with(&self, value: &str) -> Result<TestOperator> {
        let operator = self.start().await?;
        self.scene.create("one", value).await?;
        Ok(operator)
    }

    async fn set(&self, value: &str) -> Result<()> {
        self.scene.patch("one", json!({ "spec": { "value": value } })).await?;
        Ok(())
    }

    /// Deletes the primary, and waits for its end.
    async fn ends(&self) -> Result<()> {
        self.scene.delete("one").await?;
        self.until_gone().await
    }

    /// An operator dies while it waits for the answer to its first create, which creates these words.
    async fn dies_in_create(&self, value: &str, words: &[&str]) -> Result<()> {
        self.system.never_answer(1, "create");
        let operator = self.start().await?;
        self.scene.create("one", value).await?;
        self.until(words).await?;
        drop(operator);
        Ok(())
    }

    /// Waits until an attempt is noted, and a run has failed because of it. Returns when the attempt was begun.
    async fn until_it_waits(&self) -> Result<String> {
        let begun = eventually("a note", async || {
            let one = self.scene.resources.get("one").await?;
            let note = one.annotations().get("operator-core.io/attempts").cloned();
            let note: Value = serde_json::from_str(&note.unwrap_or_default()).unwrap_or_default();
            let of_node = note["word"].as_object().and_then(|of_node| of_node.values().next());
            Ok(of_node.and_then(|note| note["begun"].as_str()).map(str::to_owned))
        })
        .await?;
        eventually("a run that waits", async || {
            Ok((self.scene.failures.seen("can't be searched") > 0).then_some(()))
        })
        .await?;
        Ok(begun)
    }

    /// A person declares that this attempt has created nothing.
    async fn forget(&self, begun: &str) -> Result<()> {
        let forget = json!({ "metadata": { "annotations": { "operator-core.io/forget-attempt": begun } } });
        self.scene.patch("one", forget).await?;
        Ok(())
    }

    async fn until(&self, words: &[&str]) -> Result<()> {
        eventually(&format!("{words:?} in the other system"), async || {
            Ok((words_in(&self.system) == words).then_some(()))
        })
        .await
    }

    /// The id in the status of `one`.
    async fn id(&self) -> Result<Option<String>> {
        Ok(self.scene.resources.get("one").await?.status.unwrap_or_default().record_id)
    }

    async fn until_id(&self) -> Result<String> {
        eventually("an id", async || self.id().await).await
    }

    async fn token(&self) -> Result<String> {
        let uid = self.scene.resources.get("one").await?.uid().context("a uid")?;
        Ok(format!("{uid}/word"))
    }

    async fn until_gone(&self) -> Result<()> {
        eventually("the end of the primary", async || {
            Ok(self.scene.resources.get_opt("one").await?.is_none().then_some(()))
        })
        .await
    }
}

fn one(word: Word) -> Result<Workflow<TestResource>> {
    let record = Records::new(word).id_in_status("recordId").named("word");
    Ok(Workflow::builder().nodes((record,)).build()?)
}
