//! A definition that is installed while the operator waits for it: until then there is a warning with the reason, again and
//! again but not more often than asked for, and another controller of the same operator works; then the runs start.

use std::{sync::Arc, time::Duration};

use anyhow::Result;
use integration_tests::{LogCapture, RunRecord, Scene, Script, eventually, test_resource};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::PostParams;
use operator_core::{
    Context, Controller, Reconciler, UpdateControl,
    testing::{TestOperator, operator_test},
};
use serde_json::json;
use tracing::Level;

test_resource!("crd-installed-while-waiting.conformance.operator-core.io", namespaced);

const TIMEOUT: Duration = Duration::from_millis(300);

#[derive(Clone, Default)]
struct Maps(RunRecord);

impl Reconciler for Maps {
    type Primary = ConfigMap;
    type Error = anyhow::Error;

    async fn reconcile(
        &self,
        map: Arc<ConfigMap>,
        _: &Context<ConfigMap>,
    ) -> Result<UpdateControl<ConfigMap>> {
        self.0.note(&*map);
        Ok(UpdateControl::no_update())
    }
}

#[operator_test(flavor = "current_thread")]
async fn the_operator_warns_and_waits_and_goes_on() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = Scene::<TestResource>::without_crd("crd-installed-while-waiting").await?;
    let (script, maps) = (Script::<TestResource>::idle(), Maps::default());
    let namespaces = [&scene.namespace];
    let builder = scene
        .operator()
        .cache_sync_timeout(TIMEOUT)
        .register(Controller::builder(script.clone()).name("waiting").namespaces(namespaces))?
        .register(
            Controller::builder(maps.clone())
                .name("working")
                .field_selector("metadata.name=map")
                .namespaces(namespaces),
        )?;
    let started = tokio::time::Instant::now();
    let operator = TestOperator::start_unsynced(builder).await?;

    let warnings = || {
        let warnings = log.lines(Level::WARN).into_iter();
        warnings.filter(|line| line.field("message").starts_with("no run starts before")).collect::<Vec<_>>()
    };
    let map = serde_json::from_value(json!({ "metadata": { "name": "map" } }))?;
    scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    eventually("two warnings", async || Ok((warnings().len() >= 2).then_some(()))).await?;
    eventually("a run of the other controller", async || Ok((maps.0.count() == 1).then_some(()))).await?;
    let seen = warnings();
    assert!(started.elapsed() >= TIMEOUT * u32::try_from(seen.len())?, "too many: {seen:?}");
    for line in &seen {
        assert_eq!(line.field("controller"), "waiting");
        let lagging = line.field("lagging");
        assert!(lagging.starts_with("primary: ") && lagging.contains("install"), "{lagging}");
    }

    scene.install_crd().await?;
    scene.create("one", "value").await?;
    eventually("the first run", async || Ok((script.runs.count() > 0).then_some(()))).await?;
    operator.settled().await?;
    assert_eq!((script.runs.count(), maps.0.count()), (1, 1));
    Ok(())
}
