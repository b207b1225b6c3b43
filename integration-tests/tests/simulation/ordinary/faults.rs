//! Faults of an operator that no ordinary test of it finds.

use integration_tests::prelude::*;
use kube::api::ObjectMeta;
use operator_core::prelude::{Context, Result};

use super::operator::Cache;

/// What is wrong with the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Nothing,
    /// It tells the password in an Event.
    TellsThePassword,
    /// It counts its first runs in memory, and the status has the number.
    CountsInMemory,
    /// It makes an object with a generated name if its cache has none.
    MakesItAgain,
    /// It writes that a thing is done before it does it.
    SaysDoneBefore,
    /// It writes down when it has run.
    WritesTheTime,
    /// It deletes what belongs to the password if the password can't be read.
    TakesAnErrorForAbsence,
}

impl Fault {
    pub(super) async fn happens(
        self,
        counted: &AtomicUsize,
        cache: &Cache,
        cx: &Context<Cache>,
    ) -> Result<UpdateControl<Cache>> {
        let key = |suffix: &str| {
            let namespace = cache.namespace().unwrap_or_default();
            ObjectKey::namespaced(&namespace, &format!("{}-{suffix}", cache.name_any()))
        };
        match self {
            Self::Nothing => {}
            Self::TellsThePassword => {
                let secret = cx.fetch::<Secret>(&key("password")).await?;
                let password = secret.and_then(|secret| secret.data.clone()?.remove("password"));
                let password = password.map(|bytes| String::from_utf8_lossy(&bytes.0).into_owned());
                cx.events().normal("Password", format!("{password:?} is used"));
            }
            Self::CountsInMemory => cx.put(counted.fetch_add(1, Ordering::Relaxed).min(4)),
            Self::MakesItAgain => {
                if cx.secondaries::<ConfigMap>()?.is_empty() {
                    let mut map = map(cache, cx, "");
                    map.metadata.name = None;
                    map.metadata.generate_name = Some(format!("{}-", cache.name_any()));
                    let maps: Api<ConfigMap> =
                        Api::namespaced(cx.client().clone(), &cache.namespace().unwrap_or_default());
                    maps.create(&PostParams::default(), &map).await?;
                }
            }
            Self::SaysDoneBefore => {
                if cx.fetch::<ConfigMap>(&key("done")).await?.is_none() {
                    cx.resource_operations().server_side_apply(&map(cache, cx, "done")).await?;
                    cx.resource_operations().server_side_apply(&map(cache, cx, "registered")).await?;
                }
            }
            Self::WritesTheTime => {
                let mut map = map(cache, cx, "time");
                let now = cx.wall_clock().now().to_string();
                map.data = Some([("at".to_owned(), now)].into());
                cx.resource_operations().server_side_apply(&map).await?;
            }
            Self::TakesAnErrorForAbsence => {
                let (client, namespace) = (cx.client().clone(), cache.namespace().unwrap_or_default());
                let secrets: Api<Secret> = Api::namespaced(client.clone(), &namespace);
                let maps: Api<ConfigMap> = Api::namespaced(client, &namespace);
                let of_password = map(cache, cx, "users");
                let password =
                    secrets.get_opt(&format!("{}-password", cache.name_any())).await.ok().flatten();
                if password.is_some() {
                    cx.resource_operations().server_side_apply(&of_password).await?;
                } else if maps.get_opt(&of_password.name_any()).await?.is_some() {
                    maps.delete(&of_password.name_any(), &DeleteParams::default()).await?;
                }
            }
        }
        Ok(UpdateControl::no_update())
    }
}

fn map(cache: &Cache, cx: &Context<Cache>, suffix: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta {
            name: Some(format!("{}-{suffix}", cache.name_any())),
            namespace: cache.namespace(),
            owner_references: cx.owner_reference(cache).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}
