//! A separate server, for tests and for `dev`: a MariaDB from the PATH, or else from the distribution's packages, with
//! its data in a folder that is deleted with it.
//!
//! ```text
//!   this process                 shell                    mariadbd
//!   ┌────────┐ stdin: start, kill ┌──────────────────────┐ ┌──────────────┐
//!   │ Server │───────────────────▶│ ends when stdin ends │▶│ private data │
//!   └────────┘                    └──────────────────────┘ │ and socket   │
//!                                                          └──────────────┘
//! ```
//!
//! # Guarantees
//! - When this process ends, however it ends, the pipe closes, and the shell kills the server and removes its folder.
//! - Nobody else can reach it: it has no port, and its socket is in a folder that only this user can read.
//!
//! # Assumptions
//! - There are a POSIX shell and, for packages, Debian's tools.

mod packages;

use std::{
    fs, io,
    io::Write,
    os::unix::{net::UnixStream, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    time::Duration,
};

use mysql_async::{Opts, OptsBuilder};
use rand::distr::{Alphanumeric, SampleString};

pub use packages::Error;
use packages::{Program, failed};

/// Obeys lines on stdin; when there are no more, kills the server and removes the folder.
const SUPERVISE: &str = r#"
folder=$1
shift
daemon=
end() { [ -z "$daemon" ] || { kill -KILL "$daemon"; wait "$daemon"; daemon=; }; }
while read -r verb; do
    case $verb in
    start) "$@" >>"$folder/log" 2>&1 </dev/null & daemon=$! ;;
    kill) end ;;
    esac
done
end
rm -rf "$folder"
"#;

/// How long a start may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// The account of the operator.
const USER: &str = "operator";

/// A running server. It ends when it is dropped, and with the process at the latest.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    password: String,
    stdin: Option<ChildStdin>,
    shell: Child,
}

impl Server {
    /// Starts one. The first time, packages may be fetched; stderr shows the progress.
    ///
    /// # Errors
    /// If no server is installed and none can be fetched, or if it doesn't start.
    pub async fn start() -> Result<Self, Error> {
        // Neither unpacking nor creating tables waits for anything that a runtime knows about.
        let made = tokio::task::spawn_blocking(Self::made).await;
        let mut server = made.map_err(|error| Error::Broken { what: "start", why: error.to_string() })??;
        server.resume().await?;
        Ok(server)
    }

    /// The url, for a user with all rights.
    #[must_use]
    pub fn opts(&self) -> Opts {
        self.opts_of(USER, &self.password)
    }

    /// The url for a user.
    #[must_use]
    pub fn opts_of(&self, user: &str, password: &str) -> Opts {
        let socket = self.socket().display().to_string();
        OptsBuilder::default().user(Some(user)).pass(Some(password)).socket(Some(socket)).into()
    }

    /// Its socket.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// Kills it. Its data stays.
    ///
    /// # Errors
    /// If it can't be killed.
    pub async fn kill(&mut self) -> Result<(), Error> {
        self.tell("kill")?;
        self.wait("be killed", |listens| !listens).await
    }

    /// Starts it again, with the data that it had.
    ///
    /// # Errors
    /// If it doesn't start.
    pub async fn resume(&mut self) -> Result<(), Error> {
        self.tell("start")?;
        self.wait("start", |listens| listens).await
    }

    /// A folder with the tables that every server has, and a shell that waits for orders.
    fn made() -> Result<Self, Error> {
        let program = Program::find()?;
        let folder =
            tempfile::Builder::new().prefix("mysql-schema-").tempdir().map_err(failed("make a folder"))?;
        let password = Alphanumeric.sample_string(&mut rand::rng(), 24);
        let mut tables = "CREATE DATABASE mysql;\nUSE mysql;\n".to_owned();
        tables += &fs::read_to_string(&program.tables).map_err(failed("read the tables of a new server"))?;
        tables += &format!("FLUSH PRIVILEGES;\nCREATE USER '{USER}'@'%' IDENTIFIED BY '{password}';\n");
        tables += &format!("GRANT ALL ON *.* TO '{USER}'@'%' WITH GRANT OPTION;\n");
        program.bootstrap(folder.path(), &tables)?;

        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SUPERVISE, "supervise"]).arg(folder.path()).args(program.daemon(folder.path()));
        // Ctrl-C in a terminal is for this process, which then ends the server.
        shell.envs(program.libraries()).stdin(Stdio::piped()).process_group(0);
        // The shell would report each server that it has killed.
        shell.stdout(Stdio::null()).stderr(Stdio::null());
        let mut shell = shell.spawn().map_err(failed("run a shell"))?;
        let stdin = shell.stdin.take();
        // From here on the shell removes the folder.
        Ok(Self { folder: folder.keep(), password, stdin, shell })
    }

    fn tell(&mut self, verb: &str) -> Result<(), Error> {
        let gone = || io::Error::other("its shell is gone");
        let told = self.stdin.as_mut().ok_or_else(gone).and_then(|stdin| writeln!(stdin, "{verb}"));
        told.map_err(failed("give the server an order"))
    }

    async fn wait(&self, what: &'static str, is_so: impl Fn(bool) -> bool) -> Result<(), Error> {
        let looks = async {
            while !is_so(UnixStream::connect(self.socket()).is_ok()) {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(PATIENCE, looks).await;
        waited.map_err(|_| Error::Broken { what, why: last_lines(&self.folder) })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stdin = None;
        let _ = self.shell.wait();
    }
}

fn last_lines(folder: &Path) -> String {
    let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
    let lines: Vec<&str> = log.lines().rev().take(20).collect();
    lines.into_iter().rev().collect::<Vec<_>>().join("\n")
}
