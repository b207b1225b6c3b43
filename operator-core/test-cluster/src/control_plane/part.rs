//! The parts of a control plane and their flags.

use std::{fmt, path::Path};

/// A process of a control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The store. Always runs.
    Etcd,
    /// The API server. Always runs.
    ApiServer,
    /// Garbage collection, namespaces, Deployments, Jobs, service accounts and all other controllers of Kubernetes.
    ControllerManager,
    /// Assigns Pods to nodes.
    Scheduler,
    /// Simulates a node on which every Pod becomes ready at once, and every Pod of a Job completes.
    Kwok,
}

impl Part {
    /// The name of its binary, as in a folder for `KUBEBUILDER_ASSETS`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Etcd => "etcd",
            Self::ApiServer => "kube-apiserver",
            Self::ControllerManager => "kube-controller-manager",
            Self::Scheduler => "kube-scheduler",
            Self::Kwok => "kwok",
        }
    }

    /// The identity of a client of the API server: the user and its groups. The others have no kubeconfig.
    pub(super) const fn user(self) -> Option<(&'static str, &'static [&'static str])> {
        match self {
            Self::Etcd | Self::ApiServer => None,
            // RBAC's bootstrap roles know these two by name.
            Self::ControllerManager => Some(("system:kube-controller-manager", &[])),
            Self::Scheduler => Some(("system:kube-scheduler", &[])),
            Self::Kwok => Some(("kwok", &["system:masters"])),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The values on which the flags depend.
pub(super) struct Layout<'a> {
    /// The control plane's folder.
    pub(super) folder: &'a Path,
    /// The API server's port.
    pub(super) port: u16,
    /// Whether it writes an audit log.
    pub(super) audit: bool,
    /// Whether pods get an account and its token.
    pub(super) service_accounts: bool,
}

impl Layout<'_> {
    fn file(&self, name: &str) -> String {
        self.folder.join(name).display().to_string()
    }

    /// Where etcd listens. Only the owner can access the folder, so it needs neither port nor TLS.
    fn store(&self) -> String {
        format!("unix://{}", self.file("etcd.sock"))
    }

    /// The flags of a part.
    pub(super) fn flags(&self, part: Part) -> Vec<String> {
        match part {
            Part::Etcd => self.etcd(),
            Part::ApiServer => self.api_server(),
            Part::ControllerManager => self.controller_manager(),
            Part::Scheduler => self.scheduler(),
            Part::Kwok => self.kwok(),
        }
    }

    fn etcd(&self) -> Vec<String> {
        vec![
            format!("--data-dir={}", self.file("etcd")),
            format!("--listen-client-urls={}", self.store()),
            format!("--listen-peer-urls=unix://{}", self.file("peer.sock")),
            // What it tells peers must have a host and a port. There are no peers, so nobody calls them.
            "--advertise-client-urls=http://localhost:2379".to_owned(),
            "--initial-advertise-peer-urls=http://localhost:2380".to_owned(),
            "--initial-cluster=default=http://localhost:2380".to_owned(),
            // The data doesn't outlive the process, so there is nothing to keep over a crash.
            "--unsafe-no-fsync".to_owned(),
        ]
    }

    fn api_server(&self) -> Vec<String> {
        let mut flags = vec![
            format!("--etcd-servers={}", self.store()),
            "--bind-address=127.0.0.1".to_owned(),
            format!("--secure-port={}", self.port),
            format!("--cert-dir={}", self.file("generated")),
            format!("--tls-cert-file={}", self.file("server.crt")),
            format!("--tls-private-key-file={}", self.file("server.key")),
            format!("--client-ca-file={}", self.file("ca.crt")),
            "--authorization-mode=RBAC".to_owned(),
            "--allow-privileged=true".to_owned(),
            // As many addresses as the server in the process has, and the same ones.
            "--service-cluster-ip-range=10.96.0.0/16".to_owned(),
            "--service-account-issuer=https://kubernetes.default.svc".to_owned(),
            format!("--service-account-key-file={}", self.file("tokens.pub")),
            format!("--service-account-signing-key-file={}", self.file("tokens.key")),
            // Without it a machine that is not on any network cannot start.
            "--advertise-address=127.0.0.1".to_owned(),
            // Endpoints must not be loopback addresses, so the Service `kubernetes` has none.
            "--endpoint-reconciler-type=none".to_owned(),
        ];
        if !self.service_accounts {
            // It refuses Pods until a controller has made the namespace's service account: without controllers
            // for ever, and with them for a moment in which tests would have to wait.
            flags.push("--disable-admission-plugins=ServiceAccount".to_owned());
        }
        if self.audit {
            flags.extend([
                format!("--audit-policy-file={}", self.file("audit-policy.yaml")),
                format!("--audit-log-path={}", self.file("audit.log")),
                // Each call is on disk before its answer leaves. The log must not be rotated while it is read.
                "--audit-log-mode=blocking".to_owned(),
                "--audit-log-maxsize=100000".to_owned(),
            ]);
        }
        flags
    }

    fn controller_manager(&self) -> Vec<String> {
        let mut flags = self.client(Part::ControllerManager);
        flags.extend([
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
            // RBAC gives each controller a role of its own, and the process as a whole next to nothing.
            "--use-service-account-credentials=true".to_owned(),
            format!("--root-ca-file={}", self.file("ca.crt")),
            format!("--service-account-private-key-file={}", self.file("tokens.key")),
            // The defaults are meant to spare a shared API server.
            "--kube-api-qps=500".to_owned(),
            "--kube-api-burst=1000".to_owned(),
        ]);
        flags
    }

    fn scheduler(&self) -> Vec<String> {
        let mut flags = self.client(Part::Scheduler);
        flags.extend([
            "--leader-elect=false".to_owned(),
            "--secure-port=0".to_owned(),
            "--kube-api-qps=500".to_owned(),
            "--kube-api-burst=1000".to_owned(),
        ]);
        flags
    }

    fn client(&self, part: Part) -> Vec<String> {
        ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"]
            .map(|flag| format!("--{flag}={}", self.kubeconfig(part)))
            .to_vec()
    }

    fn kwok(&self) -> Vec<String> {
        vec![
            format!("--kubeconfig={}", self.kubeconfig(Part::Kwok)),
            format!("--config={}", self.file("stages.yaml")),
            "--manage-all-nodes=true".to_owned(),
            // Without a lease that is renewed, the controllers take the node for lost after some 40 s.
            "--node-lease-duration-seconds=40".to_owned(),
        ]
    }

    /// The kubeconfig of a part that is a client.
    pub(super) fn kubeconfig(&self, part: Part) -> String {
        self.file(&format!("{part}.kubeconfig"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(part: Part, audit: bool) -> Vec<String> {
        Layout { folder: Path::new("/f"), port: 6443, audit, service_accounts: false }.flags(part)
    }

    #[test]
    fn what_each_part_must_be_told() {
        let table: &[(Part, &[&str])] = &[
            (
                Part::Etcd,
                &["--unsafe-no-fsync", "--listen-client-urls=unix:///f/etcd.sock", "--data-dir=/f/etcd"],
            ),
            (
                Part::ApiServer,
                &[
                    "--etcd-servers=unix:///f/etcd.sock",
                    "--authorization-mode=RBAC",
                    "--bind-address=127.0.0.1",
                    "--secure-port=6443",
                    "--client-ca-file=/f/ca.crt",
                ],
            ),
            (
                Part::ControllerManager,
                &[
                    "--leader-elect=false",
                    "--secure-port=0",
                    "--use-service-account-credentials=true",
                    "--kubeconfig=/f/kube-controller-manager.kubeconfig",
                    "--service-account-private-key-file=/f/tokens.key",
                ],
            ),
            (
                Part::Scheduler,
                &["--leader-elect=false", "--secure-port=0", "--kubeconfig=/f/kube-scheduler.kubeconfig"],
            ),
            (
                Part::Kwok,
                &["--manage-all-nodes=true", "--config=/f/stages.yaml", "--kubeconfig=/f/kwok.kubeconfig"],
            ),
        ];
        for (part, wanted) in table {
            let flags = flags(*part, false);
            for flag in *wanted {
                assert!(flags.iter().any(|candidate| candidate == flag), "{part} lacks {flag}: {flags:?}");
            }
        }
    }

    #[test]
    fn an_audit_log_is_written_only_on_request() {
        assert!(!flags(Part::ApiServer, false).iter().any(|flag| flag.starts_with("--audit")));
        assert!(flags(Part::ApiServer, true).contains(&"--audit-log-path=/f/audit.log".to_owned()));
    }

    #[test]
    fn no_flag_holds_a_line_break() {
        for part in [Part::Etcd, Part::ApiServer, Part::ControllerManager, Part::Scheduler, Part::Kwok] {
            assert!(flags(part, true).iter().all(|flag| !flag.contains('\n')), "{part}");
        }
    }
}
