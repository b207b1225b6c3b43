//! The function that makes the status of a primary from the outcome of its run.

use std::{convert::Infallible, sync::Arc};

use serde::Serialize;

use super::{AnyRun, Run};
use crate::resource::{AnyObject, KubeObject};

/// A status on its way to the API server: serialized when it is made; if that fails, the error becomes the run's error.
pub(crate) type SerializedStatus = serde_json::Result<serde_json::Value>;

/// A function that makes a status: `fn(&P, &Run<P>) -> S`, where `S` is the status, any part of it, or an `Option` of
/// one; `None` leaves the status unchanged.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't make the status of `{P}`",
    label = "expected `fn(&{P}, &Run<{P}>) -> Status`",
    note = "the status is any type that is `Serialize`, or an `Option` of one"
)]
pub trait StatusFunction<P: KubeObject, M>: Send + Sync + 'static {
    /// The status as JSON; null leaves it unchanged.
    #[doc(hidden)]
    fn status(&self, primary: &P, run: &Run<P>) -> serde_json::Result<serde_json::Value>;
}

#[diagnostic::do_not_recommend]
impl<P: KubeObject, S: Serialize, F: Fn(&P, &Run<P>) -> S + Send + Sync + 'static> StatusFunction<P, (S,)>
    for F
{
    fn status(&self, primary: &P, run: &Run<P>) -> serde_json::Result<serde_json::Value> {
        serde_json::to_value(self(primary, run))
    }
}

/// With a second form, which nothing has, the compiler reports the trait and its advice, and not the bounds of the only
/// one.
#[diagnostic::do_not_recommend]
impl<P: KubeObject, F: Fn(Infallible) + Send + Sync + 'static> StatusFunction<P, Infallible> for F {
    fn status(&self, _: &P, _: &Run<P>) -> serde_json::Result<serde_json::Value> {
        Ok(serde_json::Value::Null)
    }
}

/// The same for primaries of any type; `None` leaves the status unchanged.
pub(crate) type AnyStatus = Arc<dyn Fn(&AnyObject, &Arc<AnyRun>) -> Option<SerializedStatus> + Send + Sync>;

/// A status function for callers that don't know the type.
pub(crate) fn erased<P: KubeObject, M>(function: impl StatusFunction<P, M>) -> AnyStatus {
    Arc::new(move |primary, run| {
        let status = function.status(primary.typed_ref()?, &Run::of_any(Arc::clone(run)));
        status.map(|status| (!status.is_null()).then_some(status)).transpose()
    })
}
