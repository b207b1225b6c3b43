//! Forwards recorded Events to a receiver of notifications, such as Flux's notification controller.
//! The url, which may have credentials in it, is neither logged nor in an error.

use std::{sync::OnceLock, time::Duration};

use http::{
    HeaderValue, Request, StatusCode, Uri,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use hyper_util::client::proxy::matcher::Matcher;
use kube::{Client, client::Body};
use tokio::time::{sleep, timeout};

use super::note::{Note, Reporter};
use crate::{
    client::apart,
    environment::Environment,
    error::BoxError,
    observe::{EventOutcome, error_chain},
};

/// How long the receiver has for each answer.
const DEADLINE: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 4;
/// The first pause between two attempts, at least; each further one is four times as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Where Events are forwarded to.
#[derive(Clone)]
pub(crate) struct Receiver {
    server: Uri,
    path: Uri,
    credentials: Option<HeaderValue>,
    /// Made when it is first needed.
    client: OnceLock<Client>,
}

debug_of!(Receiver: "Receiver");

impl Receiver {
    /// The receiver at this url; `None` if no HTTP server can have it.
    pub(crate) fn at(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
        // The url of a proxy has credentials in the same form, which become a header.
        let found = Matcher::builder().all(url).build().intercept(&Uri::from_static("http://any"))?;
        let (server, credentials) = (found.uri().clone(), found.basic_auth().cloned());
        server.host().filter(|host| !host.is_empty())?;
        Some(Self {
            server,
            path: uri.path_and_query()?.clone().into(),
            credentials,
            client: OnceLock::new(),
        })
    }

    /// Sends an Event until the receiver has it. The error says why it hasn't.
    pub(super) async fn send(
        &self,
        note: &Note,
        reporter: Reporter<'_>,
        environment: &Environment,
    ) -> Result<EventOutcome, BoxError> {
        let body = note.notification(reporter).to_string();
        let (mut attempt, mut pause) = (1, FIRST_PAUSE);
        loop {
            let refused = match timeout(DEADLINE, self.post(&body, environment)).await {
                // The receiver has had the same one just now.
                Ok(Ok(code)) if code.is_success() || code == StatusCode::TOO_MANY_REQUESTS => {
                    return Ok(EventOutcome::Forwarded);
                }
                Ok(Ok(code)) if code.is_server_error() => format!("the receiver answers {code}"),
                Ok(Ok(code)) => return Err(format!("the receiver answers {code}").into()),
                Ok(Err(error)) => error_chain(&*error),
                Err(_) => format!("the receiver has not answered within {} s", DEADLINE.as_secs()),
            };
            if attempt == ATTEMPTS {
                return Err(refused.into());
            }
            sleep(environment.jitter().spread(pause, 0.5)).await;
            (attempt, pause) = (attempt + 1, pause * 4);
        }
    }

    async fn post(&self, body: &str, environment: &Environment) -> Result<StatusCode, BoxError> {
        let request = Request::post(&self.path).header(CONTENT_TYPE, "application/json");
        let mut request = request.body(Body::from(body.as_bytes().to_vec()))?;
        request.headers_mut().extend(self.credentials.clone().map(|header| (AUTHORIZATION, header)));
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let made = apart(&self.server, environment.clock())?;
                self.client.get_or_init(|| made)
            }
        };
        Ok(client.send(request).await?.status())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_has_a_scheme_and_a_host() {
        for url in
            ["", "h:80", "h/path", "/path", "ftp://h/", "http://", "http://:80/", "http://me@", "http://a b/"]
        {
            assert!(Receiver::at(url).is_none(), "{url}");
        }
        let of = |url: &str| {
            let Receiver { server, path, credentials, .. } = Receiver::at(url).expect("it is one");
            (server.to_string(), path.to_string(), credentials.is_some())
        };
        let all = |server: &str, path: &str, credentials| (server.to_owned(), path.to_owned(), credentials);
        assert_eq!(of("http://h"), all("http://h/", "/", false));
        assert_eq!(of("https://h:9443/a/b?c=d"), all("https://h:9443/", "/a/b?c=d", false));
        assert_eq!(of("https://m%40e:x@[::1]/a"), all("https://[::1]/", "/a", true));
        assert_eq!(of("http://me@h/?c=d"), all("http://h/", "/?c=d", true));
        assert_eq!(format!("{:?}", Receiver::at("http://me:secret@h/")), "Some(Receiver)");
    }
}
