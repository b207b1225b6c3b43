//! The sample's operator with a finalizer, and with code that never comes to an end, for the tests of its process.

use std::{env, error::Error as StdError, future::pending, process::ExitCode, sync::Arc, time::Duration};

use operator_core::{
    Cleaner, Context, Controller, ControllerBuilder, DeleteControl, ErrorStatusUpdateControl, LeaderElection,
    Operator, OperatorBuilder, Reconciler, UpdateControl, cli::CommandLine,
};
use webpage::{
    WebPage, WebPageError,
    styles::{Declare, managed::WebPageReconciler, standalone},
};

/// Does what the sample does, and what the page says.
struct Cleaning;

impl Reconciler for Cleaning {
    type Primary = WebPage;
    type Error = WebPageError;

    async fn reconcile(
        &self,
        page: Arc<WebPage>,
        context: &Context<WebPage>,
    ) -> Result<UpdateControl<WebPage>, WebPageError> {
        match page.spec.html.as_str() {
            "stall" => pending().await,
            "block" => block(),
            _ => WebPageReconciler.reconcile(page, context).await,
        }
    }

    async fn update_error_status(
        &self,
        page: Arc<WebPage>,
        context: &Context<WebPage>,
        error: &(dyn StdError + Send + Sync + 'static),
    ) -> ErrorStatusUpdateControl<WebPage> {
        WebPageReconciler.update_error_status(page, context, error).await
    }

    fn is_retryable(&self, error: &WebPageError) -> bool {
        WebPageReconciler.is_retryable(error)
    }
}

/// The garbage collector takes the children.
impl Cleaner for Cleaning {
    async fn cleanup(&self, _: Arc<WebPage>, _: &Context<WebPage>) -> Result<DeleteControl, WebPageError> {
        Ok(DeleteControl::RemoveFinalizer)
    }
}

fn block() -> ! {
    loop {
        std::thread::park();
    }
}

fn operator() -> OperatorBuilder {
    let pages: ControllerBuilder<Cleaning> = Controller::builder(Cleaning)
        .name("webpage-operator")
        .with_cleaner()
        .workflow(standalone::workflow());
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
