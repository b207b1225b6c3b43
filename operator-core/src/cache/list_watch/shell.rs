//! Makes the requests that the state machine decides on, and passes it the answers.

use std::{error::Error, future::pending, io, pin::Pin, time::Duration};

use futures::{AsyncBufRead, AsyncBufReadExt, TryStreamExt};
use http::{Request, Response};
use http_body_util::BodyExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::{client::Body, core::Status};
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::{
    cache::{InitialList, engine::WatchEvent, list_watch::feed::Feed},
    client::retry_after,
    environment::Environment,
    observe::{SourceHealth, with_sources},
};

use super::{
    Collection, LONGEST_RETRY_AFTER,
    decode::{self, Line, Page},
    failure::Failure,
    fsm::{Command, Fsm, Input, Publish},
    request::WATCH_SPREAD,
};

/// The longest time until a watch is open.
const OPEN_DEADLINE: Duration = Duration::from_secs(30);
/// How much later than requested the server may end a watch before it counts as silent.
const SILENCE: Duration = Duration::from_secs(5);
/// A server shows at once what has happened before a watch was opened: after this time without an event, nothing has.
const QUIET: Duration = Duration::from_secs(1);
/// After this number of objects of a list, other tasks on the same thread may go on.
const DECODED_AT_A_TIME: usize = 32;
/// Waits are spread by up to this share.
const WAIT_SPREAD: f64 = 0.5;
/// The longest quoted part of an answer that isn't a `Status`.
const LONGEST_QUOTE: usize = 300;

/// What was received, until the state machine has decided what to do with it.
enum Received {
    Nothing,
    Page(Page),
    Event(WatchEvent),
    Bookmark(String),
}

/// The progress of a list-watch, from which another future can continue.
pub(in crate::cache) struct Progress {
    /// If the feed's differs, everything that was shown has been forgotten.
    generation: u64,
    fsm: Fsm,
    command: Command,
    /// The received data is being shown: if that is cut off, it is unknown how much was shown.
    is_showing: bool,
}

/// Drives the list-watch of a feed until the future is dropped; waits while another future does.
pub(in crate::cache) async fn follow(feed: &Feed, environment: &Environment) {
    let collection = &feed.collection;
    let mut turn = feed.turn.lock().await;
    let generation = feed.lock().generation();
    let unfinished = turn.take().filter(|known| known.generation == generation && !known.is_showing);
    let progress = turn.insert(unfinished.unwrap_or_else(|| {
        let mut fsm =
            Fsm::new(collection.subject(), collection.settings.initial_list == InitialList::Streaming);
        let command = fsm.start(environment.now());
        Progress { generation, fsm, command, is_showing: false }
    }));
    let mut watch: Option<Watch> = None;
    loop {
        let command = progress.command.clone();
        tracing::trace!(informer = feed.name, ?command, "list-watch");
        let mut named = Ok(());
        if matches!(command, Command::List { continue_token: None, .. } | Command::Stream) {
            feed.lock().list_asked();
            named = find_plural(collection).await;
        }
        let is_watch = matches!(command, Command::Watch { .. });
        let (input, received) = match command {
            Command::List { .. } | Command::Stream if named.is_err() => {
                (named.map_or_else(Input::Failed, |()| Input::Ended), Received::Nothing)
            }
            Command::List { continue_token, paged } => list(collection, continue_token, paged).await,
            Command::Stream => (open(&mut watch, collection, None, environment).await, Received::Nothing),
            Command::Watch { version } => {
                (open(&mut watch, collection, Some(&version), environment).await, Received::Nothing)
            }
            Command::Read => match &mut watch {
                Some(watch) => watch.read(feed).await,
                None => (Input::Ended, Received::Nothing),
            },
            Command::Wait(delay) => {
                // The connection goes before the wait, not after it.
                watch = None;
                let delay = environment.jitter().spread(delay, WAIT_SPREAD).min(LONGEST_RETRY_AFTER);
                tokio::time::sleep(delay).await;
                (Input::Waited, Received::Nothing)
            }
        };
        if let Input::Failed(failure) | Input::Broken(failure) = &input {
            tracing::debug!(informer = feed.name, ?failure, "list-watch");
        }
        if matches!(input, Input::Ended | Input::Broken(_) | Input::Failed(_)) {
            feed.lock().watch_is_open(false);
        } else if is_watch {
            feed.lock().watch_is_open(true);
        }
        let decision = progress.fsm.on(input, environment.now());
        progress.command = decision.next;
        progress.is_showing = true;
        publish(decision.publish, received, decision.health, feed).await;
        progress.is_showing = false;
    }
}

