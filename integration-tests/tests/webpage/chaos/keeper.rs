//! The operator's process, which is killed and started again.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Stdio,
};

use fastrand::Rng;
use integration_tests::prelude::*;
use kube::config::Kubeconfig;
use tempfile::NamedTempFile;
use tokio::process::Child;

use super::journal::Journal;
use crate::support::webpage;

/// The user of the operator, under the role of `deploy/`. No one else has this name.
pub(super) const ACCOUNT: &str = "system:serviceaccount:webpage-operator:webpage-operator";

/// How long a process lives, in milliseconds: some are killed before they have seen anything.
const LIFE: std::ops::Range<u64> = 200..5_000;
/// How long there is none then.
const PAUSE: std::ops::Range<u64> = 0..1_500;

/// Kills the operator and starts it.
pub(super) struct Keeper<'j> {
    kubeconfig: NamedTempFile,
    namespace: String,
    style: &'static str,
    rng: Rng,
    journal: &'j Journal,
    log: PathBuf,
    /// The last one.
    process: Option<Child>,
    kills: usize,
}

impl<'j> Keeper<'j> {
    pub(super) fn new(
        cluster: &TestCluster,
        namespace: &str,
        style: &'static str,
        rng: Rng,
        journal: &'j Journal,
    ) -> Result<Self> {
        let path = cluster.control_plane()?.kubeconfig();
        let path = path.context("the chaos is for a control plane of the test's own, not for yours")?;
        let mut config = Kubeconfig::read_from(path)?;
        for user in config.auth_infos.iter_mut().filter_map(|user| user.auth_info.as_mut()) {
            user.impersonate = Some(ACCOUNT.to_owned());
        }
        let kubeconfig = NamedTempFile::new()?;
        // Each text of JSON is one of YAML.
        fs::write(kubeconfig.path(), serde_json::to_string(&config)?)?;
        let log = journal.operators();
        File::create(&log)?;
        let namespace = namespace.to_owned();
        Ok(Self { kubeconfig, namespace, style, rng, journal, log, process: None, kills: 0 })
    }

    /// Kills and starts the operator until then. Afterwards one process continues.
    pub(super) async fn until(&mut self, deadline: Instant) -> Result<()> {
        loop {
            let mut process = self.start()?;
            let life = Duration::from_millis(self.rng.u64(LIFE));
            if Instant::now() + life >= deadline {
                self.process = Some(process);
                return Ok(());
            }
            tokio::select! {
                biased;
                ended = process.wait() => anyhow::bail!("the operator has ended by itself: {}", ended?),
                () = tokio::time::sleep(life) => {}
            }
            process.kill().await?;
            self.kills += 1;
            self.journal.add_for_all("the operator is killed");
            tokio::time::sleep(Duration::from_millis(self.rng.u64(PAUSE))).await;
        }
    }

    fn start(&self) -> Result<Child> {
        let log = || anyhow::Ok(Stdio::from(File::options().append(true).open(&self.log)?));
        let mut command = webpage(&["run", "--namespaces", &self.namespace, "--style", self.style]);
        command.env("KUBECONFIG", self.kubeconfig.path()).env("RUST_LOG", "info");
        let process = command.stdout(log()?).stderr(log()?).spawn()?;
        self.journal.add_for_all("the operator is started");
        Ok(process)
    }

    /// How often it was killed.
    pub(super) fn kills(&self) -> usize {
        self.kills
    }

    pub(super) fn is_running(&mut self) -> Result<bool> {
        Ok(self.process.as_mut().context("it was never started")?.try_wait()?.is_none())
    }

    /// Whether it runs, and nothing in it has panicked.
    pub(super) fn is_well(&mut self) -> Result<()> {
        ensure!(self.is_running()?, "the operator has ended by itself");
        let log = fs::read_to_string(&self.log)?;
        let panics: Vec<_> = log.lines().filter(|line| line.contains("panicked")).collect();
        ensure!(panics.is_empty(), "{panics:#?}");
        Ok(())
    }
}
