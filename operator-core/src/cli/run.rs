//! `run`: the operator against a real cluster, until it is stopped.

use std::time::Duration;

use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig, KubeconfigError},
};

use super::{Error, ExitStatus, RunArgs, kubeconfig::read_kubeconfig, log, output::Output};
use crate::{
    client::from_kubeconfig,
    configuration::{ConfigEntry, ConfigLoader},
    operator::OperatorBuilder,
};

pub(super) async fn run(
    builder: OperatorBuilder,
    args: &RunArgs,
    output: Output,
    runs: impl FnOnce(Duration),
) -> Result<ExitStatus, Error> {
    let target = Target::find(&builder, args.context.as_deref()).await?;
    output.note(&format!("{target}{}", only_in(&args.namespaces)));
    let _log = log::start(args.log, "info", output);
    until_told(builder.config(target.config), runs).await
}

/// The operator with the settings of the file, the environment and these arguments, each of which wins over the ones before.
pub(super) fn configured(builder: OperatorBuilder, args: &RunArgs) -> Result<OperatorBuilder, Error> {
    let mut settings = ConfigLoader::new();
    if let Some(file) = &args.config {
        settings = settings.file(file);
    }
    builder.configured_by(settings.environment().said(said(args))).resolved().map_err(Error::Declaration)
}

/// What the arguments say, as settings.
fn said(args: &RunArgs) -> Vec<ConfigEntry> {
    let mut said = Vec::new();
    let mut say = |option: &str, key: &str, value: &str| {
        said.push(ConfigEntry::new(format!("operator.{key}"), value, format!("--{option}")));
    };
    if let Some(lease) = &args.leader_election {
        let (namespace, name) = match lease.split_once('/') {
            Some((namespace, name)) => (Some(namespace), name),
            None => (None, &**lease),
        };
        say("leader-election", "leader-election.enabled", "true");
        say("leader-election", "leader-election.lease-name", name);
        if let Some(namespace) = namespace {
            say("leader-election", "leader-election.lease-namespace", namespace);
        }
    }
    if !args.namespaces.is_empty() {
        say("namespaces", "namespaces", &args.namespaces.join(","));
    }
    if let Some(address) = args.http {
        say("http", "http-address", &address.to_string());
    }
    said
}

/// Runs the operator until it receives a signal to stop, or can't start. `runs` is called with the time that it may
/// drain.
async fn until_told(builder: OperatorBuilder, runs: impl FnOnce(Duration)) -> Result<ExitStatus, Error> {
    let termination_timeout = builder.longest_drain();
    let operator = builder.build()?;
    runs(termination_timeout);
    Ok(operator.run().await?.into())
}

/// What the first line says about the requested namespaces.
fn only_in(namespaces: &[String]) -> String {
    if namespaces.is_empty() { String::new() } else { format!("  only in: {}", namespaces.join(", ")) }
}

/// The cluster that a command is about to use.
pub(super) struct Target {
    pub(super) name: String,
    pub(super) user: Option<String>,
    pub(super) config: Config,
}

impl Target {
    async fn find(builder: &OperatorBuilder, context: Option<&str>) -> Result<Self, Error> {
        if let Some(config) = builder.configured() {
            return Ok(Self { name: "configured".to_owned(), user: None, config: config.clone() });
        }
        let options =
            KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
        let found = match read_kubeconfig() {
            Ok(kubeconfig) => Self::of_kubeconfig(kubeconfig, &options).await,
            Err(error) if is_missing(&error) => Err(Error::NoCluster(Box::new(error))),
            Err(error) => Err(Error::Kubeconfig(Box::new(error))),
        };
        match found {
            // A context that was asked for by name, or a kubeconfig with a mistake, must not turn into another cluster.
            Err(error @ Error::NoCluster(_)) if context.is_none() => match Config::incluster() {
                Ok(config) => Ok(Self { name: "in-cluster".to_owned(), user: None, config }),
                Err(_) if std::env::var_os(IN_CLUSTER).is_none() => Err(error),
                Err(error) => Err(Error::ServiceAccount(Box::new(error))),
            },
            found => found,
        }
    }

