//! A package in a folder beside the clone, with the dependencies that the README names, and what the compiler says about it.
//!
//! ```text
//! README's lines ─▶ Cargo.toml ─┬─ README_ALONE=1: cargo checks it, as for its reader, with all that it depends on
//!                               └─ otherwise: the compiler alone, with the libraries that these tests are built with
//! ```
//!
//! The second takes a tenth of the time. It shows that the programs need no other crates; that the features suffice is shown by the first,
//! at night.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::OnceLock,
    thread,
};

use integration_tests::command;
use integration_tests::prelude::*;

use crate::block;

/// The profile of development in the workspace's manifest. The library for tests is none of an operator's crates.
fn profile(manifest: &str) -> String {
    let sections = manifest.split("\n[").skip(1).filter(|section| section.starts_with("profile.dev"));
    sections
        .filter(|section| !section.contains("test-cluster"))
        .map(|section| format!("[{section}\n"))
        .collect()
}

pub(crate) struct Beside {
    pub(crate) package: PathBuf,
    name: String,
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
        let manifest = format!(
            "[package]\nname = \"{name}\"\nedition = \"2024\"\n\n[workspace]\n\n{dependencies}\n{profile}"
        );
        fs::write(package.join("Cargo.toml"), manifest)?;
        // The same versions as everywhere else, so that this test is about the README and not about today's registry.
        fs::copy(repository.join("Cargo.lock"), package.join("Cargo.lock"))?;
        Ok(Self { package, name: name.to_owned() })
    }

    /// Depends on another crate of the clone, too.
    pub(crate) fn add(&self, name: &str, folder: &str) -> Result<()> {
        let path = self.package.join("Cargo.toml");
        let manifest = fs::read_to_string(&path)?;
        let more = format!("\n[dependencies.{name}]\npath = \"../operator-sdk/{folder}\"\n");
        Ok(fs::write(path, manifest + &more)?)
    }

    /// The errors and warnings about all of its programs, as the compiler writes them in JSON.
    pub(crate) fn check(&self) -> Result<Vec<Value>> {
        if std::env::var_os("README_ALONE").is_some() {
            return self.check_by_cargo();
        }
        let externs = self.externs()?;
        let programs = self.programs()?;
        let half = programs.len().div_ceil(2);
        let check = |programs: &[(String, PathBuf)]| -> Result<Vec<Value>> {
            let said = programs.iter().map(|(name, file)| self.compile(name, file, &externs));
            Ok(said.collect::<Result<Vec<_>>>()?.concat())
        };
        let (first, second) = programs.split_at(half);
        thread::scope(|scope| {
            let other = scope.spawn(|| check(second));
            let mut said = check(first)?;
            said.extend(other.join().expect("it doesn't panic")?);
            Ok(said)
        })
    }

    fn check_by_cargo(&self) -> Result<Vec<Value>> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().context("a folder above")?;
        let mut cargo = command(env!("CARGO"));
        cargo.args(["check", "--bins", "--keep-going", "--quiet", "--message-format=json"]);
        let output = cargo.current_dir(&self.package).env("CARGO_TARGET_DIR", target).output()?;
        let said = json_lines(&output.stdout);
        let mine = |message: &Value| message["reason"] == "compiler-message";
        let said: Vec<_> = said.filter(mine).map(|mut message| message["message"].take()).collect();
        complain(&output, &said)?;
        Ok(said)
    }

    /// The programs' names, and where each begins.
    fn programs(&self) -> Result<Vec<(String, PathBuf)>> {
        let mut programs = Vec::new();
        let main = self.package.join("src/main.rs");
        if main.is_file() {
            programs.push((self.name.clone(), main));
        }
        let bins = self.package.join("src/bin");
        for entry in bins.is_dir().then(|| fs::read_dir(bins)).transpose()?.into_iter().flatten() {
            let path = entry?.path();
            let name = path.file_stem().context("a name")?.to_string_lossy().into_owned();
            programs.push((name, if path.is_dir() { path.join("main.rs") } else { path }));
        }
        Ok(programs)
    }

    /// What the compiler says about one program.
    fn compile(&self, name: &str, file: &Path, externs: &[(String, PathBuf)]) -> Result<Vec<Value>> {
        let mut rustc = command(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc.args([
            "--edition=2024",
            "--crate-type=bin",
            "--emit=metadata",
            "--error-format=json",
            "--crate-name",
        ]);
        let file = file.strip_prefix(&self.package)?;
        rustc.arg(name.replace("-", "_")).arg("--out-dir").arg(&self.package).arg(file).arg("-L");
        rustc.arg(format!("dependency={}", libraries()?.folder.display()));
        for (name, library) in externs {
            rustc.arg("--extern").arg(format!("{name}={}", library.display()));
        }
        let package = [("CARGO_MANIFEST_DIR", self.package.as_os_str()), ("CARGO_PKG_NAME", name.as_ref())];
        let output =
            rustc.current_dir(&self.package).envs(package).env("CARGO_PKG_VERSION", "0.0.0").output()?;
        let said: Vec<_> =
            json_lines(&output.stderr).filter(|said| said["level"] != "failure-note").collect();
        complain(&output, &said)?;
        Ok(said)
    }

    /// The libraries that the manifest names, and where they are.
    fn externs(&self) -> Result<Vec<(String, PathBuf)>> {
        let manifest = fs::read_to_string(self.package.join("Cargo.toml"))?;
        let mut is_list = false;
        let mut externs = Vec::new();
        for line in manifest.lines() {
            if let Some(section) = line.strip_prefix('[') {
                is_list = section == "dependencies]";
                let named = section.strip_prefix("dependencies.").and_then(|name| name.strip_suffix(']'));
                externs.extend(named.map(|name| libraries()?.find(name, "")).transpose()?);
            } else if let Some((name, rest)) = line.split_once(" = ").filter(|_| is_list) {
                let mut quoted = rest.split('"').skip(1);
                let version = if rest.contains("path =") { None } else { quoted.next() };
                externs.push(libraries()?.find(name, version.unwrap_or_default())?);
            }
        }
        Ok(externs)
    }
}

