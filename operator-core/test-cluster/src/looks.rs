//! Checks repeatedly until something is ready.

use std::time::Duration;

use tower::BoxError;

use crate::error::Error;

/// The pause between two checks: a check takes about a millisecond.
const INTERVAL: Duration = Duration::from_millis(50);

/// How long one check may take. A server that is just starting can leave a request without an answer, and the client's
/// own retry waits longer and longer between its attempts: then a new check is faster.
const LONGEST_LOOK: Duration = Duration::from_secs(5);

/// How long [`eventually`] waits: far longer than anything takes that a test waits for.
const DEADLINE: Duration = Duration::from_secs(60);

/// Waits until `probe` returns something, which is returned: for tests, instead of a fixed sleep. `what` is a phrase
/// such as "the end of web". In virtual time the waiting costs nothing.
///
/// ```
/// use test_cluster::eventually;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> Result<(), test_cluster::Error> {
/// let mut looks = 0;
/// let third = eventually("the third look", async || {
///     looks += 1;
///     Ok((looks == 3).then_some(looks))
/// });
/// assert_eq!(third.await?, 3);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::InVain`] after a minute without a result, and [`Error::Looking`] with the error of `probe`.
pub async fn eventually<T>(
    what: &str,
    mut probe: impl AsyncFnMut() -> Result<Option<T>, BoxError>,
) -> Result<T, Error> {
    let looks = async {
        loop {
            match probe().await {
                Ok(Some(found)) => return Ok(found),
                Ok(None) => tokio::time::sleep(Duration::from_millis(10)).await,
                Err(source) => return Err(Error::Looking { what: what.to_owned(), source }),
            }
        }
    };
    let in_vain = || Error::InVain { what: what.to_owned(), seconds: DEADLINE.as_secs() };
    tokio::time::timeout(DEADLINE, looks).await.unwrap_or_else(|_| Err(in_vain()))
}

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
    async fn what_was_waited_for_in_vain_is_told() {
        let error = eventually::<()>("the end of web", async || Ok(None)).await.unwrap_err();
        assert_eq!(error.to_string(), "waited in vain for the end of web (60 s)");
        let error = eventually::<()>("the end of web", async || Err("no answer".into())).await.unwrap_err();
        assert_eq!(error.to_string(), "could not look for the end of web");
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_reason_is_told() {
        let look = async || Ok(Look::<()>::NotYet(Some("it has a taint".to_owned())));
        let error = until("the node is", Duration::from_secs(60), look).await.unwrap_err().to_string();
        assert!(error.contains("the node is") && error.contains("it has a taint"), "{error}");
    }
}
