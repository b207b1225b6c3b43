//! Finds the server's program: in the PATH, or in the distribution's packages, which are unpacked into the user's cache
//! folder. Nothing is installed, and no root is needed.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

/// The package with the server.
const PACKAGE: &str = "mariadb-server-core";

/// The program's names.
const NAMES: [&str; 2] = ["mariadbd", "mysqld"];

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// None is installed, and none can be fetched.
    #[error(
        "no MariaDB is on the PATH, and the distribution's packages can't be fetched: {0}; install MariaDB's server"
    )]
    NoServer(String),
    /// A program doesn't do what it should.
    #[error("the server didn't {what}:\n{why}")]
    Broken {
        /// Its task.
        what: &'static str,
        /// Its output.
        why: String,
    },
    /// Something else failed.
    #[error("could not {what}")]
    Io {
        /// The action.
        what: &'static str,
        /// The error.
        source: io::Error,
    },
}

pub(super) fn failed(what: &'static str) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io { what, source }
}

/// Progress, on stderr directly: test runners hide what is printed otherwise.
fn say(text: &str) {
    use io::Write;
    let _ = io::stderr().write_all(format!("mysql-schema: {text}\n").as_bytes());
}

/// The server's program and its files.
pub(super) struct Program {
    path: PathBuf,
    /// Messages, and the statements that create its own tables.
    share: PathBuf,
    pub(super) tables: PathBuf,
    /// Folders of libraries that are not installed.
    libraries: Vec<PathBuf>,
}

