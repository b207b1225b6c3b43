//! The sample's operator on kube-rs alone: what is counted is `style.rs`, as the sample's types, contents of children, and `main` are
//! counted nowhere.

mod children;
mod page;
mod style;

use kube::Client;

#[tokio::main]
async fn main() -> kube::Result<()> {
    style::run(Client::try_default().await?).await;
    Ok(())
}
