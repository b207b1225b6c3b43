//! Who sends a request: by certificate or by token.

use std::collections::HashMap;

use http::{HeaderMap, header};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio_rustls::rustls::pki_types::CertificateDer;

use super::super::{
    failure::Failure,
    identity::{ANONYMOUS, User},
};

/// What the real server adds to users, for the audit log.
const CREDENTIAL: &str = "authentication.kubernetes.io/credential-id";

/// Whom the server knows. It makes all certificates itself, so that it needs to read none.
#[derive(Debug, Default)]
pub(super) struct Users {
    by_certificate: Mutex<HashMap<Vec<u8>, User>>,
    by_token: Mutex<HashMap<String, User>>,
}

/// What the client has shown when the connection was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// No certificate.
    Nothing,
    /// A certificate of this server.
    Certificate(User),
    /// One that this server didn't make.
    Unknown,
}

impl Users {
    /// Takes a certificate for a user from now on.
    pub(super) fn add_certificate(&self, certificate: &CertificateDer<'_>, mut user: User) {
        let digest: String = Sha256::digest(certificate).iter().map(|byte| format!("{byte:02x}")).collect();
        user.extra.insert(CREDENTIAL.to_owned(), vec![format!("X509SHA256={digest}")]);
        self.by_certificate.lock().insert(certificate.to_vec(), user);
    }

    /// A new token for a user.
    pub(super) fn new_token(&self, user: User) -> String {
        let token = format!("{:032x}{:032x}", rand::random::<u128>(), rand::random::<u128>());
        self.by_token.lock().insert(token.clone(), user);
        token
    }

    /// Whose certificate it is.
    pub(super) fn shown(&self, certificate: Option<&CertificateDer<'_>>) -> Shown {
        let Some(certificate) = certificate else { return Shown::Nothing };
        match self.by_certificate.lock().get(certificate.as_ref()) {
            Some(user) => Shown::Certificate(user.clone()),
            None => Shown::Unknown,
        }
    }

    /// The user of a request, whose token may be one of those that `account` knows; 401 if something was shown and none of it is known.
    pub(super) fn of_request(
        &self,
        shown: &Shown,
        headers: &HeaderMap,
        account: impl FnOnce(&str) -> Option<User>,
    ) -> Result<User, Failure> {
        if let Shown::Certificate(user) = shown {
            return Ok(user.clone());
        }
        match (token(headers), shown) {
            (Some(token), _) => {
                let known = self.by_token.lock().get(token).cloned();
                known.or_else(|| account(token)).ok_or_else(unauthorized)
            }
            (None, Shown::Unknown) => Err(unauthorized()),
            (None, _) => Ok(User::new(ANONYMOUS, &[])),
        }
    }
}

/// The bearer token, if there is one.
fn token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.split(' ').next()?)
        .filter(|token| !token.is_empty())
}

/// 401.
fn unauthorized() -> Failure {
    Failure::new(401, "Unauthorized", "Unauthorized")
}
