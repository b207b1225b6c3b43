//! Whether writes overlap, as the server sees them, whatever the operator reports about its runs.

use std::{collections::BTreeMap, sync::Arc};

use http::Request;
use kube::client::Body;
use parking_lot::Mutex;

use super::{Oracle, observer::Exclusive, record::ScheduleRecord};
use crate::{client::TransportHook, testing::faults::RequestTarget};

/// Types whose objects have many writers.
const SHARED: [&str; 2] = ["events", "leases"];

/// The writes in progress of one incarnation.
pub(super) struct Overlaps {
    record: Arc<ScheduleRecord>,
    exclusive: Arc<Exclusive>,
    /// The plurals of the types that the operator has defined: an object of these is written only by its own run.
    primaries: Vec<String>,
    under_way: Mutex<BTreeMap<Write, u32>>,
}

/// A manager writes an object.
type Write = (String, String);

impl Overlaps {
    pub(super) fn new(
        record: Arc<ScheduleRecord>,
        exclusive: Arc<Exclusive>,
        primaries: Vec<String>,
    ) -> Arc<Self> {
        Arc::new(Self { record, exclusive, primaries, under_way: Mutex::default() })
    }

    /// The layer next to the operator: a request is in progress from when it is sent until it is answered, or
    /// abandoned.
    pub(super) fn hook(self: &Arc<Self>) -> TransportHook {
        let overlaps = Arc::clone(self);
        TransportHook::around(move |request, inner| {
            let _under_way = overlaps.begins(&request);
            async move {
                let _under_way = _under_way;
                inner.send(request).await
            }
        })
    }

    /// One run writes one object after another. So two writes of one object at the same time belong to two runs, unless
    /// it is shared by several primaries that run now.
    fn begins(self: &Arc<Self>, request: &Request<Body>) -> Option<UnderWay> {
        let target = RequestTarget::of(request).filter(|target| target.verb.is_write())?;
        let name = target.name.as_deref().filter(|_| !SHARED.contains(&target.resource.as_str()))?;
        let object =
            format!("{}/{}/{name}", target.resource, target.namespace.as_deref().unwrap_or_default());
        let write = (manager(request), object);
        let mut under_way = self.under_way.lock();
        let writes = under_way.entry(write.clone()).or_default();
        *writes += 1;
        let runs = self.exclusive.under_way();
        if *writes > 1 && (runs <= 1 || self.primaries.contains(&target.resource)) {
            self.record.violated(
                Oracle::OneRun,
                format!("{writes} writes of {} at the same time, the last of them {target}; the operator says that {runs} runs are under way", write.1),
            );
        }
        drop(under_way);
        Some(UnderWay { overlaps: Arc::clone(self), write })
    }
}

/// A writer for two controllers uses two names.
fn manager(request: &Request<Body>) -> String {
    let pairs = request.uri().query().unwrap_or_default().split('&');
    pairs.filter_map(|pair| pair.strip_prefix("fieldManager=")).next().unwrap_or_default().to_owned()
}

struct UnderWay {
    overlaps: Arc<Overlaps>,
    write: Write,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut under_way = self.overlaps.under_way.lock();
        match under_way.get_mut(&self.write) {
            Some(writes) if *writes > 1 => *writes -= 1,
            _ => drop(under_way.remove(&self.write)),
        }
    }
}
