//! The README's operator is built literally: its dependency lines, its code, in an empty folder beside the clone.

mod all_events;
mod beside;
mod configuration;
mod derives;
mod first_test;
mod front;
mod lines;
mod mistakes;
mod plays;
mod programs;
mod testing;
mod tutorial;

use std::{
    fs,
    path::{Path, PathBuf},
};

use integration_tests::command;
use integration_tests::prelude::*;

pub(crate) use beside::Beside;

/// The first fenced block of `language` after `heading`.
fn block<'t>(text: &'t str, heading: &str, language: &str) -> Result<&'t str> {
    let after = text.split_once(heading).with_context(|| format!("no heading {heading:?}"))?.1;
    let fence = format!("```{language}\n");
    let body = after.split_once(&fence).with_context(|| format!("no block of {language}"))?.1;
    Ok(body.split_once("```").context("the block has no end")?.0)
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_operators_of_readme_and_book_build_as_they_stand_there() -> Result<()> {
    let repository = repository().canonicalize()?;
    for (name, file, heading) in [
        ("greeting-operator", "README.md", "## An operator"),
        ("page-operator", "docs/src/functions.md", "## The program"),
        ("site-operator", "docs/src/workflows.md", "## The program"),
        ("greeter", "docs/src/tutorial.md", "## 2. The operator"),
    ] {
        let text = fs::read_to_string(repository.join(file))?;
        let beside = Beside::new(&repository, name)?;
        let program = block(&text, heading, "rust")?;
        fs::write(beside.package.join("src/main.rs"), program)?;
        if file == "README.md" {
            other_ways(&text, program, &beside)?;
        }
        let said = beside.check()?;
        ensure!(said.is_empty(), "{file}: {}", rendered(&said));
    }
    Ok(())
}

/// What the compiler has said, as people read it.
pub(crate) fn rendered(said: &[Value]) -> String {
    said.iter().filter_map(|said| said["rendered"].as_str()).collect()
}

/// The reconcilers that the README shows replace the operator's `main`, each in a program of its own.
fn other_ways(readme: &str, program: &str, beside: &Beside) -> Result<()> {
    let children = program.split_once("#[tokio::main]").context("the operator has a main")?.0;
    let bins = beside.package.join("src/bin");
    fs::create_dir_all(&bins)?;
    let blocks = readme.matches("```rust\n").count();
    let ways = [("managed", "### With a reconciler"), ("explicit", "### Explicit invocation")];
    ensure!(blocks == 1 + ways.len(), "the README has {blocks} blocks of Rust");
    for (name, heading) in ways {
        let reconciler = block(readme, heading, "rust")?;
        let main = "fn main() {\n    Operator::builder().register(Greetings).assert_sound();\n}\n";
        fs::write(bins.join(name).with_extension("rs"), [children, reconciler, main].concat())?;
    }
    Ok(())
}

#[test]
fn the_quick_start_holds_two_commands_and_ci_runs_the_second() -> Result<()> {
    let readme = fs::read_to_string(repository().join("README.md"))?;
    let quick_start = readme.split_once("## Quick start").context("no quick start")?.1;
    let quick_start = quick_start.split_once("\n## ").context("nothing after the quick start")?.0;
    let commands: Vec<&str> = quick_start.lines().filter(|line| line.starts_with("cargo ")).collect();
    ensure!(commands.len() == 2, "the quick start has {commands:?}");
    let ci = fs::read_to_string(repository().join(".ci/run"))?;
    ensure!(ci.lines().last() == Some(commands[1]), "CI must end with {:?}", commands[1]);
    Ok(())
}

/// Cargo refuses to choose among several programs.
#[test]
fn the_first_command_of_the_quick_start_names_one_program() -> Result<()> {
    let readme = fs::read_to_string(repository().join("README.md"))?;
    let run = readme.lines().find_map(|line| line.strip_prefix("cargo run -p ")).context("no `cargo run`")?;
    let name = run.split(' ').next().context("`-p` has a name")?;
    let mut metadata = command(env!("CARGO"));
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]).current_dir(repository());
    let metadata: Value = serde_json::from_slice(&metadata.output()?.stdout)?;
    let packages = metadata["packages"].as_array().context("there are packages")?;
    let package = packages.iter().find(|package| package["name"] == name).context("no such package")?;
    let targets = package["targets"].as_array().context("it has targets")?;
    let programs: Vec<&Value> = targets
        .iter()
        .filter(|target| target["kind"] == json!(["bin"]))
        .map(|target| &target["name"])
        .collect();
    let chosen = &package["default_run"];
    ensure!(programs.len() == 1 || programs.contains(&chosen), "{programs:?}, and `default-run` is {chosen}");
    Ok(())
}
