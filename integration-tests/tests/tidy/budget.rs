//! The maximum size of the library.

use integration_tests::{Rooms, product_lines, rooms};

use crate::sources;

/// Lines of `operator-core/src` without tests, `testing` and `cli`, as `cargo weigh` counts them. A feature that needs more
/// raises this in its own commit.
const MOST_LINES: usize = 63_354;

#[test]
fn the_library_has_no_more_lines_than_its_budget() {
    let lines = product_lines(&sources::root().join("operator-core/src"), &["testing", "cli"]);
    let lines = lines.expect("the source can be read");
    assert!(lines <= MOST_LINES, "{lines} lines, {MOST_LINES} at most");
}

/// A crate's sources as files.
fn written(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let file = folder.path().join(name);
        std::fs::create_dir_all(file.parent().expect("it lies in the folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    folder
}

#[test]
fn lines_of_tests_do_not_count() {
    let folder = written(&[
        ("lib.rs", "//! Doc.\nmod a;\n"),
        ("a/mod.rs", "fn a() {}\n#[cfg(test)]\nmod tests;\n#[cfg(test)]\nmod more {\n}\n"),
        ("a/tests.rs", "one\n"),
        ("a/tests/deep.rs", "one\n"),
        ("a/fsm_tests.rs", "one\n"),
        ("cli.rs", "one\n"),
        ("testing/mod.rs", "one\n"),
    ]);
    assert_eq!(product_lines(folder.path(), &["testing", "cli"]).expect("it can be read"), 5);
    assert_eq!(product_lines(folder.path(), &[]).expect("it can be read"), 7);
}

#[test]
fn rooms_are_what_is_directly_in_a_folder_and_arrows_are_imports() {
    let folder = written(&[
        ("h/mod.rs", "mod a; mod b; mod c; pub(in crate::h) use b::{B, deep::D}; struct Own;"),
        ("h/a.rs", "use super::{b::B, Own}; use crate::other::Thing; use kube::a::A;"),
        ("h/b/mod.rs", "mod deep; pub(crate) use self::deep::D; fn f() { crate::h::c::call(super::a::X) }"),
        (
            "h/b/deep.rs",
            "use super::super::a; use super::B;\n#[cfg(test)]\nmod tests {\n    use super::super::super::c::C;\n}",
        ),
        ("h/c.rs", "pub(in crate::h) fn call() {}"),
        ("h/b/tests.rs", "use crate::h::Own;"),
    ]);
    let found = rooms(folder.path(), &folder.path().join("h")).expect("it is Rust");
    let arrow = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let expected = Rooms {
        rooms: ["a", "b", "c", "mod"].map(str::to_owned).into(),
        arrows: [arrow("mod", "b"), arrow("a", "b"), arrow("a", "mod"), arrow("b", "c"), arrow("b", "a")]
            .into(),
    };
    assert_eq!(found, expected);
}
