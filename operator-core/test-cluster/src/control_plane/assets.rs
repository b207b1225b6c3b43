//! The origin of the binaries.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    Part, attempt, cache, go_build,
    modules::{CLUSTER, KWOK, Module, PROMETHEUS, SUPERVISE},
};
use crate::error::Error;

/// The origin of a control plane, as the environment selects it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// `USE_EXISTING_CLUSTER=true`: the cluster of the current kubeconfig.
    Existing,
    /// `KUBEBUILDER_ASSETS`: a folder of binaries.
    Folder(PathBuf),
    /// The user's cache folder, filled if it is empty.
    Cache(PathBuf),
}

impl Source {
    /// The selection in this process's environment.
    pub(super) fn from_env() -> Result<Self, Error> {
        Self::choose(env::var_os::<&str>, dirs::cache_dir())
    }

    fn choose(
        variable: impl Fn(&'static str) -> Option<OsString>,
        cache: Option<PathBuf>,
    ) -> Result<Self, Error> {
        // As in Go's envtest: only "true" is true.
        if variable("USE_EXISTING_CLUSTER").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(Self::Existing);
        }
        match variable("KUBEBUILDER_ASSETS").filter(|value| !value.is_empty()) {
            Some(folder) => Ok(Self::Folder(folder.into())),
            None => Ok(Self::Cache(cache.ok_or(Error::NoCacheFolder)?.join("operator-core"))),
        }
    }
}

/// The binaries of a control plane.
///
/// They come from the folder that `KUBEBUILDER_ASSETS` names, otherwise from the user's cache folder, where they are
/// built once from the Go modules that this crate contains.
#[derive(Debug, Clone)]
pub struct Assets {
    folder: PathBuf,
    kwok: PathBuf,
    /// Whether the binaries are those of this crate, including the supervisor.
    ours: bool,
}

impl Assets {
    /// Finds the binaries of the given parts, and builds them if necessary.
    ///
    /// Blocks: a build takes about five minutes. It reports its progress on stderr. If several processes need the same
    /// binary, one builds and the others wait. A build that has failed is tried again by the next `cargo test` only.
    ///
    /// # Errors
    /// If a folder lacks a binary, there is no Go to build with, or the build fails or has failed in this test run.
    pub fn locate(parts: &[Part]) -> Result<Self, Error> {
        match Source::from_env()? {
            Source::Existing => Err(Error::NotOurs),
            source => Self::of(source, parts),
        }
    }

    pub(super) fn of(source: Source, parts: &[Part]) -> Result<Self, Error> {
        let assets = match source {
            Source::Existing => return Err(Error::NotOurs),
            Source::Folder(folder) => Self { kwok: folder.clone(), folder, ours: false },
            Source::Cache(cache) => {
                let run = attempt::this_run();
                let built = |module: &Module| {
                    cache::ensure(&cache, module, &run, |folder| go_build::build(module, folder, None))
                };
                let folder = built(&CLUSTER)?;
                let kwok = if parts.contains(&Part::Kwok) { built(&KWOK)? } else { folder.clone() };
                Self { folder, kwok, ours: true }
            }
        };
        for part in parts {
            assets.existing(part.name())?;
        }
        Ok(assets)
    }

    /// The folder of the binaries, in the layout that `KUBEBUILDER_ASSETS` requires. kwok, if built here, has its own
    /// folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of `kubectl`.
    ///
    /// # Errors
    /// If the folder that `KUBEBUILDER_ASSETS` names has none.
    pub fn kubectl(&self) -> Result<PathBuf, Error> {
        self.existing("kubectl")
    }

    /// The path of `prometheus`, for tests of what an operator measures. It belongs to no control plane and is always
    /// built, once, from the Go module that this crate contains.
    ///
    /// Blocks: the build takes about two minutes.
    ///
    /// # Errors
    /// If there is no cache folder, or no Go to build with, or the build fails.
    pub fn prometheus() -> Result<PathBuf, Error> {
        let cache = dirs::cache_dir().ok_or(Error::NoCacheFolder)?.join("operator-core");
        prometheus_in(&cache, None)
    }

