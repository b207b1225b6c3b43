//! A server's refusal in one sentence. Pure.

use kube::core::Status;

/// The server's words for a refusal, in one sentence: an invalid object by its fields, since the server's own message
/// repeats each of them with all that is in it as Go prints it; a missing right as the rule to grant; a quota and a
/// webhook by their names.
pub(super) fn words(status: &Status) -> String {
    let message = &status.message;
    missing_right(message)
        .or_else(|| quota(message))
        .or_else(|| admission(message))
        .unwrap_or_else(|| fields(status))
}

fn fields(status: &Status) -> String {
    if status.code == 405 {
        return format!(
            "{}; a `Cleaner`, whose finalizer is a patch, needs a kind that can be patched",
            status.message
        );
    }
    let details = status.details.iter().filter(|_| status.code == 422);
    let fields: Vec<_> = details
        .flat_map(|details| &details.causes)
        .filter(|cause| !cause.field.is_empty() && !cause.message.is_empty())
        .map(|cause| format!("{}: {}", cause.field, without_value(&cause.message)))
        .collect();
    if fields.is_empty() {
        return status.message.clone();
    }
    let all = fields.join("; ");
    let is_immutable = fields.iter().all(|field| field.ends_with(": field is immutable"));
    if is_immutable { all + "; `.recreate_when_immutable()` on its node makes it anew" } else { all }
}

/// What a cause says, without a value that is longer than a few words.
fn without_value(message: &str) -> &str {
    const SHORT: usize = 80;
    let Some(rest) = message.strip_prefix("Invalid value: ") else { return message };
    // A text in quotes, an object, or a word.
    let end = match rest.starts_with('"') {
        true => rest.rfind("\": ").map(|at| at + 1),
        false => rest.rfind("}: ").map(|at| at + 1).or_else(|| rest.find(": ")),
    };
    match end {
        Some(end) if end > SHORT => &rest[end + ": ".len()..],
        _ => message,
    }
}

/// What stands between these two, and what follows.
fn between<'t>(text: &'t str, before: &str, after: &str) -> Option<(&'t str, &'t str)> {
    text.split_once(before)?.1.split_once(after)
}

/// The right whose lack a refusal (403) names: `grant create on configmaps in namespace shop to …`. It names no content.
pub(super) fn missing_right(message: &str) -> Option<String> {
    let (user, rest) = between(message, "is forbidden: User \"", "\" cannot ")?;
    let (verb, rest) = rest.split_once(" resource \"")?;
    let (resource, rest) = rest.split_once("\" in API group \"")?;
    let (group, place) = rest.split_once('"')?;
    // A group follows the resource, and not its subresource.
    let resource = match (resource.split_once('/'), group) {
        (_, "") => resource.to_owned(),
        (Some((resource, part)), _) => format!("{resource}.{group}/{part}"),
        (None, _) => format!("{resource}.{group}"),
    };
    let place = between(place, "in the namespace \"", "\"");
    let place = place.map(|(namespace, _)| format!(" in namespace {namespace}")).unwrap_or_default();
    Some(format!("a right is missing; grant {verb} on {resource}{place} to {user}"))
}

/// The quota that has no room.
fn quota(message: &str) -> Option<String> {
    if let Some((name, rest)) = between(message, "is forbidden: exceeded quota: ", ", ") {
        return Some(format!("quota {name} is exceeded: {}", rest.replace(": ", " ")));
    }
    let (name, rest) = between(message, "is forbidden: failed quota: ", ": ")?;
    Some(format!("quota {name} requires more of it: {rest}"))
}

