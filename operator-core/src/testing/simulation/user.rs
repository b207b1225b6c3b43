//! What users do during a simulation.

use std::{rc::Rc, time::Duration};

use kube::{
    Api, Client,
    api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams},
};
use serde_json::Value;

use super::{
    sweep::GaveUp,
    world::{World, client_of_user},
};
use crate::{
    resource::{KubeObject, ResourceType},
    testing::manifests::api,
};

/// A user who changes objects while the operator works. Their requests never meet a fault.
///
/// Before each of its actions it waits: in the calm run until the operator has nothing more to do, otherwise for a time
/// from the tape, from nothing to several seconds. Objects of namespaced types are in the namespace `default`, unless
/// they name another one, or the user is [in another one](Self::in_namespace).
///
/// An action that the server refuses fails the test; those that begin with `try_` return the refusal instead.
#[derive(Clone)]
pub struct User {
    world: Rc<World>,
    client: Client,
    namespace: Rc<str>,
}

/// How long a user may wait before an action, in milliseconds. The first means: until the operator has nothing to do.
const PAUSES: [u64; 10] = [0, 0, 1, 3, 10, 30, 100, 700, 3_000, 12_000];

/// How long a user waits for an operator under bad luck.
const PATIENCE: Duration = Duration::from_secs(60);

const MANAGER: &str = "user";
const NAMESPACE: &str = "default";

impl User {
    pub(super) fn new(world: &Rc<World>) -> Self {
        Self { world: Rc::clone(world), client: world.client.clone(), namespace: NAMESPACE.into() }
    }