/// Asks the server for the plural of a kind that was declared without one.
async fn find_plural(collection: &Collection) -> Result<(), Failure> {
    let kind = &collection.settings.resource_type;
    let Some(plural) = kind.missing_plural() else { return Ok(()) };
    let unread = |error: &dyn Error| Failure::new(error.to_string());
    let request = Request::get(kind.version_path()).body(Vec::new()).map_err(|error| unread(&error))?;
    let served = serde_json::from_str::<APIResourceList>(&fetch(collection, request).await?);
    let mut served = served.map_err(|error| unread(&error))?.resources.into_iter();
    match served.find(|one| one.kind == kind.kind() && !one.name.contains('/')) {
        Some(found) => {
            // Another namespace's list may have set it.
            let _ = plural.set(found.name);
            Ok(())
        }
        None => {
            Err(Failure { status: Some(404), ..Failure::new(format!("the server doesn't serve {kind:?}")) })
        }
    }
}

/// Opens a watch in place of the last one.
async fn open(
    watch: &mut Option<Watch>,
    collection: &Collection,
    version: Option<&str>,
    environment: &Environment,
) -> Input {
    match Watch::open(collection, version, environment).await {
        Ok(opened) => {
            *watch = Some(opened);
            Input::Opened
        }
        Err(failure) => Input::Failed(failure),
    }
}

async fn publish(publish: Publish, received: Received, health: Option<SourceHealth>, feed: &Feed) {
    let mut completed = None;
    match (publish, received) {
        (Publish::Page { first, complete }, Received::Page(page)) => {
            if first {
                feed.lock().list_started();
            }
            for (number, item) in page.items().enumerate() {
                if number > 0 && number.is_multiple_of(DECODED_AT_A_TIME) {
                    tokio::task::yield_now().await;
                }
                let item = feed.face.take(&item);
                feed.lock().listed(&item);
            }
            completed = complete;
        }
        (Publish::Start, _) => feed.lock().list_started(),
        (Publish::Item, Received::Event(event)) => feed.lock().streamed(&event),
        (Publish::Complete(version), _) => completed = Some(version),
        (Publish::Line, Received::Event(event)) => feed.lock().watched(&event),
        (Publish::Line, Received::Bookmark(version)) => feed.lock().bookmark(&version),
        (Publish::Nothing | Publish::Page { .. } | Publish::Item | Publish::Line, _) => {}
    }
    // A caller that waits for the end of the list then finds the health that belongs to it.
    if let Some(health) = health {
        feed.lock().health_changed(&health);
    }
    if let Some(version) = completed {
        feed.lock().list_finished(&version);
    }
}

async fn list(collection: &Collection, continue_token: Option<String>, paged: bool) -> (Input, Received) {
    let answer = match collection.list(continue_token, paged) {
        Ok(request) => fetch(collection, request).await,
        Err(failure) => Err(failure),
    };
    let parsed = answer.and_then(|body| collection.sharded(body)).and_then(|body| {
        let page = Page::parse(body, &collection.settings.resource_type)?;
        let input = Input::Page { continue_token: page.continue_token(), version: page.version() };
        Ok((input, page))
    });
    match parsed {
        Ok((input, page)) => (input, Received::Page(page)),
        Err(failure) => (Input::Failed(failure), Received::Nothing),
    }
}

/// An open watch.
struct Watch {
    lines: Pin<Box<dyn AsyncBufRead + Send>>,
    line: Vec<u8>,
    /// By then it has shown what had happened before it was opened.
    quiet: Instant,
    /// By then the server must have ended it: after that it counts as silent.
    deadline: Instant,
}

impl Watch {
    async fn open(
        collection: &Collection,
        version: Option<&str>,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let lasting = environment.jitter().spread(collection.watch_timeout(), WATCH_SPREAD);
        let request = collection.watch(version, lasting)?;
        let deadline = Instant::now() + OPEN_DEADLINE;
        let answer = timeout_at(deadline, send(collection, request)).await;
        let body = answer.map_err(|_| no_answer(OPEN_DEADLINE))??.into_body();
        let lines = body.into_data_stream().map_err(io::Error::other).into_async_read();
        let now = Instant::now();
        let (quiet, deadline) = (now + QUIET, now + lasting + SILENCE);
        Ok(Self { lines: Box::pin(lines), line: Vec::new(), quiet, deadline })
    }

