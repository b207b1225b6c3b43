//! The socket of the in-process server: HTTPS on 127.0.0.1, for kubectl and for operators in other processes.
//!
//! ```text
//!  kubectl ──TLS──▶ listener ──▶ connection (HTTP/1.1, 2) ──▶ users: certificate or token ──▶ InProcessServer
//!     ▲                                                                                          (as without a socket)
//!     └── kubeconfig, in a private folder that goes with the process
//! ```
//!
//! # Guarantees
//! - Only 127.0.0.1 is listened on, and only whoever can read the kubeconfig is the administrator.
//! - Nothing is left behind when [`Listening`] is dropped or the process ends, not even by SIGKILL: see `folder.rs`.
//!
//! # Assumptions
//! - It lives on the runtime that it was started on, whose clock is not paused.

mod connection;
mod folder;
mod gzip;
mod tls;
mod users;

use std::{
    fmt, io,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    sync::Arc,
    sync::atomic::{AtomicU64, Ordering},
};

use kube::config::{KubeConfigOptions, Kubeconfig};
use tokio::{
    net::TcpListener,
    task::{JoinHandle, JoinSet},
};

use super::{
    audit::ADMIN,
    identity::{MASTERS, User},
    service::InProcessServer,
    steps::present,
};
use crate::{certs::Authority, error::Error, kubeconfig::kubeconfig, virtual_time::is_virtual};
use connection::Socket;
use folder::PrivateFolder;
use users::Users;

/// A socket of an in-process server. Dropping it closes the socket and its connections, and removes the kubeconfig.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use test_cluster::InProcessServer;
///
/// let listening = InProcessServer::new().listen().await?;
/// println!("KUBECONFIG={} kubectl get namespaces", listening.kubeconfig().display());
/// # Ok(())
/// # }
/// ```
pub struct Listening {
    port: u16,
    config: kube::Config,
    kubeconfig: PathBuf,
    authority: Authority,
    users: Arc<Users>,
    /// How many kubeconfigs there are.
    files: AtomicU64,
    accepting: JoinHandle<()>,
    folder: PrivateFolder,
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening").field("port", &self.port).finish_non_exhaustive()
    }
}

impl InProcessServer {
    /// Listens with HTTPS on a free port of 127.0.0.1, for kubectl and for clients in other processes.
    ///
    /// The socket lives on the current runtime, for as long as what is returned. Without it the server still has no
    /// socket, no task and no thread.
    ///
    /// # Errors
    /// If no port is free, the folder for the kubeconfig can't be made, or the runtime's clock is paused.
    pub async fn listen(&self) -> Result<Listening, Error> {
        self.listen_on(0).await
    }

    /// The same on a port of your choice.
    ///
    /// # Errors
    /// As [`listen`](Self::listen), and if another process has the port.
    pub async fn listen_on(&self, port: u16) -> Result<Listening, Error> {
        if is_virtual() {
            return Err(Error::VirtualSocket);
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(cannot_listen(port))?;
        let port = listener.local_addr().map_err(cannot_listen(port))?.port();
        let authority = Authority::new()?;
        let users = Arc::new(Users::default());
        let acceptor = tls::acceptor(&authority)?;
        self.change(|state| present(&mut state.controllers, &mut state.api, authority.certificate()));
        let folder = PrivateFolder::new()?;
        let text = kubeconfig_of(&authority, &users, port, ADMIN, &[MASTERS])?;
        let kubeconfig = folder.write("kubeconfig", &text)?;
        let options = KubeConfigOptions::default();
        let config = kube::Config::from_custom_kubeconfig(Kubeconfig::from_yaml(&text)?, &options).await?;
        let socket = Socket { server: self.clone(), users: Arc::clone(&users), acceptor };
        let accepting = tokio::spawn(accept(listener, socket));
        let files = AtomicU64::new(0);
        Ok(Listening { port, config, kubeconfig, authority, users, files, accepting, folder })
    }
}

impl Listening {
    /// Where the server is reached, as in `https://127.0.0.1:40123`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }

    /// The file of a kubeconfig for the administrator, with the certificates included. Only this user can read it.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// How to reach the server through its socket as the administrator.
    #[must_use]
    pub fn config(&self) -> kube::Config {
        self.config.clone()
    }

    /// The file of a kubeconfig for somebody else, with a certificate: RBAC applies.
    ///
    /// # Errors
    /// If the file can't be written.
    pub fn kubeconfig_of(&self, user: &str, groups: &[&str]) -> Result<PathBuf, Error> {
        let text = kubeconfig_of(&self.authority, &self.users, self.port, user, groups)?;
        let number = self.files.fetch_add(1, Ordering::Relaxed);
        self.folder.write(&format!("kubeconfig-{number}"), &text)
    }

    /// A new bearer token for somebody: RBAC applies. It is valid for as long as the socket is open.
    #[must_use]
    pub fn token_of(&self, user: &str, groups: &[&str]) -> String {
        self.users.new_token(User::new(user, groups))
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Accepts connections until the task is aborted, which ends them, too.
async fn accept(listener: TcpListener, socket: Socket) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            // A connection that was given up before it was accepted is no reason to stop.
            accepted = listener.accept() => if let Ok((connection, _)) = accepted {
                connections.spawn(socket.clone().serve(connection));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

fn kubeconfig_of(
    authority: &Authority,
    users: &Users,
    port: u16,
    user: &str,
    groups: &[&str],
) -> Result<String, Error> {
    let identity = authority.user(user, groups)?;
    users.add_certificate(&tls::certificate(&identity)?, User::new(user, groups));
    kubeconfig("embedded-cluster", port, &authority.certificate(), user, &identity)
}

fn cannot_listen(port: u16) -> impl FnOnce(io::Error) -> Error {
    Error::io(match port {
        0 => "listen on a free port of 127.0.0.1".to_owned(),
        port => format!("listen on 127.0.0.1:{port} (0 stands for any free port)"),
    })
}
