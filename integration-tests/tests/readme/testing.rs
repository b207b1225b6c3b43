//! The chapter "Testing your operator": each example, of the book's first operator, is built and run as it is.

use std::fs;

use integration_tests::prelude::*;

use crate::{block, repository};

/// The heading of each example, and the program that is run.
const EXAMPLES: [(&str, &str); 9] = [
    ("## One run, without a cluster", include_str!("programs/dry_run.rs")),
    ("## The whole operator, in the process", include_str!("programs/in_process.rs")),
    ("### Definitions and objects from files", include_str!("programs/files.rs")),
    ("### In the middle of a run", include_str!("programs/held.rs")),
    ("### When the cluster doesn't play along", include_str!("programs/misfortunes.rs")),
    ("## Under bad luck", include_str!("programs/simulated.rs")),
    ("### What is there before, and other namespaces", include_str!("programs/shops.rs")),
    ("### A cluster that is slow", include_str!("programs/slow_cluster.rs")),
    ("## On a real server", include_str!("programs/real.rs")),
];

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod dry_run {
    include!("programs/three_children.rs");
    include!("programs/dry_run.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod in_process {
    include!("programs/three_children.rs");
    include!("programs/in_process.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod simulated {
    include!("programs/three_children.rs");
    include!("programs/simulated.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod real {
    include!("programs/three_children.rs");
    include!("programs/real.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod held {
    include!("programs/three_children.rs");
    include!("programs/held.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod shops {
    include!("programs/three_children.rs");
    include!("programs/shops.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod files {
    include!("programs/three_children.rs");
    include!("programs/files.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod misfortunes {
    include!("programs/three_children.rs");
    include!("programs/misfortunes.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod slow_cluster {
    include!("programs/three_children.rs");
    include!("programs/slow_cluster.rs");
}

fn page() -> Result<String> {
    Ok(fs::read_to_string(repository().join("docs/src/testing-your-operator.md"))?)
}

#[test]
fn each_example_is_the_one_that_is_run() -> Result<()> {
    let page = page()?;
    for (heading, run) in EXAMPLES {
        ensure!(block(&page, heading, "rust")? == run, "{heading}: the example is not what is run");
    }
    let blocks = page.matches("```rust\n").count();
    ensure!(blocks == EXAMPLES.len() && !page.contains("```rust,"), "the page has {blocks} examples");
    Ok(())
}

/// The files of an example are those that it reads.
#[test]
fn the_files_of_the_example_are_the_ones_that_are_read() -> Result<()> {
    let page = page()?;
    for (text, read) in [("`tests/pages.yaml`", "pages.yaml"), ("`tests/shop.yaml`", "shop.yaml")] {
        let file = fs::read_to_string(repository().join("integration-tests/tests").join(read))?;
        ensure!(block(&page, text, "yaml")? == file, "{read} is not what the page shows");
    }
    Ok(())
}

/// A unit test of a run costs no more.
#[test]
fn a_test_of_one_run_takes_at_most_six_lines() -> Result<()> {
    let program = include_str!("programs/dry_run.rs");
    let name = "fn the_address_waits_for_the_server() {\n";
    let body = program.split_once(name).context("the test is there")?.1;
    let body = body.split_once("\n    }\n").context("it has an end")?.0;
    ensure!(body.lines().count() <= 6, "{} lines", body.lines().count());
    Ok(())
}
