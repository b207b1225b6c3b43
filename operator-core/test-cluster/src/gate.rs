//! A place where something waits until the test lets it go on.

use std::{sync::Arc, time::Duration};

use tokio::sync::Semaphore;

use crate::error::Error;

/// How long a test waits for an arrival.
const DEADLINE: Duration = Duration::from_secs(60);

/// A place where runs, requests or anything else wait until the test lets them go on. Closed at first. Clones are the
/// same gate.
///
/// ```
/// use test_cluster::Gate;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), test_cluster::Error> {
/// let gate = Gate::new();
/// let run = tokio::spawn({
///     let gate = gate.clone();
///     async move { gate.pass().await }
/// });
/// gate.arrived().await?;
/// // Whatever happens here happens while the run waits.
/// gate.let_through(1);
/// run.await.expect("it goes on");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Gate(Arc<Halves>);

#[derive(Debug)]
struct Halves {
    arrived: Semaphore,
    open: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self(Arc::new(Halves { arrived: Semaphore::new(0), open: Semaphore::new(0) }))
    }
}

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// For what is held: says that it is here, and waits to be let through.
    pub async fn pass(&self) {
        self.0.arrived.add_permits(1);
        if let Ok(permit) = self.0.open.acquire().await {
            permit.forget();
        }
    }

    /// For the test: waits until one more has arrived.
    ///
    /// # Errors
    /// If none arrives within a minute.
    pub async fn arrived(&self) -> Result<(), Error> {
        match tokio::time::timeout(DEADLINE, self.0.arrived.acquire()).await {
            Ok(Ok(permit)) => permit.forget(),
            // It is never closed.
            Ok(Err(_)) => {}
            Err(_) => {
                let what = "an arrival at the gate".to_owned();
                return Err(Error::InVain { what, seconds: DEADLINE.as_secs() });
            }
        }
        Ok(())
    }

    /// For the test: lets this number through, those that are here and those to come.
    pub fn let_through(&self, number: usize) {
        self.0.open.add_permits(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_arrival_that_never_comes_is_an_error() {
        let error = Gate::new().arrived().await.unwrap_err().to_string();
        assert_eq!(error, "waited in vain for an arrival at the gate (60 s)");
    }

    #[tokio::test]
    async fn as_many_pass_as_are_let_through() {
        let gate = Gate::new();
        gate.let_through(1);
        gate.pass().await;
        let mut second = std::pin::pin!(gate.pass());
        assert!(futures::poll!(second.as_mut()).is_pending());
        gate.let_through(1);
        second.await;
        gate.arrived().await.unwrap();
        gate.arrived().await.unwrap();
    }
}
