//! Upgrades: another version of an operator goes on with what an earlier one has made. It comes to what would be there if it had
//! always been the only one, and nothing of the earlier one is lost or made twice.
//!
//! [`versions`] lets two random versions follow one another. [`owners`], [`records`] and [`unserved`] have the cases that are
//! told, and [`primaries`] and [`writes`] what on a primary is the
//! framework's, whoever writes it.

mod owners;
mod primaries;
mod records;
mod unserved;
mod versions;
mod writes;

use integration_tests::prelude::*;
use operator_core::{Run, workflow::WorkflowBuilder};

use crate::simulated::{pass, scene, under};

type Builder = WorkflowBuilder<TestResource>;

/// A scene with one primary, which versions of one controller work on.
struct Upgrade(Scene);

impl Upgrade {
    async fn new() -> Result<Self> {
        Ok(Self(scene().await?))
    }

    /// A controller that says in the status what its runs say.
    fn controller(&self, workflow: &Workflow<TestResource>) -> ControllerBuilder<Script> {
        let status = |primary: &TestResource, run: &Run<TestResource>| TestStatus {
            message: Some(primary.spec.value.clone()),
            conditions: run.conditions(primary),
            ..TestStatus::default()
        };
        self.0.managed(&Script::idle(), workflow).name("keeper").status(status)
    }

    /// Starts the next version, creates the primary if there is none, and waits for ten minutes.
    async fn start(&self, nodes: impl FnOnce(Builder) -> Builder) -> Result<TestOperator> {
        let workflow = nodes(Workflow::builder()).build()?;
        if self.0.resources.get_opt("one").await?.is_none() {
            self.0.create("one", "first").await?;
        }
        let operator = under(&Faults::none(), &self.0, self.controller(&workflow)).await?;
        pass(600).await;
        Ok(operator)
    }

    /// The same, until it has stopped.
    async fn live(&self, nodes: impl FnOnce(Builder) -> Builder) -> Result<()> {
        self.start(nodes).await?.stop().await;
        Ok(())
    }

    /// Whether the primary is there ten minutes after it was deleted.
    async fn stays_when_deleted(&self) -> Result<bool> {
        self.0.delete("one").await?;
        pass(600).await;
        Ok(self.0.resources.get_opt("one").await?.is_some())
    }

    /// What the condition of this type says about the primary.
    async fn condition(&self, kind: &str) -> Result<String> {
        let status = self.0.resources.get("one").await?.status.unwrap_or_default();
        let found = status.conditions.into_iter().find(|condition| condition.type_ == kind);
        Ok(found.map(|condition| format!("{} {}", condition.status, condition.message)).unwrap_or_default())
    }

    async fn maps(&self) -> Result<Vec<String>> {
        let maps = self.0.api::<ConfigMap>().list(&ListParams::default()).await?;
        Ok(maps.items.iter().map(ResourceExt::name_any).collect())
    }
}
