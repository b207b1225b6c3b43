//! The API server inside the process, in place of an operator's network.

use tower::util::BoxService;

use super::InProcessServer;
use crate::client::TransportHook;

/// For an operator's builder: requests go to this server, and never to the network.
impl From<InProcessServer> for TransportHook {
    fn from(server: InProcessServer) -> Self {
        Self::server(move || BoxService::new(server.clone()))
    }
}
