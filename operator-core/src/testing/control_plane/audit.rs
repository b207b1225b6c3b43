//! The API server's audit log: the truth about which calls were made, and by whom.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::testing::Error;

/// One entry of the audit log.
///
/// A call has one entry, of the stage `ResponseComplete`; a watch has two, since the first, `ResponseStarted`, is written
/// when it starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AuditEvent {
    /// What was done: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The client's user agent.
    pub user_agent: String,
    /// As whom the call was authorized: the impersonated user, if there was one, else the authenticated one.
    pub user: String,
    /// Whether the call impersonated that user.
    pub impersonated: bool,
    /// The API group, empty for the core group.
    pub group: String,
    /// The plural resource, empty for paths like `/readyz`.
    pub resource: String,
    /// `status`, `scale` and the like, empty for the resource itself.
    pub subresource: String,
    /// The namespace, empty for what has none.
    pub namespace: String,
    /// The object's name, empty for lists and for creations.
    pub name: String,
    /// The path and the query, as the client sent them.
    pub uri: String,
    /// The HTTP status; 0 as long as there is none.
    pub code: u16,
    /// `ResponseStarted`, `ResponseComplete` or `Panic`.
    pub stage: String,
}

/// What an audit log holds of an event.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    verb: String,
    user_agent: String,
    user: User,
    impersonated_user: Option<User>,
    object_ref: Object,
    #[serde(rename = "requestURI")]
    uri: String,
    response_status: Status,
    stage: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct User {
    username: String,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Object {
    api_group: String,
    resource: String,
    subresource: String,
    namespace: String,
    name: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Status {
    code: u16,
}

impl From<Line> for AuditEvent {
    fn from(line: Line) -> Self {
        Self {
            verb: line.verb,
            user_agent: line.user_agent,
            impersonated: line.impersonated_user.is_some(),
            user: line.impersonated_user.unwrap_or(line.user).username,
            group: line.object_ref.api_group,
            resource: line.object_ref.resource,
            subresource: line.object_ref.subresource,
            namespace: line.object_ref.namespace,
            name: line.object_ref.name,
            uri: line.uri,
            code: line.response_status.code,
            stage: line.stage,
        }
    }
}

/// The events of a log, oldest first. A last line that is still being written is left out.
pub(super) fn parse(log: &str) -> Result<Vec<AuditEvent>, Error> {
    log.split_inclusive('\n')
        .filter(|line| line.ends_with('\n'))
        .map(|line| {
            serde_json::from_str::<Line>(line)
                .map(AuditEvent::from)
                .map_err(|source| Error::Json { what: "a line of the audit log".to_owned(), source })
        })
        .collect()
}

pub(super) fn read(path: &Path) -> Result<Vec<AuditEvent>, Error> {
    match std::fs::read_to_string(path) {
        Ok(log) => parse(&log),
        // The API server makes the file at its first call.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Error::io(format!("read {}", path.display()))(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1",
        "stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/ns/deployments/d/status","verb":"patch",
        "user":{"username":"admin","groups":["system:masters"]},"impersonatedUser":{"username":"bob"},
        "userAgent":"operator/1","objectRef":{"resource":"deployments","namespace":"ns","name":"d",
        "apiGroup":"apps","apiVersion":"v1","subresource":"status"},"responseStatus":{"metadata":{},"code":200}}"#;

    #[test]
    fn an_event_says_who_did_what() {
        let events = parse(&format!("{}\n", LINE.replace('\n', " "))).unwrap();
        let [event] = &events[..] else { panic!("{events:?}") };
        assert_eq!((event.verb.as_str(), event.code), ("patch", 200));
        assert_eq!((event.user.as_str(), event.impersonated), ("bob", true));
        assert_eq!(event.user_agent, "operator/1");
        assert_eq!((event.group.as_str(), event.resource.as_str()), ("apps", "deployments"));
        assert_eq!((event.namespace.as_str(), event.name.as_str()), ("ns", "d"));
        assert_eq!((event.subresource.as_str(), event.stage.as_str()), ("status", "ResponseComplete"));
    }

    #[test]
    fn a_path_without_an_object_and_an_unfinished_line() {
        let log =
            "{\"verb\":\"get\",\"requestURI\":\"/readyz\",\"user\":{\"username\":\"admin\"}}\n{\"verb\":\"li";
        let events = parse(log).unwrap();
        assert_eq!(events.len(), 1);
        assert_eq!((events[0].uri.as_str(), events[0].resource.as_str(), events[0].code), ("/readyz", "", 0));
    }
}
