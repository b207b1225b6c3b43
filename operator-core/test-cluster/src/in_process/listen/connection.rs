//! One connection: TLS, then requests over HTTP/1.1 or 2.

use std::{convert::Infallible, sync::Arc, time::Duration};

use http::{Request as HttpRequest, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto,
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::TlsAcceptor;

use super::{
    super::{
        failure::Failure,
        request::Request,
        service::{InProcessServer, ResponseBody, refused},
        sizes,
    },
    gzip,
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
        let sender = match self.users.of_request(shown, &parts.headers, |token| self.server.user_of(token)) {
            Ok(sender) => sender,
            Err(failure) => return refused(&failure),
        };
        let body = match timeout(BODY, read(body)).await {
            Ok(Ok(body)) => body,
            Ok(Err(failure)) => return refused(&failure),
            Err(_) => {
                return refused(&Failure::new(504, "Timeout", "the request's body did not arrive in time"));
            }
        };
        let mut request = Request::new(parts.method, &parts.uri, &parts.headers, body);
        request.sent_by(sender);
        let response = self.server.answer(&request);
        if gzip::is_wanted(&parts.headers) { gzip::compressed(response).await } else { response }
    }
}

/// The body of a request, or the refusal of one that is too long or breaks off.
async fn read(body: Incoming) -> Result<Vec<u8>, Failure> {
    // Without a copy where it came in one piece.
    let read = Limited::new(body, sizes::BODY).collect().await.map(|body| body.to_bytes().into());
    read.map_err(|error| match error.downcast_ref::<LengthLimitError>() {
        Some(_) => sizes::too_large(),
        None => Failure::bad_request(format!("the request's body broke off: {error}")),
    })
}
