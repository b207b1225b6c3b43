//! The Go modules that this crate contains, so that it works outside its repository.

use std::env::consts::{ARCH, OS};

/// A Go module that builds one binary.
pub(super) struct Module {
    /// A readable name of what is built.
    pub(super) what: &'static str,
    /// The binary's name.
    pub(super) binary: &'static str,
    /// The package to build.
    pub(super) package: &'static str,
    /// The Go module whose version names the binary's version.
    pub(super) principal: &'static str,
    /// The packages in which a release's build sets `gitVersion`; otherwise the version is reported as v0.0.0.
    pub(super) versioned: &'static [&'static str],
    /// Go's build tags.
    pub(super) tags: &'static str,
    /// Further names of the binary.
    pub(super) links: &'static [&'static str],
    /// Its files, the name and the content of each.
    pub(super) files: &'static [(&'static str, &'static str)],
}

macro_rules! carried {
    ($folder:literal: $($name:literal),+) => {
        &[$(($name, include_str!(concat!("../../control-plane/", $folder, "/", $name)))),+]
    };
}

/// etcd, the API server, the controllers, the scheduler, kubectl and the supervisor.
pub(super) const CLUSTER: Module = Module {
    what: "etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kubectl",
    binary: "control-plane",
    package: ".",
    principal: "k8s.io/kubernetes",
    versioned: &["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"],
    tags: "",
    links: &["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl"],
    files: carried!("cluster": "main.go", "supervise.go", "lifeline.go", "go.mod", "go.sum"),
};

/// kwok, whose dependencies are other versions of the same modules.
pub(super) const KWOK: Module = Module {
    what: "kwok",
    binary: "kwok",
    package: "sigs.k8s.io/kwok/cmd/kwok",
    principal: "sigs.k8s.io/kwok",
    versioned: &[],
    tags: "",
    links: &[],
    files: carried!("kwok": "go.mod", "go.sum"),
};

/// Prometheus, without the clients of all clouds in which it could look for its targets.
pub(super) const PROMETHEUS: Module = Module {
    what: "prometheus",
    binary: "prometheus",
    package: "github.com/prometheus/prometheus/cmd/prometheus",
    principal: "github.com/prometheus/prometheus",
    versioned: &[],
    tags: "remove_all_sd",
    links: &[],
    files: carried!("prometheus": "go.mod", "go.sum"),
};

/// The files that the control plane reads besides flags, and the program that supervises it.
pub(super) const AUDIT_POLICY: &str = include_str!("../../control-plane/audit-policy.yaml");
pub(super) const STAGES: &str = include_str!("../../control-plane/stages.yaml");
pub(super) const NODE: &str = include_str!("../../control-plane/node.yaml");
pub(super) const SUPERVISE: &str = include_str!("../../control-plane/supervise.sh");

impl Module {
    /// The version of the principal module in `go.mod`, as in "v1.36.3".
    pub(super) fn version(&self) -> &'static str {
        self.directive(self.principal).unwrap_or("unknown")
    }

    /// The oldest Go that can build it, as in "1.26.0".
    pub(super) fn go_version(&self) -> &'static str {
        self.directive("go").unwrap_or("1")
    }

    /// The name of its folder in the cache: it changes with everything that changes the binary. Machines of different
    /// kinds may share a home folder, so it includes the kind.
    pub(super) fn key(&self) -> String {
        format!("{}-{}-{OS}-{ARCH}-{:016x}", self.binary, self.version(), self.fingerprint())
    }

    /// What follows a word in `go.mod`, whether in a line or in a separate block.
    fn directive(&self, word: &str) -> Option<&'static str> {
        let (_, go_mod) = self.files.iter().find(|(name, _)| *name == "go.mod")?;
        go_mod.lines().find_map(|line| {
            let line = line.strip_prefix("require ").unwrap_or(line);
            let mut words = line.split_whitespace();
            (words.next() == Some(word)).then(|| words.next()).flatten()
        })
    }

    /// The linker's flags: no debugging information, and the version.
    pub(super) fn linker_flags(&self) -> String {
        let set = |package: &&str| format!(" -X {package}.gitVersion={}", self.version());
        format!("-s -w{}", self.versioned.iter().map(set).collect::<String>())
    }

    /// FNV-1a over names, contents and flags. The standard library's hasher may change with Rust's version, and then
    /// every user would have to build again.
    fn fingerprint(&self) -> u64 {
        let flags = self.linker_flags() + self.tags;
        let files =
            self.files.iter().flat_map(|(name, content)| [name.as_bytes(), &[0], content.as_bytes(), &[0]]);
        files.chain([flags.as_bytes()]).flatten().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_come_from_the_modules() {
        assert!(CLUSTER.version().starts_with("v1."), "{}", CLUSTER.version());
        assert!(KWOK.version().starts_with("v0."), "{}", KWOK.version());
        assert!(PROMETHEUS.version().starts_with("v0."), "{}", PROMETHEUS.version());
        assert!(CLUSTER.go_version().starts_with("1."), "{}", CLUSTER.go_version());
    }

    #[test]
    fn a_changed_file_changes_the_key() {
        let changed =
            Module { files: &[("go.mod", "go 1.26\nrequire k8s.io/kubernetes v1.36.3\n")], ..CLUSTER };
        let again =
            Module { files: &[("go.mod", "go 1.26\nrequire k8s.io/kubernetes v1.36.3\n\n")], ..CLUSTER };
        assert_eq!(changed.version(), "v1.36.3");
        assert_eq!(changed.key(), changed.key());
        assert_ne!(changed.key(), again.key());
    }
}
