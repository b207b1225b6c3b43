//! Tokens of service accounts (`TokenRequest`).
//!
//! ```text
//!  TokenRequest ─▶ checked ─▶ Tokens: text ─▶ account, uid, end
//!  bearer token ─▶ Tokens ─▶ is the account still the same one? ─▶ user
//! ```
//!
//! A token has the form and the claims of a real one (a JWT), so that clients can read when it ends. It isn't signed:
//! the server knows its own tokens.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use http::{Method, StatusCode};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::virtual_kind;
use crate::in_process::{
    api::{ApiServer, Reply},
    discovery::Discovery,
    failure::Failure,
    fields::{self, Endpoint},
    identity::User,
    kinds::Kind,
    read::{self, json as json_bytes},
    request::Request,
    store::{Path, Resource, Store},
    write::{
        Options, Target, body, meta,
        metadata::{self, time},
    },
};

/// What the server adds to users who have shown a token.
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// Who issues the tokens, and for whom they are unless a request says otherwise.
const ISSUER: &str = "https://kubernetes.default.svc";

static TOKEN_REQUEST: LazyLock<Arc<Kind>> =
    LazyLock::new(|| virtual_kind("authentication.k8s.io", "v1", "tokenrequests", "TokenRequest"));

static TOKEN_REVIEW: LazyLock<Arc<Kind>> =
    LazyLock::new(|| virtual_kind("authentication.k8s.io", "v1", "tokenreviews", "TokenReview"));

/// The tokens that a server has given out.
#[derive(Clone, Debug, Default)]
pub(in crate::in_process) struct Tokens(BTreeMap<String, Issued>);

/// What a token stands for.
#[derive(Clone, Debug)]
struct Issued {
    account: Path,
    uid: String,
    /// The object with whose end the token ends, too.
    bound: Option<(Resource, Path, String)>,
    audiences: Vec<String>,
    ends: Timestamp,
    id: String,
}

impl Tokens {
    /// The user of a bearer token, if it is valid now for one of the audiences (none: the server's own).
    pub(in crate::in_process) fn user(
        &self,
        store: &Store,
        token: &str,
        audiences: &[String],
        now: Timestamp,
    ) -> Option<(User, Vec<String>)> {
        let issued = self.0.get(token)?;
        let own = [ISSUER.to_owned()];
        let wanted = if audiences.is_empty() { &own } else { audiences };
        let common: Vec<String> =
            wanted.iter().filter(|audience| issued.audiences.contains(audience)).cloned().collect();
        let is_same = |resource: &Resource, path: &Path, uid: &str| {
            store.get(resource, path).is_some_and(|object| meta(object, "uid") == uid)
        };
        let lives = is_same(&Resource::new("", "serviceaccounts"), &issued.account, &issued.uid)
            && issued.bound.as_ref().is_none_or(|(resource, path, uid)| is_same(resource, path, uid));
        if common.is_empty() || now >= issued.ends || !lives {
            return None;
        }
        let namespace = issued.account.namespace().unwrap_or_default();
        let name = format!("system:serviceaccount:{namespace}:{}", issued.account.name());
        let groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
        let mut user = User { name: Some(name), groups, uid: issued.uid.clone(), ..User::default() };
        user.extra.insert(CREDENTIAL.to_owned(), vec![format!("JTI={}", issued.id)]);
        Some((user, common))
    }

    /// Why a token is nobody's, for those who review it.
    fn refusal(&self, token: &str, audiences: &[String]) -> String {
        let invalid = "invalid bearer token";
        match self.0.get(token) {
            Some(issued) if !audiences.iter().all(|audience| issued.audiences.contains(audience)) => format!(
                "[{invalid}, token audiences {:?} is invalid for the target audiences {audiences:?}]",
                issued.audiences
            ),
            Some(_) => format!("[{invalid}, service account token has expired]"),
            None => invalid.to_owned(),
        }
    }

