//! The cause of an error: user code, the server, or neither. Errors of the library and of kube are recognised
//! anywhere in the chain of sources: user code may pass them on unchanged, boxed, in an error of its own or as
//! `anyhow::Error`.

use std::{error::Error as StdError, sync::Arc};

use crate::error::BoxError;
use crate::results::{DependentError, WorkflowError};
use crate::{
    cache,
    client::is_not_served,
    error::{Awaited, Permanent, Waiting},
    observe::with_sources,
    operations,
    processor::FailureKind,
};

/// The kind of the first known error in the chain, from the outermost to the innermost; `None` if none is known.
pub(crate) fn kind_of(error: &(dyn StdError + 'static)) -> Option<FailureKind> {
    with_sources(error).find_map(known)
}

/// The same for an error that a reconciler returned.
///
/// The reconciler may know better than the framework what is permanent, so this counts as its own error.
pub(crate) fn kind_of_returned(error: &(dyn StdError + 'static)) -> Option<FailureKind> {
    with_sources(error).find_map(passed_on)
}

/// The kind of several failures together: if the server or something outside has caused one, the run is repeated, whatever
/// else has failed; if something outside has, the primary is stalled.
pub(crate) fn of_several(kinds: impl IntoIterator<Item = FailureKind>) -> FailureKind {
    kinds.into_iter().max().unwrap_or(FailureKind::Permanent)
}

/// What the error, or one of its causes, waits for, if it is no failure.
pub(crate) fn awaited<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e Awaited> {
    with_sources(error).find_map(Waiting::within)
}

/// The kind of an error that user code passed on.
fn passed_on(error: &(dyn StdError + 'static)) -> Option<FailureKind> {
    let kind = known(error)?;
    let is_declared_wrongly = |error: &operations::Error| {
        matches!(
            error,
            operations::Error::NoEventSource { .. } | operations::Error::UnknownEventSource { .. }
        )
    };
    let names_wrong_node = matches!(
        error.downcast_ref(),
        Some(WorkflowError::UnknownNode { .. } | WorkflowError::Unordered { .. })
    );
    let is_permanent =
        names_wrong_node || error.downcast_ref().is_some_and(is_declared_wrongly) || says_so(error);
    Some(if kind == FailureKind::Permanent && !is_permanent { FailureKind::Retryable } else { kind })
}

/// Whether user code declares by this error, or by those of all nodes or items that it stands for, that it must not be
/// retried.
fn says_so(error: &(dyn StdError + 'static)) -> bool {
    match parts(error) {
        Some(parts) => parts.into_iter().all(|error| with_sources(error).any(says_so)),
        None => Permanent::is(error),
    }
}

/// The errors of the nodes or items for which an error stands, and which aren't its sources.
pub(crate) fn parts<'e>(error: &'e (dyn StdError + 'static)) -> Option<Vec<&'e (dyn StdError + 'static)>> {
    fn errors<N>(failed: &[(N, Arc<BoxError>)]) -> Vec<&(dyn StdError + 'static)> {
        failed.iter().map(|(_, error)| &***error as _).collect()
    }
    match (error.downcast_ref(), error.downcast_ref()) {
        (Some(WorkflowError::Nodes(nodes)), _) => Some(errors(nodes)),
        (_, Some(DependentError::Items { failed, .. })) => Some(errors(failed)),
        _ => None,
    }
}

fn known(error: &(dyn StdError + 'static)) -> Option<FailureKind> {
    if Permanent::is(error) {
        return Some(FailureKind::Permanent);
    }
    if let Some(error) = error.downcast_ref::<operations::Error>() {
        return Some(of_operation(error));
    }
    if let Some(error) = error.downcast_ref::<DependentError>() {
        return Some(error.failure_kind());
    }
    if let Some(error) = error.downcast_ref::<WorkflowError>() {
        return Some(error.failure_kind());
    }
    if let Some(error) = error.downcast_ref::<cache::Error>() {
        let is_servers = match error {
            // An error without an answer has no code.
            cache::Error::List { status, .. } | cache::Error::Get { status, .. } => {
                status.is_none_or(is_servers)
            }
            cache::Error::Configuration { .. } => false,
        };
        return Some(if is_servers { FailureKind::Server } else { FailureKind::Retryable });
    }
    if let Some(error) = error.downcast_ref::<kube::Error>() {
        let is_servers = match error {
            kube::Error::Api(status) if operations::says_misfit(status) => return Some(FailureKind::Outside),
            kube::Error::Api(status) => is_not_served(status) || operations::is_servers(status.code),
            kube::Error::HyperError(_)
            | kube::Error::Service(_)
            | kube::Error::ReadEvents(_)
            | kube::Error::Auth(_) => true,
            _ => false,
        };
        return Some(if is_servers { FailureKind::Server } else { FailureKind::Retryable });
    }
    None
}

/// The kind of an error of a read or write.
pub(crate) fn of_operation(error: &operations::Error) -> FailureKind {
    if error.is_servers() {
        FailureKind::Server
    } else if error.is_decided_outside() {
        FailureKind::Outside
    } else if error.is_retryable() {
        FailureKind::Retryable
    } else {
        FailureKind::Permanent
    }
}

/// For informers, a 404 always means that the kind isn't served.
fn is_servers(code: u16) -> bool {
    code == 404 || operations::is_servers(code)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::core::v1::ConfigMap;
    use kube::core::Status;

    use super::*;
    use crate::{
        observe,
        resource::{ObjectKey, ResourceType},
    };

    #[derive(Debug, thiserror::Error)]
    #[error("the site can't be built")]
    struct Wrapped(#[source] BoxError);

    fn answered(code: u16, name: &str) -> kube::Error {
        let status = serde_json::json!({ "code": code, "message": "…", "details": { "name": name } });
        let status: Status = serde_json::from_value(status).expect("a status");
        kube::Error::Api(Box::new(status))
    }

    fn of(error: impl Into<BoxError>) -> Option<FailureKind> {
        kind_of_returned(&*error.into())
    }

    /// Boxed as the documentation recommends, which hides nothing.
    fn boxed(error: anyhow::Error) -> BoxError {
        error.reallocate_into_boxed_dyn_error_without_backtrace()
    }

    #[test]
    fn an_error_that_is_passed_on_is_what_it_is_however_it_is_wrapped() {
        let server = Some(FailureKind::Server);
        assert_eq!(of(answered(500, "one")), server);
        assert_eq!(of(BoxError::from(answered(503, "one"))), server);
        assert_eq!(of(Wrapped(answered(429, "one").into())), server);
        assert_eq!(of(boxed(anyhow::Error::from(answered(403, "one")))), server);
        assert_eq!(of(anyhow::Error::from(answered(403, "one")).context("while it was built")), server);
        assert_eq!(of(anyhow::Error::from(Wrapped(answered(504, "").into()))), server);
        // The outermost error isn't visible any more, so it counts as the user's own.
        assert_eq!(of(anyhow::Error::from(answered(500, "one"))), None);
    }

    #[test]
    fn what_the_server_answers_to_a_wrong_request_is_no_failure_of_the_server() {
        for code in [400, 404, 409, 422] {
            assert_eq!(of(answered(code, "one")), Some(FailureKind::Retryable), "{code}");
        }
        assert_eq!(of(answered(404, "")), Some(FailureKind::Server), "the kind isn't served");
        let denied: Status = serde_json::from_value(serde_json::json!({ "code": 400 })).expect("a status");
        let (kind, key) = (ResourceType::of::<ConfigMap>(), ObjectKey::namespaced("shop", "one"));
        let denied = operations::Error::Refused { verb: "apply", kind, key, status: Box::new(denied) };
        assert_eq!(of_operation(&denied), FailureKind::Outside, "as the library's own write");
        assert_eq!(of(denied), Some(FailureKind::Outside), "as one that user code has passed on");
        let unwatched = operations::Error::NoEventSource { kind: "Secret".to_owned() };
        assert_eq!(of(boxed(anyhow::Error::from(unwatched))), Some(FailureKind::Permanent));
        assert_eq!(of(std::io::Error::other("a disk")), None);
    }

    #[derive(Debug, thiserror::Error)]
    #[error(transparent)]
    struct Shown(BoxError);

    #[test]
    fn an_error_says_that_it_is_not_to_be_retried_however_it_is_wrapped() {
        let permanent = || Permanent::new("there is no such plan");
        let never = Some(FailureKind::Permanent);
        assert_eq!(of(permanent()), never);
        assert_eq!(of(BoxError::from(permanent())), never);
        assert_eq!(of(Wrapped(permanent().into())), never);
        assert_eq!(of(Shown(permanent().into())), never);
        assert_eq!(of(anyhow::Error::from(permanent())), never);
        assert_eq!(of(anyhow::Error::from(permanent()).context("while it was built")), never);
        assert_eq!(of(Permanent::new(answered(500, "one"))), never, "the user knows better");
        // As errors of dependents and conditions are.
        for hidden in [anyhow::Error::from(permanent()), anyhow::Error::from(Shown(permanent().into()))] {
            assert_eq!(kind_of(&*BoxError::from(hidden)), never);
        }
        assert_eq!(of(Wrapped("no luck".into())), None);
        let words = observe::error_chain(&Wrapped(Permanent::new(Wrapped("no plan".into())).into()));
        assert_eq!(words, "the site can't be built: no plan");
    }

    #[test]
    fn of_several_nodes_all_have_to_say_so() {
        let nodes = |errors: Vec<BoxError>| {
            let named = |error| (Arc::from("node"), Arc::new(error));
            let error = WorkflowError::Nodes(errors.into_iter().map(named).collect());
            (error.failure_kind(), of(error.clone()), of(boxed(anyhow::Error::from(error))))
        };
        let permanent = || BoxError::from(Permanent::new("there is no such plan"));
        let (never, again) = (FailureKind::Permanent, FailureKind::Retryable);
        assert_eq!(nodes(vec![permanent(), permanent()]), (never, Some(never), Some(never)));
        assert_eq!(nodes(vec![permanent(), "no luck".into()]), (again, Some(again), Some(again)));
        let items = |failed: Vec<BoxError>| {
            let failed = failed.into_iter().map(|error| ("item".to_owned(), Arc::new(error))).collect();
            BoxError::from(DependentError::Items { failed, of: 3 })
        };
        assert_eq!(nodes(vec![items(vec![permanent()])]), (never, Some(never), Some(never)));
        assert_eq!(nodes(vec![items(vec![permanent(), "no luck".into()])]).0, again);
        // The code that invoked the framework may know more about the framework's own errors.
        let nothing = || BoxError::from(DependentError::NothingDesired);
        assert_eq!(nodes(vec![nothing()]), (never, Some(again), Some(again)));
        assert_eq!(nodes(vec![permanent(), nothing()]), (never, Some(again), Some(again)));
    }

    #[test]
    fn of_several_failures_one_that_does_not_end_by_itself_counts_first() {
        use FailureKind::{Outside, Permanent, Retryable, Server};
        assert_eq!(of_several([Outside, Permanent, Retryable, Server]), Outside);
        assert_eq!(of_several([Permanent, Retryable, Server]), Server);
        assert_eq!(of_several([Retryable, Permanent]), Retryable);
        assert_eq!(of_several([Permanent, Permanent]), Permanent);
    }
}
