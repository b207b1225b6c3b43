//! The page about the likeliest log lines quotes lines that exist, with the level and the fields that they have.

use crate::sources;

const PAGE: &str = "docs/src/log-lines.md";

/// A line as the page has it.
#[derive(Debug, PartialEq, Eq)]
struct Quoted {
    text: String,
    level: String,
    fields: Vec<String>,
}

fn in_backticks(text: &str) -> impl Iterator<Item = String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// A heading is a line; the first paragraph below it has its level and its fields.
fn quoted(page: &str) -> Vec<Quoted> {
    let sections = page.split("\n## `").skip(1);
    let quoted = sections.map(|section| {
        let (text, rest) = section.split_once("`\n").expect("the heading is in backticks");
        let says = rest.lines().find(|line| !line.is_empty()).expect("a level follows");
        let (level, fields) = says.split_once(": ").expect("fields follow the level");
        let level = level.trim_matches('*').to_owned();
        Quoted { text: text.to_owned(), level, fields: in_backticks(fields).collect() }
    });
    quoted.collect()
}

const LEVELS: [&str; 4] = ["tracing::error!(", "tracing::warn!(", "tracing::info!(", "tracing::debug!("];

/// The calls of `tracing` that log exactly this text: from the macro's name to the text.
fn calls<'c>(code: &'c str, text: &str) -> Vec<&'c str> {
    let literal = format!("\"{text}\"");
    let found = code.match_indices(&literal);
    let begin = |end: usize| LEVELS.iter().filter_map(|level| code[..end].rfind(level)).max();
    found.filter_map(|(end, _)| Some(&code[begin(end)?..end])).collect()
}

fn has_field(call: &str, field: &str) -> bool {
    let mut words = call.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|word| word == field)
}

#[test]
fn each_line_that_the_page_explains_is_in_the_source() {
    let page = sources::all("docs/src").into_iter().find(|source| PAGE.ends_with(&source.path));
    let quoted = quoted(&page.expect("the page exists").text);
    assert_eq!(quoted.len(), 10, "{quoted:#?}");
    let sources = sources::rust("operator-core/src");
    let code: Vec<String> =
        sources.iter().filter(|source| !source.is_test()).map(sources::Source::code_without_tests).collect();
    for Quoted { text, level, fields } in &quoted {
        let calls: Vec<&str> = code.iter().flat_map(|code| calls(code, text)).collect();
        let [call] = calls[..] else { panic!("{} places log {text:?}", calls.len()) };
        assert!(call.starts_with(&format!("tracing::{level}!(")), "{text:?} is logged by {call}");
        for field in fields {
            assert!(has_field(call, field), "{text:?} has no field {field}: {call}");
        }
    }
}

#[test]
fn a_page_is_read_as_it_is_written() {
    let page = "# Lines\n\n## `it broke`\n\n*warn*: `why`, `when`\n\nMeaning.\n\n## `it works`\n\n*info*: no fields\n";
    let one = |text: &str, level: &str, fields: &[&str]| Quoted {
        text: text.to_owned(),
        level: level.to_owned(),
        fields: fields.iter().map(|&field| field.to_owned()).collect(),
    };
    assert_eq!(quoted(page), [one("it broke", "warn", &["why", "when"]), one("it works", "info", &[])]);
    let code = "tracing::warn!(why, %when, \"it broke\"); tracing::info!(\"it works\");";
    assert_eq!(calls(code, "it broke"), ["tracing::warn!(why, %when, "]);
    assert!(has_field(calls(code, "it broke")[0], "when") && !has_field(calls(code, "it works")[0], "why"));
}
