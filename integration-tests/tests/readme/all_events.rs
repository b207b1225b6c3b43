//! The chapter "All events, and expectations": each example is built as it is, and its tests run.

use std::fs;

use integration_tests::prelude::*;

use crate::{block, repository};

/// The heading of each example, and the program whose tests are run.
const EXAMPLES: [(&str, &str); 2] = [
    ("## Triggered on all events", include_str!("programs/all_events.rs")),
    ("## Expectations", include_str!("programs/expectations.rs")),
];

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod triggered {
    include!("programs/all_events.rs");
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod expectations {
    include!("programs/expectations.rs");
}

#[test]
fn each_example_is_the_one_that_is_run() -> Result<()> {
    let page = fs::read_to_string(repository().join("docs/src/all-events.md"))?;
    for (heading, run) in EXAMPLES {
        ensure!(block(&page, heading, "rust")? == run, "{heading}: the example is not what is run");
    }
    ensure!(page.matches("```rust\n").count() == EXAMPLES.len(), "an example is not run");
    Ok(())
}