    /// Gives out a token.
    fn issue(&mut self, issued: Issued, claims: &Value) -> String {
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let header = json!({ "alg": "RS256", "kid": "in-process" });
        let number = format!("{:016}", self.0.len());
        let token = format!("{}.{}.{}", part(&header), part(claims), URL_SAFE_NO_PAD.encode(number));
        self.0.insert(token.clone(), issued);
        token
    }
}

/// POST of a review of a token.
pub(in crate::in_process) fn review_token(api: &ApiServer, request: &Request) -> Result<Reply, Failure> {
    if request.method != Method::POST {
        return Err(Failure::method());
    }
    let options = Options::new(request, "CreateOptions")?;
    let review = body(request, &TOKEN_REVIEW)?;
    let path = Path::new(None, "");
    let (endpoint, manager) = (Endpoint::Main, request.manager());
    let target = Target { kind: &TOKEN_REVIEW, path: &path, endpoint, manager, options };
    let review = fields::change(&target.fields(api.now)?, None, review);
    let mut review = review.map_err(Failure::of_fields)?;
    let token = review["spec"]["token"].as_str().unwrap_or_default().to_owned();
    if token.is_empty() {
        return Err(Failure::bad_request("token is required for TokenReview in authentication"));
    }
    let audiences = texts(&review["spec"]["audiences"]);
    review["status"] = match api.rights.tokens.user(&api.store, &token, &audiences, api.now) {
        Some((user, audiences)) => {
            let (groups, extra) = (user.all_groups(), user.extra);
            let user = json!({ "username": user.name, "uid": user.uid, "groups": groups, "extra": extra });
            json!({ "authenticated": true, "audiences": audiences, "user": user })
        }
        None => json!({ "user": {}, "error": api.rights.tokens.refusal(&token, &audiences) }),
    };
    if let Some(metadata) = review["metadata"].as_object_mut() {
        metadata.remove("creationTimestamp");
    }
    Ok(Reply::Json(StatusCode::CREATED, json_bytes(&review)))
}

pub(super) fn token(
    api: &mut ApiServer,
    request: &Request,
    accounts: &Arc<Kind>,
    path: &Path,
) -> Result<Reply, Failure> {
    if request.method != Method::POST {
        return Err(Failure::method());
    }
    let options = Options::new(request, "CreateOptions")?;
    let mut wanted = body(request, &TOKEN_REQUEST)?;
    metadata::place(&mut wanted, path.namespace())?;
    if wanted["spec"]["expirationSeconds"].is_null() {
        wanted["spec"]["expirationSeconds"] = 3600.into();
    }
    let target = Target {
        kind: &TOKEN_REQUEST,
        path,
        endpoint: Endpoint::Other("token"),
        manager: request.manager(),
        options,
    };
    let wanted = fields::change(&target.fields(api.now)?, None, wanted);
    let mut wanted = wanted.map_err(Failure::of_fields)?;
    is_of_account(path, &wanted)?;
    let account = read::live(&api.store, accounts, path)?;
    let uid = meta(&account, "uid").to_owned();
    if !matches!(meta(&wanted, "uid"), given if given.is_empty() || given == uid) {
        let why = format!(
            "the UID in the token request ({}) does not match the UID of the service account ({uid})",
            meta(&wanted, "uid")
        );
        return Err(Failure::precondition(&TOKEN_REQUEST, path.name(), &why));
    }
    let audiences = texts(&wanted["spec"]["audiences"]);
    let audiences = if audiences.is_empty() { vec![ISSUER.to_owned()] } else { audiences };
    let seconds = wanted["spec"]["expirationSeconds"].as_i64().unwrap_or_default();
    if let Some(why) = wrong_duration(seconds) {
        let message = format!("Invalid value: {seconds}: {why}");
        let cause = ("FieldValueInvalid".to_owned(), "spec.expirationSeconds".to_owned(), message);
        return Err(Failure::invalid(&TOKEN_REQUEST, "", &[cause]));
    }
    let bound = bound(&api.store, &api.discovery, path, &wanted["spec"]["boundObjectRef"])?;
    let ends = api.now.saturating_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX);
    let id = api.counters.uid();
    let claims = claims(path, &uid, &audiences, bound.as_ref(), api.now, ends, &id);
    let metadata = &mut wanted["metadata"];
    metadata["name"] = path.name().into();
    metadata["namespace"] = path.namespace().into();
    metadata["uid"] = uid.clone().into();
    metadata["creationTimestamp"] = time(api.now).into();
    wanted["spec"]["audiences"] = audiences.clone().into();
    let token =
        api.rights.tokens.issue(Issued { account: path.clone(), uid, bound, audiences, ends, id }, &claims);
    wanted["status"] = json!({ "token": token, "expirationTimestamp": time(ends) });
    Ok(Reply::Json(StatusCode::CREATED, json_bytes(&wanted)))
}

