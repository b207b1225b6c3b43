//! The book's first test, of the book's first operator: run as it is.

use std::fs;

use integration_tests::prelude::*;

use crate::{block, repository};

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod book {
    include!("programs/three_children.rs");
    include!("programs/first_test.rs");
}

#[test]
fn the_first_test_of_the_book_is_the_one_that_is_run() -> Result<()> {
    let page = fs::read_to_string(repository().join("docs/src/testing-control-plane.md"))?;
    let run = include_str!("programs/first_test.rs");
    ensure!(block(&page, "## A first test", "rust")? == run, "the book's first test is not what is run");
    Ok(())
}
