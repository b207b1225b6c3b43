//! Who sends a request: users, their groups, and the headers by which somebody acts for somebody else. Pure.
//!
//! ```text
//!  certificate, token ─▶ sender ─▶ Impersonate-* headers? ─▶ may the sender impersonate each part? ─▶ user
//! ```

use jiff::Timestamp;
use std::collections::BTreeMap;

use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use super::{
    access::{Action, decide},
    api::Reply,
    failure::Failure,
    paths::require_path,
    read::json as json_bytes,
    request::{Request, Route, Target},
    store::Store,
};

/// The group of reviews of users, which are answered and never stored.
pub(super) const AUTHENTICATION: &str = "authentication.k8s.io";
/// Whose members may do everything.
pub(super) const MASTERS: &str = "system:masters";
/// The name of whoever shows neither a certificate nor a token.
pub(super) const ANONYMOUS: &str = "system:anonymous";
/// The group of all others.
pub(super) const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ACCOUNT: &str = "system:serviceaccount:";
/// What the names of nodes start with.
const NODE: &str = "system:node:";
const EXTRA: &str = "impersonate-extra-";

/// The user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct User {
    /// `None` for the administrator, who uses the server without a socket and as nobody else.
    pub(super) name: Option<String>,
    pub(super) groups: Vec<String>,
    pub(super) uid: String,
    pub(super) extra: BTreeMap<String, Vec<String>>,
    /// Whether the server adds no groups, as for somebody whom a review asks about.
    pub(super) is_complete: bool,
}

impl User {
    /// A user with groups.
    pub(super) fn new(name: &str, groups: &[&str]) -> Self {
        let groups = groups.iter().map(|group| (*group).to_owned()).collect();
        Self { name: Some(name.to_owned()), groups, ..Self::default() }
    }

    /// The one that the headers of a request name; the default if they name none.
    pub(super) fn impersonated(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        let groups = headers.get_all("impersonate-group").iter();
        let mut extra = BTreeMap::<String, Vec<String>>::new();
        for (name, value) in headers {
            if let (Some(key), Ok(value)) = (name.as_str().strip_prefix(EXTRA), value.to_str()) {
                extra.entry(super::request::decode(key)).or_default().push(value.to_owned());
            }
        }
        Self {
            name: text("impersonate-user").filter(|name| !name.is_empty()).map(str::to_owned),
            groups: groups.filter_map(|group| group.to_str().ok()).map(str::to_owned).collect(),
            uid: text("impersonate-uid").unwrap_or_default().to_owned(),
            extra,
            is_complete: false,
        }
    }

    /// Whether this is somebody who may do everything.
    pub(super) fn is_administrator(&self) -> bool {
        *self == Self::default() || self.groups.iter().any(|group| group == MASTERS)
    }

    /// The groups: those given, and those that the server adds.
    pub(super) fn all_groups(&self) -> Vec<String> {
        if self.is_complete {
            return self.groups.clone();
        }
        let Some(name) = &self.name else { return vec![MASTERS.to_owned(), AUTHENTICATED.to_owned()] };
        let mut groups = self.groups.clone();
        if let Some((namespace, _)) = account(name)
            && groups.is_empty()
        {
            groups
                .extend(["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]);
        }
        if name.starts_with(NODE) && self.is_only_a_name() {
            groups.push("system:nodes".to_owned());
        }
        let has = |wanted: &str| groups.iter().any(|group| group == wanted);
        let (added, is_there) = match name.as_str() {
            ANONYMOUS => (UNAUTHENTICATED, has(UNAUTHENTICATED)),
            _ => (AUTHENTICATED, has(AUTHENTICATED) || has(UNAUTHENTICATED)),
        };
        if !is_there {
            groups.push(added.to_owned());
        }
        groups
    }

    /// Whether nothing but the name is given.
    fn is_only_a_name(&self) -> bool {
        self.groups.is_empty() && self.uid.is_empty() && self.extra.is_empty()
    }

    /// Each part of it, as what somebody else would be allowed to impersonate in this way.
    fn parts(&self, way: Way) -> Vec<Action> {
        let group = if way == Way::Legacy { "" } else { AUTHENTICATION };
        let part = |group: &str, resource: &str, namespace: &str, name: &str| Action {
            verb: way.verb(),
            group: group.to_owned(),
            resource: resource.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            ..Action::default()
        };
        let name = self.name.as_deref().unwrap_or_default();
        let mut parts = vec![match (account(name), name.strip_prefix(NODE)) {
            (Some((namespace, name)), _) => part(group, "serviceaccounts", namespace, name),
            (None, Some(node)) if way == Way::Node => part(group, "nodes", "", node),
            _ => part(group, "users", "", name),
        }];
        if !self.uid.is_empty() {
            parts.push(part(AUTHENTICATION, "uids", "", &self.uid));
        }
        parts.extend(self.groups.iter().map(|name| part(group, "groups", "", name)));
        for (key, values) in &self.extra {
            parts.extend(values.iter().map(|value| Action {
                subresource: key.clone(),
                ..part(AUTHENTICATION, "userextras", "", value)
            }));
        }
        parts
    }

    /// As Go prints it.
    fn as_go(&self) -> String {
        let list = |items: &[String]| {
            let items: Vec<String> = items.iter().map(|item| format!("{item:?}")).collect();
            format!("{{{}}}", items.join(", "))
        };
        let groups = if self.groups.is_empty() { "(nil)".to_owned() } else { list(&self.groups) };
        let extra = self.extra.iter().map(|(key, values)| format!("{key:?}:[]string{}", list(values)));
        let extra: Vec<String> = extra.collect();
        let extra = if extra.is_empty() { "(nil)".to_owned() } else { format!("{{{}}}", extra.join(", ")) };
        format!(
            "&user.DefaultInfo{{Name:\"\", UID:{:?}, Groups:[]string{groups}, Extra:map[string][]string{extra}}}",
            self.uid
        )
    }
}

/// The ways to be allowed to act for somebody, of which one is enough. All but the first need the right to what is done in
/// somebody's name, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Legacy,
    User,
    Account,
    Node,
}

impl Way {
    /// The ways to this user, in the order in which they are tried.
    fn to(user: &User) -> Vec<Self> {
        let name = user.name.as_deref().unwrap_or_default();
        match (account(name).is_some(), name.starts_with(NODE), user.is_only_a_name()) {
            (true, _, true) => vec![Self::Account, Self::Legacy],
            (_, true, true) => vec![Self::Node, Self::Legacy],
            (false, false, _) => vec![Self::User, Self::Legacy],
            _ => vec![Self::Legacy],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Legacy => "",
            Self::User => "user-info",
            Self::Account => "serviceaccount",
            Self::Node => "arbitrary-node",
        }
    }

