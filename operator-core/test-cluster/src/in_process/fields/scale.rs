//! Who owns the replicas of a workload, as those of its scale, and back.
//!
//! ```text
//!  workload: spec.replicas and others ─take─▶ scale: spec.replicas ─(a write)─▶ ─give─▶ workload
//! ```
//!
//! As in the real server, an updater of the scale is another one than that of the workload with the same name, because
//! their versions differ; so an update by the scale takes the replicas away from the workload's updaters, and its own
//! entry has no time.

use serde_json::Value;

use super::{
    managed::{Managers, Operation, Owned},
    prepare,
    set::Set,
};

const VERSION: &str = "autoscaling/v1";
const REPLICAS: &[&str] = &["spec", "replicas"];

/// The entries of a workload's scale; `replicas` is where the workload has them.
pub(in crate::in_process) fn take(entries: &Value, version: &str, replicas: &[&str]) -> Option<Value> {
    let path = Set::of(&[replicas]);
    let mut scale = Managers::default();
    for (mut manager, owned) in Managers::decode(entries)?.0 {
        if owned.api_version != version || owned.fields.intersection(&path).is_empty() {
            continue;
        }
        if manager.operation == Operation::Update {
            VERSION.clone_into(&mut manager.api_version);
        }
        scale.0.insert(
            manager,
            Owned { fields: Set::of(&[REPLICAS]), api_version: VERSION.to_owned(), time: owned.time },
        );
    }
    scale.encode()
}

/// Gives the entries of a scale back to its workload.
pub(in crate::in_process) fn give(object: &mut Value, version: &str, replicas: &[&str], scale: &Value) {
    let path = Set::of(&[replicas]);
    let (Some(before), Some(mut scale)) =
        (Managers::decode(&object["metadata"]["managedFields"]), Managers::decode(scale))
    else {
        return;
    };
    scale.0.retain(|_, owned| !owned.fields.intersection(&Set::of(&[REPLICAS])).is_empty());
    let mut after = Managers::default();
    for (manager, owned) in &before.0 {
        let mut owned = owned.clone();
        if owned.api_version == version
            && !owned.fields.intersection(&path).is_empty()
            && scale.0.remove(manager).is_none()
        {
            owned.fields.subtract(&path);
        }
        if !owned.fields.is_empty() {
            after.0.insert(manager.clone(), owned);
        }
    }
    for (manager, _) in scale.0 {
        let time = before.0.get(&manager).and_then(|owned| owned.time.clone());
        after.0.insert(manager, Owned { fields: path.clone(), api_version: version.to_owned(), time });
    }
    prepare::set_managed(object, after.encode());
}
