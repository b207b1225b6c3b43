//! The requests of a list-watch.

use std::time::Duration;

use http::{HeaderValue, Request, header};
use kube::{
    Client,
    api::{ListParams, WatchParams},
};

use crate::{cache::config::InformerSettings, client::LongAnswer, resource::escaped};

use super::failure::{Failure, Subject};

const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
const METADATA: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
const JSON: &str = "application/json";

/// The server closes a watch itself after its timeout. kube refuses timeouts from 295 s on.
const LONGEST_WATCH: Duration = Duration::from_secs(240);
/// The random extension of a watch, so that many don't end at once.
pub(super) const WATCH_SPREAD: f64 = 0.2;

/// One collection of objects on the server, with the selectors of one informer.
#[derive(Clone)]
pub(in crate::cache) struct Collection {
    pub(in crate::cache) client: Client,
    pub(in crate::cache) settings: InformerSettings,
    namespace: Option<String>,
}

impl Collection {
    pub(in crate::cache) fn new(settings: InformerSettings, client: Client, namespace: Option<&str>) -> Self {
        Self { client, settings, namespace: namespace.map(str::to_owned) }
    }

    pub(in crate::cache) fn path(&self) -> String {
        self.settings.resource_type.collection_path(self.namespace.as_deref())
    }

    /// The time after which the server is to end a watch.
    pub(super) fn watch_timeout(&self) -> Duration {
        self.settings.watch_timeout.clamp(Duration::from_secs(1), LONGEST_WATCH)
    }

    pub(super) fn subject(&self) -> Subject {
        Subject {
            resource_type: self.settings.resource_type.clone(),
            namespace: self.namespace.clone(),
            cluster: self.settings.cluster.clone(),
        }
    }

    /// A page of a list: without a version, which requests the newest state.
    pub(in crate::cache) fn list(
        &self,
        continue_token: Option<String>,
        paged: bool,
    ) -> Result<Request<Vec<u8>>, Failure> {
        self.list_as(if self.settings.metadata_only { METADATA_LIST } else { JSON }, continue_token, paged)
    }

    /// The same, with metadata only.
    pub(in crate::cache) fn list_metadata(
        &self,
        continue_token: Option<String>,
    ) -> Result<Request<Vec<u8>>, Failure> {
        self.list_as(METADATA_LIST, continue_token, true)
    }

    fn list_as(
        &self,
        accept: &'static str,
        continue_token: Option<String>,
        paged: bool,
    ) -> Result<Request<Vec<u8>>, Failure> {
        let params = ListParams {
            label_selector: self.settings.label_selector.clone(),
            field_selector: self.settings.field_selector.clone(),
            limit: (paged && self.settings.page_size > 0).then_some(self.settings.page_size),
            continue_token,
            ..ListParams::default()
        };
        let request = kube::core::Request::new(self.path()).list(&params);
        let request = request.map_err(|error| Failure::new(error.to_string()))?;
        let mut request = accepting(self.of_shard(request)?, accept);
        request.extensions_mut().insert(LongAnswer);
        Ok(request)
    }

    /// The requested form of one object.
    pub(in crate::cache) fn accept(&self) -> &'static str {
        if self.settings.metadata_only { METADATA } else { JSON }
    }

    /// A watch that starts after `version`, or without one starts by showing all objects in their newest state; the
    /// server ends it after `timeout`.
    pub(super) fn watch(
        &self,
        version: Option<&str>,
        timeout: Duration,
    ) -> Result<Request<Vec<u8>>, Failure> {
        let params = WatchParams {
            label_selector: self.settings.label_selector.clone(),
            field_selector: self.settings.field_selector.clone(),
            timeout: u32::try_from(timeout.as_secs()).ok(),
            bookmarks: true,
            send_initial_events: version.is_none(),
        };
        let request = kube::core::Request::new(self.path()).watch(&params, version.unwrap_or_default());
        let request = request.map_err(|error| Failure::new(error.to_string()))?;
        let mut request = accepting(self.of_shard(request)?, self.accept());
        // A compressing proxy would hold lines back until its buffer is full.
        request.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        Ok(request)
    }
}

impl Collection {
    /// The same request for a part of the objects, which kube's parameters don't know.
    fn of_shard(&self, mut request: Request<Vec<u8>>) -> Result<Request<Vec<u8>>, Failure> {
        let Some(shard) = &self.settings.shard else { return Ok(request) };
        let uri = request.uri().to_string();
        let and = if uri.contains('?') { '&' } else { '?' };
        let uri = format!("{uri}{and}shardSelector={}", escaped(shard.as_str()));
        *request.uri_mut() =
            uri.parse().map_err(|error| Failure::new(format!("{uri} isn't an address: {error}")))?;
        Ok(request)
    }
}

fn accepting(mut request: Request<Vec<u8>>, accept: &'static str) -> Request<Vec<u8>> {
    request.headers_mut().insert(header::ACCEPT, HeaderValue::from_static(accept));
    request
}
