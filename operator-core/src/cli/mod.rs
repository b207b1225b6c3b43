//! The commands of every operator's binary: `run`, `crd`, `graph` and, with the feature `testing`, `dev`.
//!
//! ```no_run
//! use operator_core::{Operator, OperatorBuilder, cli::CommandLine};
//!
//! fn operator() -> OperatorBuilder {
//!     Operator::builder() // … .register(controller)
//! }
//!
//! #[tokio::main]
//! async fn main() -> std::process::ExitCode {
//!     CommandLine::new(operator()).main().await
//! }
//! ```
//!
//! # Guarantees
//! - The result of a command goes to stdout, everything else to stderr.
//! - `crd` and `graph` contact no cluster and print the same text for the same declaration.
//! - Commands that talk to a cluster say which one in their first line on stderr.
//! - Every failure is three lines (what, why, what to type next) and an exit code from one table, in the book's page "Commands".
//! - Each command first checks the declaration for mistakes: three lines for each (what, why, what to write), and
//!   the exit code 78.

mod command;
mod crd;
#[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "only `dev` reads what is declared for it"))]
pub mod dev;
mod error;
mod exit;
mod graph;
mod kubeconfig;
mod log;
#[cfg_attr(not(feature = "testing"), allow(dead_code, reason = "most marks and lines are those of `dev`"))]
mod output;
mod run;
mod styles;

use std::{process::ExitCode, time::Duration};

use clap::{CommandFactory, FromArgMatches};

use crate::operator::{self, OperatorBuilder};

pub use command::OperatorCommand;
pub use output::OutputStyle;

#[cfg(feature = "testing")]
use command::DevArgs;
use command::{Cli, Command, CrdArgs, GraphArgs, GraphForm, LogForm, RunArgs};
use error::Error;
use exit::ExitStatus;
use output::Output;
use styles::Declared;

/// The command line of an operator: its declaration, and what `dev` may use in addition.
#[derive(Debug)]
#[must_use = "a command line does nothing until `main` is awaited"]
pub struct CommandLine {
    operator: Declared,
    workbench: dev::Workbench,
}

impl CommandLine {
    /// The command line of `operator`. Each command first reports the mistakes in the declaration, and exits with code
    /// 78 if there are any.
    pub fn new(operator: OperatorBuilder) -> Self {
        Self::of(Declared::Once(Box::new(operator)))
    }

