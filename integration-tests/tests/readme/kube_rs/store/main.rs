//! The sample's operator on kube-rs alone: only `operator.rs` is counted, because the sample's types, the contents of
//! its children, what is outside, and `main` aren't counted anywhere.

mod children;
mod operator;
#[allow(dead_code)]
mod outside;
mod types;

use std::sync::Arc;

use kube::Client;

#[tokio::main]
async fn main() -> kube::Result<()> {
    let outside = Arc::new(outside::InMemory::with_keys(3000));
    operator::run(Client::try_default().await?, outside).await;
    Ok(())
}