impl Program {
    /// Blocks for some seconds if packages have to be fetched.
    pub(super) fn find() -> Result<Self, Error> {
        // Debian's is only in root's PATH.
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into()]);
        let installed = folders.flat_map(|folder| NAMES.map(|name| folder.join(name)));
        if let Some(program) = installed.filter_map(|path| Self::at(&path, Vec::new())).next() {
            return Ok(program);
        }
        let root = fetched()?;
        Self::below(&root).ok_or_else(|| {
            Error::NoServer(format!("what is in {} doesn't run; remove it, and try again", root.display()))
        })
    }

    /// The unpacked server.
    fn below(root: &Path) -> Option<Self> {
        let lib = root.join("usr/lib");
        let mut libraries: Vec<PathBuf> =
            fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        libraries.push(lib);
        NAMES.iter().find_map(|name| Self::at(&root.join("usr/sbin").join(name), libraries.clone()))
    }

    /// The installed server, if it is a MariaDB; another server creates its tables in another way.
    fn at(path: &Path, libraries: Vec<PathBuf>) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        let prefix = path.parent()?.parent()?.join("share");
        let shares = ["mariadb", "mysql"].map(|name| prefix.join(name));
        let names = ["mariadb_system_tables.sql", "mysql_system_tables.sql"];
        let mut tables = shares.iter().flat_map(|share| names.map(|name| share.join(name)));
        let tables = tables.find(|tables| tables.is_file())?;
        let program = Self { path, share: tables.parent()?.to_owned(), tables, libraries };
        let mut command = Command::new(&program.path);
        let version = command.args(["--no-defaults", "--version"]).envs(program.libraries()).output().ok()?;
        String::from_utf8_lossy(&version.stdout).contains("MariaDB").then_some(program)
    }

    /// The folders of its libraries, for the environment.
    pub(super) fn libraries(&self) -> Option<(&'static str, std::ffi::OsString)> {
        let joined = env::join_paths(&self.libraries).ok()?;
        (!self.libraries.is_empty()).then_some(("LD_LIBRARY_PATH", joined))
    }

    /// The command with its arguments for a server whose data is in `folder`.
    pub(super) fn daemon(&self, folder: &Path) -> Vec<String> {
        let folder = folder.display();
        vec![
            self.path.display().to_string(),
            "--no-defaults".to_owned(),
            format!("--datadir={folder}/data"),
            format!("--lc-messages-dir={}", self.share.display()),
            format!("--character-sets-dir={}/charsets", self.share.display()),
            format!("--socket={folder}/socket"),
            format!("--pid-file={folder}/pid"),
            format!("--tmpdir={folder}"),
            "--skip-networking".to_owned(),
            "--innodb-buffer-pool-size=16M".to_owned(),
            "--loose-innodb-log-file-size=8M".to_owned(),
            // In a container, people are root; the server requires an option for that.
            "--user=root".to_owned(),
        ]
    }

    /// Makes a new server's own tables.
    pub(super) fn bootstrap(&self, folder: &Path, tables: &str) -> Result<(), Error> {
        let statements = folder.join("tables.sql");
        fs::create_dir(folder.join("data")).map_err(failed("make a folder"))?;
        fs::write(&statements, tables).map_err(failed("write the tables of a new server"))?;
        let statements = fs::File::open(&statements).map_err(failed("read the tables of a new server"))?;
        let mut command = Command::new(&self.path);
        command.args(&self.daemon(folder)[1..]).arg("--bootstrap").envs(self.libraries()).stdin(statements);
        let output = command.output().map_err(failed("run the server"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let errors: Vec<&str> = said.lines().filter(|line| line.contains("ERROR")).collect();
        Err(Error::Broken { what: "make its tables", why: errors.join("\n") })
    }
}

/// The folder with the unpacked packages. Two processes don't fetch at the same time: the second finds what the first has fetched.
fn fetched() -> Result<PathBuf, Error> {
    let cache = dirs::cache_dir().ok_or_else(|| Error::NoServer("there is no cache folder".to_owned()))?;
    let cache = cache.join("operator-core");
    // Libraries only fit one release of the distribution.
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let field = |name: &str| {
        let value = release.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
        value.unwrap_or("unknown").trim_matches('"').to_owned()
    };
    let key = format!("mariadb-{}-{}-{}", field("ID"), field("VERSION_ID"), env::consts::ARCH);
    let root = cache.join(&key);
    fs::create_dir_all(&cache).map_err(failed("make the cache folder"))?;
    let lock = fs::File::create(cache.join(format!("{key}.lock"))).map_err(failed("make a lock"))?;
    lock.lock().map_err(failed("wait for another process that fetches packages"))?;
    if root.is_dir() {
        return Ok(root);
    }
    let work = tempfile::tempdir_in(&cache).map_err(failed("make a folder"))?;
    say("no MariaDB is on the PATH; fetching the distribution's packages into the cache folder, once");
    let unpacked = unpack(work.path())?;
    fs::rename(&unpacked, &root).map_err(failed("keep what was unpacked"))?;
    say(&format!("the server is in {}", root.display()));
    Ok(root)
}

/// Fetches the package and those dependencies that aren't installed, and unpacks all of them below `work`.
fn unpack(work: &Path) -> Result<PathBuf, Error> {
    for folder in ["lists/partial", "cache/archives/partial", "root"] {
        fs::create_dir_all(work.join(folder)).map_err(failed("make a folder"))?;
    }
    // Its own lists and archives: those of the system may be missing, old, or root's.
    let apt = |arguments: &[&str]| {
        let mut apt = Command::new("apt-get");
        apt.arg("-q").args(["-o", "Debug::NoLocking=true", "-o", "APT::Sandbox::User=root"]);
        apt.arg("-o").arg(format!("Dir::State::Lists={}", work.join("lists").display()));
        apt.arg("-o").arg(format!("Dir::Cache={}", work.join("cache").display()));
        apt.args(arguments);
        run(apt)
    };
    apt(&["update"])?;
    say(&format!("fetching {PACKAGE} and what it needs"));
    apt(&["install", "--yes", "--download-only", "--no-install-recommends", PACKAGE])?;
    let archives = fs::read_dir(work.join("cache/archives")).map_err(failed("read what was fetched"))?;
    for archive in archives.flatten().map(|entry| entry.path()) {
        if archive.extension().is_some_and(|extension| extension == "deb") {
            let mut unpack = Command::new("dpkg-deb");
            unpack.arg("--extract").arg(&archive).arg(work.join("root"));
            run(unpack)?;
        }
    }
    Ok(work.join("root"))
}

/// Runs one of the distribution's tools to its end.
fn run(mut command: Command) -> Result<(), Error> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.env("LC_ALL", "C").stdin(Stdio::null()).output();
    let output = output.map_err(|error| Error::NoServer(format!("{name} doesn't run: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Error::NoServer(format!("{name} says: {}", said.trim())))
}