    /// Reads and parses the next line. A line that was cut off by the end is ignored: the next watch repeats it.
    async fn read(&mut self, feed: &Feed) -> (Input, Received) {
        let collection = &feed.collection;
        self.line.clear();
        let quiet = self.quiet;
        // Those who joined while no watch was open would wait for an event that may not come for a long time.
        let joiners = async {
            if feed.lock().is_awaited() {
                sleep_until(quiet).await;
                feed.lock().watch_is_quiet();
            }
            pending().await
        };
        let line = timeout_at(self.deadline, self.lines.read_until(b'\n', &mut self.line));
        let read = tokio::select! {
            biased;
            read = line => read,
            never = joiners => never,
        };
        match read {
            Ok(Ok(_)) if self.line.ends_with(b"\n") => {}
            Ok(Ok(_)) => return (Input::Ended, Received::Nothing),
            Ok(Err(error)) => {
                tracing::debug!(informer = feed.name, %error, "the watch was cut");
                return (Input::Ended, Received::Nothing);
            }
            Err(_) => {
                tracing::debug!(informer = feed.name, "the watch was silent for too long");
                feed.lock().watch_was_silent();
                return (Input::Ended, Received::Nothing);
            }
        }
        match decode::line(&self.line, &collection.settings.resource_type, &*feed.face, &|key| {
            feed.lock().answered(key)
        }) {
            Line::Event(event, version) => match collection.shown_by_shard(&event) {
                Ok(()) => (Input::Event { version }, Received::Event(event)),
                Err(failure) => (Input::Broken(failure), Received::Nothing),
            },
            Line::Bookmark { version, initial_end } => {
                let received = version.clone().map_or(Received::Nothing, Received::Bookmark);
                (Input::Bookmark { version, initial_end }, received)
            }
            Line::Error(failure) => (Input::Failed(failure), Received::Nothing),
            Line::Broken(failure) => (Input::Broken(failure), Received::Nothing),
        }
    }
}

/// The body of the answer to a request. If it falls silent, the client abandons it.
pub(in crate::cache) async fn fetch(
    collection: &Collection,
    request: Request<Vec<u8>>,
) -> Result<String, Failure> {
    let mut body = send(collection, request).await?.into_body();
    let mut text = Vec::new();
    while let Some(part) = body.frame().await {
        // Each part is copied and dropped at once: the text is never held twice.
        if let Ok(data) = part.map_err(|error| Failure::new(words(&error)))?.into_data() {
            text.extend_from_slice(&data);
        }
    }
    String::from_utf8(text).map_err(|_| Failure::new("the response isn't a list: it isn't valid UTF-8"))
}

/// The answer to a request, unless it is a refusal. Avoids kube's own treatment of refusals, which loses the header
/// `Retry-After`.
async fn send(collection: &Collection, request: Request<Vec<u8>>) -> Result<Response<Body>, Failure> {
    let response = collection.client.send(request.map(Body::from)).await;
    let response = response.map_err(|error| Failure::new(words(&error)))?;
    let code = response.status();
    if code.is_success() {
        return Ok(response);
    }
    let asked = retry_after(response.headers());
    let body = response.into_body().collect_bytes().await.map_err(|error| Failure::new(words(&error)))?;
    let kind = &collection.settings.resource_type;
    let mut failure = match serde_json::from_slice::<Status>(&body) {
        Ok(status) => decode::refusal(code.as_u16(), &status, kind),
        Err(_) => {
            let text = String::from_utf8_lossy(&body);
            let text: String = text.trim().chars().take(LONGEST_QUOTE).collect();
            let text = if text.is_empty() { code.to_string() } else { kind.masked(text) };
            Failure { status: Some(code.as_u16()), ..Failure::new(text) }
        }
    };
    failure.retry_after = asked.or(failure.retry_after);
    Err(failure)
}

fn no_answer(deadline: Duration) -> Failure {
    Failure::new(format!("no answer within {} s", deadline.as_secs()))
}

/// An error with its causes, each only once.
pub(in crate::cache) fn words(error: &(dyn std::error::Error + 'static)) -> String {
    let mut words = error.to_string();
    for cause in with_sources(error).skip(1) {
        let cause_words = cause.to_string();
        if !words.contains(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
    }
    words
}
