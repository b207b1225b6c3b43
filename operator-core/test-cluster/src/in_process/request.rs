//! Parses a request: its path, its query and its headers.

use std::collections::BTreeMap;

use http::{HeaderMap, Method, Uri, header};

use super::fields::protobuf;

use super::identity::User;

/// The target of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// `/version`
    Version,
    /// `/readyz` and similar paths.
    Health,
    /// `/api`
    CoreVersions,
    /// `/apis`
    Groups,
    /// `/apis/{group}`
    Group(String),
    /// `/api/v1`, `/apis/{group}/{version}`
    Resources(String, String),
    /// `/openapi/…`
    OpenApi(String),
    /// Objects.
    Objects(Target),
    /// Anything else.
    Unknown,
}

/// A collection, an object or its subresource.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Target {
    /// Empty for the core group.
    pub(super) group: String,
    pub(super) version: String,
    pub(super) plural: String,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<String>,
    pub(super) subresource: Option<String>,
}

/// The form of the objects in the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Representation {
    /// As they are.
    Whole,
    /// Metadata only, single objects.
    Metadata,
    /// Metadata only, a list.
    MetadataList,
    /// Rows of a table, a list or single objects.
    Table,
    /// None that this server has.
    Other,
}

/// A request, parsed as far as that is possible without knowing the kinds.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: Method,
    pub(super) route: Route,
    pub(super) query: Query,
    pub(super) representation: Representation,
    /// Whether discovery is wanted in one document, before any other form.
    pub(super) aggregated: bool,
    /// Without parameters, in lower case; empty if there is none.
    pub(super) content_type: String,
    pub(super) user: User,
    /// Who sends it in this user's name.
    pub(super) sender: Option<User>,
    pub(super) user_agent: String,
    /// Path and query as they came.
    pub(super) uri: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    /// Reads a request whose body has arrived.
    pub(super) fn new(method: Method, uri: &Uri, headers: &HeaderMap, body: Vec<u8>) -> Self {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let content_type = text(header::CONTENT_TYPE).split(';').next().unwrap_or_default();
        // What Go's typed clients send is read here, so that all others see JSON. What can't be read is refused later.
        let packed = content_type.trim().eq_ignore_ascii_case("application/vnd.kubernetes.protobuf");
        let (content_type, body) = match packed.then(|| protobuf::read(&body)).flatten() {
            Some(object) => ("application/json", object.to_string().into_bytes()),
            None => (content_type, body),
        };
        Self {
            method,
            route: Route::of(uri.path()),
            query: Query::of(uri.query().unwrap_or_default()),
            representation: representation(text(header::ACCEPT)),
            aggregated: is_aggregated(text(header::ACCEPT)),
            content_type: content_type.trim().to_ascii_lowercase(),
            user: User::impersonated(headers),
            sender: None,
            user_agent: text(header::USER_AGENT).to_owned(),
            uri: uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            body,
        }
    }

    /// Names whoever sends it, and is its user if it names no other.
    pub(super) fn sent_by(&mut self, sender: User) {
        if self.user == User::default() {
            self.user = sender;
        } else {
            self.sender = Some(sender);
        }
    }

    /// The field manager: from the request, or else the client program's name.
    pub(super) fn manager(&self) -> String {
        let program = || self.user_agent.split('/').next().unwrap_or_default();
        let manager = self.query.get("fieldManager").unwrap_or_else(program);
        if manager.is_empty() { "unknown".to_owned() } else { manager.chars().take(128).collect() }
    }
}

impl Route {
    fn of(path: &str) -> Self {
        let segments: Vec<String> = path.trim_matches('/').split('/').map(decode).collect();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        match segments[..] {
            ["version"] => Self::Version,
            ["readyz" | "healthz" | "livez"] => Self::Health,
            ["openapi", ref rest @ ..] => Self::OpenApi(rest.join("/")),
            ["api"] => Self::CoreVersions,
            ["apis"] => Self::Groups,
            ["apis", group] => Self::Group(group.to_owned()),
            ["api", version] => Self::Resources(String::new(), version.to_owned()),
            ["apis", group, version] => Self::Resources(group.to_owned(), version.to_owned()),
            ["api", version, ref rest @ ..] => Self::objects("", version, rest),
            ["apis", group, version, ref rest @ ..] => Self::objects(group, version, rest),
            _ => Self::Unknown,
        }
    }

    fn objects(group: &str, version: &str, rest: &[&str]) -> Self {
        // `namespaces/x/status` is about the namespace itself, `namespaces/x/pods` about a collection in it.
        let (namespace, rest) = match rest {
            ["namespaces", _, "status" | "finalize"] => (None, rest),
            ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
            _ => (None, rest),
        };
        let [plural, rest @ ..] = rest else { return Self::Unknown };
        if rest.len() > 2 {
            return Self::Unknown;
        }
        Self::Objects(Target {
            group: group.to_owned(),
            version: version.to_owned(),
            plural: (*plural).to_owned(),
            namespace: namespace.map(str::to_owned),
            name: rest.first().map(|name| (*name).to_owned()),
            subresource: rest.get(1).map(|name| (*name).to_owned()),
        })
    }
}

