//! What can go wrong with a request, and with an event of a watch.

use std::{fmt, io, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{Response, header};
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use tower::BoxError;

use super::RequestTarget;
use crate::client::ResponseBody;

/// Something that happens to a request.
#[derive(Clone)]
#[non_exhaustive]
pub enum Fault {
    /// It is sent later.
    Delay(Duration),
    /// It is sent at once, and its answer arrives later.
    DelayAnswer(Duration),
    /// It is answered like this, and the server never sees it.
    Status(StatusAnswer),
    /// The server executes the request, but this is the answer: a 504 after the write was applied.
    StatusAfter(StatusAnswer),
    /// The connection is refused: the server never sees it.
    Refused,
    /// The connection is reset after the server has executed the request.
    AnswerLost,
    /// It never arrives and is never answered.
    Hang,
    /// The server executes the request, and the answer never arrives.
    HangAfter,
    /// Its answer ends too early.
    Cut(Cut, End),
    /// The operator crashes before it is sent.
    Crash,
    /// The operator crashes after the server has executed the request, and before the answer arrives.
    CrashAfter,
    /// Something else happens just before it is sent.
    Meanwhile(Meanwhile),
}

/// What someone else does while a request is on its way.
pub(crate) type Meanwhile =
    Arc<dyn Fn(&RequestTarget) -> futures::future::BoxFuture<'static, ()> + Send + Sync>;

/// Something that happens to an event of a watch. Bookmarks always pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineFault {
    /// It arrives later, and so do those behind it.
    Delay(Duration),
    /// It arrives twice.
    Duplicate,
    /// It arrives after the one behind it.
    Reorder,
    /// It arrives after the one behind it, if that is about another object, and otherwise in its turn.
    Swap,
    /// It arrives only after this number of further events, together with them.
    Hold(usize),
    /// It never arrives.
    Lose,
    /// The watch ends instead; a client that resumes gets the event.
    Close(End),
    /// The watch ends in its place with 410 in the stream.
    Gone,
    /// Nothing more arrives, and after this time the watch ends with 410: only a list shows what happened in the
    /// meantime.
    SilentThenGone(Duration),
    /// It is not JSON.
    Malformed,
}

/// After how much of it a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// This number of bytes.
    Bytes(usize),
    /// This number of lines.
    Lines(usize),
}

/// How a body ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As if it were complete.
    Clean,
    /// The connection is reset.
    Reset,
}

/// An error of the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusAnswer {
    code: u16,
    reason: String,
    message: String,
    retry_after: Option<u64>,
}

impl StatusAnswer {
    /// An answer with a `Status` object. `reason` is the API server's, as in `Conflict`. A `message` such as
    /// `namespaces "shop" not found` leads to the details that the server gives with it.
    #[must_use]
    pub fn new(code: u16, reason: &str, message: &str) -> Self {
        Self { code, reason: reason.to_owned(), message: message.to_owned(), retry_after: None }
    }

    /// With the header `Retry-After`, in seconds.
    #[must_use]
    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// 429 with `Retry-After` in seconds.
    #[must_use]
    pub fn too_many_requests(seconds: u64) -> Self {
        Self::new(429, "TooManyRequests", "too many requests, please try again later").retry_after(seconds)
    }

    /// 409, as for a write of an older version.
    #[must_use]
    pub fn conflict() -> Self {
        Self::new(
            409,
            "Conflict",
            "the object has been modified; please apply your changes to the latest version",
        )
    }

    /// 410, as for a version that the server has forgotten.
    #[must_use]
    pub fn gone() -> Self {
        Self::new(410, "Expired", "too old resource version")
    }

    /// 403.
    #[must_use]
    pub fn forbidden(message: &str) -> Self {
        Self::new(403, "Forbidden", message)
    }

    /// 404 as for a path that is not served: it names no object, so it says nothing about any object.
    #[must_use]
    pub fn not_served() -> Self {
        Self::new(404, "NotFound", "the server could not find the requested resource")
    }

