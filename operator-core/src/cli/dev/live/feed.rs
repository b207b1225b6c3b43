//! The lines of `dev`, on their way to stdout.
//!
//! An observer must not wait for a terminal: observers are called in the middle of the event path. So lines are sent,
//! and one task writes them.

use std::{fmt, time::Duration};

use tokio::sync::{mpsc, oneshot};

use crate::{
    cli::output::{Mark, Output},
    environment::{Clock, Environment, WallClock},
};

/// Takes lines. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Feed {
    sender: mpsc::UnboundedSender<Message>,
    clock: Clock,
}

#[derive(Debug)]
enum Message {
    Change { after: Duration, object: String, mark: Mark, text: String },
    Text(String),
    Flush(oneshot::Sender<()>),
}

impl Feed {
    /// Starts the task that writes. Times are counted from the start of the command.
    pub(super) fn start(output: Output, environment: &Environment) -> Self {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let writer = environment.clone();
        environment.spawn("output", async move {
            while let Some(message) = receiver.recv().await {
                match message {
                    Message::Change { after, object, mark, text } => {
                        output.line(&change(output, writer.wall_clock(), after, &object, mark, &text));
                    }
                    Message::Text(text) => output.line(&text),
                    Message::Flush(reply) => {
                        // An error means that the asker has stopped waiting.
                        let _ = reply.send(());
                    }
                }
            }
        });
        Self { sender, clock: *environment.clock() }
    }

    /// A feed whose changes a test reads.
    #[cfg(test)]
    pub(super) fn collected() -> (Self, impl FnMut() -> Vec<String>) {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let read = move || {
            let messages = std::iter::from_fn(|| receiver.try_recv().ok());
            let changes = messages.filter_map(|message| match message {
                Message::Change { object, mark, text, .. } => Some(format!("{object} {mark:?} {text}")),
                Message::Text(_) | Message::Flush(_) => None,
            });
            changes.collect()
        };
        (Self { sender, clock: Clock::start() }, read)
    }

    /// One change of one object.
    pub(super) fn change(&self, object: &dyn fmt::Display, mark: Mark, text: impl Into<String>) {
        let (object, text) = (object.to_string(), text.into());
        self.send(Message::Change { after: self.clock.now().since_start(), object, mark, text });
    }

    /// A line that is about no object.
    pub(super) fn text(&self, text: impl Into<String>) {
        self.send(Message::Text(text.into()));
    }

    /// Returns when everything sent before is written.
    pub(super) async fn flush(&self) {
        let (reply, written) = oneshot::channel();
        self.send(Message::Flush(reply));
        let _ = written.await;
    }

    fn send(&self, message: Message) {
        // The only error is that the runtime is shutting down.
        let _ = self.sender.send(message);
    }
}

/// The width of the object column.
const OBJECT: usize = 24;

fn change(
    output: Output,
    wall_clock: &dyn WallClock,
    after: Duration,
    object: &str,
    mark: Mark,
    text: &str,
) -> String {
    let mark = output.mark(mark);
    if output.is_terminal() {
        let time = output.dim(&format!("{:>7.2}s", after.as_secs_f64()));
        format!("{time}  {:<OBJECT$}  {mark} {text}", shortened(object))
    } else {
        // To the millisecond, so that the columns line up.
        let time = jiff::Timestamp::from_millisecond(wall_clock.now().as_millisecond()).unwrap_or_default();
        format!("{time:.3}  {object}  {mark} {text}")
    }
}

/// At most as wide as its column; what is left out is in the middle, since names differ at both ends.
fn shortened(object: &str) -> String {
    let length = object.chars().count();
    if length <= OBJECT {
        return object.to_owned();
    }
    let head: String = object.chars().take(OBJECT / 2).collect();
    let tail: String = object.chars().skip(length - (OBJECT - OBJECT / 2 - 2)).collect();
    format!("{head}..{tail}")
}

/// A duration as people read it.
pub(super) fn human(duration: Duration) -> String {
    if duration < Duration::from_secs(1) {
        format!("{} ms", duration.as_millis())
    } else {
        format!("{:.2} s", duration.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_both_ends() {
        let short = shortened("production/a-very-long-name-of-a-page");
        assert_eq!(short.chars().count(), OBJECT);
        assert_eq!(short, "production/a..-of-a-page");
        assert_eq!(shortened("default/hello"), "default/hello");
    }

    #[test]
    fn durations_have_two_forms() {
        assert_eq!(human(Duration::from_millis(42)), "42 ms");
        assert_eq!(human(Duration::from_millis(1234)), "1.23 s");
    }
}