/// The webhook or the policy that decides about the object.
fn admission(message: &str) -> Option<String> {
    if let Some((name, why)) = between(message, "admission webhook \"", "\" denied the request") {
        let why = why.trim_start_matches(": ").trim_start_matches(" without explanation");
        let why = if why.is_empty() { "it gives no reason" } else { why };
        return Some(format!("webhook {name} refuses it: {why}"));
    }
    if let Some((name, why)) = between(message, "failed calling webhook \"", "\": ") {
        return Some(format!(
            "webhook {name} can't be called: {}",
            why.trim_start_matches("failed to call webhook: ")
        ));
    }
    let (name, rest) = between(message, "ValidatingAdmissionPolicy '", "' with binding '")?;
    let (_, why) = rest.split_once("' denied request: ")?;
    Some(format!("policy {name} refuses it: {why}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_invalid_object_is_told_by_its_fields_and_without_what_is_in_them() {
        let told = |causes: &[(&str, &str)]| {
            let cause = |(field, message): &(&str, &str)| json!({ "field": field, "message": message });
            let causes: Vec<_> = causes.iter().map(cause).collect();
            let message = "ConfigMap \"one\" is invalid: …";
            let status = json!({ "code": 422, "message": message, "details": { "causes": causes } });
            words(&serde_json::from_value(status).expect("a status"))
        };
        let dump = format!(
            "Invalid value: {{\"metadata\":{{\"labels\":{{\"a\":\"b: c\"}}}},{}}}",
            "\"x\":1,".repeat(400)
        );
        assert_eq!(
            told(&[("spec.template", &format!("{dump}: field is immutable"))]),
            "spec.template: field is immutable; `.recreate_when_immutable()` on its node makes it anew"
        );
        let short = "Invalid value: -1: must be greater than or equal to 0";
        let long = format!("Invalid value: \"{}\": must be no more than 63 bytes", "a".repeat(100));
        assert_eq!(
            told(&[("spec.replicas", short), ("metadata.name", &long), ("spec.selector", "Required value")]),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0; metadata.name: must be no more than 63 bytes; \
             spec.selector: Required value"
        );
        assert_eq!(told(&[("", "a failed test")]), "ConfigMap \"one\" is invalid: …", "no field is named");
        assert_eq!(told(&[]), "ConfigMap \"one\" is invalid: …");
    }

    /// What the server says, and what is told of it.
    const REFUSALS: &[(u16, &str, &str)] = &[
        (
            403,
            r#"configmaps is forbidden: User "system:serviceaccount:ops:web" cannot create resource "configmaps" in API group "" in the namespace "shop""#,
            "a right is missing; grant create on configmaps in namespace shop to system:serviceaccount:ops:web",
        ),
        (
            403,
            r#"deployments.apps "web" is forbidden: User "eve" cannot patch resource "deployments/status" in API group "apps" in the namespace "shop": RBAC: role not found"#,
            "a right is missing; grant patch on deployments.apps/status in namespace shop to eve",
        ),
        (
            403,
            r#"clusterroles.rbac.authorization.k8s.io is forbidden: User "eve" cannot create resource "clusterroles" in API group "rbac.authorization.k8s.io" at the cluster scope"#,
            "a right is missing; grant create on clusterroles.rbac.authorization.k8s.io to eve",
        ),
        (
            403,
            r#"pods "web-0" is forbidden: exceeded quota: small, requested: pods=1,requests.cpu=2, used: pods=3, limited: pods=3"#,
            "quota small is exceeded: requested pods=1,requests.cpu=2, used pods=3, limited pods=3",
        ),
        (
            403,
            r#"pods "web-0" is forbidden: failed quota: small: must specify limits.cpu for: web"#,
            "quota small requires more of it: must specify limits.cpu for: web",
        ),
        (
            400,
            r#"admission webhook "names.example.com" denied the request: the name is taken: shop"#,
            "webhook names.example.com refuses it: the name is taken: shop",
        ),
        (
            403,
            r#"admission webhook "names.example.com" denied the request without explanation"#,
            "webhook names.example.com refuses it: it gives no reason",
        ),
        (
            500,
            r#"Internal error occurred: failed calling webhook "names.example.com": failed to call webhook: Post "https://names.ops.svc:443/?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused"#,
            r#"webhook names.example.com can't be called: Post "https://names.ops.svc:443/?timeout=10s": dial tcp 10.0.0.1:443: connect: connection refused"#,
        ),
        (
            422,
            r#"configmaps "one" is forbidden: ValidatingAdmissionPolicy 'short' with binding 'all' denied request: failed expression: size(object.data) < 2"#,
            "policy short refuses it: failed expression: size(object.data) < 2",
        ),
        (
            403,
            r#"pods "web" is forbidden: violates PodSecurity "restricted:latest": privileged"#,
            r#"pods "web" is forbidden: violates PodSecurity "restricted:latest": privileged"#,
        ),
        (
            405,
            "the server does not allow this method on the requested resource",
            "the server does not allow this method on the requested resource; a `Cleaner`, whose finalizer is a patch, needs a kind that can be patched",
        ),
        (500, "etcdserver: request timed out", "etcdserver: request timed out"),
    ];

    #[test]
    fn each_refusal_is_one_sentence_that_names_the_rule() {
        for (code, message, told) in REFUSALS {
            let status = json!({ "code": code, "message": message });
            assert_eq!(words(&serde_json::from_value(status).expect("a status")), *told, "{message}");
        }
    }

    /// Each beginning of a message is some text.
    #[test]
    fn a_message_that_is_cut_is_told_as_it_is_or_in_part() {
        for (code, message, _) in REFUSALS {
            for end in (0..message.len()).filter(|end| message.is_char_boundary(*end)) {
                let status = json!({ "code": code, "message": message[..end] });
                let told = words(&serde_json::from_value(status).expect("a status"));
                assert!(end == 0 || !told.is_empty(), "{}", &message[..end]);
            }
        }
    }
}