    pub(super) fn program(&self, part: Part) -> PathBuf {
        self.folder_of(part.name()).join(part.name())
    }

    /// The command that supervises the parts in `folder`.
    pub(super) fn supervisor(&self, folder: &Path) -> Command {
        if self.ours {
            let mut command = Command::new(self.folder.join(CLUSTER.binary));
            command.arg("supervise").arg(folder);
            return command;
        }
        let mut command = Command::new("/bin/sh");
        command.args(["-c", SUPERVISE, "supervise"]).arg(folder);
        command
    }

    fn folder_of(&self, name: &str) -> &Path {
        if name == Part::Kwok.name() { &self.kwok } else { &self.folder }
    }

    fn existing(&self, name: &'static str) -> Result<PathBuf, Error> {
        let folder = self.folder_of(name);
        let path = folder.join(name);
        if path.exists() { Ok(path) } else { Err(Error::AssetMissing { name, folder: folder.to_owned() }) }
    }
}

/// Builds it in `cache`, if it isn't there, with the `go` of `path`, by default the process's.
fn prometheus_in(cache: &Path, path: Option<&OsString>) -> Result<PathBuf, Error> {
    let build = |folder: &Path| go_build::build(&PROMETHEUS, folder, path);
    let built = cache::ensure(cache, &PROMETHEUS, &attempt::this_run(), build);
    let folder = built.map_err(|error| match error {
        // The other ways to a control plane lead to no Prometheus.
        Error::NoGo { wanted } => Error::NoGoFor { what: PROMETHEUS.what, wanted },
        other => other,
    })?;
    Ok(folder.join(PROMETHEUS.binary))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(variables: &[(&str, &str)], cache: Option<&str>) -> Result<Source, Error> {
        let find = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into());
        Source::choose(find, cache.map(PathBuf::from))
    }

    #[test]
    fn the_first_that_is_set_wins() {
        let both = [("USE_EXISTING_CLUSTER", "true"), ("KUBEBUILDER_ASSETS", "/a")];
        let cached = Source::Cache("/c/operator-core".into());
        for (variables, wanted) in [
            (&both[..], Source::Existing),
            (&both[1..], Source::Folder("/a".into())),
            (&[("USE_EXISTING_CLUSTER", "false")], cached.clone()),
            (&[("KUBEBUILDER_ASSETS", "")], cached.clone()),
            (&[], cached),
        ] {
            assert_eq!(choose(variables, Some("/c")).unwrap(), wanted, "{variables:?}");
        }
        assert!(matches!(choose(&[], None), Err(Error::NoCacheFolder)));
    }

    #[test]
    fn a_folder_must_have_what_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        crate::files::write(&folder.path().join("etcd"), "").unwrap();
        let source = Source::Folder(folder.path().to_owned());
        Assets::of(source.clone(), &[Part::Etcd]).unwrap();
        let error = Assets::of(source, &[Part::Etcd, Part::ApiServer]).unwrap_err();
        assert!(matches!(error, Error::AssetMissing { name: "kube-apiserver", .. }), "{error}");
    }

    #[test]
    fn without_go_there_is_no_prometheus_and_the_error_says_what_to_install() {
        let empty = tempfile::tempdir().unwrap();
        let path = empty.path().as_os_str().to_owned();
        let error = prometheus_in(empty.path(), Some(&path)).unwrap_err().to_string();
        assert!(error.starts_with("no `go` on the PATH to build prometheus with: install Go 1."), "{error}");
    }

    #[test]
    fn binaries_that_are_not_ours_are_supervised_by_a_shell() {
        let supervisor = |ours| {
            let assets = Assets { folder: "/b".into(), kwok: "/k".into(), ours };
            assets.supervisor(Path::new("/f")).get_program().to_owned()
        };
        assert_eq!(supervisor(true), "/b/control-plane");
        assert_eq!(supervisor(false), "/bin/sh");
    }
}
