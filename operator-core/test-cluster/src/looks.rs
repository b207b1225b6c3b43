//! Checks repeatedly until something is ready.

use std::time::Duration;

use crate::error::Error;

/// The pause between two checks: a check takes about a millisecond.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long one check may take. A server that is just starting can leave a request without an answer, and the client's
/// own retry waits longer and longer between its attempts: then a new check is faster.
const LONGEST_LOOK: Duration = Duration::from_secs(5);

/// The result of a check.
pub(crate) enum Look<T> {
    /// The awaited value.
    Found(T),
    /// Not yet, with the reason if there is one.
    NotYet(Option<String>),
}

/// Checks until something is found or an error says that it won't be, for at most `timeout`. `what` is a phrase like
/// "the node is".
pub(crate) async fn until<T, F>(
    what: &str,
    timeout: Duration,
    mut look: impl FnMut() -> F,
) -> Result<T, Error>
where
    F: Future<Output = Result<Look<T>, Error>>,
{
    let mut last = None;
    let looks = async {
        loop {
            match tokio::time::timeout(LONGEST_LOOK, look()).await {
                Ok(Ok(Look::Found(found))) => return Ok(found),
                Ok(Ok(Look::NotYet(reason))) => last = reason,
                Ok(Err(error)) => return Err(error),
                Err(_) => last = Some(format!("no answer within {} s", LONGEST_LOOK.as_secs())),
            }
            tokio::time::sleep(INTERVAL).await;
        }
    };
    match tokio::time::timeout(timeout, looks).await {
        Ok(result) => result,
        Err(_) => Err(Error::NotReady { what: what.to_owned(), seconds: timeout.as_secs(), last }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_look_that_is_never_answered_is_not_the_last_one() {
        let mut looks = 0;
        let found = until("the answer is", Duration::from_secs(60), || {
            looks += 1;
            let first = looks == 1;
            async move {
                if first {
                    std::future::pending::<()>().await;
                }
                Ok(Look::Found(()))
            }
        });
        found.await.unwrap();
        assert_eq!(looks, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_reason_is_told() {
        let look = async || Ok(Look::<()>::NotYet(Some("it has a taint".to_owned())));
        let error = until("the node is", Duration::from_secs(60), look).await.unwrap_err().to_string();
        assert!(error.contains("the node is") && error.contains("it has a taint"), "{error}");
    }
}
