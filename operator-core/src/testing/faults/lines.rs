//! The body of an answer, cut short; the events of a watch, one by one.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use futures::{StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, StreamBody};
use serde::Deserialize;
use tower::BoxError;

use super::{
    Cut, Effect, End, Faults, LineFault, RequestTarget,
    fault::{gone_line, reset},
};
use crate::client::ResponseBody;

/// Ends a body too early. One that ends by itself before that isn't cut.
pub(super) fn cut(body: ResponseBody, after: Cut, end: End, effect: Effect) -> ResponseBody {
    let state = (BodyStream::new(body), after, false, effect);
    let frames = stream::unfold(state, move |(mut body, mut left, over, mut effect)| async move {
        if over {
            return None;
        }
        let nothing_left = matches!(left, Cut::Bytes(0) | Cut::Lines(0));
        let next = if nothing_left { None } else { body.next().await };
        if next.is_none() && (nothing_left || end == End::Reset) {
            std::mem::take(&mut effect).happens(true);
        }
        let frame = match (next, end) {
            (None, End::Clean) => return None,
            (None, End::Reset) => return Some((Err(reset()), (body, left, true, effect))),
            (Some(Err(error)), _) => return Some((Err(error), (body, left, true, effect))),
            (Some(Ok(frame)), _) => frame,
        };
        let Ok(mut data) = frame.into_data() else {
            return Some((Ok(Bytes::new()), (body, left, over, effect)));
        };
        match &mut left {
            Cut::Bytes(bytes) => {
                data.truncate(*bytes);
                *bytes -= data.len();
            }
            Cut::Lines(lines) => {
                let ends = data.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
                let ends: Vec<usize> = ends.take(*lines).collect();
                if ends.len() == *lines {
                    data.truncate(ends.last().copied().unwrap_or(0));
                }
                *lines -= ends.len();
            }
        }
        Some((Ok(data), (body, left, over, effect)))
    });
    framed(frames)
}

/// The events of a watch, each with what happens to it.
pub(super) fn through(body: ResponseBody, faults: Faults, watch: RequestTarget) -> ResponseBody {
    let lines = WatchLines {
        body: BodyStream::new(body),
        buffer: BytesMut::new(),
        cut: None,
        out: VecDeque::new(),
        held: VecDeque::new(),
        waits_for: 0,
        postponed: None,
        swaps: None,
        faults,
        watch,
        over: false,
    };
    framed(stream::unfold(lines, async |mut lines| Some((lines.next().await?, lines))))
}

fn framed(frames: impl futures::Stream<Item = Result<Bytes, BoxError>> + Send + 'static) -> ResponseBody {
    StreamBody::new(frames.map(|data| data.map(Frame::data))).boxed_unsync()
}

struct WatchLines {
    body: BodyStream<ResponseBody>,
    /// The part of an incomplete line that has arrived.
    buffer: BytesMut,
    /// Where the line that is incomplete was cut, if it has come in pieces.
    cut: Option<usize>,
    /// What has to be delivered.
    out: VecDeque<Result<Bytes, BoxError>>,
    /// Events that wait for a number of further ones.
    held: VecDeque<Bytes>,
    waits_for: usize,
    /// An event that comes after the next one.
    postponed: Option<Bytes>,
    /// The object that the next event must not be about, if that is to come first, and what to notify if it does.
    swaps: Option<(RequestTarget, Effect)>,
    faults: Faults,
    watch: RequestTarget,
    over: bool,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    object: EventObject,
}

#[derive(Deserialize)]
struct EventObject {
    #[serde(default)]
    metadata: ObjectName,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ObjectName {
    name: Option<String>,
    namespace: Option<String>,
}

impl WatchLines {
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        loop {
            if let Some(data) = self.out.pop_front() {
                return Some(data);
            }
            if self.over {
                return None;
            }
            if let Some(line) = self.complete_line() {
                self.take(line).await;
                continue;
            }
            let waiting = !self.held.is_empty() || self.postponed.is_some();
            // Asked for each time, as they may have been switched on since the watch was opened.
            let off = self.faults.token();
            let frame = tokio::select! {
                biased;
                () = off.cancelled(), if waiting => {
                    self.release();
                    continue;
                }
                frame = self.body.next() => frame,
            };
            match frame {
                Some(Ok(frame)) => {
                    if let Ok(data) = frame.into_data() {
                        self.cut = Some(self.buffer.len()).filter(|at| *at > 0);
                        self.buffer.extend_from_slice(&data);
                    }
                }
                Some(Err(error)) => self.end(Some(error)),
                None => {
                    // What was held is lost with the connection, and comes again when the watch is resumed.
                    if !self.buffer.is_empty() {
                        self.out.push_back(Ok(self.buffer.split().freeze()));
                    }
                    self.end(None);
                }
            }
        }
    }

