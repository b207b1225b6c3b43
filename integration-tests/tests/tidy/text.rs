//! Rules about the text of all files.

use crate::sources;

/// A file that is longer has more than one subject.
const MOST_LINES: usize = 600;

#[test]
fn no_file_is_longer_than_it_can_be_read_in_one_go() {
    let long: Vec<String> = sources::rust("")
        .iter()
        .map(|source| (source.text.lines().count(), &source.path))
        .filter(|(lines, _)| *lines > MOST_LINES)
        .map(|(lines, path)| format!("{path} has {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn no_test_is_ignored() {
    let attribute = concat!("#[ig", "nore");
    let ignored: Vec<String> = sources::rust("")
        .into_iter()
        .filter(|source| source.code().contains(attribute))
        .map(|source| source.path)
        .collect();
    assert!(ignored.is_empty(), "{ignored:?}");
}

#[test]
fn nothing_knows_the_machine_that_it_was_written_on() {
    // Cut in two, so that this file doesn't name them either.
    let local = [
        concat!("/wo", "rk/"),
        concat!("/ro", "ot/"),
        concat!("index.cra", "tes.io"),
        concat!("static.cra", "tes.io"),
        concat!("proxy.gol", "ang.org"),
        concat!("arti", "factory"),
    ];
    let mut wrong = Vec::new();
    for source in sources::all("") {
        if source.path.ends_with(".lock") || source.path.ends_with("go.sum") || source.path == ".git" {
            continue;
        }
        for name in local.iter().filter(|name| source.text.contains(**name)) {
            wrong.push(format!("{} names {name}", source.path));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
