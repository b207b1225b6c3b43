//! One incarnation of the operator: everything that ends with it when it crashes.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::pending;
use http_body_util::{BodyExt, Full};
use jiff::Timestamp;
use kube::client::Body;
use parking_lot::Mutex;
use tokio::{sync::Notify, task::AbortHandle};
use tower::BoxError;

use super::{
    Choices, Oracle,
    choice::LaneId,
    record::{Actor, Call, ScheduleRecord},
};
use crate::{
    client::{Answer, Inner, ResponseBody, TransportHook},
    environment::{Environment, TaskHook, WallClock},
    testing::faults::RequestTarget,
};

/// More calls than this in one schedule mean a loop that the passing of time doesn't end.
const MOST_CALLS: usize = 50_000;

/// Finished tasks are removed when there is a multiple of this many.
const TIDY_EVERY: usize = 64;

/// One life of the operator, from a start to a crash.
pub(super) struct Life {
    pub(super) number: u32,
    alive: AtomicBool,
    pub(super) crashed: Notify,
    choices: Choices,
    record: Arc<ScheduleRecord>,
    next_task: AtomicU64,
    tasks: Mutex<Tasks>,
}

#[derive(Default)]
struct Tasks {
    lanes: Vec<LaneId>,
    handles: Vec<AbortHandle>,
}

impl Life {
    pub(super) fn new(number: u32, choices: Choices, record: Arc<ScheduleRecord>) -> Arc<Self> {
        Arc::new(Self {
            number,
            alive: AtomicBool::new(true),
            crashed: Notify::new(),
            choices,
            record,
            next_task: AtomicU64::new(0),
            tasks: Mutex::default(),
        })
    }

    pub(super) fn is_alive(&self) -> bool {
        self.alive.load(Ordering::SeqCst)
    }

    /// From now on nothing of it reaches the server, and its tasks are dropped, as in a process that was killed.
    pub(super) fn crash(&self) {
        if self.alive.swap(false, Ordering::SeqCst) {
            self.record.tell(format_args!("operator {} crashes", self.number));
            for handle in self.tasks.lock().handles.drain(..) {
                handle.abort();
            }
            self.crashed.notify_one();
        }
    }

    /// The layer next to the server: it records what passes, and lets nothing pass from an incarnation that has
    /// crashed.
    pub(super) fn gate(self: &Arc<Self>) -> TransportHook {
        let life = Arc::clone(self);
        TransportHook::around(move |request, inner| {
            let life = Arc::clone(&life);
            async move {
                if !life.is_alive() {
                    return pending().await;
                }
                let by = Actor::Operator(life.number);
                let answer = recorded(&life.record, by, request, inner).await;
                // No one is left to receive the answer.
                if life.is_alive() { answer } else { pending().await }
            }
        })
    }

    /// The environment of this life.
    pub(super) fn environment(self: &Arc<Self>) -> Environment {
        let seed = self.choices.next("jitter", u32::MAX);
        Environment::real()
            .with_wall_clock(Arc::new(VirtualClock(Arc::clone(&self.record))))
            .with_seed(u64::from(seed))
            .on_host("simulated")
            .with_task_hook(Arc::clone(self) as Arc<dyn TaskHook>)
    }
}

/// Sends a request to the server and records it.
pub(super) async fn recorded(
    record: &ScheduleRecord,
    by: Actor,
    request: http::Request<Body>,
    inner: Inner,
) -> Answer {
    record.polled();
    if record.progress.is_stuck() {
        return pending().await;
    }
    let Some(target) = RequestTarget::of(&request) else { return inner.send(request).await };
    if record.activity() > MOST_CALLS as u64 {
        if record.activity() == MOST_CALLS as u64 + 1 {
            let last = record.last_calls();
            record.violated(
                Oracle::BoundedLoad,
                format!("more than {MOST_CALLS} calls, the last of them {last}"),
            );
            record.called(Call { at: record.now(), by, target, code: None });
        }
        return pending().await;
    }
    let looks = by != Actor::User && record.canaries.listen();
    let request = if looks { looked_at(record, &target, request).await? } else { request };
    let at = record.now();
    if let Some(wrong) = record.leases.forbid(by, &target, at) {
        record.violated(Oracle::OneRun, wrong);
    }
    let mut answer = inner.send(request).await;
    let code = answer.as_ref().ok().map(|answer| answer.status().as_u16());
    let call = Call { at, by, target, code };
    if call.took_effect()
        && call.target.verb.is_write()
        && matches!(call.target.resource.as_str(), "secrets" | "leases")
    {
        answer = stored(record, &call, answer?).await;
    }
    record.complaints.answered(&call);
    record.called(call);
    answer
}

/// The content of a Secret must not appear elsewhere (NoSecret), and a lease determines who may write (OneRun).
async fn stored(record: &ScheduleRecord, call: &Call, answer: http::Response<ResponseBody>) -> Answer {
    let (head, content) = answer.into_parts();
    let content = content.collect().await?.to_bytes();
    match call.target.resource.as_str() {
        "leases" => record.leases.stored(call.by, &call.target, &content, record.now()),
        _ => record.canaries.stored(&content),
    }
    let content = Full::new(content).map_err(|never| match never {}).boxed_unsync();
    Ok(http::Response::from_parts(head, content))
}

/// NoSecret for what is sent.
async fn looked_at(
    record: &ScheduleRecord,
    target: &RequestTarget,
    request: http::Request<Body>,
) -> Result<http::Request<Body>, BoxError> {
    let (head, body) = request.into_parts();
    let body = body.collect_bytes().await?;
    record.canaries.look_at_request(target, &head.uri.to_string(), &body);
    Ok(http::Request::from_parts(head, Body::from(body)))
}

impl TaskHook for Life {
    fn begins(&self) -> u64 {
        let task = self.next_task.fetch_add(1, Ordering::Relaxed);
        let lane = self.choices.lane(&format!("order {}.{task}", self.number));
        self.tasks.lock().lanes.push(lane);
        task
    }

    fn started(&self, _: u64, handle: AbortHandle) {
        let mut tasks = self.tasks.lock();
        if tasks.handles.len().is_multiple_of(TIDY_EVERY) {
            tasks.handles.retain(|handle| !handle.is_finished());
        }
        tasks.handles.push(handle);
    }

    fn yields(&self, task: u64) -> bool {
        self.record.polled();
        // The schedule is over: it ends as soon as it is its turn.
        if self.record.progress.is_stuck() {
            return true;
        }
        let lane = usize::try_from(task).ok().and_then(|task| self.tasks.lock().lanes.get(task).copied());
        lane.is_some_and(|lane| self.choices.rarely_at(lane, 3, 1) != 0)
    }

    fn panics(&self, task: u64) {
        self.record.violated(Oracle::Alive, format!("task {task} of operator {} panics", self.number));
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Life({})", self.number)
    }
}

/// The time of day, which follows virtual time from the same morning in every schedule.
#[derive(Debug)]
pub(super) struct VirtualClock(pub(super) Arc<ScheduleRecord>);

/// 2026-01-01T00:00:00Z, in seconds.
const MORNING: Duration = Duration::from_secs(1_767_225_600);

impl WallClock for VirtualClock {
    fn now(&self) -> Timestamp {
        let millis = i64::try_from((MORNING + self.0.now()).as_millis());
        millis.ok().and_then(|millis| Timestamp::from_millisecond(millis).ok()).unwrap_or(Timestamp::MAX)
    }
}
