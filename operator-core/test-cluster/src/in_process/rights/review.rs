//! `SelfSubjectRulesReview`: what the user may do.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use super::{rules_for, texts};
use crate::in_process::{
    api::Reply, failure::Failure, go::json::read as read_json, read::json as json_bytes, request::Request,
    store::Store,
};

/// POST of a review of rules.
pub(in crate::in_process) fn review_rules(store: &Store, request: &Request) -> Result<Reply, Failure> {
    if request.method != Method::POST {
        return Err(Failure::method());
    }
    let review: Value = read_json(&request.body)
        .map_err(|error| Failure::bad_request(format!("the object provided is unrecognized: {error}")))?;
    let Some(namespace) = review["spec"]["namespace"].as_str().filter(|namespace| !namespace.is_empty())
    else {
        return Err(Failure::bad_request("no namespace on request"));
    };
    let (mut resources, mut paths) = (Vec::new(), Vec::new());
    for rule in rules_for(store, &request.user, Some(namespace)) {
        let with = |fields: &[&str]| {
            let mut shown = json!({});
            for field in fields {
                let values = texts(&rule, field);
                if !values.is_empty() {
                    shown[*field] = values.into();
                }
            }
            shown
        };
        if !texts(&rule, "resources").is_empty() {
            resources.push(with(&["verbs", "apiGroups", "resources", "resourceNames"]));
        }
        if !texts(&rule, "nonResourceURLs").is_empty() {
            paths.push(with(&["verbs", "nonResourceURLs"]));
        }
    }
    let review = json!({
        "kind": "SelfSubjectRulesReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {}, "spec": {},
        "status": { "resourceRules": resources, "nonResourceRules": paths, "incomplete": false },
    });
    Ok(Reply::Json(StatusCode::CREATED, json_bytes(&review)))
}
