//! The children in their order, the drain, the clean-up, and the status.

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use k8s_openapi::api::{
    apps::v1::{StatefulSet, StatefulSetStatus},
    batch::v1::CronJob,
    core::v1::{ConfigMap, Secret, Service},
    policy::v1::PodDisruptionBudget,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::jiff::Timestamp;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::core::{DynamicObject, GroupVersionKind, NamespaceResourceScope, TypeMeta};
use kube::discovery::oneshot::pinned_kind;
use kube::runtime::events::{Event, EventType, Recorder};
use kube::runtime::finalizer::{Error as FinalizerError, Event as Life, finalizer};
use kube::runtime::reflector::ObjectRef;
use kube::runtime::{Controller, controller::Action, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;

use crate::children;
use crate::outside::Outside;
use crate::types::{Store, StoreStatus};

const MANAGER: &str = "store-operator";
const FINALIZER: &str = "stores.sample.operator-core.io/finalizer";

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(#[from] Failure);

struct Operator {
    client: Client,
    outside: Arc<dyn Outside>,
    events: Recorder,
}

/// What a run has found.
#[derive(Default)]
struct Found {
    waits_for: Option<String>,
    held: Option<String>,
    drains: Option<String>,
    set: StatefulSetStatus,
}

impl Operator {
    fn api<K>(&self, store: &Store) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), &store.namespace().unwrap_or_default())
    }

    async fn apply<K>(&self, store: &Store, node: &str, mut object: K) -> kube::Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Serialize + DeserializeOwned + Clone + std::fmt::Debug,
    {
        let name = object.meta().name.clone().unwrap_or_else(|| format!("{}-{node}", store.name_any()));
        object.meta_mut().name = Some(name.clone());
        object.meta_mut().owner_references = store.controller_owner_ref(&()).map(|owner| vec![owner]);
        let ours = PatchParams::apply(MANAGER).force();
        self.api(store).patch(&name, &ours, &Patch::Apply(&object)).await
    }

    /// Deletes an object that isn't wanted any more, unless somebody else made it.
    async fn remove<K>(&self, store: &Store, node: &str) -> kube::Result<bool>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: DeserializeOwned + Clone + std::fmt::Debug,
    {
        let (api, name) = (self.api::<K>(store), format!("{}-{node}", store.name_any()));
        let Some(found) = api.get_opt(&name).await? else { return Ok(true) };
        if found.owner_references().iter().any(|owner| Some(&owner.uid) == store.uid().as_ref()) {
            api.delete(&name, &DeleteParams::default()).await?;
            return Ok(false);
        }
        Ok(true)
    }

    async fn event(&self, store: &Store, reason: &str, note: String) -> kube::Result<()> {
        let reason = reason.to_owned();
        let action = reason.clone();
        let event = Event { type_: EventType::Normal, reason, note: Some(note), action, secondary: None };
        self.events.publish(&event, &store.object_ref(&())).await
    }

    /// Makes the password, and says what is wrong with the Secret that is used.
    async fn lacks_password(&self, store: &Store) -> Result<Option<String>, Failure> {
        let (secrets, name) = (self.api::<Secret>(store), children::secret_name(store));
        if let Some(mut made) = children::password(store) {
            made.metadata.name = Some(name.clone());
            made.metadata.owner_references = store.controller_owner_ref(&()).map(|owner| vec![owner]);
            match secrets.create(&PostParams::default(), &made).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                made => drop(made?),
            }
        }
        let Some(secret) = secrets.get_opt(&name).await? else {
            return Ok(Some(format!("the Secret {name} doesn't exist")));
        };
        let has_it = secret.data.is_some_and(|data| data.contains_key("password"));
        Ok((!has_it).then(|| format!("the Secret {name} has no key `password`")))
    }

    async fn monitor(&self, store: &Store) -> Result<(), Failure> {
        let kind = GroupVersionKind::gvk("monitoring.coreos.com", "v1", "ServiceMonitor");
        let kind = match pinned_kind(&self.client, &kind).await {
            Ok((kind, _)) => kind,
            Err(kube::Error::Discovery(_)) => return Ok(()),
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let (namespace, name) =
            (store.namespace().unwrap_or_default(), format!("{}-monitor", store.name_any()));
        let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), &namespace, &kind);
        let Some(mut wanted) = children::monitor(store) else {
            if api.get_opt(&name).await?.is_some() {
                api.delete(&name, &DeleteParams::default()).await?;
            }
            return Ok(());
        };
        wanted.types = Some(TypeMeta { api_version: kind.api_version, kind: kind.kind });
        wanted.metadata.name = Some(name.clone());
        wanted.metadata.owner_references = store.controller_owner_ref(&()).map(|owner| vec![owner]);
        api.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(&wanted)).await?;
        Ok(())
    }

    /// The children in their order.
    async fn write(&self, store: &Store, found: &mut Found) -> Result<(), Failure> {
        self.apply(store, "settings", children::settings(store)).await?;
        self.apply(store, "peers", children::peers(store)?).await?;
        self.apply(store, "budget", children::budget(store)?).await?;
        self.monitor(store).await?;
        if store.spec.backups.is_none() {
            self.remove::<CronJob>(store, "backups").await?;
        }
        let sets = self.api::<StatefulSet>(store);
        let before = sets.get_opt(&store.name_any()).await?;
        found.set = before.as_ref().and_then(|set| set.status.clone()).unwrap_or_default();
        found.waits_for = self.lacks_password(store).await?;
        if found.waits_for.is_some() {
            return Ok(());
        }
        let wanted = store.spec.members;
        let from = before.and_then(|set| set.spec?.replicas).unwrap_or(wanted);
        let mut members = wanted;
        if from > wanted {
            let keys = self.outside.drain(&key(store), wanted).await?;
            if keys > 0 {
                members = from;
                found.drains = Some(format!("from {from} members to {wanted}: {keys} keys are left"));
            } else {
                let note = format!("{} members have no keys any more", from - wanted);
                self.event(store, "Drained", note).await?;
            }
        }
        let set = self.apply(store, "members", children::stateful_set(store, members)?).await?;
        let status = set.status.unwrap_or_default();
        let ready = status.ready_replicas.unwrap_or(0);
        let is_ready = status.observed_generation >= set.metadata.generation
            && status.updated_replicas == Some(members)
            && ready == members;
        found.set = status;
        if !is_ready {
            found.waits_for = Some(format!("{ready}/{members} members are ready"));
            return Ok(());
        }
        self.apply(store, "address", children::address(store)?).await?;
        match &store.spec.backups {
            Some(schedule) if schedule.split_whitespace().count() != 5 => {
                found.held = Some(format!("spec.backups: `{schedule}` doesn't have five fields"));
            }
            Some(schedule) => drop(self.apply(store, "backups", children::cron_job(store, schedule)?).await?),
            None => {}
        }
        // Last, when no member needs it any more.
        if store.spec.password_secret.is_some() {
            self.remove::<Secret>(store, "password").await?;
        }
        Ok(())
    }

    async fn status(&self, store: &Store, found: &Found, error: Option<&Failure>) -> kube::Result<()> {
        let error = error.map(ToString::to_string);
        let stalls = found.held.is_some();
        let why = error.as_ref().or(found.held.as_ref()).or(found.waits_for.as_ref());
        let (ready, message) = (why.is_none(), why.map_or("", String::as_str));
        let reason = match (&error, stalls, ready) {
            (Some(_), ..) => "Failed",
            (None, true, _) => "InvalidSchedule",
            (None, false, true) => "Ready",
            (None, false, false) => "Waiting",
        };
        let drains = found.drains.as_deref();
        let moves = if drains.is_some() { "KeysAreMoved" } else { "NothingToMove" };
        let before = store.status.clone().unwrap_or_default();
        let status = StoreStatus {
            members: found.set.replicas,
            ready_members: found.set.ready_replicas.unwrap_or(0),
            selector: Some(children::selector(store)),
            observed_generation: store.metadata.generation,
            conditions: vec![
                condition(store, "Ready", ready, reason, message),
                condition(store, "Reconciling", !ready && !stalls, reason, message),
                condition(store, "Stalled", stalls, reason, message),
                condition(store, "Draining", drains.is_some(), moves, drains.unwrap_or_default()),
            ],
        };
        if status == before {
            return Ok(());
        }
        let (version, kind) = (Store::api_version(&()), Store::kind(&()));
        let object = json!({ "apiVersion": version, "kind": kind, "status": status });
        let ours = PatchParams::apply(MANAGER).force();
        self.api::<Store>(store).patch_status(&store.name_any(), &ours, &Patch::Apply(object)).await?;
        Ok(())
    }

    async fn reconcile(&self, store: &Store) -> Result<Action, Failed> {
        let mut found = Found::default();
        let outcome = self.write(store, &mut found).await;
        self.status(store, &found, outcome.as_ref().err()).await.map_err(Failure::from)?;
        outcome?;
        // Nothing triggers a run when ServiceMonitors appear, or when somebody changes one.
        let again = if found.drains.is_some() { 5 } else { 300 };
        Ok(Action::requeue(Duration::from_secs(again)))
    }

    async fn clean_up(&self, store: &Store) -> Result<Action, Failed> {
        let gone = self.remove::<CronJob>(store, "backups").await.map_err(Failure::from)?;
        if !gone {
            return Err(Failed("the CronJob is being deleted".into()));
        }
        self.outside.delete_backups(&key(store)).await?;
        let note = "the store has no backups any more".to_owned();
        self.event(store, "BackupsDeleted", note).await.map_err(Failure::from)?;
        Ok(Action::await_change())
    }
}

