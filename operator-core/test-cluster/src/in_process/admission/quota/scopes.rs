//! Which objects a quota is about, by its scopes. Pure.

use serde_json::Value;

use crate::in_process::store::Resource;

/// Whether an object has all scopes of a quota.
pub(super) fn concerns(quota: &Value, resource: &Resource, object: &Value) -> bool {
    let spec = &quota["spec"];
    let mut scopes = spec["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut terms = spec["scopeSelector"]["matchExpressions"].as_array().into_iter().flatten();
    let term = |term: &Value| {
        let (scope, operator) = (term["scopeName"].as_str(), term["operator"].as_str());
        has(resource, object, scope.unwrap_or_default(), operator.unwrap_or_default(), &term["values"])
    };
    scopes.all(|scope| has(resource, object, scope, "Exists", &Value::Null)) && terms.all(term)
}

fn has(resource: &Resource, object: &Value, scope: &str, operator: &str, values: &Value) -> bool {
    let (spec, status) = (&object["spec"], &object["status"]);
    let best_effort = || status["qosClass"] == "BestEffort";
    match (resource.group.as_str(), resource.plural.as_str(), scope) {
        ("", "pods", "Terminating") => ends(object),
        ("", "pods", "NotTerminating") => !ends(object),
        ("", "pods", "BestEffort") => best_effort(),
        ("", "pods", "NotBestEffort") => !best_effort(),
        ("", "pods", "PriorityClass") => {
            let class = spec["priorityClassName"].as_str().unwrap_or_default();
            selects(operator, values, &[class])
        }
        ("", "pods", "CrossNamespacePodAffinity") => reaches_out(spec),
        ("", "persistentvolumeclaims", "VolumeAttributesClass") => {
            let classes = [
                &spec["volumeAttributesClassName"],
                &status["currentVolumeAttributesClassName"],
                &status["modifyVolumeStatus"]["targetVolumeAttributesClassName"],
            ];
            selects(operator, values, &classes.map(|class| class.as_str().unwrap_or_default()))
        }
        _ => false,
    }
}

/// Whether a pod has a time by which it ends.
pub(super) fn ends(pod: &Value) -> bool {
    pod["spec"]["activeDeadlineSeconds"].as_i64().is_some_and(|seconds| seconds >= 0)
}

/// Whether one of the classes is selected; the empty one is none.
fn selects(operator: &str, values: &Value, classes: &[&str]) -> bool {
    let classes: Vec<&str> = classes.iter().copied().filter(|class| !class.is_empty()).collect();
    let listed =
        |class: &str| values.as_array().is_some_and(|values| values.iter().any(|value| value == class));
    match operator {
        "In" => classes.iter().any(|class| listed(class)),
        "NotIn" => classes.is_empty() || classes.iter().any(|class| !listed(class)),
        "Exists" => !classes.is_empty(),
        _ => classes.is_empty(),
    }
}

/// Whether a pod wants to be near to pods of other namespaces, or far from them.
fn reaches_out(spec: &Value) -> bool {
    let reaches = |term: &Value| {
        term["namespaces"].as_array().is_some_and(|names| !names.is_empty())
            || term["namespaceSelector"].is_object()
    };
    ["podAffinity", "podAntiAffinity"].iter().any(|field| {
        let terms = |list: &str| spec["affinity"][*field][list].as_array().into_iter().flatten();
        terms("requiredDuringSchedulingIgnoredDuringExecution").any(reaches)
            || terms("preferredDuringSchedulingIgnoredDuringExecution")
                .any(|term| reaches(&term["podAffinityTerm"]))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_quota_is_about_what_has_all_of_its_scopes() {
        let pods = Resource::new("", "pods");
        let pod = json!({
            "spec": {
                "priorityClassName": "high",
                "affinity": { "podAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{ "namespaces": ["a"] }] } },
            },
            "status": { "qosClass": "BestEffort" },
        });
        let term = |scope: &str, operator: &str, values: Value| {
            let term = json!({ "scopeName": scope, "operator": operator, "values": values });
            json!({ "spec": { "scopeSelector": { "matchExpressions": [term] } } })
        };
        for (quota, expected) in [
            (json!({ "spec": {} }), true),
            (json!({ "spec": { "scopes": ["BestEffort", "NotTerminating"] } }), true),
            (json!({ "spec": { "scopes": ["BestEffort", "Terminating"] } }), false),
            (json!({ "spec": { "scopes": ["CrossNamespacePodAffinity"] } }), true),
            (term("PriorityClass", "In", json!(["low", "high"])), true),
            (term("PriorityClass", "NotIn", json!(["high"])), false),
            (term("PriorityClass", "DoesNotExist", json!(null)), false),
            (term("PriorityClass", "Exists", json!(null)), true),
            (term("VolumeAttributesClass", "Exists", json!(null)), false),
        ] {
            assert_eq!(concerns(&quota, &pods, &pod), expected, "{quota}");
        }
    }
}
