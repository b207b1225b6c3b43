//! The README's operator is built literally: its dependency lines, its code, in an empty folder beside the clone.

mod all_events;
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
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Output,
};

use integration_tests::command;
use integration_tests::prelude::*;

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

/// A package without code with the features that the workspace's own tests need: what was checked for them isn't
/// checked again. Without it, only time is lost. `README_ALONE=1` leaves it out: then the README's lines have to
/// suffice, as for its reader.
const ALIKE: &str = r#"
[package]
name = "alike"
edition = "2024"

[dependencies]
bitflags = { version = "2", features = ["std"] }
either = { version = "1", features = ["use_std"] }
fastrand = "2"
kube = { version = "5", default-features = false, features = ["runtime", "unstable-runtime"] }
tokio = { version = "1", features = ["process", "io-util", "test-util"] }
tokio-rustls = { version = "0.26", default-features = false, features = ["ring"] }
tokio-util = { version = "0.7", features = ["time"] }
zerocopy = { version = "0.8", features = ["derive"] }

[build-dependencies]
proc-macro2 = { version = "1", features = ["span-locations"] }
syn = { version = "3", features = ["visit", "visit-mut"] }
"#;

/// The profile of development in the workspace's manifest. The library for tests is none of an operator's crates.
fn profile(manifest: &str) -> String {
    let sections = manifest.split("\n[").skip(1).filter(|section| section.starts_with("profile.dev"));
    sections
        .filter(|section| !section.contains("test-cluster"))
        .map(|section| format!("[{section}\n"))
        .collect()
}

/// A package in a folder beside the clone, with the dependencies that the README names.
pub(crate) struct Beside {
    pub(crate) package: PathBuf,
}

impl Beside {
    pub(crate) fn new(repository: &Path, name: &str) -> Result<Self> {
        let readme = fs::read_to_string(repository.join("README.md"))?;
        let dependencies = block(&readme, "## An operator", "toml")?;
        // Always the same folder, with one path to the library: it is checked once for all packages.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("beside");
        let package = folder.join(name);
        if package.exists() {
            fs::remove_dir_all(&package)?;
        }
        fs::create_dir_all(package.join("src"))?;
        let clone = folder.join("operator-sdk");
        symlink(repository, &clone).or_else(|error| if clone.is_symlink() { Ok(()) } else { Err(error) })?;
        let leads_to = fs::read_link(&clone)?;
        ensure!(leads_to == repository, "{} leads to {}: remove it", clone.display(), leads_to.display());
        let profile = profile(&fs::read_to_string(repository.join("Cargo.toml"))?);
        let mut manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[workspace]\n\n{dependencies}\n{profile}"
        );
        if std::env::var_os("README_ALONE").is_none() {
            manifest.push_str("[dependencies.alike]\npath = \"alike\"\n");
            fs::create_dir_all(package.join("alike/src"))?;
            fs::write(package.join("alike/src/lib.rs"), "")?;
            fs::write(package.join("alike/Cargo.toml"), ALIKE)?;
        }
        fs::write(package.join("Cargo.toml"), manifest)?;
        // The same versions as everywhere else, so that this test is about the README and not about today's registry.
        fs::copy(repository.join("Cargo.lock"), package.join("Cargo.lock"))?;
        Ok(Self { package })
    }

    /// Depends on another crate of the clone, too.
    pub(crate) fn add(&self, name: &str, folder: &str) -> Result<()> {
        let path = self.package.join("Cargo.toml");
        let manifest = fs::read_to_string(&path)?;
        let more = format!("\n[dependencies.{name}]\npath = \"../operator-sdk/{folder}\"\n");
        Ok(fs::write(path, manifest + &more)?)
    }

    /// Runs cargo, with the workspace's target folder.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Result<Output> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().context("a folder above")?;
        let mut cargo = command(env!("CARGO"));
        cargo.args(arguments).current_dir(&self.package);
        Ok(cargo.env("CARGO_TARGET_DIR", target).output()?)
    }
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
        let output = beside.cargo(&["check", "--quiet"])?;
        ensure!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
        ensure!(output.stderr.is_empty(), "{file}, warnings: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
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
