//! The objects and their outcome, at the end of `dev --once`.

use super::{lines::LineObserver, objects::FollowedObjects, ready::Readiness};
use crate::{
    cli::{
        ExitStatus,
        output::{Mark, Output},
    },
    resource::ObjectKey,
};

/// One primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    kind: String,
    key: ObjectKey,
    state: PrimaryState,
}

/// The state of a primary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PrimaryState {
    Ready,
    /// On its way, or waiting.
    Waiting(String),
    /// Failed, and will be retried.
    Retrying(String),
    Error(String),
}

/// The state of all primaries.
pub(super) async fn rows(all: &[FollowedObjects], lines: &LineObserver) -> Vec<Row> {
    let mut rows = Vec::new();
    for objects in all {
        for (key, readiness) in objects.now().await {
            let run = lines.last_run(&objects.controller, &key);
            let state = match (readiness, run.failure) {
                (_, Some(failure)) if run.retrying => PrimaryState::Retrying(failure),
                (Readiness::Ready, _) | (Readiness::Unknown, None) => PrimaryState::Ready,
                (Readiness::Waiting(reason), None) => PrimaryState::Waiting(reason),
                (Readiness::Error(error), _) | (Readiness::Unknown | Readiness::Waiting(_), Some(error)) => {
                    PrimaryState::Error(error)
                }
            };
            rows.push(Row { kind: objects.kind.kind().to_owned(), key, state });
        }
    }
    rows
}

/// The exit code of `dev --once`, if it ends now: nothing is pending any more.
pub(super) fn verdict(rows: &[Row]) -> Option<ExitStatus> {
    if rows.iter().any(|row| matches!(row.state, PrimaryState::Waiting(_) | PrimaryState::Retrying(_))) {
        return None;
    }
    let in_error = rows.iter().any(|row| matches!(row.state, PrimaryState::Error(_)));
    Some(if in_error { ExitStatus::InError } else { ExitStatus::Success })
}

/// Its exit code when the time is over.
pub(super) fn last_verdict(rows: &[Row]) -> ExitStatus {
    let in_error =
        rows.iter().any(|row| matches!(row.state, PrimaryState::Error(_) | PrimaryState::Retrying(_)));
    verdict(rows).unwrap_or(if in_error { ExitStatus::InError } else { ExitStatus::Waiting })
}

/// The lines of the table.
pub(super) fn print(rows: &[Row], output: Output) -> Vec<String> {
    let name = |row: &Row| format!("{} {}", row.kind, row.key);
    let width = rows.iter().map(|row| name(row).chars().count()).max().unwrap_or(0);
    let line = |row: &Row| {
        let (mark, text) = match &row.state {
            PrimaryState::Ready => (Mark::Ready, "ready".to_owned()),
            PrimaryState::Waiting(reason) => (Mark::Waiting, format!("waiting: {reason}")),
            PrimaryState::Retrying(error) => (Mark::Error, format!("retrying: {error}")),
            PrimaryState::Error(error) => (Mark::Error, format!("error: {error}")),
        };
        format!("{} {:<width$}  {text}", output.mark(mark), name(row))
    };
    if rows.is_empty() { vec!["no objects".to_owned()] } else { rows.iter().map(line).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(state: PrimaryState) -> Row {
        Row { kind: "WebPage".to_owned(), key: ObjectKey::namespaced("default", "hello"), state }
    }

    #[test]
    fn the_table_decides_the_exit_code() {
        let (waiting, retrying) =
            (PrimaryState::Waiting("for pods".to_owned()), PrimaryState::Retrying("503".to_owned()));
        let error = || row(PrimaryState::Error("no".to_owned()));
        assert_eq!(verdict(&[]), Some(ExitStatus::Success));
        assert_eq!(verdict(&[row(PrimaryState::Ready)]), Some(ExitStatus::Success));
        assert_eq!(verdict(&[row(PrimaryState::Ready), error()]), Some(ExitStatus::InError));
        assert_eq!(verdict(&[row(waiting.clone()), error()]), None, "one is still on its way");
        assert_eq!(last_verdict(&[row(waiting)]), ExitStatus::Waiting);
        assert_eq!(last_verdict(&[row(retrying)]), ExitStatus::InError);
    }
}
