//! One operator in a process of its own, and what it costs.

use std::{
    collections::BTreeMap,
    fs,
    process::{Child, Command, Stdio},
    time::Duration,
};

use anyhow::{Context, Result};
use kube::{Api, Client};
use operator_core::testing::{AuditReader, TestCluster};

use crate::{cost::Cost, workload::TestResource};

/// Clock ticks in a second, as Linux counts the CPU time of processes.
const TICKS: f64 = 100.0;

/// An operator under load.
pub(crate) struct Subject {
    pub(crate) cluster: TestCluster,
    pub(crate) name: &'static str,
    pub(crate) namespace: String,
    pub(crate) client: Client,
    pub(crate) objects: Api<TestResource>,
    process: Option<Child>,
    /// The calls since the phase began.
    log: AuditReader,
    cpu: f64,
}

impl Subject {
    pub(crate) async fn new(cluster: &TestCluster, name: &'static str) -> Result<Self> {
        let namespace = cluster.namespace(&format!("load-{name}")).await?;
        let client = cluster.client()?;
        let objects = Api::namespaced(client.clone(), &namespace);
        let (cluster, log) = (cluster.clone(), cluster.audit_from_now()?);
        let mut subject = Self { cluster, name, namespace, client, objects, process: None, log, cpu: 0.0 };
        subject.start()?;
        Ok(subject)
    }

    /// Starts the operator's process.
    pub(crate) fn start(&mut self) -> Result<()> {
        let kubeconfig =
            self.cluster.control_plane()?.kubeconfig().context("the bench starts its own control plane")?;
        let process = Command::new(std::env::current_exe()?)
            .args(["--subject", self.name, &self.namespace])
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .spawn()?;
        self.process = Some(process);
        self.cpu = 0.0;
        Ok(())
    }

    /// Ends the operator's process as an impatient cluster would.
    pub(crate) fn kill(&mut self) -> Result<()> {
        if let Some(mut process) = self.process.take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Forgets what was measured so far.
    pub(crate) fn begin_phase(&mut self) -> Result<()> {
        self.log = self.cluster.audit_from_now()?;
        self.cpu = self.cpu_seconds()?;
        Ok(())
    }

    /// The operator's cost since the phase began, for so many objects.
    pub(crate) fn end_phase(&mut self, objects: usize, took: Duration) -> Result<Cost> {
        let mut requests = BTreeMap::new();
        for event in self.log.read()? {
            if event.user == self.name && event.stage == "ResponseComplete" {
                *requests.entry(event.verb).or_default() += 1;
            }
        }
        Ok(Cost {
            objects,
            took,
            cpu_seconds: self.cpu_seconds()? - self.cpu,
            peak: self.mebibytes("VmHWM:")?,
            own: self.mebibytes("RssAnon:")?,
            delays: Vec::new(),
            requests,
        })
    }

    fn proc(&self, file: &str) -> Result<String> {
        let process = self.process.as_ref().context("the operator doesn't run")?;
        Ok(fs::read_to_string(format!("/proc/{}/{file}", process.id()))?)
    }

    /// The CPU time of the process so far.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let stat = self.proc("stat")?;
        // The second field is the program's name in parentheses and may contain spaces; user and system time are the 14th
        // and 15th of all.
        let after_name = stat.rsplit_once(')').context("a line without a name")?.1;
        let fields: Vec<&str> = after_name.split_whitespace().collect();
        let ticks: f64 = fields.get(11).context("user time")?.parse::<f64>()?
            + fields.get(12).context("system time")?.parse::<f64>()?;
        Ok(ticks / TICKS)
    }

    /// How large the process is, by the name of a line of its status.
    fn mebibytes(&self, field: &str) -> Result<f64> {
        let status = self.proc("status")?;
        let memory = status.lines().find_map(|line| line.strip_prefix(field)).context("no such memory")?;
        let kibibytes: f64 = memory.trim().trim_end_matches("kB").trim().parse()?;
        Ok(kibibytes / 1024.0)
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        // The end of the bench; there is nobody to tell.
        let _ = self.kill();
    }
}
