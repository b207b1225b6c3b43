//! Builds of all tests: cold, after a change of the core, and after a change of a test.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::{clone::Clone, contents, table::Measured, wrapper::Unit};

/// What all tests are built with.
const BUILD: &[&str] = &["test", "--workspace", "--no-run", "--message-format", "json-render-diagnostics"];

/// Files in which a line is changed: one in the middle of the core, and one of many tests.
const CORE: &str = "operator-core/src/processor/machine/mod.rs";
const TEST: &str = "integration-tests/tests/conformance/base_api/retry.rs";

/// Something that was linked.
pub(crate) struct Binary {
    pub(crate) name: String,
    /// A test binary, not a program.
    pub(crate) test: bool,
    pub(crate) path: PathBuf,
}

pub(crate) fn measure(clone: &Clone, measured: &mut Measured) -> Result<()> {
    let root = clone.path("");
    let (cold, units) = clone.build(&root, BUILD)?;
    measured.seconds("cargo test --workspace --no-run, cold", cold.took);
    let binaries = binaries(&cold.stdout)?;
    for binary in &binaries {
        let name = label(binary);
        measured.bytes(format!("{name}: size"), fs::metadata(&binary.path)?.len());
        if let Some(unit) = unit_of(&units, binary) {
            measured.number(format!("{name}: build, s"), unit.seconds);
            measured.bytes(format!("{name}: peak memory of its build"), unit.peak_kib * 1024);
        }
    }
    let crates = units.iter().filter(|unit| unit.name == "serde_core").count();
    #[allow(clippy::cast_precision_loss)]
    measured.number("times that the dependencies are built", crates as f64);
    if let Some(conformance) = binaries.iter().find(|binary| binary.name == "conformance") {
        contents::copies(&conformance.path, measured)?;
    }
    for (what, file) in [("a line of the core's machine", CORE), ("a line of a test", TEST)] {
        change(&clone.path(file))?;
        let (built, units) = clone.build(&root, BUILD)?;
        measured.seconds(format!("the same after a change of {what}"), built.took);
        let peak = units.iter().map(|unit| unit.peak_kib).max().unwrap_or(0);
        measured.bytes(format!("the same after a change of {what}: peak memory"), peak * 1024);
    }
    Ok(())
}

/// Puts a statement at the beginning of the first function.
fn change(file: &PathBuf) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let mut changed = String::new();
    let mut is_done = false;
    for line in text.lines() {
        changed.push_str(line);
        changed.push('\n');
        if !is_done && line.contains("fn ") && line.ends_with('{') {
            changed.push_str("let _ = std::hint::black_box(1_u8);\n");
            is_done = true;
        }
    }
    anyhow::ensure!(is_done, "no function in {}", file.display());
    fs::write(file, changed).context("change a line")
}

/// The executables in cargo's messages.
pub(crate) fn binaries(messages: &str) -> Result<Vec<Binary>> {
    let mut binaries = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("a message of cargo")?;
        let Some(path) = message["executable"].as_str() else { continue };
        let name = message["target"]["name"].as_str().context("a target has a name")?.to_owned();
        let test = message["profile"]["test"].as_bool().context("a profile says whether it is a test")?;
        binaries.push(Binary { name, test, path: path.into() });
    }
    binaries.sort_by(|left, right| (left.test, &left.name).cmp(&(right.test, &right.name)));
    Ok(binaries)
}

fn label(binary: &Binary) -> String {
    let what = if binary.test { "tests" } else { "program" };
    format!("{} ({what})", binary.name)
}

fn unit_of<'u>(units: &'u [Unit], binary: &Binary) -> Option<&'u Unit> {
    let name = binary.name.replace('-', "_");
    // A program and its library may have one name: the program is built after it.
    units.iter().rfind(|unit| unit.name == name && unit.test == binary.test)
}
