//! A gateway between the operator and the server: it knows each statement that changes something, and can be the place
//! where the operator's process dies, before the statement is sent or after it is done.
//!
//! ```text
//!   operator ──▶ socket ─┬▶ server      a packet: length (3 bytes), number (1), and its content; a command has number 0
//!            ◀───────────┴─
//! ```

use std::{path::Path, sync::Arc};

use anyhow::Result;
use mysql_async::{Opts, OptsBuilder};
use parking_lot::Mutex;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        UnixListener, UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Notify,
    task::{JoinHandle, JoinSet},
};

/// When a process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    Before,
    After,
}

#[derive(Default)]
struct Shared {
    /// The number of the statement at which the process dies, counted from 1.
    dies: Mutex<Option<(usize, When)>>,
    statements: Mutex<Vec<String>>,
    died: Arc<Notify>,
}

/// A running gateway; it ends when it is dropped.
pub(crate) struct Gateway {
    folder: TempDir,
    shared: Arc<Shared>,
    listening: JoinHandle<()>,
}

impl Gateway {
    /// A gateway in front of this server. `died` is notified when the process dies here.
    pub(crate) fn start(server: &Path, dies: Option<(usize, When)>, died: Arc<Notify>) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let listener = UnixListener::bind(folder.path().join("socket"))?;
        let shared = Arc::new(Shared { dies: Mutex::new(dies), statements: Mutex::default(), died });
        let listening = tokio::spawn(listen(listener, server.to_owned(), Arc::clone(&shared)));
        Ok(Self { folder, shared, listening })
    }

    /// The url of the server through the gateway.
    pub(crate) fn opts(&self, server: Opts) -> Opts {
        let socket = self.folder.path().join("socket").display().to_string();
        OptsBuilder::from_opts(server).socket(Some(socket)).into()
    }

    /// Whether the process has died here.
    pub(crate) fn has_fired(&self) -> bool {
        self.shared.dies.lock().is_none()
    }

    /// The statements so far that change something, by their first two words.
    pub(crate) fn statements(&self) -> Vec<String> {
        self.shared.statements.lock().clone()
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

async fn listen(listener: UnixListener, server: std::path::PathBuf, shared: Arc<Shared>) {
    // They end with the gateway.
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let Ok(server) = UnixStream::connect(&server).await else { continue };
        let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
        let hides = Arc::new(Mutex::new(false));
        connections.spawn(statements(from_client, to_server, Arc::clone(&shared), Arc::clone(&hides)));
        connections.spawn(answers(from_server, to_client, Arc::clone(&shared), hides));
    }
}

async fn statements(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: Arc<Shared>,
    hides: Arc<Mutex<bool>>,
) {
    let mut head = [0; 4];
    while from.read_exact(&mut head).await.is_ok() {
        let length = u32::from_le_bytes([head[0], head[1], head[2], 0]);
        let mut content = vec![0; length as usize];
        if from.read_exact(&mut content).await.is_err() {
            break;
        }
        if head[3] == 0
            && let Some(statement) = changes(&content)
        {
            match shared.passes(statement) {
                Some(When::Before) => {
                    shared.died.notify_one();
                    return std::future::pending().await;
                }
                Some(When::After) => *hides.lock() = true,
                None => {}
            }
        }
        if to.write_all(&head).await.is_err() || to.write_all(&content).await.is_err() {
            break;
        }
    }
}

async fn answers(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    shared: Arc<Shared>,
    hides: Arc<Mutex<bool>>,
) {
    let mut some = vec![0; 64 * 1024];
    while let Ok(length @ 1..) = from.read(&mut some).await {
        if *hides.lock() {
            shared.died.notify_one();
            return std::future::pending().await;
        }
        if to.write_all(&some[..length]).await.is_err() {
            break;
        }
    }
}

/// The first two words of a query (command 3) that changes something.
fn changes(content: &[u8]) -> Option<String> {
    let query = String::from_utf8_lossy(content.strip_prefix(&[3])?).into_owned();
    let changes = ["CREATE ", "ALTER ", "DROP ", "GRANT "].iter().any(|word| query.starts_with(word));
    changes.then(|| query.split(' ').take(2).collect::<Vec<_>>().join(" "))
}

impl Shared {
    /// Counts a statement, and returns whether the process dies at it.
    fn passes(&self, statement: String) -> Option<When> {
        let mut statements = self.statements.lock();
        statements.push(statement);
        let mut dies = self.dies.lock();
        let (number, when) = (*dies)?;
        if number != statements.len() {
            return None;
        }
        *dies = None;
        Some(when)
    }
}
