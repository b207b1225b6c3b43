//! What goes to the terminal, and how it looks there.
//!
//! The result of a command goes to stdout, everything else to stderr. Colour never carries a meaning of its own: each
//! state has a word and a mark.

use std::io::{IsTerminal, Write, stderr, stdout};

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};

/// When to use colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb; CLICOLOR_FORCE and FORCE_COLOR win over "not a terminal".
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// How the output looks; for all commands.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct OutputStyle {
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    pub(super) color: ColorWhen,
    /// Use ASCII only; the default when the locale is not UTF-8
    #[arg(long, global = true)]
    pub(super) ascii: bool,
}

/// A state or a change, as a mark of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    Start,
    Created,
    Updated,
    Deleted,
    Ready,
    Working,
    Waiting,
    Error,
    Warning,
}

impl Mark {
    /// The mark, the same in ASCII, and its colour; a mark without colour is dimmed.
    const fn look(self) -> (&'static str, &'static str, Option<AnsiColor>) {
        match self {
            Self::Start => ("▸", ">", None),
            Self::Created => ("+", "+", Some(AnsiColor::Green)),
            Self::Updated => ("~", "~", Some(AnsiColor::Yellow)),
            Self::Deleted => ("-", "-", Some(AnsiColor::Red)),
            Self::Ready => ("✔", "ok", Some(AnsiColor::Green)),
            Self::Working => ("●", "*", Some(AnsiColor::Yellow)),
            Self::Waiting => ("○", "o", None),
            Self::Error => ("✖", "x", Some(AnsiColor::Red)),
            Self::Warning => ("!", "!", Some(AnsiColor::Yellow)),
        }
    }
}

/// Both streams of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Output {
    stdout: ColorChoice,
    stderr: ColorChoice,
    ascii: bool,
    terminal: bool,
}

impl Output {
    pub(crate) fn new(chosen: OutputStyle) -> Self {
        let forced = std::env::var_os("FORCE_COLOR").is_some_and(|value| !value.is_empty());
        let choice = |automatic: ColorChoice| match chosen.color {
            ColorWhen::Auto if forced => ColorChoice::Always,
            ColorWhen::Auto => automatic,
            ColorWhen::Always => ColorChoice::Always,
            ColorWhen::Never => ColorChoice::Never,
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        Self {
            stdout: choice(AutoStream::choice(&stdout())),
            stderr: choice(AutoStream::choice(&stderr())),
            ascii: chosen.ascii || !locale.is_some_and(|locale| is_utf8(&locale)),
            terminal: stdout().is_terminal(),
        }
    }

    /// Whether stdout is a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        self.terminal
    }

    /// Whether what goes to stderr may be coloured.
    pub(crate) fn colors_stderr(self) -> bool {
        self.stderr != ColorChoice::Never
    }

    /// A mark in its colour.
    pub(crate) fn mark(self, mark: Mark) -> String {
        let (mark, ascii, color) = mark.look();
        let style = color.map_or(Style::new().dimmed(), |color| color.on_default());
        format!("{style}{}{style:#}", if self.ascii { ascii } else { mark })
    }

    /// Text that matters less.
    pub(crate) fn dim(self, text: &str) -> String {
        let style = Style::new().dimmed();
        format!("{style}{text}{style:#}")
    }

    /// Writes result text, as it is.
    pub(crate) fn out(self, text: &str) {
        write_to(AutoStream::new(stdout(), self.stdout).lock(), text);
    }

    /// Writes a line of the result.
    pub(crate) fn line(self, text: &str) {
        self.out(&format!("{text}\n"));
    }

    /// Writes a line that is not the result.
    pub(crate) fn note(self, text: &str) {
        write_to(AutoStream::new(stderr(), self.stderr).lock(), &format!("{text}\n"));
    }
}

/// A reader that has gone is not a failure of the command: what it does in the cluster matters more than its output.
fn write_to(mut stream: impl Write, text: &str) {
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locale_decides_about_ascii() {
        assert!(is_utf8("de_DE.UTF-8") && is_utf8("C.utf8"));
        assert!(!is_utf8("C") && !is_utf8("de_DE.ISO-8859-1"));
    }

    #[test]
    fn ascii_marks_are_ascii() {
        for mark in [Mark::Start, Mark::Ready, Mark::Working, Mark::Waiting, Mark::Error, Mark::Created] {
            assert!(mark.look().1.is_ascii());
        }
    }
}
