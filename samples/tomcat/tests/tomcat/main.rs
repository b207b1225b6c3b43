//! The sample, tested as a whole: single runs, its life under the rights of `deploy/` on both API servers, and crashes before
//! and after each write.

mod commands;
mod crashes;
mod life;
mod runs;

use anyhow::Result;
use kube::api::ObjectMeta;
use operator_core::testing::eventually;
use tomcat::{Tomcat, TomcatSpec, Webapp, WebappSpec};

/// In a simulation, much of the time goes into objects that live for a moment.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn shop(replicas: i32) -> Tomcat {
    let spec = TomcatSpec { version: "11.0".to_owned(), replicas };
    Tomcat { metadata: named("shop"), spec, status: None }
}

fn url(war: &str) -> String {
    format!("https://example.com/{war}.war")
}

/// A webapp of the shop.
fn webapp(name: &str, path: &str) -> Webapp {
    let spec = WebappSpec { tomcat: "shop".to_owned(), url: url(name), path: path.to_owned() };
    Webapp { metadata: named(name), spec, status: None }
}

/// Tries again and again until there is an answer; `what` is waited for.
async fn until<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> Result<T> {
    Ok(eventually(what, async || Ok(look().await)).await?)
}
