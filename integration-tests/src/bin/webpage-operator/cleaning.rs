//! With a finalizer, and with code that never comes to an end.

use std::{env, future::pending, time::Duration};

use operator_core::{
    BoxError, Cleaner, Context, Controller, LeaderElection, Operator, OperatorBuilder, Removal, UpdateControl,
};
use webpage::{
    WebPage,
    styles::{Declare, managed, standalone},
};

/// Does what the sample does, and what the page says.
struct Cleaning;

impl Cleaner for Cleaning {
    type Primary = WebPage;

    async fn reconcile(
        &self,
        page: &WebPage,
        _: &mut Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>, BoxError> {
        match page.spec.html.as_str() {
            "stall" => pending().await,
            "block" => block(),
            _ => Ok(UpdateControl::no_update()),
        }
    }

    /// The garbage collector takes the children.
    async fn cleanup(&self, _: &WebPage, _: &mut Context<WebPage>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

fn block() -> ! {
    loop {
        std::thread::park();
    }
}

fn operator() -> OperatorBuilder {
    let pages = Controller::builder(Cleaning)
        .name("webpage-operator")
        .workflow(standalone::workflow())
        .status(managed::status);
    Operator::builder().register(pages)
}

pub(crate) const STYLES: [(&str, Declare); 3] = [
    ("cleaning", operator),
    ("stalling", || operator().termination_timeout(Duration::from_secs(2))),
    ("blocking", || {
        let election = LeaderElection::new("webpage-operator")
            .namespace(env::var("LEASE_NAMESPACE").unwrap_or_default())
            .lease_duration(Duration::from_secs(6))
            .renew_deadline(Duration::from_secs(4))
            .retry_period(Duration::from_secs(1))
            .on_stop_leading(|| block());
        operator().leader_election(election)
    }),
];
