//! The API server's audit log: a reliable record of which calls were made, and by which users.

mod reader;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::error::Error;
pub use reader::AuditReader;
pub(crate) use reader::MemoryLog;

/// One entry of the audit log.
///
/// A call has one entry, of the stage `ResponseComplete`; a watch has two, because the first, `ResponseStarted`, is
/// written when it starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AuditEvent {
    /// The verb: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The client's user agent.
    pub user_agent: String,
    /// The user for whom the call was authorized: the impersonated one, if there was one, otherwise the authenticated
    /// one.
    pub user: String,
    /// Whether the call impersonated that user.
    pub impersonated: bool,
    /// The API group, empty for the core group.
    pub group: String,
    /// The plural resource, empty for paths like `/readyz`.
    pub resource: String,
    /// `status`, `scale` and so on, empty for the resource itself.
    pub subresource: String,
    /// The namespace, empty if there is none.
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

/// The content of an event in an audit log.
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

/// The events of whole lines, oldest first.
fn parse(lines: &[u8]) -> Result<Vec<AuditEvent>, Error> {
    lines
        .split_inclusive(|byte| *byte == b'\n')
        .map(|line| {
            serde_json::from_slice::<Line>(line)
                .map(AuditEvent::from)
                .map_err(|source| Error::Json { what: "a line of the audit log".to_owned(), source })
        })
        .collect()
}
