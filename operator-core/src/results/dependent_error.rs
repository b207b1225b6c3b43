//! The errors of a dependent, known as `dependent::Error`. They are defined here because a workflow's error has to
//! determine whether its nodes' errors are worth another attempt. The adoption policy is part of them.

use std::{error::Error as StdError, fmt, sync::Arc, time::Duration};

use jiff::Timestamp;

use super::Token;

use crate::{
    error::BoxError,
    observe::error_chain,
    operations,
    processor::FailureKind,
    resource::{ObjectKey, ResourceType},
    results::failure_kind::{kind_of, of_operation, of_several},
};

/// An error of a dependent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DependentError {
    /// The resource exists and belongs to another owner.
    #[error(
        "{kind} {key} exists already, and {owner}; {}", instead_of_a_conflict(*advice)
    )]
    Conflict {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The owner, as far as it is known.
        owner: String,
        /// The policy under which it would be taken over; `Never` for an object of the same controller.
        advice: Adoption,
    },
    /// The object belongs to an earlier incarnation of the primary, and the garbage collector is about to delete it.
    #[error(
        "{kind} {key} belongs to an earlier incarnation of the primary, and is about to be garbage-collected; it is created again after that"
    )]
    Going {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
    },
    /// Another node of the controller has made the object, and hasn't said yet whether it still wants it.
    #[error("{kind} {key} was made by `{node}`, which hasn't said yet whether it still wants it")]
    Undecided {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// That node.
        node: String,
    },
    /// Two nodes that come one after the other want each other's objects.
    #[error(
        "`{node}` and `{other}` would swap {kind} {key} and {kind} {in_exchange}, and one of them comes after the other; give one of the two another name first"
    )]
    Swap {
        /// The type of both.
        kind: ResourceType,
        /// The object that the node wants.
        key: ObjectKey,
        /// The object that the other node wants.
        in_exchange: ObjectKey,
        /// The node.
        node: String,
        /// The other node.
        other: String,
    },
    /// An owner reference that would not be valid in the cluster.
    #[error("{kind} {key} can't be owned by {owner}: {reason}")]
    IllegalOwner {
        /// The type of the dependent's resource.
        kind: ResourceType,
        /// The resource.
        key: ObjectKey,
        /// The primary.
        owner: ObjectKey,
        /// The reason, and what to do instead.
        reason: &'static str,
    },
    /// The primary was not read from a cluster.
    #[error("the primary {0} has no uid, so nothing can be owned by it")]
    NoUid(ObjectKey),
    /// The object would be outside what its event source watches, so its state would not be known.
    #[error(
        "{kind} {key} is in a namespace that the event source `{source_name}` doesn't watch; let the controller watch it, with `.namespaces(…)`, or give the dependent an informer that does: `.informer(InformerEventSource::new().namespaces(…))`"
    )]
    NotWatched {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The event source.
        source_name: Arc<str>,
    },
    /// The object is in a namespace that its event source hasn't synced yet: its definition is missing, or a right.
    #[error("{kind} {key} is in a namespace that the event source `{source_name}` hasn't listed yet")]
    NotSynced {
        /// Its type.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// The event source.
        source_name: Arc<str>,
    },
    /// A node names an object that can't exist, or that it can't read.
    #[error("`{node}` can't read {kind} {key}: {why}")]
    Unreadable {
        /// The node.
        node: String,
        /// The type of the object.
        kind: ResourceType,
        /// The object.
        key: ObjectKey,
        /// Why.
        why: &'static str,
    },
    /// A node reads the objects that are related to its primary, and nothing relates objects of this type to it.
    #[error(
        "`{node}` reads what is related to its primary, and nothing relates a {kind} to it; write `.owns::<{}>()` on the controller, or `.informer(…)` on the node, or name an object: `Read::named(…)`", kind.kind()
    )]
    Unrelated {
        /// The node.
        node: String,
        /// The type of the objects.
        kind: ResourceType,
    },
    /// A primary has several objects, and none of them is selected.
    #[error("{primary} has several objects of kind {kind}; select one by `Read::named(…)` or `Read::key(…)`")]
    Ambiguous {
        /// Their type.
        kind: ResourceType,
        /// The primary.
        primary: ObjectKey,
    },
    /// A bulk dependent wants two objects with the same name.
    #[error("{kind} {key} is desired twice; give each one its own name")]
    DesiredTwice {
        /// Their type.
        kind: ResourceType,
        /// Their key.
        key: ObjectKey,
    },
    /// A function has returned an object of a kind other than its node's.
    #[error(
        "`{node}` is a node of {kind:?}, but the object it returns is of {answered}; both must be of the same kind"
    )]
    AnotherKind {
        /// The kind given to `.kind(…)`.
        kind: ResourceType,
        /// The node.
        node: String,
        /// Version and kind of the object.
        answered: String,
    },
    /// A wanted object lacks a name or namespace that can't be derived.
    #[error("node `{node}` wants a {kind} without a complete name: {why}")]
    Unnamed {
        /// Its type.
        kind: ResourceType,
        /// The node that wants it.
        node: String,
        /// What is missing.
        why: &'static str,
    },
    /// A change of what a node wants has renamed it, or moved it to another namespace.
    #[error(
        "a change of node `{node}` makes {kind} {before} to {after}, and its name and namespace are those that its function gives: give them there"
    )]
    Renamed {
        /// Its type.
        kind: ResourceType,
        /// The node that wants it.
        node: String,
        /// The key before; without a name if the function gave none.
        before: ObjectKey,
        /// The key after that.
        after: ObjectKey,
    },
    /// Items of a bulk dependent failed; each with its key. All others succeeded.
    #[error("{}", items(failed, *of))]
    Items {
        /// The failed items, and their errors.
        failed: Vec<(String, Arc<BoxError>)>,
        /// The number of all items.
        of: usize,
    },
    /// The server drops the field that keeps ids.
    #[error(
        "the server drops `status.{field}`, which would keep the id of a record in another system, so no record is created; add the field to the schema of the definition, as a string"
    )]
    IdDropped {
        /// The field of the primary's status.
        field: Arc<str>,
    },
    /// The server refuses the field that keeps ids.
    #[error(
        "the server refuses an id in `status.{field}`, so no record is created in another system; the field has to be a string, or an object of strings if there are several records"
    )]
    IdRefused {
        /// The field of the primary's status.
        field: Arc<str>,
        /// The server's answer.
        source: Box<operations::Error>,
    },
    /// The other system has created a record without an id.
    #[error("the other system has created `{token}`, but its id is empty, so it can't be found again")]
    NoId {
        /// The token of the record.
        token: Token,
    },
    /// One of several records has no key.
    #[error("node `{node}` wants several records, and one has an empty key; give each one a key of its own")]
    NoKey {
        /// The node.
        node: String,
    },
    /// Two records have the same key.
    #[error("node `{node}` wants two records with the key `{key}`; give each one a key of its own")]
    KeyTwice {
        /// The node.
        node: String,
        /// Their key.
        key: String,
    },
    /// Several records were created for one token.
    #[error(
        "{number} records in the other system were created for `{token}`, so it is unknown which is the right one; delete the others there"
    )]
    FoundTwice {
        /// Their token.
        token: Token,
        /// How many there are.
        number: usize,
    },
    /// The other system may have a record that it doesn't show yet.
    #[error("the other system doesn't show `{token}`, but may do so within {within:?}")]
    NotShown {
        /// The token of the record.
        token: Token,
        /// How long it may take until it shows the record.
        within: Duration,
    },
    /// A create may have succeeded, and there is no way to find out.
    #[error(
        "no response to the create of `{token}`, started at {begun}. It isn't repeated, because the other system can't be searched for duplicates: look there for the record; write its id to {place}, or, if there is none, set the annotation {annotation}={begun}"
    )]
    InDoubt {
        /// The token of the record.
        token: Token,
        /// When the create was sent.
        begun: String,
        /// The place for its id.
        place: String,
        /// The annotation of the primary that ends the uncertainty.
        annotation: Arc<str>,
    },
    /// Records that earlier versions have made, and that no node would delete.
    #[error(
        "there are ids of records in another system, or notes of their creates, that no node of this version has: {}; nothing would delete the records after the primary, so it stays. Declare `.retired_records(\"node\", external)`, or delete the records by hand, and then these ids and notes",
        records.join(", ")
    )]
    FormerRecords {
        /// Where they are.
        records: Vec<String>,
    },
    /// Records of a node with another name could be this one's, and can't be told apart from those of other nodes.
    #[error(
        "records that were made under other names may be those of `{node}`, and it can't be told which: {}; keep the name that the node had, by `.named(…)`, or declare `.retired_records(\"node\", external)` for what is no longer wanted",
        former.join(", ")
    )]
    FormerNames {
        /// The node.
        node: String,
        /// The former names.
        former: Vec<String>,
    },
    /// Another system is down: its last calls, for several records, have failed. It was not called.
    #[error("system `{system}` is down since {since} ({last}), and {}", called_again(*again))]
    SystemDown {
        /// The system.
        system: Arc<str>,
        /// When the first of the calls failed.
        since: Timestamp,
        /// The error of the last call.
        last: Arc<str>,
        /// When the system is called again; `None` while a call in progress finds out whether it is back.
        again: Option<Timestamp>,
    },
    /// The last call of a record in another system has failed. It was not called.
    #[error(
        "system `{system}` is not called for this record before {again}, because a call has failed ({last})"
    )]
    CallPaused {
        /// The system.
        system: Arc<str>,
        /// The error of the last call.
        last: Arc<str>,
        /// When the record is called again.
        again: Timestamp,
    },
    /// Another system hasn't answered in time.
    #[error(
        "system `{system}` has not answered `{call}` in {deadline:?}; it may carry out the call all the same"
    )]
    NoAnswer {
        /// The system.
        system: Arc<str>,
        /// The function that was called.
        call: &'static str,
        /// How long a call may take.
        deadline: Duration,
    },
    /// A call of another system has failed, and not because of a refusal.
    #[error("`{call}` in system `{system}` failed")]
    CallFailed {
        /// The system.
        system: Arc<str>,
        /// The function that was called.
        call: &'static str,
        /// The error of this function.
        source: BoxError,
    },
    /// A dependent that is only read was asked for its desired state.
    #[error("the dependent is read-only, so it has no desired state")]
    NothingDesired,
    /// Objects of several kinds that can't be applied as they are; nothing of them was touched.
    #[error("the set has {}: {}", match faults.len() { 1 => "a fault".to_owned(), many => format!("{many} faults") }, faults.join("; "))]
    Faulty {
        /// Each names its object.
        faults: Vec<String>,
    },
    /// A set of objects is empty, although some of it exists.
    #[error("the set is empty, although objects of it exist: if they are to go, write `.may_be_empty()`")]
    EmptySet,
    /// A write failed.
    #[error(transparent)]
    Write(#[from] operations::Error),
}

