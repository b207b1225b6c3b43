//! An informer, the scripted server it follows, and what it tells.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::core::v1::ConfigMap;
use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle, time::sleep};

use crate::{cache::Bounds, environment::Environment, observe::SourceHealth};

use super::{
    recorder::{Recorder, object},
    server::{Server, scripted},
    typed::{TestConfig, TestInformer},
};

/// The seed of chance in each scene.
pub(super) const SEED: u64 = 7;

pub(super) struct Scene {
    pub(super) server: Server,
    pub(super) informer: TestInformer<ConfigMap>,
    pub(super) told: Arc<Recorder>,
    pub(super) running: JoinHandle<()>,
    pub(super) stop: Option<oneshot::Sender<()>>,
}

impl Scene {
    pub(super) fn start() -> Self {
        Self::with(|_| {})
    }

    pub(super) fn with(configure: impl FnOnce(&mut TestConfig<ConfigMap>)) -> Self {
        let mut config = TestConfig::new();
        configure(&mut config);
        Self::made(config, None)
    }

    /// A scene whose informer holds so many objects in full.
    pub(super) fn bounded(max_objects: u64) -> Self {
        Self::made(TestConfig::new(), Some(&Bounds::new(max_objects)))
    }

    fn made(config: TestConfig<ConfigMap>, bounds: Option<&Bounds<ConfigMap>>) -> Self {
        let (client, server) = scripted();
        let told = Arc::new(Recorder::default());
        let environment = Environment::real().with_seed(SEED);
        let informer = config.informer(bounds, client, &environment, Arc::clone(&told) as _);
        let (stop, stopped) = oneshot::channel::<()>();
        let runner = informer.clone();
        let running = environment.spawn("test", async move {
            runner
                .run(async {
                    let _ = stopped.await;
                })
                .await;
        });
        Self { server, informer, told, running, stop: Some(stop) }
    }

    /// Lets everything happen that can happen without time passing, or nearly so.
    pub(super) async fn settle(&self) {
        sleep(Duration::from_millis(1)).await;
    }

    pub(super) async fn take(&self) -> Vec<String> {
        self.settle().await;
        self.told.take()
    }

    pub(super) fn advice(&self) -> (String, String) {
        match self.informer.health() {
            SourceHealth::Unhealthy { reason, advice } => (reason, advice.unwrap_or_default()),
            health @ (SourceHealth::Syncing | SourceHealth::Healthy) => panic!("{health:?}"),
        }
    }
}

pub(super) fn item(name: &str, version: u64) -> Value {
    serde_json::to_value(object(name, &format!("uid-{name}"), version)).unwrap()
}

pub(super) fn undecodable(name: &str, version: u64) -> Value {
    let mut item = item(name, version);
    item["data"] = json!("not a map");
    item
}
