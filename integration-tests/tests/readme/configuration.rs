//! The chapter "Configuration": its examples are built as they are, and its keys are the existing ones.

use std::fs;

use integration_tests::prelude::*;
use operator_core::Error;

use crate::{block, repository};

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod configured {
    include!("programs/configured.rs");

    pub(super) fn declared() -> OperatorBuilder {
        operator()
    }
}

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod defaults {
    include!("programs/defaults.rs");
}

#[test]
fn each_example_is_the_one_that_is_built() -> Result<()> {
    let page = fs::read_to_string(repository().join("docs/src/configuration.md"))?;
    for (heading, built) in [
        ("# Configuration", include_str!("programs/configured.rs")),
        ("## For the whole operator", include_str!("programs/defaults.rs")),
    ] {
        ensure!(block(&page, heading, "rust")? == built, "{heading}: the example is not what is built");
    }
    ensure!(page.matches("```rust").count() == 2, "an example is not built");
    Ok(())
}

#[test]
fn what_the_example_lacks_is_told_at_once() {
    let told = match configured::declared().build() {
        Err(Error::Declaration(mistakes)) => mistakes.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(told.contains("the operator has no controller"), "{told}");
    assert!(told.contains("operator.yaml: the file can't be read"), "{told}");
}

/// The tables of the page have each key once, and no other.
#[test]
fn the_page_has_every_key() -> Result<()> {
    let page = fs::read_to_string(repository().join("docs/src/configuration.md"))?;
    let keys = page.split_once("## The keys").map_or("", |(_, keys)| keys);
    let keys = keys.split_once("## Wrong settings").map_or("", |(keys, _)| keys);
    let source = fs::read_to_string(repository().join("operator-core/src/configuration/keys.rs"))?;
    let refused = fs::read_to_string(repository().join("operator-core/src/configuration/refused.rs"))?;
    let names = source.split("key!(\"").skip(1).chain(refused.split("Key::nothing(\n    \"").skip(1));
    let names: Vec<&str> = names.filter_map(|rest| rest.split('"').next()).collect();
    ensure!(names.len() > 30, "the check finds what there is: {names:?}");
    for name in names {
        let cells = keys.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
        let places = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2));
        let places = places.filter(|place| place.trim_start_matches("controller.NAME.") == name).count();
        ensure!(places >= 1, "`{name}` is not on the page");
    }
    Ok(())
}
