//! The cache against a real server: streamed lists, bounded stores, the options of sources, a type that comes and goes.

mod bounded;
mod sources;
mod streaming;
mod watched;

use integration_tests::prelude::*;
use operator_core::{
    ResourceType, WatchScope,
    cache::{Bounds, Change, ChangeHandler, ChangeKind, Informer, InformerConfig},
    environment::Environment,
    resource::KubeObject,
};
use tokio::sync::oneshot;

/// Remembers what it was told, in short: `+a`, `a` or `-a`.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }
}

impl<K: KubeObject> ChangeHandler<K> for Told {
    fn on_change(&self, change: Change<K>) {
        let name = change.key.name().to_owned();
        self.0.lock().push(match change.kind {
            ChangeKind::Added { .. } => format!("+{name}"),
            ChangeKind::Updated { .. } => name,
            ChangeKind::Deleted { .. } => format!("-{name}"),
        });
    }
}

/// A running informer; dropping it stops it.
struct Running<K: KubeObject> {
    informer: Informer<K>,
    told: Told,
    _stop: oneshot::Sender<()>,
}

impl<K: KubeObject> Running<K> {
    fn start(config: InformerConfig<K>, client: Client) -> Self {
        let (environment, told) = (Environment::real(), Told::default());
        let informer = Informer::new(config, client, environment.clone(), Arc::new(told.clone()));
        Self::run(informer, told, &environment)
    }

    fn start_bounded(config: InformerConfig<K>, bounds: &Bounds<K>, client: Client) -> Result<Self> {
        let (environment, told) = (Environment::real(), Told::default());
        let handler = Arc::new(told.clone());
        let informer = Informer::bounded(config, bounds, client, environment.clone(), handler)?;
        Ok(Self::run(informer, told, &environment))
    }

    fn run(informer: Informer<K>, told: Told, environment: &Environment) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let runner = informer.clone();
        environment.spawn(async move {
            runner
                .run(async {
                    let _ = stopped.await;
                })
                .await;
        });
        Self { informer, told, _stop: stop }
    }

    async fn synced(&self) -> Result<()> {
        Ok(tokio::time::timeout(DEADLINE, self.informer.synced()).await?)
    }

    /// Waits until everything that the server holds was told.
    async fn caught_up(&self) -> Result<()> {
        eventually("the informer to catch up", async || Ok(self.informer.caught_up().await?.then_some(())))
            .await
    }
}

/// Follows the config maps with the label `for=test` of some namespaces.
fn config(name: &str, namespaces: &[&str]) -> InformerConfig<ConfigMap> {
    let mut config = InformerConfig::new(name, ResourceType::of::<ConfigMap>());
    config.scope = WatchScope::Namespaces(namespaces.iter().map(|&namespace| namespace.to_owned()).collect());
    config.label_selector = Some("for=test".to_owned());
    config
}

fn map(name: &str, value: &str) -> ConfigMap {
    let mut map = ConfigMap::default();
    map.metadata.name = Some(name.to_owned());
    map.metadata.labels = Some([("for".to_owned(), "test".to_owned())].into());
    map.data = Some([("value".to_owned(), value.to_owned())].into());
    map
}

async fn create(api: &Api<ConfigMap>, name: &str, value: &str) -> Result<ConfigMap> {
    Ok(api.create(&PostParams::default(), &map(name, value)).await?)
}