fn json_lines(text: &[u8]) -> impl Iterator<Item = Value> {
    text.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

/// A command that fails and says nothing about any code wasn't understood.
fn complain(output: &Output, said: &[Value]) -> Result<()> {
    let is_explained = output.status.success() || said.iter().any(|said| said["level"] == "error");
    ensure!(is_explained, "{}", String::from_utf8_lossy(&output.stderr));
    Ok(())
}

/// What the workspace's tests are built with.
struct Libraries {
    folder: PathBuf,
    /// Of each its name, version and number of features, and its file.
    all: Vec<(String, String, usize, PathBuf)>,
}

/// Cargo says it, without building anything: all of it was built for these tests.
fn libraries() -> Result<&'static Libraries> {
    static LIBRARIES: OnceLock<Result<Libraries, String>> = OnceLock::new();
    let found = LIBRARIES.get_or_init(|| Libraries::ask().map_err(|error| format!("{error:#}")));
    found.as_ref().map_err(|error| anyhow::anyhow!("{error}"))
}

impl Libraries {
    fn ask() -> Result<Self> {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().context("a folder above")?;
        let mut cargo = command(env!("CARGO"));
        cargo.args(["test", "--workspace", "--no-run", "--quiet", "--message-format=json"]);
        same_compiler(&mut cargo);
        let output = cargo.current_dir(crate::repository()).env("CARGO_TARGET_DIR", target).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let all: Vec<_> = json_lines(&output.stdout).filter_map(|artifact| library(&artifact)).collect();
        let core = all.iter().find(|(name, ..)| name == "operator_core").context("the library is built")?;
        let folder = core.3.parent().context("a folder")?.to_owned();
        Ok(Self { folder, all })
    }

    /// Of several with a fitting version, that with the most features: what is built for macros has fewer.
    fn find(&self, name: &str, version: &str) -> Result<(String, PathBuf)> {
        let name = name.replace('-', "_");
        let fits = |of: &str| version.is_empty() || of == version || of.starts_with(&format!("{version}."));
        let fitting = self.all.iter().filter(|(of, is, ..)| *of == name && fits(is));
        let found = fitting.max_by_key(|(_, _, features, _)| *features);
        let found = found.with_context(|| format!("no library {name} {version} is built"))?;
        Ok((name, found.3.clone()))
    }
}

/// In CI a linter stands in for the compiler: with another one, everything would be built anew.
fn same_compiler(cargo: &mut Command) {
    if let Some(wrapper) = std::env::var_os("RUSTC_WORKSPACE_WRAPPER") {
        cargo.env("RUSTC_WORKSPACE_WRAPPER", wrapper);
    }
}

fn library(artifact: &Value) -> Option<(String, String, usize, PathBuf)> {
    let of_tests = artifact["profile"]["test"] == true;
    let kinds = artifact["target"]["kind"].as_array()?;
    let is_library = kinds.iter().any(|kind| kind == "lib" || kind == "rlib");
    if artifact["reason"] != "compiler-artifact" || of_tests || !is_library {
        return None;
    }
    let files = artifact["filenames"].as_array()?.iter().filter_map(Value::as_str);
    let file = files.filter(|file| file.ends_with(".rmeta")).map(PathBuf::from).next()?;
    let id = artifact["package_id"].as_str()?;
    let version = id.rsplit(['#', '@']).next()?.to_owned();
    let features = artifact["features"].as_array()?.len();
    Some((artifact["target"]["name"].as_str()?.replace('-', "_"), version, features, file))
}
