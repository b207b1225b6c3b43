//! The compiler's errors, as cargo tells them to programs.

use std::path::PathBuf;

use serde::Deserialize;

/// An error of the compiler.
pub(crate) struct Error {
    /// As people see it.
    pub(crate) text: String,
    /// The places that it shows, the most important first.
    pub(crate) at: Vec<At>,
}

impl Error {
    pub(crate) fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }
}

/// A place in a source.
pub(crate) struct At {
    /// Below the root of the workspace.
    pub(crate) file: PathBuf,
    pub(crate) byte: usize,
}

#[derive(Deserialize)]
struct Line {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    level: String,
    rendered: Option<String>,
    spans: Vec<Span>,
    #[serde(default)]
    children: Vec<Message>,
}

#[derive(Deserialize)]
struct Span {
    file_name: PathBuf,
    byte_start: usize,
    is_primary: bool,
    /// Where the macro is called that this is in.
    expansion: Option<Box<Expansion>>,
}

#[derive(Deserialize)]
struct Expansion {
    span: Span,
}

/// The errors in what cargo has said; what isn't for programs is passed over.
pub(crate) fn read(said: &str) -> Vec<Error> {
    let lines = said.lines().filter(|line| line.starts_with(r#"{"reason":"compiler-message""#));
    let messages = lines.filter_map(|line| serde_json::from_str::<Line>(line).ok()).map(|line| line.message);
    messages.filter(|message| message.level.starts_with("error")).map(error).collect()
}

fn error(message: Message) -> Error {
    let mut spans: Vec<Span> = message.spans;
    spans.extend(message.children.into_iter().flat_map(|child| child.spans));
    // The order among equals stays.
    spans.sort_by_key(|span| !span.is_primary);
    Error { text: message.rendered.unwrap_or_default(), at: spans.into_iter().flat_map(places).collect() }
}

/// Where a span is, and where the macros around it are called.
fn places(span: Span) -> Vec<At> {
    let (mut places, mut next) = (Vec::new(), Some(span));
    while let Some(span) = next {
        places.push(At { file: span.file_name, byte: span.byte_start });
        next = span.expansion.map(|expansion| expansion.span);
    }
    places
}
