//! Files of YAML: nested or dotted keys, each with its line.

use std::{borrow::Cow, path::Path};

use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span};

use super::ConfigEntry;
use crate::controller::Mistake;

/// The settings in a file with this text.
pub(super) fn read(text: &str, file: &Path, mistakes: &mut Vec<Mistake>) -> Vec<ConfigEntry> {
    let mut reader = Reader { events: Parser::new_from_str(text), file, entries: Vec::new(), mistakes };
    if let Err(error) = reader.documents() {
        let place = reader.place(error.marker().line());
        reader.mistakes.push(Mistake::new(
            format!("{place}: invalid YAML from this line on"),
            error.info(),
            "YAML, for example `operator: { check-crd: true }`",
        ));
    }
    reader.entries
}

struct Reader<'t, E> {
    events: E,
    file: &'t Path,
    entries: Vec<ConfigEntry>,
    mistakes: &'t mut Vec<Mistake>,
}

type Next<'t> = (Event<'t>, Span);

impl<'t, E: Iterator<Item = Result<Next<'t>, ScanError>>> Reader<'t, E> {
    fn documents(&mut self) -> Result<(), ScanError> {
        let mut documents = 0;
        while let Some((event, span)) = self.next()? {
            match event {
                Event::DocumentStart(..) => documents += 1,
                Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
                // An empty file sets nothing.
                Event::Scalar(text, style, ..) if is_null(&text, style) && documents < 2 => {}
                node if documents < 2 => self.root(&node, &span)?,
                node => {
                    self.wrong(
                        &span,
                        "a second document",
                        "a file may have only one document",
                        "all keys in the first document",
                    );
                    self.skip(&node)?;
                }
            }
        }
        Ok(())
    }

    fn root(&mut self, event: &Event<'t>, span: &Span) -> Result<(), ScanError> {
        if matches!(event, Event::MappingStart(..)) {
            return self.mapping("");
        }
        self.wrong(
            span,
            "there are no keys",
            "settings are keys with values",
            "`operator: { check-crd: true }`",
        );
        self.skip(event)
    }

    /// After its start.
    fn mapping(&mut self, path: &str) -> Result<(), ScanError> {
        while let Some((event, span)) = self.next()? {
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, ..) => text,
                other => {
                    self.wrong(
                        &span,
                        "a key isn't text",
                        "keys are names",
                        "a name with dots or nested names",
                    );
                    self.skip(&other)?;
                    let Some((value, _)) = self.next()? else { break };
                    self.skip(&value)?;
                    continue;
                }
            };
            let path = if path.is_empty() { key.into_owned() } else { format!("{path}.{key}") };
            let Some((value, _)) = self.next()? else { break };
            self.value(path, value, &span)?;
        }
        Ok(())
    }

    fn value(&mut self, path: String, value: Event<'t>, key: &Span) -> Result<(), ScanError> {
        match value {
            Event::MappingStart(..) => self.mapping(&path),
            Event::SequenceStart(..) => self.list(path, key),
            Event::Scalar(text, style, ..) if is_null(&text, style) => {
                let what = format!("`{path}` has no value");
                self.wrong(key, &what, "it is unclear which value is meant", "a value, or leave the key out");
                Ok(())
            }
            Event::Scalar(text, ..) => {
                self.entries.push(ConfigEntry::new(path, text, self.place(key.start.line())));
                Ok(())
            }
            other => {
                let what = format!("`{path}` isn't a plain value");
                self.wrong(key, &what, "aliases aren't supported", "the value itself");
                self.skip(&other)
            }
        }
    }

    /// After its start: names, as one value.
    fn list(&mut self, path: String, key: &Span) -> Result<(), ScanError> {
        let mut names: Vec<Cow<'t, str>> = Vec::new();
        while let Some((event, span)) = self.next()? {
            match event {
                Event::SequenceEnd => break,
                Event::Scalar(text, ..) => names.push(text),
                other => {
                    let what = format!("`{path}` has an item that isn't a plain value");
                    self.wrong(&span, &what, "a list contains names", "names");
                    self.skip(&other)?;
                }
            }
        }
        self.entries.push(ConfigEntry::new(path, names.join(","), self.place(key.start.line())));
        Ok(())
    }

    /// Skips the rest of a node that has begun.
    fn skip(&mut self, event: &Event<'t>) -> Result<(), ScanError> {
        let depth_of = |event: &Event<'t>| match event {
            Event::MappingStart(..) | Event::SequenceStart(..) => 1,
            Event::MappingEnd | Event::SequenceEnd => -1,
            _ => 0,
        };
        let mut depth = depth_of(event);
        while depth > 0
            && let Some((event, _)) = self.next()?
        {
            depth += depth_of(&event);
        }
        Ok(())
    }

    /// The next event that isn't a comment.
    fn next(&mut self) -> Result<Option<Next<'t>>, ScanError> {
        for next in self.events.by_ref() {
            let (event, span) = next?;
            if is_node_or_structure(&event) {
                return Ok(Some((event, span)));
            }
        }
        Ok(None)
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{line}", self.file.display())
    }

    fn wrong(&mut self, at: &Span, what: &str, why: &str, write: &str) {
        let place = self.place(at.start.line());
        self.mistakes.push(Mistake::new(format!("{place}: {what}"), why, write));
    }
}

/// Comments are events only if another crate in the build enables them.
fn is_node_or_structure(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(..)
            | Event::DocumentEnd
            | Event::Alias(_)
            | Event::UnresolvedAlias(_)
            | Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::SequenceEnd
            | Event::MappingStart(..)
            | Event::MappingEnd
    )
}

fn is_null(text: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")
}