    /// The command line of an operator that is declared in several ways: `--style` of `run`, `dev` and `graph` chooses one by
    /// its name, and without it the first is used. A declaration is made only when its style is chosen.
    pub fn styles(styles: impl IntoIterator<Item = (&'static str, fn() -> OperatorBuilder)>) -> Self {
        Self::of(Declared::InStyles(styles.into_iter().collect()))
    }

    fn of(operator: Declared) -> Self {
        Self { operator, workbench: dev::Workbench::default() }
    }

    /// Sets what `dev` uses in addition to the operator. A binary without the feature `testing` has no `dev`, and ignores
    /// it.
    pub fn dev(mut self, workbench: dev::Workbench) -> Self {
        self.workbench = workbench;
        self
    }

    /// Reads the arguments of the process and executes the command.
    ///
    /// Without a command, the operator runs if it is in a pod, and otherwise prints help.
    ///
    /// The process belongs to this command: when `run` has ended it exits within two seconds, and after SIGTERM or
    /// Ctrl-C ten seconds after the termination timeout at the latest. A run that blocks its thread could otherwise
    /// keep the runtime alive forever, or keep it from receiving signals.
    pub async fn main(self) -> ExitCode {
        let described = self.operator.describe(Cli::command());
        #[cfg(feature = "testing")]
        let described = self.workbench.describe(described);
        let mut described = described;
        let parsed = described
            .try_get_matches_from_mut(std::env::args_os())
            .and_then(|matches| Cli::from_arg_matches(&matches));
        match parsed {
            Ok(Cli { output, command: Some(command) }) => self.process(command, output).await,
            Ok(Cli { output, command: None }) if in_pod() => {
                self.process(Command::Run(RunArgs::default()), output).await
            }
            Ok(Cli { output, command: None }) => {
                let output = Output::new(output);
                if let Err(error) = self.operator.in_style(None).and_then(|operator| sound(&operator)) {
                    return ended(Err(error), output).into();
                }
                output.note(&Cli::command().bin_name(program()).render_help().ansi().to_string());
                ExitStatus::Usage.into()
            }
            Err(error) => {
                let is_wrong = error.use_stderr();
                // If this can't be printed, an error can't be printed either.
                let _ = command::with_tip(error).print();
                if is_wrong { ExitStatus::Usage.into() } else { ExitStatus::Success.into() }
            }
        }
    }

    /// Executes the command of the whole process.
    async fn process(self, command: Command, output: OutputStyle) -> ExitCode {
        let runs = matches!(command, Command::Run(_));
        let status = self.executed(command, output, exit::when_told).await;
        if runs {
            exit::at_last(status);
        }
        status.into()
    }

    /// Executes a command that an operator with its own command line has parsed.
    pub async fn execute(self, command: OperatorCommand, output: OutputStyle) -> ExitCode {
        self.executed(command.0, output, drop).await.into()
    }

    /// `runs` is called with the termination timeout before an operator runs.
    async fn executed(
        self,
        command: Command,
        output: OutputStyle,
        runs: impl FnOnce(Duration),
    ) -> ExitStatus {
        let output = Output::new(output);
        let operator = self.operator.in_style(command.style());
        let result = match operator.and_then(|operator| prepared(operator, &command)) {
            Err(error) => Err(error),
            Ok(builder) => match command {
                Command::Run(args) => Box::pin(run::run(builder, &args, output, runs)).await,
                Command::Crd(args) => crd::crd(builder.crds(), &args, output),
                Command::Graph(args) => Ok(graph::graph(builder.controllers(), &args, output)),
                #[cfg(feature = "testing")]
                Command::Dev(args) => Box::pin(dev::dev(builder, self.workbench, &args, output)).await,
            },
        };
        ended(result, output)
    }
}

/// The operator for this command: declared well, and with its settings where something of it runs.
fn prepared(operator: OperatorBuilder, command: &Command) -> Result<OperatorBuilder, Error> {
    match command {
        Command::Run(args) => run::configured(operator, args),
        #[cfg(feature = "testing")]
        Command::Dev(_) => operator.resolved().map_err(Error::Declaration),
        Command::Crd(_) | Command::Graph(_) => sound(&operator).map(|()| operator),
    }
}

/// Whether the operator is declared well.
fn sound(operator: &OperatorBuilder) -> Result<(), Error> {
    operator.validate().map_err(Error::Declaration)
}

/// Reports what went wrong, if anything did.
fn ended(result: Result<ExitStatus, Error>, output: Output) -> ExitStatus {
    result.unwrap_or_else(|error| {
        report(&error, output);
        error.exit_status()
    })
}

impl OperatorBuilder {
    /// The command line of this operator: [`CommandLine::new`] and [`CommandLine::main`] in one.
    pub async fn main(self) -> ExitCode {
        CommandLine::new(self).main().await
    }
}

/// Three lines: what failed, why, what to type next; for a wrong declaration three for each mistake.
fn report(error: &Error, output: Output) {
    let mistakes = match error {
        Error::Declaration(mistakes) | Error::Operator(operator::Error::Definitions { mistakes, .. }) => {
            Some(mistakes)
        }
        _ => None,
    };
    if let Some(mistakes) = mistakes {
        for mistake in mistakes {
            output.note(&format!("{} {}", output.mark(output::Mark::Error), mistake.what()));
            output.note(&format!("  why   {}", mistake.why()));
            output.note(&format!("  write {}", mistake.write()));
        }
        return;
    }
    output.note(&format!("{} {error}", output.mark(output::Mark::Error)));
    if let Some(why) = error.why() {
        output.note(&format!("  why   {why}"));
    }
    output.note(&format!("  next  {}", error.advice(&program())));
}

/// How this program was called.
fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "operator".to_owned())
}

/// Whether this process is a container's first, or runs in a pod.
fn in_pod() -> bool {
    std::process::id() == 1 || std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}
