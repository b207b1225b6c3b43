//! The cost of a further kind and a further node: programs with 1, 2 and 11 kinds, each with a reconciler and a child,
//! and one with a kind that has 11 children.

use std::{fmt::Write as _, fs};

use anyhow::{Context, Result};

use crate::{builds, clone::Clone, contents, table::Measured};

const KINDS: [usize; 3] = [1, 2, 11];

/// As many as a kind has in the last program.
const NODES: usize = 11;

/// The size of a program.
struct Weight {
    functions: usize,
    bytes: u64,
    seconds: f64,
}

pub(crate) fn measure(clone: &Clone, measured: &mut Measured) -> Result<()> {
    let mut weights = Vec::new();
    for kinds in KINDS {
        let weight = weigh(clone, kinds, 1)?;
        measured.count(format!("functions of an operator with {kinds} kinds"), weight.functions);
        weights.push(weight);
    }
    further(measured, "kind", (&weights[0], &weights[2]), KINDS[2] - KINDS[0]);
    let nodes = weigh(clone, 1, NODES)?;
    further(measured, "node", (&weights[0], &nodes), NODES - 1);
    Ok(())
}

#[allow(clippy::cast_precision_loss)]
fn further(measured: &mut Measured, what: &str, (few, many): (&Weight, &Weight), further: usize) {
    let further = further as f64;
    let each = |few: f64, many: f64| (many - few) / further;
    measured.number(
        format!("functions for each further {what}"),
        each(few.functions as f64, many.functions as f64),
    );
    measured.number(format!("kB for each further {what}"), each(few.bytes as f64, many.bytes as f64) / 1e3);
    measured.number(format!("seconds of build for each further {what}"), each(few.seconds, many.seconds));
}

/// Builds the program with so many kinds, and so many nodes of each.
fn weigh(clone: &Clone, kinds: usize, nodes: usize) -> Result<Weight> {
    write(clone, kinds, nodes)?;
    let build = ["build", "--message-format", "json-render-diagnostics"];
    let (built, units) = clone.build(&clone.beside("kinds"), &build)?;
    let binaries = builds::binaries(&built.stdout)?;
    let binary = binaries.first().context("the operator was linked")?;
    Ok(Weight {
        functions: contents::functions(&binary.path)?.len(),
        bytes: fs::metadata(&binary.path)?.len(),
        seconds: units.iter().find(|unit| unit.name == "kinds").map_or(0.0, |unit| unit.seconds),
    })
}

/// Writes the program, in the place of the one before.
fn write(clone: &Clone, kinds: usize, nodes: usize) -> Result<()> {
    let folder = clone.beside("kinds");
    fs::create_dir_all(folder.join("src"))?;
    fs::copy(clone.path("Cargo.lock"), folder.join("Cargo.lock"))?;
    let core = clone.path("operator-core");
    let manifest =
        include_str!("kinds.toml").replace("OPERATOR_CORE", core.to_str().context("a path is text")?);
    fs::write(folder.join("Cargo.toml"), manifest)?;
    let mut program = include_str!("kinds.txt").to_owned();
    let mut registered = String::new();
    for kind in 0..kinds {
        writeln!(program, "kind!(kind_{kind}, \"Kind{kind}\");")?;
        write!(registered, "\n        .register(kind_{kind}::Reconciled)")?;
    }
    let (mut functions, mut named) = (String::new(), String::new());
    for node in 1..nodes {
        writeln!(functions, "fn map_{node}(primary: &Primary) -> ConfigMap {{ map(primary) }}")?;
        write!(named, ", map_{node}")?;
    }
    let program = program.replace("/* REGISTERED */", &registered);
    let program = program.replace("/* FUNCTIONS */", &functions).replace("/* NODES */", &named);
    fs::write(folder.join("src/main.rs"), program).context("write the program")
}
