//! What `dev` uses in addition to the operator's declaration.

use std::{path::PathBuf, sync::Arc};

use clap::{Command, builder::PossibleValuesParser};
use serde_json::Value;

use super::{Error, Readiness, Scenario, fixture::Fixture, ready::Judge};

/// What `dev` uses in addition to the operator's declaration: manifests, examples, hints, scenarios. All of it is
/// optional, and nothing of it is used in a binary that was built without the feature `testing`, which has no `dev`.
///
/// Files are read when `dev` starts, so a changed role or example needs no build. A relative path begins in the working
/// directory; `concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/rbac.yaml")` is beside the crate's `Cargo.toml`.
#[derive(Clone, Debug, Default)]
#[must_use = "a workbench does nothing until it is given to a command line"]
pub struct Workbench {
    pub(super) manifests: Vec<Fixture>,
    pub(super) examples: Vec<Fixture>,
    pub(super) hints: Vec<String>,
    /// With their names. The first is the default.
    pub(super) scenarios: Vec<(&'static str, Scenario)>,
    pub(super) judge: Judge,
}

impl Workbench {
    /// Nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies these manifests before the operator starts. If they contain a service account, the operator runs under
    /// it, with the rights that they grant. Leave out the Deployment: `dev` is the operator.
    pub fn manifests(mut self, yaml: impl Into<String>) -> Self {
        self.manifests.push(Fixture::text(yaml));
        self
    }

    /// The same with YAML files.
    pub fn manifest_files(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.manifests.extend(files.into_iter().map(Fixture::file));
        self
    }

    /// Applies these objects once the operator runs.
    pub fn example(mut self, yaml: impl Into<String>) -> Self {
        self.examples.push(Fixture::text(yaml));
        self
    }

    /// The same with YAML files.
    pub fn example_files(mut self, files: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.examples.extend(files.into_iter().map(Fixture::file));
        self
    }

    /// Something to try, as arguments of kubectl: `dev` prints it as a line that can be pasted into a shell.
    pub fn hint(mut self, kubectl: impl Into<String>) -> Self {
        self.hints.push(kubectl.into());
        self
    }

    /// Adds a scenario. `dev --once --scenario NAME` executes it instead of applying the examples; without a name, the
    /// first one is executed.
    pub fn scenario(mut self, name: &'static str, scenario: Scenario) -> Self {
        self.scenarios.push((name, scenario));
        self
    }

    /// How to tell whether a primary is ready, for kinds whose status follows none of the conventions that
    /// [`Readiness::of`] knows.
    pub fn readiness(mut self, judge: impl Fn(&Value) -> Readiness + Send + Sync + 'static) -> Self {
        self.judge = Judge(Arc::new(judge));
        self
    }

    /// Reads all files, and keeps the one scenario that is executed. The user's files replace the examples and the scenarios:
    /// both are about the operator's own examples.
    pub(super) fn read(mut self, files: &[PathBuf], scenario: Option<&str>) -> Result<Self, Error> {
        if let Some(name) = scenario {
            let chosen = self.scenarios.iter().position(|(known, _)| *known == name);
            let Some(chosen) = chosen else {
                let known: Vec<_> = self.scenario_names().collect();
                return Err(Error::NoSuchScenario { scenario: name.to_owned(), known: known.join(", ") });
            };
            self.scenarios.swap(0, chosen);
        }
        self.scenarios.truncate(1);
        if !files.is_empty() {
            self.examples = files.iter().map(Fixture::file).collect();
            self.scenarios.clear();
        }
        self.manifests.iter_mut().chain(&mut self.examples).try_for_each(Fixture::read)?;
        self.scenarios.iter_mut().try_for_each(|(_, scenario)| scenario.read())?;
        Ok(self)
    }

    fn scenario_names(&self) -> impl Iterator<Item = &'static str> {
        self.scenarios.iter().map(|(name, _)| *name)
    }

    /// Shows `--scenario` in the help of `dev` where there is something to choose.
    pub(in crate::cli) fn describe(&self, command: Command) -> Command {
        let Some(first) = self.scenario_names().next() else { return command };
        let help = format!("The scenario that `--once` executes; {first} by default");
        let names: Vec<&str> = self.scenario_names().collect();
        command.mut_subcommand("dev", |dev| {
            dev.mut_arg("scenario", |argument| {
                argument.hide(false).help(help).value_parser(PossibleValuesParser::new(names))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cli::dev::Step;

    #[test]
    fn files_are_read_at_the_start_and_a_missing_one_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = |name: &str| folder.path().join(name);
        let bench = || {
            let step = Step::new("create").apply_files([file("step")]);
            let workbench = Workbench::new().manifest_files([file("role")]).example_files([file("example")]);
            workbench.scenario("life", Scenario::new().step(step))
        };
        for name in ["role", "example", "step"] {
            let error = bench().read(&[], None).expect_err("it is missing").to_string();
            assert_eq!(error, format!("could not read {}", file(name).display()));
            fs::write(file(name), "before").expect("it is written");
        }
        let declared = bench();
        fs::write(file("role"), "after").expect("it is written");
        let read = declared.read(&[], None).expect("all are there");
        assert!(matches!(&read.manifests[..], [Fixture { text, .. }] if text == "after"));
        // The user's files are read instead of the examples and the scenarios.
        fs::remove_file(file("example")).expect("it is removed");
        let read = bench().read(&[file("role")], None).expect("all that is asked for is there");
        assert!(read.scenarios.is_empty() && read.examples.len() == 1);
    }

    #[test]
    fn a_scenario_is_chosen_by_its_name() {
        let of = |step: &str| Scenario::new().step(Step::new(step));
        let bench = || Workbench::new().scenario("life", of("create")).scenario("trouble", of("break"));
        let chosen = |name| {
            let read = bench().read(&[], name)?;
            Ok::<_, Error>(
                read.scenarios.iter().map(|(_, scenario)| scenario.steps[0].name.clone()).collect::<Vec<_>>(),
            )
        };
        assert_eq!(chosen(None).expect("the first"), ["create"]);
        assert_eq!(chosen(Some("trouble")).expect("the second"), ["break"]);
        let error = chosen(Some("toil")).expect_err("there is none");
        assert_eq!(error.to_string(), "this operator has no scenario `toil`");
        assert!(error.advice("wiki").ends_with("one of life, trouble"), "{}", error.advice("wiki"));
    }
}
