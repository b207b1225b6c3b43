//! The cost of the library: of building and testing it, of its binaries, and of its public items.
//!
//! ```sh
//! cargo weigh                 # HEAD, and the budgets
//! cargo weigh --before v0.1.0 # the same beside an older revision
//! ```
//!
//! It weighs committed revisions, each in a clone and a target folder of its own: no build of this tree counts, and
//! nothing in it is touched. Seconds are those of the machine at hand: run it while nothing else runs, and compare only
//! results that were measured together.

mod assertions;
mod builds;
mod clone;
mod contents;
mod kinds;
mod runs;
mod table;
mod wrapper;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Result;
use clap::{Parser, ValueEnum};

use crate::{clone::Clone, table::Measured};

/// What can be weighed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// The seconds and the memory of a cold build of all tests, of one after a change of the core, and of one after a
    /// change of a test; the sizes, and the copies of the generic code.
    Builds,
    /// What a further primary type and a further node cost: operators with 1, 2 and 11 kinds, and with 1 and 11 nodes.
    Kinds,
    /// Lines and public names.
    Contents,
    /// The files and folders in `--folder`, its rooms, and the imports from one of them to another, their arrows.
    Rooms,
    /// What the suites assert.
    Assertions,
    /// The seconds that the built tests take. Needs the control plane in its cache.
    Tests,
    /// The seconds that `.ci/run` takes in a fresh clone. Needs the control plane in its cache.
    Ci,
}

/// Weighs a revision of the repository.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// What is weighed.
    #[arg(default_value = "HEAD")]
    revision: String,
    /// What stands beside it in the table.
    #[arg(long)]
    before: Option<String>,
    /// Only these parts.
    #[arg(long, value_enum, value_delimiter = ',')]
    parts: Vec<Part>,
    /// The folder of `--parts rooms`.
    #[arg(long, default_value = "operator-core/src/operations")]
    folder: String,
    /// Where the clones and their target folders are made; by default a folder that is removed at the end.
    #[arg(long)]
    scratch: Option<PathBuf>,
}

fn main() -> Result<ExitCode> {
    // Cargo calls this program in place of rustc during a build that is measured.
    if let Some(log) = env::var_os(wrapper::LOG) {
        return wrapper::run(&PathBuf::from(log), &env::args_os().skip(1).collect::<Vec<_>>());
    }
    let options = Options::parse();
    let temporary = tempfile::tempdir()?;
    let scratch = options.scratch.clone().unwrap_or_else(|| temporary.path().to_owned());
    let before = options.before.as_deref().map(|revision| weigh(revision, &scratch, &options));
    let now = weigh(&options.revision, &scratch, &options)?;
    table::print(before.transpose()?.as_ref(), &now)?;
    Ok(ExitCode::SUCCESS)
}

fn weigh(revision: &str, scratch: &Path, options: &Options) -> Result<Measured> {
    let wanted = |part| options.parts.is_empty() || options.parts.contains(&part);
    let clone = Clone::new(revision, scratch)?;
    let mut measured = Measured::new(clone.revision());
    if wanted(Part::Contents) {
        contents::measure(&clone, &mut measured)?;
    }
    if wanted(Part::Rooms) {
        contents::halls(&clone, &options.folder, &mut measured)?;
    }
    if wanted(Part::Assertions) {
        assertions::measure(&clone, &mut measured)?;
    }
    if wanted(Part::Builds) {
        builds::measure(&clone, &mut measured)?;
    }
    if wanted(Part::Tests) {
        runs::tests(&clone, &mut measured)?;
    }
    if wanted(Part::Kinds) {
        kinds::measure(&clone, &mut measured)?;
    }
    if wanted(Part::Ci) {
        runs::ci(revision, scratch, &mut measured)?;
    }
    Ok(measured)
}