    fn verb(self) -> String {
        if self == Self::Legacy { "impersonate".to_owned() } else { format!("impersonate:{}", self.name()) }
    }
}

/// The namespace and the name of a service account.
fn account(user: &str) -> Option<(&str, &str)> {
    user.strip_prefix(ACCOUNT)?
        .split_once(':')
        .filter(|(namespace, name)| !namespace.is_empty() && !name.is_empty())
}

/// Refuses a request in somebody else's name that its sender may not send.
pub(super) fn may_impersonate(store: &Store, request: &Request) -> Result<(), Failure> {
    let Some(sender) = &request.sender else { return Ok(()) };
    if request.user.name.is_none() {
        let message = format!("requested {} without impersonating a user name", request.user.as_go());
        return Err(Failure::bad_request(message));
    }
    if sender.is_administrator() {
        return Ok(());
    }
    let mut first = None;
    for way in Way::to(&request.user) {
        match may_impersonate_by(store, request, sender, way) {
            Ok(()) => return Ok(()),
            Err(failure) => first = first.or(Some(failure)),
        }
    }
    first.map_or(Ok(()), Err)
}

fn may_impersonate_by(store: &Store, request: &Request, sender: &User, way: Way) -> Result<(), Failure> {
    if way != Way::Legacy {
        let prefix = format!("impersonate-on:{}:", way.name());
        match &request.route {
            Route::Objects(target) => {
                let mut action = Action::of(request, target);
                action.verb.insert_str(0, &prefix);
                require(store, sender, &action)?;
            }
            _ => require_path(store, sender, &prefix, request)?,
        }
    }
    request.user.parts(way).iter().try_for_each(|part| require(store, sender, part))
}

/// Refuses what a user may not do.
fn require(store: &Store, user: &User, action: &Action) -> Result<(), Failure> {
    let decision = decide(store, user, action);
    if decision.allowed { Ok(()) } else { Err(action.refused(user, &decision)) }
}

/// POST of a review of the user who sends it.
pub(super) fn review_self(now: Timestamp, request: &Request, target: &Target) -> Result<Reply, Failure> {
    match (target.version.as_str(), target.plural.as_str()) {
        ("v1", "selfsubjectreviews") => {}
        ("v1", other) => {
            return Err(Failure::not_modelled(format_args!("{other}.{AUTHENTICATION}")));
        }
        _ => return Err(Failure::no_resource()),
    }
    if request.method != http::Method::POST || target.name.is_some() {
        return Err(Failure::method());
    }
    let user = &request.user;
    let mut info = json!({
        "username": user.name.as_deref().unwrap_or(super::audit::ADMIN),
        "groups": user.all_groups(),
    });
    if !user.uid.is_empty() {
        info["uid"] = user.uid.clone().into();
    }
    if !user.extra.is_empty() {
        info["extra"] = json!(user.extra);
    }
    let now = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let review = json!({
        "kind": "SelfSubjectReview",
        "apiVersion": format!("{AUTHENTICATION}/v1"),
        "metadata": { "creationTimestamp": Value::from(now) },
        "status": { "userInfo": info },
    });
    Ok(Reply::Json(StatusCode::CREATED, json_bytes(&review)))
}