    fn complete_line(&mut self) -> Option<Bytes> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n')?;
        Some(self.buffer.split_to(end + 1).freeze())
    }

    async fn take(&mut self, line: Bytes) {
        let Ok(event) = serde_json::from_slice::<Event>(&line) else { return self.deliver(line) };
        let ObjectName { name, namespace } = event.object.metadata;
        let is_event = matches!(event.kind.as_str(), "ADDED" | "MODIFIED" | "DELETED");
        let object = RequestTarget { name, namespace, ..self.watch.clone() };
        let chosen = is_event.then(|| self.faults.line(&self.watch, &object)).flatten();
        // A bookmark says that all before it has been seen, and an object's own events never pass each other.
        match self.swaps.take() {
            Some((swapped, _)) if !is_event || chosen.is_some() || swapped == object => {
                self.deliver_postponed();
            }
            Some((_, effect)) => effect.happens(true),
            None => {}
        }
        let Some((fault, effect)) = chosen else { return self.deliver(line) };
        if fault == LineFault::Swap {
            self.deliver_postponed();
            self.postponed = Some(line);
            self.swaps = Some((object, effect));
            return;
        }
        effect.happens(true);
        match fault {
            LineFault::Delay(delay) => {
                tokio::time::sleep(delay).await;
                self.deliver(line);
            }
            LineFault::Duplicate => {
                self.deliver(line.clone());
                self.deliver(line);
            }
            LineFault::Reorder => {
                self.deliver_postponed();
                self.postponed = Some(line);
            }
            LineFault::Hold(events) => {
                self.waits_for = self.waits_for.max(self.held.len() + events + 1);
                self.deliver(line);
            }
            // A swap has been seen to above.
            LineFault::Lose | LineFault::Swap => {}
            LineFault::Close(End::Clean) => self.end(None),
            LineFault::Close(End::Reset) => self.end(Some(reset())),
            LineFault::Gone => {
                self.out.push_back(Ok(gone_line()));
                self.end(None);
            }
            LineFault::SilentThenGone(silence) => {
                tokio::time::sleep(silence).await;
                self.out.push_back(Ok(gone_line()));
                self.end(None);
            }
            LineFault::Malformed => {
                self.out.push_back(Ok(Bytes::from_static(b"{\"type\":\"MODIFIED\",\"obj\n")))
            }
        }
    }

    /// In its turn: behind what is held, and before what was put behind it.
    fn deliver(&mut self, line: Bytes) {
        self.pass(line);
        self.deliver_postponed();
    }

    fn deliver_postponed(&mut self) {
        if let Some(postponed) = self.postponed.take() {
            self.pass(postponed);
        }
    }

    /// Behind what is held, because an object's own events never overtake each other.
    fn pass(&mut self, line: Bytes) {
        if self.waits_for == 0 {
            return self.send(line);
        }
        self.held.push_back(line);
        if self.held.len() >= self.waits_for {
            self.release_held();
        }
    }

    /// A line that has come in pieces goes in pieces, so that clients see some.
    fn send(&mut self, mut line: Bytes) {
        if let Some(at) = self.cut.take().filter(|at| *at < line.len()) {
            let rest = line.split_off(at);
            self.out.push_back(Ok(line));
            line = rest;
        }
        self.out.push_back(Ok(line));
    }

    fn release_held(&mut self) {
        self.waits_for = 0;
        self.out.extend(self.held.drain(..).map(Ok));
    }

    fn release(&mut self) {
        self.release_held();
        self.deliver_postponed();
    }

    fn end(&mut self, error: Option<BoxError>) {
        self.out.extend(error.map(Err));
        self.over = true;
    }
}

#[cfg(test)]
mod tests {
    use futures::stream;

    use super::*;
    use crate::testing::faults::Verb;

    #[tokio::test]
    async fn a_line_that_comes_in_pieces_goes_in_pieces() {
        let sent = ["{\"type\":\"BOOK", "MARK\",\"object\":{}}\n", "{}\n{}\n"];
        let body = framed(stream::iter(sent.map(|piece| Ok(Bytes::from_static(piece.as_bytes())))));
        let watch = http::Request::get("/api/v1/pods?watch=1").body(kube::client::Body::empty());
        let watch = RequestTarget::of(&watch.expect("a request")).expect("it is about objects");
        assert_eq!(watch.verb, Verb::Watch);
        let got = BodyStream::new(through(body, Faults::none(), watch));
        let got: Vec<Bytes> =
            got.map(|frame| frame.expect("a frame").into_data().expect("data")).collect().await;
        assert_eq!(got, [sent[0], sent[1], "{}\n", "{}\n"]);
    }
}
