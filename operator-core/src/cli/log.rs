//! The log: tracing's events on stderr, without ever waiting for a reader.
//!
//! ```text
//! runs ──line──▶ queue (bounded) ──▶ a thread of its own ──▶ stderr
//!                  └ full: the line is dropped, and counted
//! ```
//!
//! # Guarantees
//! - A reader of stderr that hangs, a pipe or a terminal that is stopped, doesn't delay any run: lines that don't fit
//!   into the queue are dropped, and their number is logged when the reader continues. The same happens to lines for
//!   which a disk has no space.
//! - What is in the queue when [`Log`] is dropped is written, unless that takes longer than a second.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{self, Receiver, SyncSender},
    },
    thread,
    time::Duration,
};

use tracing_subscriber::{EnvFilter, fmt, util::SubscriberInitExt};

use super::{LogForm, output::Output};

/// The maximum number of lines that wait for their reader.
const QUEUE: usize = 8 * 1024;
/// How long a reader may delay the end of a command.
const PATIENCE: Duration = Duration::from_secs(1);
/// The pause between two looks at whether everything is written.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Sends tracing's events to stderr. `default` is what is logged unless RUST_LOG overrides it. A subscriber that the
/// program has set before stays. Dropping what is returned writes what is still to be written.
pub(super) fn start(form: LogForm, default: &str, output: Output) -> Log {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let Some((lines, log)) = Log::to(io::stderr(), PATIENCE) else { return Log(None) };
    let builder = fmt().with_env_filter(filter).with_writer(move || lines.clone());
    // An error means that the program has a subscriber already.
    let _ = match form {
        LogForm::Human => builder.with_ansi(output.colors_stderr()).finish().try_init(),
        LogForm::Json => builder.json().flatten_event(true).finish().try_init(),
    };
    log
}

/// Lines on their way to the reader.
#[derive(Clone)]
struct LogLines {
    queue: SyncSender<Vec<u8>>,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    /// Lines that are in the queue or being written.
    waiting: AtomicUsize,
    /// How many found no place since that was last said.
    dropped: AtomicU64,
}

impl Counts {
    /// Waits at most this long until nothing is left to write.
    fn drain(&self, patience: Duration) {
        for _ in 0..patience.as_millis() / LOOK_AGAIN.as_millis() {
            if self.waiting.load(Ordering::SeqCst) == 0 {
                break;
            }
            // Nothing wakes it.
            thread::park_timeout(LOOK_AGAIN);
        }
    }
}

/// A log under way.
#[must_use = "dropping it writes what is left"]
pub(super) struct Log(Option<(Arc<Counts>, Duration)>);

impl Log {
    /// A log that is written to `sink`, whose end waits for it at most this long; `None` if no further thread can be
    /// started.
    fn to(sink: impl Write + Send + 'static, patience: Duration) -> Option<(LogLines, Self)> {
        let (queue, lines) = mpsc::sync_channel(QUEUE);
        let counts = Arc::<Counts>::default();
        let written = Arc::clone(&counts);
        thread::Builder::new().name("log".to_owned()).spawn(move || write_to(sink, &lines, &written)).ok()?;
        Some((LogLines { queue, counts: Arc::clone(&counts) }, Self(Some((counts, patience)))))
    }
}

