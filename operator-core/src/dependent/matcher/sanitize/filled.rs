//! Empty objects that were applied, and that the server has filled in.

use serde_json::{Map, Value};

use super::Kind;

/// Objects whose fields each have their own owner, so that `{}` requests nothing. Managed fields alone don't
/// distinguish them from those that are replaced as a whole, where `{}` means "empty".
const MERGED: [(Kind<'static>, &str); 6] = [
    (("apps", "Deployment"), "spec/strategy"),
    (("apps", "StatefulSet"), "spec/updateStrategy"),
    (("apps", "DaemonSet"), "spec/updateStrategy"),
    (("autoscaling", "HorizontalPodAutoscaler"), "spec/behavior"),
    (("autoscaling", "HorizontalPodAutoscaler"), "spec/behavior/scaleUp"),
    (("autoscaling", "HorizontalPodAutoscaler"), "spec/behavior/scaleDown"),
];

/// Replaces such an empty object by the actual content, if it is owned as empty. If fields of it are owned, they are
/// not wanted any more, which has to stay visible.
pub(super) fn fill_empty_objects(
    kind: Kind<'_>,
    desired: &mut Value,
    actual: &Value,
    owned: &Map<String, Value>,
) -> bool {
    let mut changed = false;
    for (_, path) in MERGED.iter().filter(|(of, _)| *of == kind) {
        let mut names = path.split('/');
        let mut below = names.next().and_then(|name| owned.get(&format!("f:{name}")));
        for name in names {
            below = below.and_then(|owned| owned.get(format!("f:{name}")));
        }
        let pointer = format!("/{path}");
        if below.is_some_and(is_empty)
            && let Some(wanted) = desired.pointer_mut(&pointer).filter(|wanted| is_empty(wanted))
            && let Some(found) = actual.pointer(&pointer).filter(|found| found.is_object())
        {
            wanted.clone_from(found);
            changed = true;
        }
    }
    changed
}

fn is_empty(value: &Value) -> bool {
    value.as_object().is_some_and(Map::is_empty)
}
