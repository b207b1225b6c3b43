//! Breaks the product on purpose, one place at a time, and checks that a test fails.
//!
//! ```sh
//! cargo breaks              # all of them
//! cargo breaks --today 3    # three, which the date chooses
//! cargo breaks overlay-own-echo-hidden
//! ```
//!
//! A break is a patch in `integration-tests/breaks`, named after the guarantee that it breaks: one to five lines of the
//! product, below two lines with the test that should fail and the broken behaviour. It is applied to a copy of the
//! tree, below the target folder; the tree itself is not touched. The named test must fail by an assertion of its own:
//! a break that doesn't compile, that only a time limit finds, or that survives fails this command.

mod borrowed;
mod cargo;
mod patch;
mod tree;
mod trial;

use std::{
    io::{Write, stderr, stdout},
    path::Path,
    process::ExitCode,
    time::SystemTime,
};

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::{patch::Patch, tree::Tree, trial::Verdict};

/// Breaks the product on purpose and sees the tests fail.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// Only these, by the names of their files.
    ids: Vec<String>,
    /// Only this number of breaks, other ones each day.
    #[arg(long, conflicts_with = "ids")]
    today: Option<usize>,
    /// Also prints the tests' failure messages.
    #[arg(long)]
    words: bool,
}

const DAY: u64 = 24 * 60 * 60;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace has a folder")?;
    let all = patch::read_all(&root.join("integration-tests/breaks"))?;
    let chosen = choose(all, &options)?;
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(2).context("the program lies in a target folder")?;
    let scratch = target.join("breaks");
    let tree = Tree::new(root, &scratch);
    borrowed::lend(root, target, &scratch.join("target"))?;
    let mut report = Report { wrong: Vec::new(), tells_words: options.words };
    let mut order: Vec<&Patch> = chosen.iter().collect();
    // What was built last is quicker to build once more.
    order.sort_by_key(|patch| (&patch.binary, &patch.files));
    for patch in order {
        tree.restore()?;
        tree.apply(patch)?;
        report.add(patch, &trial::of(&tree, &scratch, patch).await?)?;
    }
    tree.restore()?;
    report.end(chosen.len())
}

/// The results of the breaks so far.
struct Report<'p> {
    wrong: Vec<&'p str>,
    tells_words: bool,
}

impl<'p> Report<'p> {
    fn add(&mut self, patch: &'p Patch, verdict: &Verdict) -> Result<()> {
        writeln!(stdout(), "{:<50} {verdict}: {}", patch.id, patch.breaks)?;
        if let Verdict::Found(words) = verdict
            && self.tells_words
        {
            writeln!(stdout(), "    {words}")?;
        }
        if !verdict.is_found() {
            self.wrong.push(&patch.id);
        }
        Ok(())
    }

    fn end(&self, all: usize) -> Result<ExitCode> {
        writeln!(stdout(), "{} of {all} breaks were found", all - self.wrong.len())?;
        if self.wrong.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let wrong = self.wrong.join(", ");
        writeln!(stderr(), "not found: {wrong}; mend the test that the patch names, or the patch")?;
        Ok(ExitCode::FAILURE)
    }
}

fn choose(all: Vec<Patch>, options: &Options) -> Result<Vec<Patch>> {
    ensure!(!all.is_empty(), "there is no break");
    if let Some(count) = options.today {
        #[allow(clippy::disallowed_methods, reason = "a tool of people, which no test's clock rules")]
        let day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?.as_secs() / DAY;
        let first = usize::try_from(day)? * count % all.len();
        let order: Vec<usize> = (0..count.min(all.len())).map(|step| (first + step) % all.len()).collect();
        let all: Vec<_> = all.into_iter().enumerate().filter(|(index, _)| order.contains(index)).collect();
        return Ok(all.into_iter().map(|(_, patch)| patch).collect());
    }
    if options.ids.is_empty() {
        return Ok(all);
    }
    for id in &options.ids {
        ensure!(all.iter().any(|patch| patch.id == *id), "there is no break called {id}");
    }
    Ok(all.into_iter().filter(|patch| options.ids.contains(&patch.id)).collect())
}
