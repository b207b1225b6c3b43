//! The end of a schedule: everything that users have made is deleted.

use kube::{
    Api,
    api::{ApiResource, DeleteParams, DynamicObject, PropagationPolicy},
};

use super::{Oracle, world::World};

impl World {
    /// Deletes everything that users have made, in reverse order.
    pub(super) async fn delete_all(&self) {
        // What is made again while it goes is deleted a second time; that is still the same end.
        if self.farewell.get() == 0 {
            self.farewell.set(self.mark().calls());
        }
        let made: Vec<_> = self.made.borrow().iter().rev().cloned().collect();
        for (of, namespace, name) in made {
            let resource = ApiResource {
                group: of.group().to_owned(),
                version: of.version().to_owned(),
                api_version: of.api_version(),
                kind: of.kind().to_owned(),
                plural: of.plural().to_owned(),
            };
            let api: Api<DynamicObject> = match of.is_namespaced() {
                true => Api::namespaced_with(self.client.clone(), &namespace, &resource),
                false => Api::all_with(self.client.clone(), &resource),
            };
            self.record.tell(format_args!("user: delete {}/{name}, as the end comes", of.plural()));
            let params = DeleteParams {
                propagation_policy: Some(PropagationPolicy::Background),
                ..DeleteParams::default()
            };
            match api.delete(&name, &params).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => {
                    self.violated(Oracle::Test, format!("{}/{name} can't be deleted: {error}", of.plural()))
                }
            }
        }
    }
}
