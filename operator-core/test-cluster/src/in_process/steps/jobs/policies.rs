//! What a Job says about failed Pods, and about how many successes are enough. Pure.

use serde_json::Value;

use super::{
    super::view::{items, number, text},
    indexes::Indexes,
};
use crate::in_process::write::is_deleting;

/// What a failed Pod leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Consequence {
    /// The Job fails, with this message.
    FailJob(String),
    /// Its index fails.
    FailIndex,
    /// It is not counted.
    Ignore,
    /// It counts.
    Count,
}

/// Whether a failed Pod is only replaced when it has ended.
pub(super) fn waits_for_end(spec: &Value) -> bool {
    spec["podReplacementPolicy"] == "Failed"
}

/// Whether a Pod has failed, or never will succeed.
pub(super) fn has_failed(spec: &Value, pod: &Value) -> bool {
    match text(&pod["status"]["phase"]) {
        "Failed" => true,
        "Succeeded" => false,
        _ => !waits_for_end(spec) && is_deleting(pod),
    }
}

/// What the policy says about a failed Pod: the first rule that fits.
pub(super) fn consequence(spec: &Value, pod: &Value) -> Consequence {
    for (index, rule) in items(&spec["podFailurePolicy"]["rules"]).iter().enumerate() {
        let action = text(&rule["action"]);
        let metadata = &pod["metadata"];
        let place = || format!("{}/{}", text(&metadata["namespace"]), text(&metadata["name"]));
        let message = if rule["onExitCodes"].is_object() {
            by_exit_code(pod, &rule["onExitCodes"]).map(|(name, code)| {
                let place = place();
                format!(
                    "Container {name} for pod {place} failed with exit code {code} matching {action} rule at index {index}"
                )
            })
        } else {
            by_condition(pod, &rule["onPodConditions"]).map(|kind| {
                format!("Pod {} has condition {kind} matching {action} rule at index {index}", place())
            })
        };
        match (message, action) {
            (None, _) => {}
            (Some(message), "FailJob") => return Consequence::FailJob(message),
            (Some(_), "FailIndex") => return Consequence::FailIndex,
            (Some(_), "Ignore") => return Consequence::Ignore,
            (Some(_), _) => return Consequence::Count,
        }
    }
    Consequence::Count
}

/// The container whose exit code fits, and the code.
fn by_exit_code<'p>(pod: &'p Value, rule: &Value) -> Option<(&'p str, i64)> {
    let lists = ["containerStatuses", "initContainerStatuses"];
    let statuses = lists.iter().flat_map(|list| items(&pod["status"][*list]));
    let named = |status: &&Value| rule["containerName"].is_null() || rule["containerName"] == status["name"];
    let mut ended = statuses.filter(named).filter_map(|status| {
        let code = status["state"]["terminated"]["exitCode"].as_i64()?;
        Some((text(&status["name"]), code))
    });
    let fits = |code: &i64| {
        let is_listed = items(&rule["values"]).iter().any(|value| value.as_i64() == Some(*code));
        *code != 0 && is_listed == (rule["operator"] == "In")
    };
    ended.find(|(_, code)| fits(code))
}

fn by_condition<'p>(pod: &'p Value, patterns: &Value) -> Option<&'p str> {
    let fits = |condition: &&Value| {
        let same = |pattern: &Value| {
            pattern["type"] == condition["type"] && pattern["status"] == condition["status"]
        };
        items(patterns).iter().any(same)
    };
    items(&pod["status"]["conditions"]).iter().find(fits).map(|condition| text(&condition["type"]))
}

/// Which rule says that the successes are enough.
pub(super) fn enough(spec: &Value, done: &Indexes) -> Option<String> {
    let is_met = |rule: &Value| {
        let count = rule["succeededCount"].as_i64();
        if let Some(wanted) = rule["succeededIndexes"].as_str() {
            let wanted = Indexes::read(wanted, number(&spec["completions"]));
            let met = i64::try_from(wanted.0.intersection(&done.0).count()).unwrap_or_default();
            return wanted.len() > 0 && met >= count.unwrap_or_else(|| wanted.len());
        }
        count.is_some_and(|count| done.len() >= count)
    };
    if done.len() == 0 {
        return None;
    }
    let met = items(&spec["successPolicy"]["rules"]).iter().position(is_met)?;
    Some(format!("Matched rules at index {met}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_rule_that_fits_a_failed_pod_counts() {
        let pod = json!({
            "metadata": { "namespace": "a", "name": "p" },
            "status": {
                "phase": "Failed",
                "containerStatuses": [{ "name": "c", "state": { "terminated": { "exitCode": 3 } } }],
                "conditions": [{ "type": "DisruptionTarget", "status": "True" }],
            },
        });
        let codes = |operator: &str, values: &[i64], action: &str| json!({ "action": action, "onExitCodes": { "operator": operator, "values": values } });
        let condition = json!({
            "action": "Ignore", "onPodConditions": [{ "type": "DisruptionTarget", "status": "True" }],
        });
        let failed = "Container c for pod a/p failed with exit code 3 matching FailJob rule at index 1";
        for (rules, meant) in [
            (json!([]), Consequence::Count),
            (json!([codes("In", &[1, 2], "FailJob"), condition]), Consequence::Ignore),
            (
                json!([codes("In", &[1], "Ignore"), codes("NotIn", &[1], "FailJob"), condition]),
                Consequence::FailJob(failed.to_owned()),
            ),
            (json!([codes("In", &[3], "FailIndex")]), Consequence::FailIndex),
        ] {
            let spec = json!({ "podFailurePolicy": { "rules": rules } });
            assert_eq!(consequence(&spec, &pod), meant, "{spec}");
        }
    }

    #[test]
    fn some_successes_may_be_enough() {
        let spec = |rule: Value| json!({ "completions": 5, "successPolicy": { "rules": [rule] } });
        let met = Some("Matched rules at index 0".to_owned());
        let done = |text: &str| Indexes::read(text, 5);
        assert_eq!(enough(&spec(json!({ "succeededCount": 2 })), &done("1")), None);
        assert_eq!(enough(&spec(json!({ "succeededCount": 2 })), &done("1,4")), met);
        assert_eq!(enough(&spec(json!({ "succeededIndexes": "0-1" })), &done("1,4")), None);
        assert_eq!(enough(&spec(json!({ "succeededIndexes": "0-1" })), &done("0,1")), met);
        let some = json!({ "succeededIndexes": "0-3", "succeededCount": 1 });
        assert_eq!(enough(&spec(some), &done("3")), met);
    }
}