impl DependentError {
    /// As an error of user code or the framework: an error of a write is not wrapped in another one.
    pub(crate) fn boxed(self) -> BoxError {
        match self {
            Self::Write(error) => Box::new(error),
            other => Box::new(other),
        }
    }

    /// Whether a retry can help.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        self.failure_kind() != FailureKind::Permanent
    }

    /// The kind of the failure.
    pub(crate) fn failure_kind(&self) -> FailureKind {
        match self {
            // Someone has to delete an object or a record, or to correct a definition.
            Self::Conflict { .. }
            | Self::Ambiguous { .. }
            | Self::IdDropped { .. }
            | Self::IdRefused { .. }
            | Self::FoundTwice { .. }
            | Self::FormerRecords { .. }
            | Self::FormerNames { .. }
            | Self::NoId { .. }
            | Self::InDoubt { .. } => FailureKind::Outside,
            // A new right or definition ends it, without a change of the primary. Garbage collection takes its time.
            Self::NotSynced { .. } | Self::Going { .. } => FailureKind::Server,
            Self::Undecided { .. } => FailureKind::Outside,
            // The other system ends it, and no attempt for this primary does.
            Self::NotShown { .. } => FailureKind::Server,
            // Another system is a server, too: an outage of an hour must not use up all attempts.
            Self::SystemDown { .. } | Self::CallPaused { .. } | Self::NoAnswer { .. } => FailureKind::Server,
            Self::CallFailed { source, .. } => kind_of(&**source).unwrap_or(FailureKind::Server),
            Self::Items { failed, .. } => {
                of_several(failed.iter().map(|(_, error)| kind_in_workflow(&***error)))
            }
            Self::IllegalOwner { .. }
            | Self::NoUid(_)
            | Self::NotWatched { .. }
            | Self::Swap { .. }
            | Self::Unreadable { .. }
            | Self::Unrelated { .. }
            | Self::DesiredTwice { .. }
            | Self::AnotherKind { .. }
            | Self::Unnamed { .. }
            | Self::Renamed { .. }
            | Self::NoKey { .. }
            | Self::KeyTwice { .. }
            | Self::Faulty { .. }
            | Self::EmptySet
            | Self::NothingDesired => FailureKind::Permanent,
            Self::Write(error) => of_operation(error),
        }
    }
}

