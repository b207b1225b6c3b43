//! The cache against a real server: streamed lists, bounded stores, the options of sources, a type that comes and goes.

mod bounded;
mod sources;
mod streaming;
mod watched;

use integration_tests::prelude::*;
use operator_core::{
    ResourceType, WatchScope,
    bench::{BareInformer, InformerSettings, Seen},
    cache::Bounds,
    environment::Environment,
    resource::KubeObject,
};
use tokio::sync::oneshot;

/// Remembers its events, in short: `+a`, `a` or `-a`.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<String>>>);

impl Told {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock())
    }

    fn saw(&self, seen: &Seen<'_>) {
        let Seen::Change(key, old, new) = seen else { return };
        let sign = match (old, new) {
            (None, _) => "+",
            (Some(_), Some(_)) => "",
            (Some(_), None) => "-",
        };
        self.0.lock().push(format!("{sign}{}", key.name()));
    }
}

/// A running informer; dropping it stops it.
struct Running<K: KubeObject> {
    informer: BareInformer<K>,
    told: Told,
    _stop: oneshot::Sender<()>,
}

impl<K: KubeObject> Running<K> {
    fn start(settings: InformerSettings, client: Client) -> Self {
        Self::start_with(settings, None, client)
    }

    fn start_with(settings: InformerSettings, bounds: Option<&Bounds<K>>, client: Client) -> Self {
        let (environment, told) = (Environment::real(), Told::default());
        let (sees, access) = (told.clone(), (client, environment.clone()));
        let informer = BareInformer::new(settings, bounds, None, access, move |seen| sees.saw(&seen));
        let (stop, stopped) = oneshot::channel::<()>();
        let runner = informer.clone();
        environment.spawn("informer", async move {
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

    /// Waits until it has seen everything that the server has.
    async fn caught_up(&self) -> Result<()> {
        eventually("the informer to catch up", async || Ok(self.informer.caught_up().await?.then_some(())))
            .await
    }
}

/// Follows the config maps with the label `for=test` of some namespaces.
fn settings(name: &str, namespaces: &[&str]) -> InformerSettings {
    let mut settings = InformerSettings::new(name, ResourceType::of::<ConfigMap>());
    settings.scope =
        WatchScope::Namespaces(namespaces.iter().map(|&namespace| namespace.to_owned()).collect());
    settings.label_selector = Some("for=test".to_owned());
    settings
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
