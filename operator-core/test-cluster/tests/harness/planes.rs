//! The real control planes of this binary. They end with it.

use std::path::Path;

use kube::{
    Client, Config, CustomResourceExt,
    config::{KubeConfigOptions, Kubeconfig},
};
use test_cluster::{ControlPlane, Error};
use tokio::sync::OnceCell;

use crate::plain_kube::Greeting;

/// The API server alone.
pub(crate) async fn plain() -> &'static ControlPlane {
    static PLAIN: OnceCell<Result<ControlPlane, Error>> = OnceCell::const_new();
    there(PLAIN.get_or_init(async || ControlPlane::builder().start_shared().await).await)
}

/// With all controllers and a node.
pub(crate) async fn busy() -> &'static ControlPlane {
    static BUSY: OnceCell<Result<ControlPlane, Error>> = OnceCell::const_new();
    let start = async || {
        // The garbage collector takes half a minute to find kinds that come later.
        let builder = ControlPlane::builder().kwok(true).crds([Greeting::crd()]);
        builder.start_shared().await
    };
    there(BUSY.get_or_init(start).await)
}

/// If it isn't there, the test fails with one line, without a backtrace.
#[expect(clippy::print_stderr, reason = "it is what the test fails with")]
fn there(plane: &Result<ControlPlane, Error>) -> &ControlPlane {
    plane.as_ref().unwrap_or_else(|error| {
        eprintln!("{error}");
        std::panic::resume_unwind(Box::new(error.to_string()))
    })
}

/// What any program does that is given a kubeconfig.
pub(crate) async fn client_of(kubeconfig: &Path) -> Result<Client, Box<dyn std::error::Error>> {
    let file = Kubeconfig::read_from(kubeconfig)?;
    Ok(Client::try_from(Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?)?)
}