/// The object to which a token is bound.
fn bound(
    store: &Store,
    discovery: &Discovery,
    account: &Path,
    reference: &Value,
) -> Result<Option<(Resource, Path, String)>, Failure> {
    if reference.is_null() {
        return Ok(None);
    }
    let text = |field: &str| reference[field].as_str().unwrap_or_default();
    let (api_version, name) = (text("apiVersion"), text("name"));
    let (plural, namespace) = match (api_version, text("kind")) {
        ("v1", "Pod") => ("pods", account.namespace()),
        ("v1", "Secret") => ("secrets", account.namespace()),
        ("v1", "Node") => ("nodes", None),
        (_, kind) => {
            let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
            let what = format!("{group}/{version}, Kind={kind}");
            return Err(Failure::bad_request(format!("cannot bind token to object of type {what}")));
        }
    };
    let (resource, path) = (Resource::new("", plural), Path::new(namespace, name));
    let Some(kind) = discovery.of_resource(&resource) else { return Err(Failure::no_resource()) };
    let object = read::live(store, kind, &path)?;
    if plural == "pods" && object["spec"]["serviceAccountName"] != account.name() {
        return Err(Failure::bad_request(format!(
            "cannot bind token for serviceaccount {:?} to pod running with different serviceaccount name.",
            account.name()
        )));
    }
    let uid = meta(&object, "uid").to_owned();
    let given = text("uid");
    if !given.is_empty() && given != uid {
        let why = format!(
            "the UID in the bound object reference ({given}) does not match the UID in record. The object might \
             have been deleted and then recreated"
        );
        return Err(Failure::precondition(kind, name, &why));
    }
    Ok(Some((resource, path, uid)))
}

/// Refuses a request that names another account than its path.
fn is_of_account(path: &Path, wanted: &Value) -> Result<(), Failure> {
    for (field, own) in [("name", path.name()), ("namespace", path.namespace().unwrap_or_default())] {
        let given = meta(wanted, field);
        if !given.is_empty() && given != own {
            let what = format!("must match the service account {field} if specified");
            let cause = ("FieldValueInvalid".to_owned(), format!("metadata.{field}"), {
                format!("Invalid value: {given:?}: {what}")
            });
            return Err(Failure::invalid(&TOKEN_REQUEST, path.name(), &[cause]));
        }
    }
    Ok(())
}

fn wrong_duration(seconds: i64) -> Option<&'static str> {
    match seconds {
        ..600 => Some("may not specify a duration less than 10 minutes"),
        4_294_967_297.. => Some("may not specify a duration larger than 2^32 seconds"),
        _ => None,
    }
}

/// What a token says.
fn claims(
    account: &Path,
    uid: &str,
    audiences: &[String],
    bound: Option<&(Resource, Path, String)>,
    now: Timestamp,
    ends: Timestamp,
    id: &str,
) -> Value {
    let namespace = account.namespace().unwrap_or_default();
    let mut about = json!({
        "namespace": namespace,
        "serviceaccount": { "name": account.name(), "uid": uid },
    });
    if let Some((resource, path, uid)) = bound {
        about[resource.plural.trim_end_matches('s')] = json!({ "name": path.name(), "uid": uid });
    }
    json!({
        "aud": audiences, "exp": ends.as_second(), "iat": now.as_second(), "iss": ISSUER, "jti": id,
        "kubernetes.io": about, "nbf": now.as_second(),
        "sub": format!("system:serviceaccount:{namespace}:{}", account.name()),
    })
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
