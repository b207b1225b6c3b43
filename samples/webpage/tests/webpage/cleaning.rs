//! The sample's operator with a finalizer, and with code that never comes to an end, for the tests of its process.

use std::{convert::Infallible, env, future::pending, process::ExitCode, sync::Arc, time::Duration};

use operator_core::{
    Cleaner, Context, Controller, DeleteControl, LeaderElection, Operator, OperatorBuilder, Reconciler,
    UpdateControl, cli::CommandLine,
};
use webpage::{
    WebPage,
    styles::{Declare, managed, standalone},
};

/// Does what the sample does, and what the page says.
struct Cleaning;

impl Reconciler for Cleaning {
    type Primary = WebPage;
    type Error = Infallible;

    async fn reconcile(
        &self,
        page: Arc<WebPage>,
        _: &Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>, Infallible> {
        match page.spec.html.as_str() {
            "stall" => pending().await,
            "block" => block(),
            _ => Ok(UpdateControl::no_update()),
        }
    }
}

/// The garbage collector takes the children.
impl Cleaner for Cleaning {
    async fn cleanup(&self, _: Arc<WebPage>, _: &Context<WebPage>) -> Result<DeleteControl, Infallible> {
        Ok(DeleteControl::RemoveFinalizer)
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
        .with_cleaner()
        .workflow(standalone::workflow())
        .status(managed::status);
    Operator::builder().register(pages)
}

const STYLES: [(&str, Declare); 3] = [
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

#[tokio::main]
async fn main() -> ExitCode {
    CommandLine::styles(STYLES).main().await
}
