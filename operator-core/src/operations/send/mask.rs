//! Keeps values of Secrets out of errors, and so out of logs, metrics and statuses.

use kube::core::Status;
use serde::de::Error as _;

use crate::operations::mend::drift::{IMMUTABLE, says_immutable};
use crate::resource::{MASKED, ResourceType};

/// The server's refusal without what it may repeat of the object: validation messages contain the invalid value.
pub(in crate::operations) fn status(kind: &ResourceType, mut status: Box<Status>) -> Box<Status> {
    if kind.is_sensitive() {
        MASKED.clone_into(&mut status.message);
        for cause in status.details.iter_mut().flat_map(|details| &mut details.causes) {
            // Which of them can't be changed is no value.
            let shown = if says_immutable(&cause.message) { IMMUTABLE } else { MASKED };
            shown.clone_into(&mut cause.message);
        }
    }
    status
}

/// The decoder's error without what it may repeat of the object.
pub(in crate::operations) fn json(kind: &ResourceType, error: serde_json::Error) -> serde_json::Error {
    if kind.is_sensitive() { serde_json::Error::custom(MASKED) } else { error }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::{ConfigMap, Secret};

    use super::*;

    fn shown(kind: &ResourceType) -> String {
        let refusal = Status::failure("Invalid value: \"hunter2\"", "Invalid").boxed();
        let undecodable = serde_json::from_str::<u8>("\"hunter2\"").expect_err("a string is no number");
        format!("{:?} {}", status(kind, refusal), json(kind, undecodable))
    }

    #[test]
    fn values_of_secrets_are_not_shown() {
        assert!(shown(&ResourceType::of::<ConfigMap>()).contains("hunter2"));
        assert!(!shown(&ResourceType::of::<Secret>()).contains("hunter2"));
    }
}
