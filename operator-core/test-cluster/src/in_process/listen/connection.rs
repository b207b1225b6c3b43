//! One connection: TLS, then requests over HTTP/1.1 or 2.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http::{Request as HttpRequest, Response};
use http_body_util::{BodyExt, Limited};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsAcceptor;

use super::{
    super::{
        request::Request,
        service::{InProcessServer, ResponseBody, refused},
        sizes,
    },
    users::{Shown, Users},
};

/// How long a client may take for the handshake, and for the headers of a request: as long as at the real server.
const HEADERS: Duration = Duration::from_secs(32);
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long the body of a request may take.
const BODY: Duration = Duration::from_secs(60);

/// What all connections of a socket share.
#[derive(Clone)]
pub(super) struct Socket {
    pub(super) server: InProcessServer,
    pub(super) users: Arc<Users>,
    pub(super) acceptor: TlsAcceptor,
}

impl Socket {
    /// Answers the requests of a connection until it ends.
    pub(super) async fn serve(self, connection: TcpStream) {
        // Answers are written whole, so that nothing is gained by waiting for more.
        let _ = connection.set_nodelay(true);
        let Ok(Ok(stream)) = timeout(HANDSHAKE, self.acceptor.accept(connection)).await else { return };
        let shown = self.users.shown(stream.get_ref().1.peer_certificates().and_then(<[_]>::first));
        let answer = service_fn(|request| {
            let (socket, shown) = (self.clone(), shown.clone());
            async move { Ok::<_, Infallible>(socket.answer(request, &shown).await) }
        });
        let mut http = auto::Builder::new(TokioExecutor::new());
        http.http1().timer(TokioTimer::new()).header_read_timeout(HEADERS);
        http.http2().timer(TokioTimer::new());
        // A connection that breaks is the client's to notice.
        let _ = http.serve_connection(TokioIo::new(stream), answer).await;
    }

    async fn answer(&self, request: HttpRequest<Incoming>, shown: &Shown) -> Response<ResponseBody> {
        let (parts, body) = request.into_parts();
        let body = timeout(BODY, Limited::new(body, sizes::BODY + 1).collect()).await;
        let body = match body {
            Ok(Ok(body)) => body.to_bytes().to_vec(),
            // One byte more than is read at all: the server refuses it in its words.
            _ => vec![0; sizes::BODY + 1],
        };
        let mut request = Request::new(parts.method, &parts.uri, &parts.headers, body);
        match self.users.of_request(shown, &parts.headers) {
            Ok(user) if request.user.name.is_none() => request.user = user,
            Ok(_) => request.impersonated = true,
            Err(failure) => return refused(&failure),
        }
        self.server.answer(&request)
    }
}
