//! Compressed answers, as the real server gives them: to who asks for it, from 128 KiB on.

use std::io::Write;

use bytes::{BufMut, Bytes, BytesMut};
use flate2::{Compression, write::GzEncoder};
use http::{HeaderMap, HeaderValue, Response, header};
use http_body::Body;
use http_body_util::{BodyExt, Full};

use super::super::service::ResponseBody;

/// Answers up to this length are sent as they are.
const THRESHOLD: u64 = 128 * 1024;

/// Whether a client takes compressed answers.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.unwrap_or_default().split(',').any(|encoding| encoding.trim() == "gzip")
}

/// The same answer, compressed if it is long. A watch has no length, and is never compressed.
pub(super) async fn compressed(response: Response<ResponseBody>) -> Response<ResponseBody> {
    if response.body().size_hint().exact().is_none_or(|length| length <= THRESHOLD) {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // It is there as a whole already.
    let Ok(body) = body.collect().await else { return Response::from_parts(parts, ResponseBody::default()) };
    let body = body.to_bytes();
    let compressed = compress(&body);
    if compressed.is_some() {
        parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        parts.headers.append(header::VARY, HeaderValue::from_static("Accept-Encoding"));
    }
    let body = Full::new(compressed.unwrap_or(body)).map_err(|never| match never {}).boxed_unsync();
    Response::from_parts(parts, body)
}

fn compress(body: &[u8]) -> Option<Bytes> {
    let into = BytesMut::with_capacity(body.len() / 8).writer();
    let mut encoder = GzEncoder::new(into, Compression::fast());
    encoder.write_all(body).ok()?;
    Some(encoder.finish().ok()?.into_inner().freeze())
}
