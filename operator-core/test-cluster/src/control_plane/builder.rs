//! Starts a control plane.

use std::{
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use k8s_openapi::{
    api::core::v1::Node, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::{
    Api, Client,
    api::PostParams,
    config::{KubeConfigOptions, Kubeconfig},
};

use super::{
    ControlPlane, Ours, Part,
    assets::{Assets, Source},
    modules::{AUDIT_POLICY, NODE, STAGES},
    part::Layout,
    process::Supervisor,
    progress, ready,
};
use crate::{
    certs::{self, Authority},
    crds::install_crd,
    error::Error,
    files::{make_folder, write},
    kubeconfig::kubeconfig,
    virtual_time::is_virtual,
};

/// How long the parts may take, as in Go's envtest.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A port may be taken by another process between finding and using it.
const ATTEMPTS: usize = 3;

/// A Unix socket's path may have at most about 104 bytes; this leaves room for the names in the folder.
const LONGEST_TEMPORARY_FOLDER: usize = 64;

/// What to start. Made by [`ControlPlane::builder`].
#[derive(Debug, Clone, Default)]
pub struct ControlPlaneBuilder {
    controller_manager: bool,
    scheduler: bool,
    kwok: bool,
    audit_log: bool,
    service_accounts: bool,
    crds: Vec<CustomResourceDefinition>,
    flags: Vec<(Part, String)>,
    start_timeout: Option<Duration>,
}

impl ControlPlaneBuilder {
    /// Runs kube-controller-manager: garbage collection, the end of namespaces, Deployments and so on.
    #[must_use]
    pub fn controller_manager(mut self, wanted: bool) -> Self {
        self.controller_manager = wanted;
        self
    }

    /// Runs kube-controller-manager and kube-scheduler.
    #[must_use]
    pub fn controllers(mut self, wanted: bool) -> Self {
        self.controller_manager = wanted;
        self.scheduler = wanted;
        self
    }

    /// Runs kwok with a node, on which every Pod becomes ready and every Pod of a Job completes. Needs the controllers,
    /// and so enables them, too.
    #[must_use]
    pub fn kwok(mut self, wanted: bool) -> Self {
        self.kwok = wanted;
        self
    }

    /// Writes an audit log, for [`ControlPlane::audit`].
    #[must_use]
    pub fn audit_log(mut self, wanted: bool) -> Self {
        self.audit_log = wanted;
        self
    }

    /// Leaves the admission plugin `ServiceAccount` on: each new Pod gets an account and the token of that account, and
    /// is refused while the account doesn't exist, which the controller manager makes.
    #[must_use]
    pub fn service_accounts(mut self, wanted: bool) -> Self {
        self.service_accounts = wanted;
        self
    }

    /// Installs these CRDs before the controllers start. The garbage collector looks for new kinds every 30 seconds;
    /// those that exist when it starts it knows at once.
    #[must_use]
    pub fn crds(mut self, crds: impl IntoIterator<Item = CustomResourceDefinition>) -> Self {
        self.crds.extend(crds);
        self
    }

    /// Passes one more flag to a part, after its own, as in `flag(Part::ApiServer, "--max-requests-inflight=2")`. If a
    /// flag is given twice, the last one counts.
    #[must_use]
    pub fn flag(mut self, part: Part, flag: impl Into<String>) -> Self {
        self.flags.push((part, flag.into()));
        self
    }

    /// How long the start may take, without the build of the binaries. By default the value of the variable
    /// `KUBEBUILDER_CONTROLPLANE_START_TIMEOUT` (as in `90s` or `1m30s`), or else 60 s.
    #[must_use]
    pub fn start_timeout(mut self, timeout: Duration) -> Self {
        self.start_timeout = Some(timeout);
        self
    }

    /// Starts the control plane and waits until it can be used.
    ///
    /// The binaries come from, in this order: `USE_EXISTING_CLUSTER=true` starts nothing and uses the cluster of the
    /// current kubeconfig; `KUBEBUILDER_ASSETS` names a folder of binaries; otherwise they are in the user's cache
    /// folder, where the first start builds them from the Go modules that this crate contains. That takes some minutes,
    /// with progress on stderr; later starts take seconds.
    ///
    /// # Errors
    /// If tokio's clock is paused, there are no binaries and no Go to build them with, a part dies (with the last lines
    /// of its log), or something isn't ready in time.
    pub async fn start(self) -> Result<ControlPlane, Error> {
        if is_virtual() {
            // Its processes live in real time: every deadline would be over before they have answered.
            return Err(Error::VirtualTime);
        }
        let source = Source::from_env()?;
        let timeout = match self.start_timeout {
            Some(timeout) => timeout,
            None => start_timeout(std::env::var("KUBEBUILDER_CONTROLPLANE_START_TIMEOUT").ok())?,
        };
        if source == Source::Existing {
            return existing(&self.crds).await;
        }
        let parts = self.parts();
        let assets = {
            let parts = parts.clone();
            // A build takes minutes.
            let located = tokio::task::spawn_blocking(move || Assets::of(source, &parts)).await;
            located.map_err(|error| Error::io("find the binaries")(error.into()))??
        };
        let mut attempt = 1;
        loop {
            match Box::pin(self.attempt(&assets, &parts, timeout)).await {
                Err(Error::Died { log, .. })
                    if attempt < ATTEMPTS && log.contains("address already in use") =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    /// The parts that it will run, in the order of the start.
    pub(super) fn parts(&self) -> Vec<Part> {
        let optional = [
            (Part::ControllerManager, self.controller_manager || self.kwok),
            (Part::Scheduler, self.scheduler || self.kwok),
            (Part::Kwok, self.kwok),
        ];
        let optional = optional.into_iter().filter_map(|(part, wanted)| wanted.then_some(part));
        [Part::Etcd, Part::ApiServer].into_iter().chain(optional).collect()
    }

    async fn attempt(
        &self,
        assets: &Assets,
        parts: &[Part],
        timeout: Duration,
    ) -> Result<ControlPlane, Error> {
        let temporary = temporary_folder()?;
        let folder = temporary.path().to_owned();
        let config = config(&self.prepare(assets, parts, &folder)?).await?;
        let supervisor = Supervisor::start(assets.supervisor(&folder), &folder)?;
        // From here on the folder is the supervisor's to remove.
        let folder = temporary.keep();
        let client = Client::try_from(config.clone()).map_err(Error::kube("make a client"))?;
        self.bring_up(&supervisor, &client, parts, &folder, timeout).await?;
        let version = version(&client).await?;
        let ours = Ours {
            supervisor,
            assets: assets.clone(),
            parts: parts.to_vec(),
            folder,
            audit: self.audit_log,
            timeout,
        };
        Ok(ControlPlane { config, version, ours: Some(ours) })
    }

    /// Writes everything that the parts read. Returns the text of the administrator's kubeconfig.
    fn prepare(&self, assets: &Assets, parts: &[Part], folder: &Path) -> Result<String, Error> {
        make_folder(&folder.join("parts"))?;
        make_folder(&folder.join("logs"))?;
        let authority = Authority::new()?;
        certs::write_files(&authority, folder)?;
        write(&folder.join("audit-policy.yaml"), AUDIT_POLICY)?;
        write(&folder.join("stages.yaml"), STAGES)?;

        let layout = Layout {
            folder,
            port: free_port()?,
            audit: self.audit_log,
            service_accounts: self.service_accounts,
        };
        let ca = authority.certificate();
        for part in parts {
            if let Some((user, groups)) = part.user() {
                let text =
                    kubeconfig("control-plane", layout.port, &ca, user, &authority.user(user, groups)?)?;
                write(Path::new(&layout.kubeconfig(*part)), &text)?;
            }
            let mut words = vec![assets.program(*part).display().to_string()];
            words.extend(layout.flags(*part));
            words.extend(self.flags.iter().filter(|(of, _)| of == part).map(|(_, flag)| flag.clone()));
            // One word per line, so that nothing needs quotes.
            write(&folder.join("parts").join(part.name()), &format!("{}\n", words.join("\n")))?;
        }
        let admin = authority.user("admin", &["system:masters"])?;
        let text = kubeconfig("control-plane", layout.port, &ca, "admin", &admin)?;
        write(&folder.join("kubeconfig"), &text)?;
        Ok(text)
    }

    /// The same for a control plane that several tests share: if it doesn't start, the reason is written to stderr, once
    /// and in full, and the error, which each of the tests is told, is one line.
    ///
    /// # Errors
    /// [`Error::NotStarted`], for the reasons of [`start`](Self::start).
    pub async fn start_shared(self) -> Result<ControlPlane, Error> {
        self.start().await.map_err(|error| {
            let mut reason = error.to_string();
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                reason = format!("{reason}: {cause}");
                source = cause.source();
            }
            progress::say(&format!("the shared control plane did not start: {reason}"));
            Error::NotStarted { why: reason.lines().next().unwrap_or_default().to_owned() }
        })
    }

    /// Starts the parts one after another, each when what it needs is available: otherwise they would give up or wait
    /// for seconds.
    async fn bring_up(
        &self,
        supervisor: &Supervisor,
        client: &Client,
        parts: &[Part],
        folder: &Path,
        timeout: Duration,
    ) -> Result<(), Error> {
        let socket = folder.join("etcd.sock");
        supervisor.start_part(Part::Etcd).await?;
        ready::within(timeout, supervisor, "etcd is", || ready::listens(&socket)).await?;
        supervisor.start_part(Part::ApiServer).await?;
        ready::within(timeout, supervisor, "the API server is", || ready::api_server(client)).await?;
        for crd in &self.crds {
            install_crd(client, crd).await?;
        }
        for part in parts {
            if part.user().is_some() {
                supervisor.start_part(*part).await?;
            }
        }
        let node = if parts.contains(&Part::Kwok) { Some(make_node(client).await?) } else { None };
        if parts.contains(&Part::ControllerManager) {
            ready::within(timeout, supervisor, "a controller's work is", || ready::controllers(client))
                .await?;
        }
        if let Some(name) = node {
            ready::within(timeout, supervisor, "the node is", || ready::node(client, &name)).await?;
        }
        Ok(())
    }
}

async fn existing(crds: &[CustomResourceDefinition]) -> Result<ControlPlane, Error> {
    let config = kube::Config::infer().await.map_err(Error::NoExistingCluster)?;
    let client = Client::try_from(config.clone()).map_err(Error::kube("make a client"))?;
    for crd in crds {
        install_crd(&client, crd).await?;
    }
    Ok(ControlPlane { config, version: version(&client).await?, ours: None })
}

async fn config(kubeconfig: &str) -> Result<kube::Config, Error> {
    let kubeconfig = Kubeconfig::from_yaml(kubeconfig)?;
    Ok(kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
}

async fn version(client: &Client) -> Result<String, Error> {
    let version =
        client.apiserver_version().await.map_err(Error::kube("ask for the API server's version"))?;
    Ok(version.git_version)
}

/// Creates the node that kwok simulates. Returns its name.
async fn make_node(client: &Client) -> Result<String, Error> {
    let node: Node = serde_saphyr::from_str(NODE)
        .map_err(|error| Error::Yaml { what: "the node".to_owned(), message: error.to_string() })?;
    let made = Api::all(client.clone()).create(&PostParams::default(), &node).await;
    Ok(made.map_err(Error::kube("make the node"))?.metadata.name.unwrap_or_default())
}

/// A folder that only this user can access.
fn temporary_folder() -> Result<tempfile::TempDir, Error> {
    let usual = std::env::temp_dir();
    let place =
        if usual.as_os_str().len() > LONGEST_TEMPORARY_FOLDER { PathBuf::from("/tmp") } else { usual };
    tempfile::Builder::new()
        .prefix("control-plane-")
        .tempdir_in(&place)
        .map_err(Error::io(format!("make a folder in {}", place.display())))
}

fn free_port() -> Result<u16, Error> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(Error::io("find a free port"))
}

/// A duration in Go's notation, as far as it makes sense here: "90s", "2m", "1m30s".
fn start_timeout(variable: Option<String>) -> Result<Duration, Error> {
    let Some(value) = variable.filter(|value| !value.is_empty()) else { return Ok(START_TIMEOUT) };
    let (minutes, seconds) = value.split_once('m').unwrap_or(("0", &value));
    let seconds = if seconds.is_empty() { Some("0") } else { seconds.strip_suffix('s') };
    let total = || minutes.parse::<u64>().ok()?.checked_mul(60)?.checked_add(seconds?.parse().ok()?);
    let total = total().filter(|_| !value.contains('+'));
    total.map(Duration::from_secs).ok_or_else(|| Error::Variable {
        name: "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT",
        value: value.clone(),
        wanted: "a duration like 90s or 1m30s",
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn kwok_brings_the_controllers_along() {
        assert_eq!(ControlPlaneBuilder::default().parts(), [Part::Etcd, Part::ApiServer]);
        let light = ControlPlaneBuilder::default().controller_manager(true).parts();
        assert_eq!(light, [Part::Etcd, Part::ApiServer, Part::ControllerManager]);
        let full = ControlPlaneBuilder::default().kwok(true).parts();
        assert_eq!(full, [Part::Etcd, Part::ApiServer, Part::ControllerManager, Part::Scheduler, Part::Kwok]);
    }

    #[test]
    fn the_timeout_is_written_as_in_go() {
        for (value, seconds) in [("90s", 90), ("2m", 120), ("1m30s", 90), ("", 60)] {
            assert_eq!(
                start_timeout(Some(value.to_owned())).unwrap(),
                Duration::from_secs(seconds),
                "{value}"
            );
        }
        for value in ["90", "soon", "m", "1h", "307445734561825861m", "1m18446744073709551615s"] {
            assert!(start_timeout(Some(value.to_owned())).is_err(), "{value}");
        }
    }

    proptest! {
        #![proptest_config(crate::seed::daily())]

        #[test]
        fn any_timeout_is_understood_or_refused(value in "[0-9]{0,21}[ms]?[0-9]{0,21}s?|.{1,8}") {
            match start_timeout(Some(value.clone())) {
                Ok(timeout) if value.is_empty() => prop_assert_eq!(timeout, START_TIMEOUT),
                Ok(timeout) => {
                    let (minutes, seconds) = (timeout.as_secs() / 60, timeout.as_secs() % 60);
                    let written = start_timeout(Some(format!("{minutes}m{seconds}s"))).unwrap();
                    prop_assert_eq!(written, timeout);
                    prop_assert!(value.ends_with(['m', 's']), "{value}");
                }
                Err(error) => prop_assert!(error.to_string().contains("a duration like"), "{error}"),
            }
        }
    }
}