fn write_to(mut sink: impl Write, lines: &Receiver<Vec<u8>>, counts: &Counts) {
    for line in lines {
        let dropped = counts.dropped.swap(0, Ordering::SeqCst);
        let told = sink.write_all(&line).and_then(|()| match dropped {
            0 => Ok(()),
            _ => {
                writeln!(sink, "{dropped} lines of the log were dropped, as they found no reader or no room")
            }
        });
        // The disk may be full. Without a reader there is no one to tell.
        if told.is_err() {
            counts.dropped.fetch_add(dropped + 1, Ordering::SeqCst);
        }
        counts.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Write for LogLines {
    /// Takes a whole line, which is how tracing writes.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.counts.waiting.fetch_add(1, Ordering::SeqCst);
        if self.queue.try_send(line.to_owned()).is_err() {
            self.counts.waiting.fetch_sub(1, Ordering::SeqCst);
            self.counts.dropped.fetch_add(1, Ordering::SeqCst);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some((counts, patience)) = &self.0 {
            counts.drain(*patience);
        }
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::{Condvar, Mutex};

    use super::*;

    /// Remembers what is written, and takes nothing until it may.
    #[derive(Clone, Default)]
    struct Sink(Arc<(Mutex<Taken>, Condvar)>);

    #[derive(Default)]
    struct Taken {
        may: bool,
        bytes: Vec<u8>,
    }

    impl Sink {
        fn open(&self) {
            self.0.0.lock().may = true;
            self.0.1.notify_all();
        }

        fn text(&self) -> String {
            String::from_utf8(self.0.0.lock().bytes.clone()).unwrap()
        }
    }

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut state = self.0.0.lock();
            self.0.1.wait_while(&mut state, |state| !state.may);
            state.bytes.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A disk that is full until it may take something.
    #[derive(Clone, Default)]
    struct Disk(Arc<Mutex<Taken>>);

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut state = self.0.lock();
            if !state.may {
                return Err(io::ErrorKind::StorageFull.into());
            }
            state.bytes.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_disk_that_is_full_costs_lines_which_are_counted() {
        let disk = Disk::default();
        let (lines, log) = Log::to(disk.clone(), LONG).unwrap();
        let all_tried = || {
            lines.counts.drain(LONG);
            lines.counts.waiting.load(Ordering::SeqCst) == 0
        };
        let mut said = lines.clone();
        for number in 0..100 {
            say(&mut said, &format!("line {number}"));
        }
        assert!(all_tried(), "the log goes on");
        disk.0.lock().may = true;
        say(&mut said, "there is room again");
        assert!(all_tried(), "the log goes on");
        let text = String::from_utf8(disk.0.lock().bytes.clone()).unwrap();
        assert_eq!(
            text,
            "there is room again\n100 lines of the log were dropped, as they found no reader or no room\n"
        );
        say(&mut said, "the last words");
        drop(log);
        assert!(String::from_utf8(disk.0.lock().bytes.clone()).unwrap().ends_with("the last words\n"));
    }

    fn say(lines: &mut LogLines, text: &str) {
        lines.write_all(format!("{text}\n").as_bytes()).unwrap();
    }

    /// Longer than any machine takes to write some thousand lines to memory.
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_reader_that_hangs_holds_nobody_up_and_is_told_what_it_has_missed() {
        let sink = Sink::default();
        let (mut lines, log) = Log::to(sink.clone(), LONG).unwrap();
        for number in 0..QUEUE + 100 {
            say(&mut lines, &format!("line {number}"));
        }
        assert_eq!(sink.text(), "");
        sink.open();
        drop(log);
        let text = sink.text();
        assert!(text.starts_with("line 0\n"), "{text}");
        let written = text.lines().filter(|line| line.starts_with("line ")).count();
        // One line may be on its way beside the queue.
        assert!((QUEUE..=QUEUE + 1).contains(&written), "{written}");
        // Told twice where the first line is taken out of a queue that was full already.
        let told = text.lines().filter_map(|line| {
            line.strip_suffix(" lines of the log were dropped, as they found no reader or no room")
        });
        let missed: usize = told.map(|number| number.parse::<usize>().unwrap()).sum();
        assert_eq!(written + missed, QUEUE + 100);
    }

    #[test]
    fn the_end_of_a_command_waits_for_its_log_and_not_for_ever() {
        let sink = Sink::default();
        let (mut lines, log) = Log::to(sink.clone(), Duration::from_millis(100)).unwrap();
        say(&mut lines, "the last words");
        drop(log);
        assert_eq!(sink.text(), "", "the reader hangs");
        sink.open();

        let (mut lines, log) = Log::to(sink.clone(), LONG).unwrap();
        say(&mut lines, "the very last words");
        drop(log);
        assert!(sink.text().contains("the very last words\n"));
    }
}
