//! A server whose versions can't be compared: they aren't numbers, as with some aggregated servers.
//!
//! ```text
//!  operator ── resourceVersion=v-12 ──▶ hook ── resourceVersion=12 ──▶ server
//!           ◀── "resourceVersion":"v-12" ──     ◀── "resourceVersion":"12" ──
//! ```

use bytes::Bytes;
use futures::{StreamExt, stream};
use http::{Request, header::CONTENT_LENGTH};
use http_body::Frame;
use http_body_util::{BodyExt, BodyStream, Full, StreamBody};
use kube::client::Body;
use operator_core::{
    BoxError,
    client::{ResponseBody, TransportHook},
};

const IN_BODIES: [&str; 2] = ["\"resourceVersion\":\"", "\"resourceVersion\":\"v-"];
const IN_QUERIES: [&str; 2] = ["resourceVersion=", "resourceVersion=v-"];

/// A hook that makes the versions of the objects of `plural`, and of their lists, texts that can't be compared.
#[must_use]
pub fn opaque_versions(plural: &'static str) -> TransportHook {
    TransportHook::around(move |request, inner| async move {
        let path = request.uri().path();
        if !path.split('/').any(|segment| segment == plural) {
            return inner.send(request).await;
        }
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        let (mut parts, body) = inner.send(without(request).await?).await?.into_parts();
        parts.headers.remove(CONTENT_LENGTH);
        let body = if is_watch { lines(body) } else { whole(body).await? };
        Ok(http::Response::from_parts(parts, body))
    })
}

/// The request as the server knows the versions.
async fn without(request: Request<Body>) -> Result<Request<Body>, BoxError> {
    let [plain, opaque] = IN_QUERIES;
    let (mut parts, body) = request.into_parts();
    parts.uri = parts.uri.to_string().replace(opaque, plain).parse()?;
    parts.headers.remove(CONTENT_LENGTH);
    let body = String::from_utf8(body.collect().await?.to_bytes().to_vec())?;
    let [plain, opaque] = IN_BODIES;
    Ok(Request::from_parts(parts, Body::from(body.replace(opaque, plain).into_bytes())))
}

fn with(text: &[u8]) -> Bytes {
    let [plain, opaque] = IN_BODIES;
    Bytes::from(String::from_utf8_lossy(text).replace(plain, opaque))
}

async fn whole(body: ResponseBody) -> Result<ResponseBody, BoxError> {
    let content = Full::new(with(&body.collect().await?.to_bytes()));
    Ok(BodyExt::map_err(content, |never| match never {}).boxed_unsync())
}

/// A watch, line by line: a frame may end in the middle of one.
fn lines(body: ResponseBody) -> ResponseBody {
    let told = BodyStream::new(body).scan(Vec::new(), |rest, frame| {
        let frame = frame.map(|frame| match frame.into_data() {
            Ok(data) => {
                rest.extend_from_slice(&data);
                let end = rest.iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
                Frame::data(with(&rest.drain(..end).collect::<Vec<_>>()))
            }
            Err(other) => other,
        });
        futures::future::ready(Some(frame))
    });
    StreamBody::new(told.chain(stream::empty())).boxed_unsync()
}