    /// 500.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(500, "InternalError", "an error on the server has prevented the request from succeeding")
    }

    /// 503.
    #[must_use]
    pub fn unavailable() -> Self {
        Self::new(503, "ServiceUnavailable", "the server is currently unable to handle the request")
    }

    /// 504, which doesn't show whether the request took effect.
    #[must_use]
    pub fn timeout() -> Self {
        Self::new(504, "Timeout", "the request did not complete within the allotted timeout")
    }

    /// The status code.
    #[must_use]
    pub const fn code(&self) -> u16 {
        self.code
    }

    pub(super) fn response(&self) -> Result<Response<ResponseBody>, BoxError> {
        let mut status = self.object();
        let mut response =
            Response::builder().status(self.code).header(header::CONTENT_TYPE, "application/json");
        if let [kind, name, "not", "found"] = self.message.split(' ').collect::<Vec<_>>()[..] {
            status["details"] = json!({ "kind": kind, "name": name.trim_matches('"') });
        }
        if let Some(seconds) = self.retry_after {
            status["details"]["retryAfterSeconds"] = json!(seconds);
            response = response.header(header::RETRY_AFTER, seconds);
        }
        Ok(response.body(body(status.to_string().into_bytes()))?)
    }

    fn object(&self) -> Value {
        json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "reason": self.reason, "code": self.code,
        })
    }
}

/// The event that ends a watch whose version is forgotten.
pub(in crate::testing) fn gone_line() -> Bytes {
    Bytes::from(format!("{}\n", json!({ "type": "ERROR", "object": StatusAnswer::gone().object() })))
}

/// A body that is complete at once.
pub(super) fn body(bytes: impl Into<Bytes>) -> ResponseBody {
    BodyExt::map_err(Full::new(bytes.into()), |never| match never {}).boxed_unsync()
}

pub(super) fn reset() -> BoxError {
    io::Error::new(io::ErrorKind::ConnectionReset, "connection reset by peer").into()
}

pub(super) fn refused() -> BoxError {
    io::Error::new(io::ErrorKind::ConnectionRefused, "connection refused").into()
}

impl Fault {
    /// Whether it happens once the server has executed the request.
    pub(super) fn is_about_the_answer(&self) -> bool {
        use Fault::{AnswerLost, CrashAfter, Cut, DelayAnswer, HangAfter, StatusAfter};
        matches!(self, DelayAnswer(_) | StatusAfter(_) | AnswerLost | HangAfter | Cut(..) | CrashAfter)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delay(delay) => write!(f, "sent {} ms late", delay.as_millis()),
            Self::DelayAnswer(delay) => write!(f, "answered {} ms late", delay.as_millis()),
            Self::Status(status) => write!(f, "answered {} and not done", status.code),
            Self::StatusAfter(status) => write!(f, "done, and answered {}", status.code),
            Self::Refused => f.write_str("not sent, connection refused"),
            Self::AnswerLost => f.write_str("done, and the answer is lost"),
            Self::Hang => f.write_str("never sent and never answered"),
            Self::HangAfter => f.write_str("done, and never answered"),
            Self::Cut(Cut::Bytes(bytes), end) => write!(f, "answer cut after {bytes} bytes ({end})"),
            Self::Cut(Cut::Lines(lines), end) => write!(f, "answer cut after {lines} lines ({end})"),
            Self::Crash => f.write_str("crash before it is sent"),
            Self::CrashAfter => f.write_str("crash after it is done"),
            Self::Meanwhile(_) => f.write_str("something else happens first"),
        }
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for LineFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Delay(delay) => write!(f, "the event is {} ms late", delay.as_millis()),
            Self::Duplicate => f.write_str("the event comes twice"),
            Self::Reorder => f.write_str("the event comes after the next one"),
            Self::Swap => f.write_str("the event comes after the next one of another object"),
            Self::Hold(events) => write!(f, "the event waits for {events} more"),
            Self::Lose => f.write_str("the event is lost"),
            Self::Close(end) => write!(f, "the watch ends before the event ({end})"),
            Self::Gone => f.write_str("the watch ends with 410 before the event"),
            Self::SilentThenGone(silence) => {
                write!(f, "nothing comes for {} ms, and then 410", silence.as_millis())
            }
            Self::Malformed => f.write_str("the event is not JSON"),
        }
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clean => "closed",
            Self::Reset => "reset",
        })
    }
}