/// The parameters of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Query(BTreeMap<String, Vec<String>>);

impl Query {
    fn of(query: &str) -> Self {
        let mut parameters = BTreeMap::<String, Vec<String>>::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameters.entry(decode(name)).or_default().push(decode(value));
        }
        Self(parameters)
    }

    /// A parameter's first value, unless it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.first().map(String::as_str).filter(|value| !value.is_empty())
    }

    /// All values of a parameter.
    pub(super) fn all(&self, name: &str) -> &[String] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a parameter is present and true.
    pub(super) fn is_true(&self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }

    /// A parameter that is true or false. Any value except these two for "no" means "yes".
    pub(super) fn flag(&self, name: &str) -> Option<bool> {
        let value = self.0.get(name)?.first()?;
        Some(!matches!(value.as_str(), "false" | "0"))
    }
}

/// The first representation in an `Accept` header that this server has.
fn representation(accept: &str) -> Representation {
    let mut known = accept.split(',').map(|choice| {
        let mut parts = choice.split(';').map(str::trim);
        let format = parts.next().unwrap_or_default();
        let shape = parts.find_map(|part| part.strip_prefix("as="));
        match (format, shape) {
            ("" | "application/json" | "*/*" | "application/*", None) => Representation::Whole,
            ("application/json", Some("PartialObjectMetadata")) => Representation::Metadata,
            ("application/json", Some("PartialObjectMetadataList")) => Representation::MetadataList,
            ("application/json", Some("Table")) if choice.contains(";v=v1;") || choice.ends_with(";v=v1") => {
                Representation::Table
            }
            _ => Representation::Other,
        }
    });
    known.find(|choice| *choice != Representation::Other).unwrap_or(Representation::Other)
}

/// Whether an `Accept` header prefers the aggregated form of discovery that this server has.
fn is_aggregated(accept: &str) -> bool {
    let first = accept.split(',').next().unwrap_or_default();
    let mut parameters = first.split(';').map(str::trim);
    first.starts_with("application/json;")
        && parameters.clone().any(|part| part == "as=APIGroupDiscoveryList")
        && parameters.any(|part| part == "v=v2")
}

/// Decodes the escapes in a part of a URL.
pub(super) fn decode(text: &str) -> String {
    let (text, mut decoded, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(byte) = text.get(at) {
        let hex = text.get(at + 1..at + 3).and_then(|hex| std::str::from_utf8(hex).ok());
        match (byte, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(escaped)) => {
                decoded.push(escaped);
                at += 2;
            }
            (b'+', _) => decoded.push(b' '),
            (other, _) => decoded.push(*other),
        }
        at += 1;
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &str) -> String {
        match Route::of(path) {
            Route::Objects(Target { group, version, plural, namespace, name, subresource }) => {
                let or_none = |part: Option<String>| part.unwrap_or_else(|| "-".to_owned());
                let (namespace, name) = (or_none(namespace), or_none(name));
                format!("{group}/{version} {plural} {namespace} {name} {}", or_none(subresource))
            }
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn paths_are_taken_apart() {
        assert_eq!(target("/api/v1/namespaces"), "/v1 namespaces - - -");
        assert_eq!(target("/api/v1/namespaces/shop"), "/v1 namespaces - shop -");
        assert_eq!(target("/api/v1/namespaces/shop/status"), "/v1 namespaces - shop status");
        assert_eq!(target("/api/v1/namespaces/shop/pods"), "/v1 pods shop - -");
        assert_eq!(
            target("/apis/apps/v1/namespaces/shop/deployments/web/status"),
            "apps/v1 deployments shop web status"
        );
        assert_eq!(target("/apis/apps/v1/deployments"), "apps/v1 deployments - - -");
        assert_eq!(target("/apis/apps/v1"), "Resources(\"apps\", \"v1\")");
        assert_eq!(target("/api/v1/namespaces/shop/pods/one/proxy/x"), "Unknown");
        assert_eq!(target("/favicon"), "Unknown");
    }

    #[test]
    fn escapes_in_a_query_are_undone() {
        let query = Query::of("labelSelector=a%3Db%2Cc+in+%28d%29&watch=true&dryRun=All&dryRun=x&limit=");
        assert_eq!(query.get("labelSelector"), Some("a=b,c in (d)"));
        assert!(query.is_true("watch") && query.flag("limit") == Some(true) && query.get("limit").is_none());
        assert_eq!(query.all("dryRun"), ["All", "x"]);
        assert_eq!(decode("100%"), "100%");
    }

    #[test]
    fn the_first_known_representation_is_taken() {
        let metadata = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
        assert_eq!(representation(metadata), Representation::Metadata);
        assert_eq!(representation(""), Representation::Whole);
        let aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
        assert_eq!(representation(aggregated), Representation::Other);
        assert_eq!(representation(&format!("{aggregated},application/json")), Representation::Whole);
    }
}
