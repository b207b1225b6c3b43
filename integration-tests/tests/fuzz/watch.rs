//! The events of a watch about an object.

use futures::TryStreamExt;
use http::Request;
use http_body_util::BodyExt;
use integration_tests::prelude::*;
use kube::client::Body;

use crate::compare::Answer;

/// The events of an object after a version, up to its deletion: type and object. `None` if that is too long ago.
pub(crate) async fn events(
    client: &Client,
    path: &str,
    name: &str,
    version: &str,
) -> anyhow::Result<Option<Vec<(String, Answer)>>> {
    let query = format!(
        "watch=true&resourceVersion={version}&fieldSelector=metadata.name%3D{name}&timeoutSeconds=20"
    );
    let request = Request::get(format!("{path}?{query}")).body(Body::empty())?;
    let mut frames = client.send(request).await?.into_body().into_data_stream();
    let (mut text, mut events) = (Vec::new(), Vec::new());
    while let Some(frame) = frames.try_next().await? {
        text.extend_from_slice(&frame);
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            let mut event: Value = serde_json::from_slice(&line)?;
            let kind = event["type"].as_str().unwrap_or_default().to_owned();
            if kind == "ERROR" {
                return Ok(None);
            }
            let is_end = kind == "DELETED";
            events.push((kind, Answer { code: 200, body: event["object"].take() }));
            if is_end {
                return Ok(Some(events));
            }
        }
    }
    Ok(Some(events))
}
