//! The sample's operator on kube-rs alone: only `style.rs` is counted, because the sample's types, the contents of
//! children, and `main` aren't counted anywhere.

mod children;
mod page;
mod style;

use kube::Client;

#[tokio::main]
async fn main() -> kube::Result<()> {
    style::run(Client::try_default().await?).await;
    Ok(())
}
