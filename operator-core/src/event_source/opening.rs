//! Waits for the parts of sources, and returns the primaries that may then run.

use std::{collections::BTreeSet, sync::Arc};

use futures::{
    FutureExt, StreamExt,
    future::{self, BoxFuture},
    stream::FuturesUnordered,
};

use super::{
    EventSource, SourcePart,
    parts::{Awaited, Divisions, Opens, Part},
};

/// The primaries that may run, step by step, as the sources' parts are synced.
pub(crate) struct Opening {
    /// The parts that each namespace waits for.
    pub(crate) divisions: Divisions,
    awaited: Awaited,
    parts: FuturesUnordered<BoxFuture<'static, Part>>,
    at_once: Option<Opens>,
}

impl Opening {
    /// For primaries that are followed in `own`, each namespace separately. Everything is waited for.
    pub(crate) fn new(own: BTreeSet<String>, sources: &[Arc<dyn EventSource>]) -> Self {
        Self::waiting(own, sources, |_, synced| synced)
    }

    /// The same without a source that [isn't waited for](EventSource::not_waited_for).
    pub(crate) fn of_first_runs(own: BTreeSet<String>, sources: &[Arc<dyn EventSource>]) -> Self {
        Self::waiting(own, sources, |source, synced| {
            future::select(synced, source.not_waited_for()).map(drop).boxed()
        })
    }

    fn waiting(
        own: BTreeSet<String>,
        sources: &[Arc<dyn EventSource>],
        until: impl Fn(&dyn EventSource, BoxFuture<'static, ()>) -> BoxFuture<'static, ()>,
    ) -> Self {
        let parts: Vec<Vec<SourcePart>> = sources.iter().map(|source| source.parts()).collect();
        let divisions = Divisions::new(own, parts.iter().map(Vec::as_slice));
        let named: Vec<Part> = parts
            .into_iter()
            .enumerate()
            .flat_map(|(source, parts)| parts.into_iter().map(move |part| (source, part.namespace)))
            .collect();
        let mut awaited = Awaited::new(divisions.clone(), &named);
        let at_once = Some(awaited.at_once());
        let wait = |part: Part| {
            let source = &sources[part.0];
            let synced = match &part.1 {
                Some(namespace) => source.synced_in(namespace),
                None => source.synced(),
            };
            until(&**source, synced).map(|()| part).boxed()
        };
        Self { divisions, awaited, parts: named.into_iter().map(wait).collect(), at_once }
    }

    /// What opens next; `None` when everything is open. Can be dropped and called again.
    pub(crate) async fn next(&mut self) -> Option<Opens> {
        if let Some(opens) = self.at_once.take() {
            return Some(opens);
        }
        let part = self.parts.next().await?;
        Some(self.awaited.synced(&part))
    }

    /// Whether everything opens without any waiting.
    pub(crate) fn is_open_at_once(&mut self) -> bool {
        while let Some(opens) = self.next().now_or_never() {
            if opens.is_none() {
                return true;
            }
        }
        false
    }

    /// Whether every part is synced.
    pub(crate) fn is_over(&self) -> bool {
        self.parts.is_empty()
    }
}
