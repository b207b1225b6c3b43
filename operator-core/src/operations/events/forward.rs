//! Forwards recorded Events to a receiver of notifications, such as Flux's notification controller.
//!
//! ```text
//! Recorder ─▶ queue of the operator, bounded ─▶ one task ─▶ POST ─┬─ 2xx, 429: it has it ──▶ forwarded
//!                                                                 ├─ 5xx, no answer ───────▶ again, after a pause
//!                                                                 └─ anything else ────────▶ given up, logged
//! ```
//!
//! # Guarantees
//! - A run neither waits for the receiver nor fails because of it.
//! - The url, which may have credentials in it, is neither logged nor in an error.

use std::{mem, sync::Arc, time::Duration};

use http::{
    HeaderValue, Request, StatusCode, Uri,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use hyper_util::client::proxy::matcher::Matcher;
use kube::{Client, client::Body};
use parking_lot::Mutex;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::task::AbortOnDropHandle;

use super::note::{Note, Reporter};
use crate::{
    client::{self, apart},
    environment::Environment,
    observe::{EventOutcome, Observation, Observers, error_chain},
};

/// The number of Events that may wait.
const MOST_WAITING: usize = 1_024;
/// How long the receiver has for each answer.
const DEADLINE: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 4;
/// The first pause between two attempts, at least; each further one is four times as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// How long a stop waits for the last Events.
const LAST_EVENTS: Duration = Duration::from_secs(2);

/// Where Events are forwarded to.
#[derive(Clone)]
pub(crate) struct Receiver {
    server: Uri,
    path: Uri,
    credentials: Option<HeaderValue>,
}

debug_of!(Receiver: "Receiver");

impl Receiver {
    /// The receiver at this url; `None` if no HTTP server can have it.
    pub(crate) fn at(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
        // The url of a proxy has credentials in the same form, which become a header.
        let found = Matcher::builder().all(url).build().intercept(&Uri::from_static("http://any"))?;
        found.uri().host().filter(|host| !host.is_empty())?;
        let path = Uri::from(uri.path_and_query()?.clone());
        Some(Self { server: found.uri().clone(), path, credentials: found.basic_auth().cloned() })
    }
}

/// Forwards the Events of all controllers of an operator.
pub(crate) struct Forwarder {
    posts: Arc<Posts>,
    /// `None` once it has been told to finish.
    queue: Mutex<Option<(mpsc::Sender<Notification>, AbortOnDropHandle<()>)>>,
}

/// An Event on its way: its controller, and the body of the request.
struct Notification(Arc<str>, Note, String);

impl Forwarder {
    /// Starts its task.
    pub(crate) fn start(
        to: &Receiver,
        environment: &Environment,
        observers: &Observers,
    ) -> Result<Self, client::Error> {
        let client = apart(&to.server, environment.clock())?;
        let (to, environment, observers) = (to.clone(), environment.clone(), observers.clone());
        let posts = Arc::new(Posts { client, to, environment, observers });
        let (sender, waiting) = mpsc::channel(MOST_WAITING);
        let task = posts.environment.spawn("forwarded Events", Arc::clone(&posts).work(waiting));
        Ok(Self { posts, queue: Mutex::new(Some((sender, AbortOnDropHandle::new(task)))) })
    }

    /// Takes an Event of this controller, to be sent soon.
    pub(super) fn take(&self, note: Note, controller: &Arc<str>) {
        let environment = &self.posts.environment;
        let (now, instance) = (environment.wall_clock().now(), environment.host());
        let body = note.notification(Reporter { component: controller, instance, now }).to_string();
        let notification = Notification(Arc::clone(controller), note, body);
        let dropped = match &*self.queue.lock() {
            Some((sender, _)) => {
                sender.try_send(notification).err().map(mpsc::error::TrySendError::into_inner)
            }
            None => Some(notification),
        };
        if let Some(notification) = dropped {
            self.posts.tell(&notification, EventOutcome::NotForwarded);
        }
    }

    /// Waits a moment until everything is sent, and sends nothing more.
    pub(crate) async fn finish(&self) {
        let Some((sender, task)) = self.queue.lock().take() else { return };
        drop(sender);
        let _ = timeout(LAST_EVENTS, task).await;
    }
}

/// Sends what waits.
struct Posts {
    client: Client,
    to: Receiver,
    environment: Environment,
    observers: Observers,
}

impl Posts {
    async fn work(self: Arc<Self>, mut waiting: mpsc::Receiver<Notification>) {
        let mut fails = false;
        while let Some(next) = waiting.recv().await {
            let sent = self.send(&next.2).await;
            let has_failed = mem::replace(&mut fails, sent.is_err());
            if let Err(error) = sent
                && !has_failed
            {
                let (controller, primary, reason) = (&*next.0, &next.1.about.key, &*next.1.reason);
                tracing::warn!(
                    controller, %primary, reason, error,
                    "an Event was not forwarded; its run is not affected, and further ones are only counted"
                );
            }
            self.tell(&next, if fails { EventOutcome::NotForwarded } else { EventOutcome::Forwarded });
        }
    }

    fn tell(&self, Notification(controller, note, _): &Notification, outcome: EventOutcome) {
        let (primary, reason) = (&note.about.key, &*note.reason);
        self.observers.observe(&Observation::EventRecorded { controller, primary, reason, outcome });
    }

    /// Sends it until the receiver has it. The error says why it hasn't.
    async fn send(&self, body: &str) -> Result<(), String> {
        let (mut attempt, mut pause) = (1, FIRST_PAUSE);
        loop {
            let refused = match timeout(DEADLINE, self.post(body)).await {
                // The receiver has had the same one just now.
                Ok(Ok(code)) if code.is_success() || code == StatusCode::TOO_MANY_REQUESTS => return Ok(()),
                Ok(Ok(code)) if !code.is_server_error() => {
                    return Err(format!("the receiver answers {code}"));
                }
                Ok(Ok(code)) => format!("the receiver answers {code}"),
                Ok(Err(error)) => error_chain(&error),
                Err(_) => format!("the receiver has not answered within {} s", DEADLINE.as_secs()),
            };
            if attempt == ATTEMPTS {
                return Err(refused);
            }
            sleep(self.environment.jitter().spread(pause, 0.5)).await;
            (attempt, pause) = (attempt + 1, pause * 4);
        }
    }

    async fn post(&self, body: &str) -> Result<StatusCode, kube::Error> {
        let request = Request::post(&self.to.path).header(CONTENT_TYPE, "application/json");
        let body = Body::from(body.as_bytes().to_vec());
        let mut request = request.body(body).map_err(kube::Error::HttpError)?;
        request.headers_mut().extend(self.to.credentials.clone().map(|header| (AUTHORIZATION, header)));
        Ok(self.client.send(request).await?.status())
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::api::core::v1::Pod;

    use super::*;
    use crate::{
        observe::Observer,
        operations::events::note::{About, Severity},
        resource::{ObjectKey, ResourceType, Uid},
    };

    #[test]
    fn a_receiver_has_a_scheme_and_a_host() {
        for url in
            ["", "h:80", "h/path", "/path", "ftp://h/", "http://", "http://:80/", "http://me@", "http://a b/"]
        {
            assert!(Receiver::at(url).is_none(), "{url}");
        }
        let of = |url: &str| {
            let Receiver { server, path, credentials } = Receiver::at(url).expect("it is one");
            (server.to_string(), path.to_string(), credentials.is_some())
        };
        let all = |server: &str, path: &str, credentials| (server.to_owned(), path.to_owned(), credentials);
        assert_eq!(of("http://h"), all("http://h/", "/", false));
        assert_eq!(of("https://h:9443/a/b?c=d"), all("https://h:9443/", "/a/b?c=d", false));
        assert_eq!(of("https://m%40e:x@[::1]/a"), all("https://[::1]/", "/a", true));
        assert_eq!(of("http://me@h/?c=d"), all("http://h/", "/?c=d", true));
        assert_eq!(format!("{:?}", Receiver::at("http://me:secret@h/")), "Some(Receiver)");
    }

    #[derive(Debug, Default)]
    struct Outcomes(Mutex<Vec<EventOutcome>>);

    impl Observer for Outcomes {
        fn observe(&self, observation: &Observation<'_>) {
            if let Observation::EventRecorded { outcome, .. } = observation {
                self.0.lock().push(*outcome);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_silent_receiver_has_no_time_for_is_dropped_and_an_end_does_not_wait_for_it() {
        let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", silent.local_addr().expect("its address"));
        let (environment, outcomes) = (Environment::real(), Arc::new(Outcomes::default()));
        let observers = Observers::new(vec![Arc::clone(&outcomes) as Arc<dyn Observer>]);
        let receiver = Receiver::at(&url).expect("a url");
        let forwarder = Forwarder::start(&receiver, &environment, &observers).expect("a client");
        let (kind, key) = (ResourceType::of::<Pod>(), ObjectKey::namespaced("shop", "one"));
        let about = About { kind, key, uid: Uid::new("u1"), version: None };
        let note = Note::new(about, Severity::Normal, "Made".to_owned(), "a page".to_owned(), None);
        for _ in 0..MOST_WAITING + 6 {
            forwarder.take(note.clone(), &Arc::from("web"));
        }
        assert_eq!(*outcomes.0.lock(), [EventOutcome::NotForwarded; 6]);
        let began = tokio::time::Instant::now();
        forwarder.finish().await;
        assert_eq!(began.elapsed(), LAST_EVENTS);
        environment.idle().await;
        assert_eq!(outcomes.0.lock().len(), 6, "the rest is given up");
    }
}
