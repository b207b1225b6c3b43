//! An operator that can't follow everything from the start: one of two namespaces, or one of several kinds, is missing.
//! Primaries that are concerned wait, are named, and catch up; the others run. Or the start fails, if so configured.

mod divided;
mod later;
mod other_scopes;
mod ready;
mod strict;

use integration_tests::prelude::*;
use integration_tests::rights::{managed_maps, primaries};
use operator_core::{
    environment::Environment, event_source::HeldBack, observe::SourceHealth, operator::UnhealthySource,
};

use super::super::simulated::{saying, two_maps};

/// A controller's two namespaces: that of the scene, and another one, in which something is missing.
struct Two {
    scene: Scene,
    other: String,
    /// The operator, as long as it has to be granted its rights.
    user: String,
}

impl Two {
    async fn on(scene: Scene) -> Result<Self> {
        let other = scene.cluster.namespace("parts-other").await?;
        let user = format!("{}-operator", scene.namespace);
        Ok(Self { scene, other, user })
    }

    /// On a server of the test's own.
    async fn new() -> Result<Self> {
        Self::on(super::scene().await?).await
    }

    fn namespaces(&self) -> [&str; 2] {
        [&self.scene.namespace, &self.other]
    }

    /// Keeps two config maps and a status.
    fn keeper(&self, script: &Script) -> Result<ControllerBuilder<Script>> {
        let managed = self.scene.managed(script, &two_maps().build()?);
        Ok(managed.name("keeper").cleaner(true).namespaces(self.namespaces()))
    }

    fn operator(&self) -> OperatorBuilder {
        // Waits are spread by chance, which is the same each time.
        self.scene.operator().environment(|| Environment::real().with_seed(1))
    }

    /// With the rights that were granted, and no other.
    fn with_few_rights(&self) -> OperatorBuilder {
        self.operator().config(self.scene.cluster.config_as(&self.user, &[]))
    }

    /// All possible rights, except for one rule in the other namespace.
    async fn grant_all_but(&self, missing: &str) -> Result<()> {
        for (name, rule) in [("primaries", primaries()), ("maps", managed_maps())] {
            self.scene.grant(name, &self.user, &rule).await?;
            if name != missing {
                self.scene.grant_in(&self.other, name, &self.user, &rule).await?;
            }
        }
        Ok(())
    }

    fn others(&self) -> Api<TestResource> {
        Api::namespaced(self.scene.client.clone(), &self.other)
    }

    async fn create_other(&self, name: &str, value: &str) -> Result<()> {
        self.others().create(&PostParams::default(), &TestResource::named(name, value)).await?;
        Ok(())
    }

    async fn set_other(&self, name: &str, value: &str) -> Result<()> {
        let patch = Patch::Merge(json!({ "spec": { "value": value } }));
        self.others().patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// What the status of a primary in the other namespace says.
    async fn other_says(&self, name: &str) -> Result<Option<String>> {
        Ok(self.others().get(name).await?.status.and_then(|status| status.message))
    }

    /// The names of the config maps in the other namespace.
    async fn other_maps(&self) -> Result<Vec<String>> {
        let maps = Api::<ConfigMap>::namespaced(self.scene.client.clone(), &self.other);
        Ok(values_in(&maps).await?.into_keys().collect())
    }

    /// Lists of this kind are refused in the other namespace.
    fn refused(&self, plural: &str) -> Faults {
        Faults::new([self.refusal(plural)])
    }

    fn refusal(&self, plural: &str) -> Rule {
        let words = format!("{plural} is forbidden in {}", self.other);
        let list = Rule::on(Verb::List).resource(plural).namespace(&self.other);
        list.status(StatusAnswer::forbidden(&words))
    }
}

/// The one source that doesn't work.
async fn only_unhealthy(operator: &TestOperator) -> Result<(UnhealthySource, String, Option<String>)> {
    let unhealthy = operator.unhealthy_sources().await;
    assert_eq!(unhealthy.len(), 1, "{unhealthy:?}");
    let source = unhealthy.into_iter().next().context("there is one")?;
    let SourceHealth::Unhealthy { reason, advice } = source.health.clone() else {
        anyhow::bail!("it isn't in trouble: {source:?}");
    };
    Ok((source, reason, advice))
}

/// One run that was given this value, and knows that it is the first one.
fn caught_up_once(runs: &[RecordedRun]) {
    assert_eq!(runs.len(), 1, "whatever has happened meanwhile is one run: {runs:?}");
    assert_eq!(runs[0].attempt, None);
}

/// Reports what each run sees: how many config maps belong to its primary.
fn counting() -> Script {
    Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async move {
            let seen = context.secondaries::<ConfigMap>()?.len();
            Ok(Said::status(said(seen.to_string())))
        })
    })
}
