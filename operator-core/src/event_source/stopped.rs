//! Sources that stop for good.

use std::{future::Future, panic, sync::Arc};

use super::EventSource;
use crate::{
    environment::fenced_future,
    observe::{Observation, Observers},
};

/// Runs a source. When it panics, the observers are notified that it has stopped: only a new start of the operator
/// brings it back.
pub(crate) fn run_and_tell(
    source: &Arc<dyn EventSource>,
    controller: &Arc<str>,
    observers: &Observers,
) -> impl Future<Output = ()> + Send + use<> {
    let (source, controller, observers) = (Arc::clone(source), Arc::clone(controller), observers.clone());
    async move {
        let run = async { source.run().await };
        if let Err(payload) = fenced_future(run).await {
            let error = "its task panicked";
            let (controller, source) = (&*controller, source.name());
            observers.observe(&Observation::SourceStopped { controller, source, namespace: None, error });
            // Whoever looks after tasks sees it as well.
            panic::resume_unwind(payload);
        }
    }
}
