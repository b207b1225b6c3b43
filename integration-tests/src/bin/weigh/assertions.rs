//! The assertions of the suites: their number must not fall, however short the tests become.

use std::fs;

use anyhow::{Context, Result};
use integration_tests::{Assertions, assertions, rust_files};

use crate::{clone::Clone, table::Measured};

/// The suites by their folders. The last one is everything, including the product's own tests.
const SUITES: [(&str, &str); 3] = [
    ("conformance", "integration-tests/tests/conformance"),
    ("faults", "integration-tests/tests/faults"),
    ("all", ""),
];

pub(crate) fn measure(clone: &Clone, measured: &mut Measured) -> Result<()> {
    for (suite, folder) in SUITES {
        let mut sum = Assertions::default();
        for file in rust_files(&clone.path(folder))? {
            let found = assertions(&fs::read_to_string(&file)?);
            sum += found.with_context(|| file.display().to_string())?;
        }
        measured.count(format!("{suite}: assertions"), sum.asserted);
        measured.count(format!("{suite}: waits that fail a test"), sum.awaited);
    }
    Ok(())
}