    /// The same user, whose objects are in this namespace, which must exist.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        Self { namespace: namespace.into(), ..self.clone() }
    }

    /// Another user, to whom RBAC applies, in the same namespace.
    #[must_use]
    pub fn acting_as(&self, user: &str, groups: &[&str]) -> Self {
        let mut config = self.world.server.config_as(user, groups);
        config.root_cert = Some(Vec::new());
        let client = client_of_user(&self.world.server, &self.world.record, &config);
        Self { client, ..self.clone() }
    }

    async fn acts(&self, what: &str) {
        let lane = u32::try_from(PAUSES.len()).unwrap_or(1);
        let pause = match self.world.is_calm() {
            true => 0,
            false => self.world.choices.next("user pause", lane),
        };
        match pause {
            0 => drop(self.world.quiet(PATIENCE).await),
            pause => tokio::time::sleep(Duration::from_millis(PAUSES[pause as usize])).await,
        }
        self.world.record.tell(format_args!("user: {what}"));
    }

    fn api(&self, of: &ResourceType) -> Api<DynamicObject> {
        api(&self.client, of, &self.namespace)
    }

    /// Applies an object, as `kubectl apply --server-side --force-conflicts` does.
    pub async fn apply<K: KubeObject<DynamicType: Default>>(&self, object: K) -> K {
        let name = object.meta().name.clone().unwrap_or_default();
        self.try_apply(object).await.unwrap_or_else(|error| self.fails::<K>("apply", &name, &error))
    }

    /// The same, if the server takes it.
    ///
    /// # Errors
    /// If the server refuses it.
    pub async fn try_apply<K: KubeObject<DynamicType: Default>>(&self, object: K) -> Result<K, kube::Error> {
        let apply = PatchParams::apply(MANAGER).force();
        self.makes("apply", object, async |objects, name, value| {
            objects.patch(name, &apply, &Patch::Apply(value)).await
        })
        .await
    }

    /// Creates an object.
    pub async fn create<K: KubeObject<DynamicType: Default>>(&self, object: K) -> K {
        let name = object.meta().name.clone().unwrap_or_default();
        self.try_create(object).await.unwrap_or_else(|error| self.fails::<K>("create", &name, &error))
    }

    /// The same, if the server takes it.
    ///
    /// # Errors
    /// If the server refuses it.
    pub async fn try_create<K: KubeObject<DynamicType: Default>>(&self, object: K) -> Result<K, kube::Error> {
        self.makes("create", object, async |objects, _, value| {
            let object = serde_json::from_value(value).expect("an object is an object");
            objects.create(&PostParams::default(), &object).await
        })
        .await
    }

    /// Sends the object by this request, and notes what the server has made of it.
    async fn makes<K: KubeObject<DynamicType: Default>>(
        &self,
        verb: &str,
        object: K,
        send: impl AsyncFnOnce(Api<DynamicObject>, &str, Value) -> Result<DynamicObject, kube::Error>,
    ) -> Result<K, kube::Error> {
        let of = ResourceType::of::<K>();
        let name = object.meta().name.clone().expect("an object that is made has a name");
        self.acts(&format!("{verb} {}/{name}", of.plural())).await;
        let namespace = object.meta().namespace.as_deref().unwrap_or(&self.namespace).to_owned();
        let mut value = serde_json::to_value(&object).expect("an object can be written as JSON");
        value["apiVersion"] = Value::String(of.api_version());
        value["kind"] = Value::String(of.kind().to_owned());
        let answer = self.told(send(api(&self.client, &of, &namespace), &name, value).await)?;
        self.world.made(&of, &namespace, &name);
        self.world.seen(&of, &answer);
        Ok(typed(answer))
    }

    /// A refusal is part of the story.
    fn told<T>(&self, answer: Result<T, kube::Error>) -> Result<T, kube::Error> {
        answer.inspect_err(|error| self.world.record.tell(format_args!("user: is refused: {error}")))
    }

    fn fails<K: KubeObject<DynamicType: Default>>(&self, what: &str, name: &str, error: &kube::Error) -> ! {
        panic!("user can't {what} {}/{name}: {error}", ResourceType::of::<K>().plural())
    }

    /// Changes an object by a merge patch, as `kubectl patch --type merge` does.
    pub async fn patch<K: KubeObject<DynamicType: Default>>(&self, name: &str, patch: Value) -> K {
        match self.try_patch(name, patch).await {
            // In a sweep in which someone acts: no one edits an object that they know to be gone.
            Err(kube::Error::Api(status))
                if status.code == 404 && self.world.storm.sweep.somebody.has_acted() =>
            {
                self.world.record.tell("user: gives up, as it is gone");
                std::panic::resume_unwind(Box::new(GaveUp))
            }
            answer => answer.unwrap_or_else(|error| self.fails::<K>("patch", name, &error)),
        }
    }

    /// The same, if the server takes it.
    ///
    /// # Errors
    /// If the server refuses it.
    pub async fn try_patch<K: KubeObject<DynamicType: Default>>(
        &self,
        name: &str,
        patch: Value,
    ) -> Result<K, kube::Error> {
        let of = ResourceType::of::<K>();
        self.acts(&format!("patch {}/{name}: {patch}", of.plural())).await;
        let params = PatchParams { field_manager: Some(MANAGER.to_owned()), ..PatchParams::default() };
        let answer = self.api(&of).patch(name, &params, &Patch::Merge(patch)).await;
        self.told(answer).map(typed)
    }

    /// Deletes an object. An object that is already gone isn't an error.
    pub async fn delete<K: KubeObject<DynamicType: Default>>(&self, name: &str) {
        self.try_delete::<K>(name).await.unwrap_or_else(|error| self.fails::<K>("delete", name, &error));
    }

    /// The same, if the server agrees.
    ///
    /// # Errors
    /// If the server refuses it.
    pub async fn try_delete<K: KubeObject<DynamicType: Default>>(
        &self,
        name: &str,
    ) -> Result<(), kube::Error> {
        let of = ResourceType::of::<K>();
        self.acts(&format!("delete {}/{name}", of.plural())).await;
        let namespace = if of.is_namespaced() { &*self.namespace } else { "" };
        let seen = self.world.unseen(&of, namespace, name);
        match self.api(&of).delete(name, &DeleteParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            Err(error) => {
                self.world.seen_again(seen);
                self.told(Err(error))
            }
            Ok(_) => Ok(()),
        }
    }

    /// The object, if it exists.
    pub async fn get<K: KubeObject<DynamicType: Default>>(&self, name: &str) -> Option<K> {
        let found = self.api(&ResourceType::of::<K>()).get_opt(name).await;
        found.unwrap_or_else(|error| panic!("user can't read {name}: {error}")).map(typed)
    }

    /// All objects of the type in the user's namespace.
    pub async fn list<K: KubeObject<DynamicType: Default>>(&self) -> Vec<K> {
        let found = self.api(&ResourceType::of::<K>()).list(&ListParams::default()).await;
        found
            .unwrap_or_else(|error| panic!("user can't list: {error}"))
            .items
            .into_iter()
            .map(typed)
            .collect()
    }

    /// Waits until the object is gone, its finalizers included.
    pub async fn until_gone<K: KubeObject<DynamicType: Default>>(&self, name: &str) {
        while self.get::<K>(name).await.is_some() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits, in virtual time.
    pub async fn pause(&self, time: Duration) {
        tokio::time::sleep(time).await;
    }
}

fn typed<K: KubeObject>(object: DynamicObject) -> K {
    object.try_parse().expect("the server's answer is of the type that was asked for")
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("User")
    }
}
