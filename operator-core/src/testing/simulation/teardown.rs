//! The end of a schedule: everything that users have made is deleted.

use kube::api::DeleteParams;

use super::{Oracle, world::World};
use crate::testing::manifests::api;

impl World {
    /// Deletes everything that users have made, in reverse order.
    pub(super) async fn delete_all(&self) {
        // What is made again while it goes is deleted a second time; that is still the same end.
        if self.farewell.get() == 0 {
            self.farewell.set(self.mark().calls);
        }
        let made: Vec<_> = self.made.borrow().iter().rev().cloned().collect();
        for (of, namespace, name) in made {
            self.record.tell(format_args!("user: delete {}/{name}, as the end comes", of.plural()));
            let deleted = api(&self.client, &of, &namespace).delete(&name, &DeleteParams::background()).await;
            match deleted {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                Err(error) => {
                    self.violated(Oracle::Test, format!("{}/{name} can't be deleted: {error}", of.plural()))
                }
            }
        }
    }
}