    async fn of_kubeconfig(kubeconfig: Kubeconfig, options: &KubeConfigOptions) -> Result<Self, Error> {
        let current = options.context.clone().or_else(|| kubeconfig.current_context.clone());
        let name = current.filter(|name| !name.is_empty()).unwrap_or_default();
        let known: Vec<_> = kubeconfig.contexts.iter().map(|context| context.name.clone()).collect();
        if name.is_empty() && known.is_empty() {
            return Err(Error::NoCluster(Box::new(KubeconfigError::CurrentContextNotSet)));
        }
        if !known.contains(&name) {
            return Err(Error::NoContext { name, known });
        }
        let user = kubeconfig
            .contexts
            .iter()
            .find(|context| context.name == name)
            .and_then(|context| context.context.as_ref()?.user.clone());
        let config =
            from_kubeconfig(kubeconfig, options).await.map_err(|error| Error::Kubeconfig(Box::new(error)))?;
        Ok(Self { name, user, config })
    }
}

/// The variable that each container of a pod has.
const IN_CLUSTER: &str = "KUBERNETES_SERVICE_HOST";

/// Whether there is no kubeconfig at all.
fn is_missing(error: &KubeconfigError) -> bool {
    match error {
        KubeconfigError::FindPath => true,
        KubeconfigError::ReadConfig(error, _) => error.kind() == std::io::ErrorKind::NotFound,
        _ => false,
    }
}

/// The first line of every command that talks to a cluster: it shows where the command goes before it does anything.
impl std::fmt::Display for Target {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = self.config.cluster_url.to_string();
        let url = url.trim_end_matches('/');
        write!(f, "cluster: {} ({url})  namespace: {}", self.name, self.config.default_namespace)?;
        match self.config.auth_info.impersonate.as_ref().or(self.user.as_ref()) {
            Some(user) => write!(f, "  as: {user}"),
            None => Ok(()),
        }
    }
}

#[cfg(feature = "testing")]
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use k8s_openapi::api::core::v1::ConfigMap;

    use super::*;
    use crate::{
        cli::{OutputStyle, ended},
        controller::Controller,
        operator::Operator,
        reconciler::{BoxError, Context, Reconciler, UpdateControl},
        testing::TestCluster,
    };

    struct Idle;

    impl Reconciler for Idle {
        type Primary = ConfigMap;

        async fn reconcile(
            &self,
            _: &ConfigMap,
            _: &mut Context<ConfigMap>,
        ) -> Result<UpdateControl<ConfigMap>, BoxError> {
            Ok(UpdateControl::no_update())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_start_without_a_right_ends_with_1_and_says_how_to_look_for_it() {
        let cluster = TestCluster::in_process();
        let builder = cluster.connect(Operator::builder()).config(cluster.config_as("nobody", &[]));
        let builder = builder
            .register(Controller::builder(Idle).name("idle").namespaces(["shop"]))
            .cache_sync_timeout(Duration::from_secs(10))
            .stop_on_source_error_at_start(true);
        let ended_by = tokio::time::timeout(Duration::from_secs(60), until_told(builder, |_| {})).await;
        assert!(matches!(ended_by, Ok(Err(_))), "it runs, or has ended well: {ended_by:?}");
        let Ok(Err(error)) = ended_by else { return };
        let why = error.why().unwrap_or_default();
        assert!(why.starts_with("not synced within 10 s: source primary of controller idle"), "{why}");
        let advice = error.advice("web");
        assert_eq!(advice, "kubectl auth can-i --list --namespace shop --as <account>; then web run");
        let output = Output::new(OutputStyle::default());
        assert_eq!(ended(Err(error), output), ExitStatus::Failed);
    }
}