fn key(store: &Store) -> String {
    format!("{}/{}", store.namespace().unwrap_or_default(), store.name_any())
}

/// A condition whose time stays as long as its status does.
fn condition(store: &Store, r#type: &str, holds: bool, reason: &str, message: &str) -> Condition {
    let status = if holds { "True" } else { "False" };
    let mut before = store.status.iter().flat_map(|status| &status.conditions);
    let since = before.find(|before| before.type_ == r#type && before.status == status);
    Condition {
        type_: r#type.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.to_owned(),
        observed_generation: store.metadata.generation,
        last_transition_time: since
            .map_or_else(|| Time(Timestamp::now()), |before| before.last_transition_time.clone()),
    }
}

async fn reconcile(store: Arc<Store>, operator: Arc<Operator>) -> Result<Action, FinalizerError<Failed>> {
    let api = operator.api::<Store>(&store);
    finalizer(&api, FINALIZER, store, async |life| match life {
        Life::Apply(store) => operator.reconcile(&store).await,
        Life::Cleanup(store) => operator.clean_up(&store).await,
    })
    .await
}

fn failed(store: Arc<Store>, error: &FinalizerError<Failed>, _: Arc<Operator>) -> Action {
    eprintln!("{}: {error}", store.name_any());
    Action::requeue(Duration::from_secs(5))
}

pub async fn run(client: Client, outside: Arc<dyn Outside>) {
    let events = Recorder::new(client.clone(), MANAGER.into());
    let operator = Arc::new(Operator { client: client.clone(), outside, events });
    let everything = watcher::Config::default;
    let controller = Controller::new(Api::<Store>::all(client.clone()), everything());
    let stores = controller.store();
    controller
        .owns(Api::<StatefulSet>::all(client.clone()), everything())
        .owns(Api::<ConfigMap>::all(client.clone()), everything())
        .owns(Api::<Service>::all(client.clone()), everything())
        .owns(Api::<PodDisruptionBudget>::all(client.clone()), everything())
        .owns(Api::<CronJob>::all(client.clone()), everything())
        .watches(Api::<Secret>::all(client), everything(), move |secret| {
            let uses = |store: &Arc<Store>| {
                store.namespace() == secret.namespace() && children::secret_name(store) == secret.name_any()
            };
            let all = stores.state();
            all.iter()
                .filter(|store| uses(store))
                .map(|store| ObjectRef::from_obj(&**store))
                .collect::<Vec<_>>()
        })
        .shutdown_on_signal()
        .run(reconcile, failed, operator)
        .for_each(|_| std::future::ready(()))
        .await;
}