/// The kind of the error of a node or an item: user code's, unless it is a known error of the framework or of
/// kube.
pub(crate) fn kind_in_workflow(error: &(dyn StdError + 'static)) -> FailureKind {
    kind_of(error).unwrap_or(FailureKind::Retryable)
}

/// In words, what lacks the word of another node, if an error says only that.
pub(crate) fn undecided(error: &(dyn StdError + 'static)) -> Option<String> {
    match error.downcast_ref()? {
        one @ DependentError::Undecided { .. } => Some(one.to_string()),
        DependentError::Items { failed, .. } => {
            let words: Option<Vec<_>> = failed.iter().map(|(_, error)| undecided(&***error)).collect();
            words.map(|words| words.join("; "))
        }
        _ => None,
    }
}

fn instead_of_a_conflict(advice: Adoption) -> String {
    match advice {
        // The other primary may be an earlier one of this name, which has left the object behind without its mark.
        Adoption::Never => {
            "give one of the two another name in the desired state, or delete it if that primary no longer exists"
                .to_owned()
        }
        advice => format!(
            "delete it, give it another name in the desired state, or take it over with `.adopt({advice})`"
        ),
    }
}

fn called_again(again: Option<Timestamp>) -> String {
    match again {
        Some(again) => format!("is called again at {again}"),
        None => "a call in progress probes whether it is back".to_owned(),
    }
}

fn items(failed: &[(String, Arc<BoxError>)], of: usize) -> String {
    let failures: Vec<_> =
        failed.iter().map(|(key, error)| format!("{key}: {}", error_chain(&***error))).collect();
    format!("{} of {of} items failed: {}", failed.len(), failures.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Permanent;

    #[test]
    fn failed_items_are_named_and_one_that_may_be_retried_is_enough() {
        let never = || Arc::new(BoxError::from(DependentError::NothingDesired));
        let error = DependentError::Items { failed: vec![("a".to_owned(), never())], of: 3 };
        assert!(!error.is_retryable());
        assert!(error.to_string().starts_with("1 of 3 items failed: a: the dependent is read-only"));
        let failed = vec![("a".to_owned(), never()), ("b".to_owned(), Arc::new("no room".into()))];
        assert!(DependentError::Items { failed, of: 3 }.is_retryable());
    }

    #[test]
    fn a_failure_of_another_system_uses_up_no_attempts_and_what_is_known_of_it_counts() {
        let failed =
            |source: BoxError| DependentError::CallFailed { system: "dns".into(), call: "create", source };
        assert_eq!(failed("connection refused".into()).failure_kind(), FailureKind::Server);
        let permanent = Permanent::new("there is no such zone");
        assert_eq!(failed(permanent.into()).failure_kind(), FailureKind::Permanent);
        let down = |again| DependentError::SystemDown {
            system: "dns".into(),
            since: Timestamp::UNIX_EPOCH,
            last: "create: connection refused".into(),
            again,
        };
        assert_eq!(down(None).failure_kind(), FailureKind::Server);
        let text = "system `dns` is down since 1970-01-01T00:00:00Z (create: connection refused), and is called again at 1970-01-01T00:00:00Z";
        assert_eq!(down(Some(Timestamp::UNIX_EPOCH)).to_string(), text);
    }
}

/// Which existing objects a dependent takes over if they have the name of an object that it wants.
///
/// Objects that this dependent has made for an earlier incarnation of the primary, or that a former dependent of the
/// controller has made, are taken over under each policy. An object that is taken over is marked, and deleted when it
/// is no longer wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Adoption {
    /// No objects: the node fails with an error that names the owner of the object.
    #[default]
    Never,
    /// Objects without any sign of an owner: no owner reference, no marks of an operator and no mapping annotations.
    IfUnowned,
    /// Any object with the name. If another object controls it, the API server refuses a second controller.
    Always,
}

/// As it is written in a declaration.
impl fmt::Display for Adoption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Never => "Adoption::Never",
            Self::IfUnowned => "Adoption::IfUnowned",
            Self::Always => "Adoption::Always",
        })
    }
}
