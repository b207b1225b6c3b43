//! A client below kube: connections of its own, with the protocol that the test wants.

use std::{error::Error, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::{body::Incoming, client::conn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use kube::{Config, client::ConfigExt};
use tokio::{net::TcpStream, task::JoinHandle};
use tokio_rustls::{TlsConnector, client::TlsStream, rustls::pki_types::ServerName};

/// A connection over which requests are sent.
pub(crate) enum Connection {
    One(conn::http1::SendRequest<Full<Bytes>>, JoinHandle<()>),
    Two(conn::http2::SendRequest<Full<Bytes>>, JoinHandle<()>),
}

/// An answer that has arrived.
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// TLS to the server, with what the client offers by ALPN.
async fn tls(config: &Config, offers: &[&str]) -> Result<TlsStream<TcpStream>, Box<dyn Error>> {
    let mut tls = config.rustls_client_config()?;
    tls.alpn_protocols = offers.iter().map(|offer| offer.as_bytes().to_vec()).collect();
    let authority = config.cluster_url.authority().ok_or("no address")?.to_string();
    let stream = TcpStream::connect(authority).await?;
    stream.set_nodelay(true)?;
    let name = ServerName::try_from(config.cluster_url.host().ok_or("no host")?.to_owned())?;
    Ok(TlsConnector::from(Arc::new(tls)).connect(name, stream).await?)
}

impl Connection {
    pub(crate) async fn open(config: &Config, offers: &[&str]) -> Result<Self, Box<dyn Error>> {
        let stream = tls(config, offers).await?;
        let chosen = stream.get_ref().1.alpn_protocol().map(<[u8]>::to_vec);
        let stream = TokioIo::new(stream);
        if chosen.as_deref() == Some(b"h2") {
            let (sender, connection) = conn::http2::handshake(TokioExecutor::new(), stream).await?;
            return Ok(Self::Two(sender, tokio::spawn(async { drop(connection.await) })));
        }
        let (sender, connection) = conn::http1::handshake(stream).await?;
        Ok(Self::One(sender, tokio::spawn(async { drop(connection.await) })))
    }

    pub(crate) async fn send(
        &mut self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<http::Response<Incoming>, hyper::Error> {
        match self {
            Self::One(sender, _) => {
                request.headers_mut().insert("host", http::HeaderValue::from_static("localhost"));
                sender.ready().await?;
                sender.send_request(request).await
            }
            Self::Two(sender, _) => {
                *request.uri_mut() = format!("https://localhost{}", request.uri()).parse().expect("a url");
                sender.ready().await?;
                sender.send_request(request).await
            }
        }
    }

    pub(crate) async fn answer(&mut self, request: Request<Full<Bytes>>) -> Result<Answer, Box<dyn Error>> {
        let (parts, body) = self.send(request).await?.into_parts();
        Ok(Answer { code: parts.status, headers: parts.headers, body: body.collect().await?.to_bytes() })
    }

    /// Waits until the server has closed it.
    pub(crate) async fn closed(self) -> Result<(), tokio::task::JoinError> {
        match self {
            Self::One(_sender, connection) => connection.await,
            Self::Two(_sender, connection) => connection.await,
        }
    }
}

/// A request without a body.
pub(crate) fn get(path: &str) -> Request<Full<Bytes>> {
    Request::get(path).body(Full::default()).expect("a request")
}

/// A request that makes an object.
pub(crate) fn post(path: &str, object: &serde_json::Value) -> Request<Full<Bytes>> {
    let request = Request::post(path).header("content-type", "application/json");
    request.body(object.to_string().into()).expect("a request")
}
