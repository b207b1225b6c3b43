//! What a further kind costs an operator: programs with 1, 2 and 11 of them, each with a reconciler and a child.

use std::{fmt::Write as _, fs};

use anyhow::{Context, Result};

use crate::{builds, clone::Clone, contents, table::Measured};

const KINDS: [usize; 3] = [1, 2, 11];

pub(crate) fn measure(clone: &Clone, measured: &mut Measured) -> Result<()> {
    let folder = clone.beside("kinds");
    let (mut functions, mut seconds, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
    for kinds in KINDS {
        write(clone, kinds)?;
        let build = ["build", "--message-format", "json-render-diagnostics"];
        let (built, units) = clone.build(&folder, &build)?;
        let binaries = builds::binaries(&built.stdout)?;
        let binary = binaries.first().context("the operator was linked")?;
        functions.push(contents::functions(&binary.path)?.len());
        sizes.push(fs::metadata(&binary.path)?.len());
        seconds.push(units.iter().find(|unit| unit.name == "kinds").map_or(0.0, |unit| unit.seconds));
        measured
            .count(format!("functions of an operator with {kinds} kinds"), functions[functions.len() - 1]);
    }
    #[allow(clippy::cast_precision_loss)]
    let further = (KINDS[2] - KINDS[0]) as f64;
    #[allow(clippy::cast_precision_loss)]
    {
        measured.number("functions for each further kind", (functions[2] - functions[0]) as f64 / further);
        measured.number("kB for each further kind", (sizes[2] - sizes[0]) as f64 / further / 1e3);
    }
    measured.number("seconds of build for each further kind", (seconds[2] - seconds[0]) / further);
    Ok(())
}

/// Writes the program, in the place of the one before.
fn write(clone: &Clone, kinds: usize) -> Result<()> {
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
    let program = program.replace("/* REGISTERED */", &registered);
    fs::write(folder.join("src/main.rs"), program).context("write the program")
}
