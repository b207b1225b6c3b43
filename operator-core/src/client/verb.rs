//! What a request is about, read from its method and path. Pure.

use http::{HeaderMap, Method, header};

/// The verb of a request, named as in role rules; updates and patches are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(not(feature = "testing"), expect(unreachable_pub, reason = "rules of faults name it, in tests"))]
pub enum Verb {
    /// Reads one object.
    Get,
    /// Reads a collection.
    List,
    /// Follows a collection.
    Watch,
    /// POST.
    Create,
    /// PUT.
    Update,
    /// A JSON, merge or strategic merge patch.
    Patch,
    /// Server-side apply.
    Apply,
    /// Deletes one object.
    Delete,
    /// Deletes a collection.
    DeleteCollection,
}

#[cfg(feature = "testing")]
impl Verb {
    /// All verbs that change something.
    pub const WRITES: [Self; 6] =
        [Self::Create, Self::Update, Self::Patch, Self::Apply, Self::Delete, Self::DeleteCollection];

    /// Whether such a request is meant to change something.
    #[must_use]
    pub fn is_write(self) -> bool {
        !matches!(self, Self::Get | Self::List | Self::Watch)
    }
}

impl Verb {
    /// In lower case, as in role rules.
    #[must_use]
    #[cfg_attr(
        not(feature = "testing"),
        expect(unreachable_pub, reason = "rules of faults name it, in tests")
    )]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch => "patch",
            Self::Apply => "apply",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }

    /// The verb of a request; of a patch, whether it is an apply is known from its [headers](Self::in_full).
    pub(crate) fn of(method: &Method, place: &ResourcePath<'_>, query: Option<&str>) -> Option<Self> {
        let asks =
            |parameter: &str| query.is_some_and(|query| query.split('&').any(|pair| pair == parameter));
        Some(match (method.as_str(), place.name) {
            ("GET", _) if asks("watch=true") || asks("watch=1") || asks("watch") => Self::Watch,
            ("GET", Some(_)) => Self::Get,
            ("GET", None) => Self::List,
            ("POST", _) => Self::Create,
            ("PUT", _) => Self::Update,
            ("PATCH", _) => Self::Patch,
            ("DELETE", Some(_)) => Self::Delete,
            ("DELETE", None) => Self::DeleteCollection,
            _ => return None,
        })
    }

    /// The same once the headers are known: an apply is a patch with a special content type.
    pub(crate) fn in_full(self, headers: &HeaderMap) -> Self {
        let content = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let applies = content.is_some_and(|content| content.starts_with("application/apply-patch"));
        if self == Self::Patch && applies { Self::Apply } else { self }
    }
}

/// The object or the collection that a path leads to.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "testing"), expect(dead_code, reason = "faults look at all of it, in tests"))]
pub(crate) struct ResourcePath<'p> {
    pub(crate) group: &'p str,
    pub(crate) version: &'p str,
    pub(crate) resource: &'p str,
    pub(crate) namespace: Option<&'p str>,
    pub(crate) name: Option<&'p str>,
    pub(crate) subresource: Option<&'p str>,
}

impl<'p> ResourcePath<'p> {
    /// `None` for a path that leads to no object and no collection, such as `/readyz` and those of discovery.
    pub(crate) fn of(path: &'p str) -> Option<Self> {
        let mut segments = path.trim_matches('/').split('/').filter(|segment| !segment.is_empty());
        let group = match segments.next()? {
            "api" => "",
            "apis" => segments.next()?,
            _ => return None,
        };
        let version = segments.next()?;
        let mut resource = segments.next()?;
        let mut rest = [segments.next(), segments.next(), segments.next(), segments.next()];
        let mut namespace = None;
        // `namespaces/x` is the namespace itself and `namespaces/x/status` its status; all else lies in it.
        if resource == "namespaces"
            && let Some(within) = rest[1]
            && !matches!(within, "status" | "finalize")
        {
            namespace = rest[0];
            resource = within;
            rest.rotate_left(2);
        }
        let [name, subresource, ..] = rest;
        Some(Self { group, version, resource, namespace, name, subresource })
    }
}
