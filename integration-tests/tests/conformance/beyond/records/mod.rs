//! Records in another system: their ids are kept by the framework, none is made twice, and none is forgotten.

mod crash;
mod doubt;
mod dry;
mod ids;
mod life;
mod limits;
mod secret;
mod several;
mod wrong;

use anyhow::{Context as _, Result};
use integration_tests::{EachWord, Scene, Script, TestResource, Word, Words, eventually, words_in};
use kube::ResourceExt as _;
use operator_core::{
    GenericRetry, Workflow,
    dependent::Records,
    testing::{OtherSystem, TestOperator},
};
use std::time::Duration;

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
