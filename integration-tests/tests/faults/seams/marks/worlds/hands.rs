//! The actions of others on objects; each of them is recorded.

use http::Method;
use integration_tests::prelude::*;
use kube::core::DynamicObject;

use super::{log::Deed, versions::Kind, world::World};

impl World {
    /// All objects of the kinds that nodes make, but the one that owns others'.
    pub(super) async fn objects(&self) -> Result<Vec<(Kind, Value)>> {
        let mut all = Vec::new();
        for kind in Kind::ALL {
            let api = Api::<DynamicObject>::all_with(self.client.clone(), &kind.resource());
            for object in api.list(&ListParams::default()).await? {
                if object.name_any() != "somebody" {
                    all.push((kind, serde_json::to_value(object)?));
                }
            }
        }
        Ok(all)
    }

    fn api(&self, kind: Kind, namespace: &str) -> Api<DynamicObject> {
        Api::namespaced_with(self.client.clone(), namespace, &kind.resource())
    }

    /// The uid of an object of somebody's, which owns others.
    pub(super) async fn somebody(&self, namespace: &str) -> Result<String> {
        let maps = Api::<ConfigMap>::namespaced(self.client.clone(), namespace);
        let somebody = PatchParams::apply("somebody");
        let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "somebody" } });
        Ok(maps.patch("somebody", &somebody, &Patch::Apply(map)).await?.uid().unwrap_or_default())
    }

    /// Takes down what somebody has done.
    fn done(&mut self, kind: Kind, namespace: &str, name: &str, before: Option<Arc<Value>>, what: &str) {
        self.told.push(format!("somebody: {what} {} {namespace}/{name}", kind.plural()));
        let after = self.log.stored(kind, namespace, name);
        let (namespace, name) = (namespace.to_owned(), name.to_owned());
        let (at, method) = (Instant::now(), Method::PATCH);
        self.log.add(Deed { at, by: None, method, kind, namespace, name, code: 200, before, after });
    }

    /// Somebody edits an object. It may be gone.
    pub(super) async fn patch(&mut self, kind: Kind, namespace: &str, name: &str, edit: Value) -> Result<()> {
        let before = self.log.stored(kind, namespace, name);
        let somebody = PatchParams { field_manager: Some("somebody".to_owned()), ..PatchParams::default() };
        let done = self.api(kind, namespace).patch(name, &somebody, &Patch::Merge(&edit)).await;
        let what = if done.is_ok() { format!("edits ({edit})") } else { "can't edit".to_owned() };
        self.done(kind, namespace, name, before, &what);
        Ok(())
    }

    /// Somebody makes an object, unless one of that name is there; its uid.
    pub(super) async fn make(&mut self, kind: Kind, object: Value) -> Result<Option<String>> {
        let mut object: DynamicObject = serde_json::from_value(object)?;
        object.types = None;
        let (namespace, name) = (object.namespace().unwrap_or_default(), object.name_any());
        let before = self.log.stored(kind, &namespace, &name);
        let new = PostParams { field_manager: Some("somebody".to_owned()), ..PostParams::default() };
        let made = self.api(kind, &namespace).create(&new, &object).await.ok();
        if made.is_some() {
            let what = format!("makes ({})", serde_json::to_value(&object.metadata)?);
            self.done(kind, &namespace, &name, before, &what);
        }
        Ok(made.and_then(|made| made.uid()))
    }

    pub(super) async fn remove(&mut self, kind: Kind, namespace: &str, name: &str) -> Result<()> {
        let before = self.log.stored(kind, namespace, name);
        drop(self.api(kind, namespace).delete(name, &DeleteParams::default()).await);
        self.done(kind, namespace, name, before, "deletes");
        Ok(())
    }
}
