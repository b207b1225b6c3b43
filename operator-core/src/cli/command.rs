//! The command line as clap sees it.

#[cfg(feature = "testing")]
use std::time::Duration;
use std::{net::SocketAddr, path::PathBuf};

use clap::{
    ArgMatches, Args, FromArgMatches, Parser, Subcommand, ValueEnum,
    builder::NonEmptyStringValueParser,
    error::{ContextKind, ContextValue},
};

use super::output::OutputStyle;

/// The whole command line of an operator without commands of its own.
#[derive(Debug, Parser)]
#[command(about = "A Kubernetes operator", long_about = None, disable_help_subcommand = true)]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) output: OutputStyle,
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

/// Says where `dev` comes from, if the operator was built without it.
pub(super) fn with_tip(mut error: clap::Error) -> clap::Error {
    if matches!(error.get(ContextKind::InvalidSubcommand), Some(ContextValue::String(name)) if name == "dev")
    {
        let tip = "`dev` comes with the feature `testing` of `operator-core`";
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The commands of every operator. An operator with commands of its own flattens it into its own enum, and
/// passes what was given to [`CommandLine::execute`](super::CommandLine::execute).
#[derive(Clone, Debug)]
pub struct OperatorCommand(pub(super) Command);

/// As clap's derive makes it of the private enum.
impl FromArgMatches for OperatorCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Command::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Subcommand for OperatorCommand {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        Command::augment_subcommands(command)
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        Command::augment_subcommands_for_update(command)
    }

    fn has_subcommand(name: &str) -> bool {
        Command::has_subcommand(name)
    }
}

/// The commands.
#[derive(Clone, Debug, Subcommand)]
pub(super) enum Command {
    /// Run the operator against the cluster of the current kubeconfig, or the one that the pod runs in
    Run(RunArgs),
    /// Print the custom resource definitions as YAML; talks to no cluster
    Crd(CrdArgs),
    /// Print the workflows of the operator: what depends on what, under which conditions; talks to no cluster
    Graph(GraphArgs),
    /// Run the operator against a control plane of its own, which ends with the command, and show what it does
    #[cfg(feature = "testing")]
    Dev(DevArgs),
}

impl Command {
    /// The style that was asked for.
    pub(super) fn style(&self) -> Option<&str> {
        match self {
            Self::Run(RunArgs { style, .. }) | Self::Graph(GraphArgs { style, .. }) => style.as_deref(),
            Self::Crd(_) => None,
            #[cfg(feature = "testing")]
            Self::Dev(DevArgs { style, .. }) => style.as_deref(),
        }
    }
}

/// The arguments of `run`.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct RunArgs {
    /// The context of the kubeconfig; the current one by default
    #[arg(long, value_name = "NAME")]
    pub(super) context: Option<String>,
    /// The form of the log; RUST_LOG says what is in it
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub(super) log: LogForm,
    /// Work only while this replica holds this lease, as `name` or `namespace/name`; by default as the operator declares it
    #[arg(long, value_name = "LEASE")]
    pub(super) leader_election: Option<String>,
    /// Work in these namespaces only, with a comma between them; by default in those that the controllers declare
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = NonEmptyStringValueParser::new())]
    pub(super) namespaces: Vec<String>,
    /// Take settings from this file of YAML; environment variables that begin with OPERATOR_ win over it, and other options
    /// over both
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// Serve /metrics, /healthz and /readyz at this address, as `0.0.0.0:8080`; by default as the operator declares it
    #[arg(long, value_name = "ADDRESS")]
    pub(super) http: Option<SocketAddr>,
    /// Which of the ways in which the operator is declared
    #[arg(long, hide = true, value_name = "NAME")]
    pub(super) style: Option<String>,
}

/// The form of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum LogForm {
    /// Lines for people.
    #[default]
    Human,
    /// One JSON object on each line.
    Json,
}

/// The arguments of `crd`.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct CrdArgs {
    /// Print nothing, and exit with 2 if the file doesn't hold just this
    #[arg(long, value_name = "FILE")]
    pub(super) check: Option<PathBuf>,
}

/// The arguments of `graph`.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct GraphArgs {
    /// The form of the output
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub(super) format: GraphForm,
    /// Instead: what is removed, and what stays, if this node isn't wanted any more
    #[arg(long, value_name = "NODE")]
    pub(super) removes: Option<String>,
    /// Which of the ways in which the operator is declared
    #[arg(long, hide = true, value_name = "NAME")]
    pub(super) style: Option<String>,
}

/// The form of a graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum GraphForm {
    /// A line for each node, below what it depends on.
    #[default]
    Text,
    /// A Mermaid flowchart.
    Mermaid,
}

/// The arguments of `dev`.
#[cfg(feature = "testing")]
#[derive(Args, Clone, Debug)]
pub(super) struct DevArgs {
    /// Stop when everything has settled, and report the result by the exit code: 0 all ready, 3 waiting, 4 in error, 5
    /// not settled in time
    #[arg(long)]
    pub(super) once: bool,
    /// How long `--once` may take, without the start of the control plane
    #[arg(long, value_name = "TIME", default_value = "120s", value_parser = duration, requires = "once")]
    pub(super) timeout: Duration,
    /// How long `--once` waits for objects that are not ready when nothing happens any more
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = duration, requires = "once")]
    pub(super) patience: Duration,
    /// Apply these files of YAML, instead of the operator's own examples and scenarios
    #[arg(long, value_name = "FILE")]
    pub(super) apply: Vec<PathBuf>,
    /// The scenario that `--once` executes
    #[arg(long, hide = true, value_name = "NAME", requires = "once", conflicts_with = "apply")]
    pub(super) scenario: Option<String>,
    /// The namespace for objects that name none
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub(super) namespace: String,
    /// Start a real control plane, which is built with Go when it is first used, instead of the cluster inside this process
    #[arg(long)]
    pub(super) control_plane: bool,
    /// Which of the ways in which the operator is declared
    #[arg(long, hide = true, value_name = "NAME")]
    pub(super) style: Option<String>,
}

/// A duration as people write it: `90s`, `2m`, `1m30s`.
#[cfg(feature = "testing")]
fn duration(text: &str) -> Result<Duration, String> {
    let duration: jiff::SignedDuration = text.parse().map_err(|error: jiff::Error| error.to_string())?;
    Duration::try_from(duration).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;

    #[test]
    fn an_operator_without_dev_says_where_it_comes_from() {
        let operator = || Command::new("wiki").subcommand(Command::new("run"));
        let error = |given| operator().try_get_matches_from(["wiki", given]).expect_err("no such command");
        let told = with_tip(error("dev")).to_string();
        assert!(told.contains("tip: `dev` comes with the feature `testing` of `operator-core`"), "{told}");
        assert!(!with_tip(error("debug")).to_string().contains("testing"), "another one has no such tip");
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[cfg(feature = "testing")]
    #[test]
    fn durations_are_written_as_people_do() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1m30s"), Ok(Duration::from_secs(90)));
        assert!(duration("soon").is_err());
        assert!(duration("-3s").is_err());
    }

    #[cfg(feature = "testing")]
    proptest::proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn any_duration_is_understood_or_refused(text in "-?[0-9]{0,12}(ms|s|m|h|d)?[0-9]{0,12}(ms|s)?|.{0,8}") {
            if let Ok(duration) = duration(&text) {
                proptest::prop_assert!(!text.starts_with('-') || duration.is_zero(), "{text}: {duration:?}");
            }
        }
    }
}
