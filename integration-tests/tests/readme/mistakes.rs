//! The compiler's messages about mistakes with the derives. The files in `fail/` are binaries of one package beside the
//! clone, so everything they need is built once, and together with the dependencies of the README's operator.
//!
//! `//~ words` after a line means: there is an error that begins on this line, with these words in its message or in one of
//! its notes. There must be no other error. The rest of the compiler's words is its own, and differs between versions.

use std::{
    fs,
    path::{Path, PathBuf},
};

use integration_tests::prelude::*;

use crate::{Beside, repository};

/// A line of a file.
type Place = (String, u64);

#[test]
fn mistakes_are_shown_at_their_place_with_advice() -> Result<()> {
    let repository = repository().canonicalize()?;
    let beside = Beside::new(&repository, "mistakes")?;
    beside.add("operator-component", "operator-core/component")?;
    let bins = beside.package.join("src/bin");
    fs::create_dir_all(&bins)?;
    let files = fail_files()?;
    for file in &files {
        fs::copy(file, bins.join(file.file_name().context("a file has a name")?))?;
    }
    let errors: Vec<(Place, String)> = beside.check()?.iter().filter_map(error).collect();
    ensure!(!errors.is_empty(), "no error at all");

    let mut wrong = Vec::new();
    let mut expected_places: BTreeSet<Place> = BTreeSet::new();
    for file in &files {
        let name = file.file_name().context("a file has a name")?.to_string_lossy().into_owned();
        let text = fs::read_to_string(file)?;
        for (number, line) in (1..).zip(text.lines()) {
            for words in line.split("//~").skip(1).map(str::trim) {
                let place = (name.clone(), number);
                if !errors.iter().any(|(at, said)| *at == place && said.contains(words)) {
                    wrong.push(format!("{name}:{number} does not say: {words}"));
                }
                expected_places.insert(place);
            }
        }
    }
    for ((file, line), said) in &errors {
        let lines = own_lines(said);
        let longer = LONGER.iter().find(|(of, words, _)| of == file && said.contains(words));
        let most = longer.map_or(MOST_LINES, |(_, _, most)| *most);
        if lines > most {
            wrong.push(format!("{file}:{line} takes {lines} lines, of which {most} are allowed"));
        }
        let trail =
            said.lines().filter(|line| is_trail(line) || line.contains("redundant requirement")).count();
        if trail > MOST_OF_THE_TRAIL {
            wrong.push(format!("{file}:{line} is followed by {trail} lines of what is required for what"));
        }
        let first = said.lines().next().unwrap_or_default();
        wrong.extend(INSIDE.iter().filter(|name| first.contains(**name)).map(|name| {
            format!("{file}:{line} begins with `{name}`, which no one outside of the library has written")
        }));
    }
    let unexpected = errors.iter().filter(|(place, _)| !expected_places.contains(place));
    wrong.extend(unexpected.map(|((file, line), said)| format!("{file}:{line} says unexpectedly:\n{said}")));
    let all = errors.iter().map(|((file, line), said)| format!("{file}:{line}\n{said}")).collect::<Vec<_>>();
    ensure!(wrong.is_empty(), "{}\n\neverything that was said:\n{}", wrong.join("\n"), all.join("\n"));
    Ok(())
}

/// How long an error may be.
const MOST_LINES: usize = 12;

/// How many of its lines may say what is required for what.
const MOST_OF_THE_TRAIL: usize = 5;

/// Errors that may be longer: their file, some of their words, and their maximum number of lines.
const LONGER: &[(&str, &str, usize)] = &[
    // Where there is no tuple at all, the compiler lists some of what would be one.
    ("functions.rs", "is not a workflow of", 18),
    // The compiler lists the records of the file.
    ("records.rs", "is not a record outside the cluster", 21),
    // The compiler lists the controllers of the file.
    ("primary.rs", "is not a controller", 15),
];

/// Names from the inside of the library, which must not be in the first line of an error.
const INSIDE: &[&str] = &["__private", "function::Function<", "wired::Is"];

/// Whether the line only leads from a bound to another one.
fn is_trail(line: &str) -> bool {
    line.contains("note: required for")
}

/// How many lines are needed to say what is wrong and what to write: without lines that only lead somewhere, and
/// without the compiler's path.
fn own_lines(said: &str) -> usize {
    let own = said.lines().take_while(|line| !is_trail(line) && !line.starts_with("note: required"));
    own.filter(|line| {
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').trim_end();
        let is_place = line.starts_with("-->") || line.starts_with(":::");
        !line.is_empty() && line != "|" && !is_place && !line.contains("long-type")
    })
    .count()
}

fn fail_files() -> Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readme/fail");
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        files.push(entry?.path());
    }
    files.sort();
    Ok(files)
}

/// The place of a compiler error, and its text with all notes; `None` for anything else.
fn error(message: &Value) -> Option<(Place, String)> {
    if message["level"] != "error" {
        return None;
    }
    let primary = message["spans"].as_array()?.iter().find(|span| span["is_primary"] == true)?;
    // Within a macro the place that counts is the user's.
    let file = Path::new(primary["file_name"].as_str()?).file_name()?.to_string_lossy().into_owned();
    // The line is shown with the words that are looked for.
    let rendered = message["rendered"].as_str()?.lines();
    let said = rendered.map(|line| line.split("//~").next().unwrap_or_default().trim_end().to_owned() + "\n");
    Some(((file, primary["line_start"].as_u64()?), said.collect()))
}
