//! The answer of `/readyz`.

use integration_tests::prelude::*;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use super::*;

/// The lines of `/readyz`, without the first one, which has the status.
async fn readyz(operator: &TestOperator) -> Result<(bool, String)> {
    let address = operator.operator().http_address().await.context("it serves")?;
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(format!("GET /readyz HTTP/1.1\r\nhost: {address}\r\n\r\n").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (head, body) = answer.split_once("\r\n\r\n").context("an answer with a head")?;
    Ok((head.starts_with("HTTP/1.1 200"), body.to_owned()))
}

/// On both servers: the exact report about the one that waits, and that it catches up.
#[operator_test]
async fn readyz_names_who_waits_for_what_until_the_right_comes() -> Result<()> {
    let two = Two::on(Scene::new("parts").await?).await?;
    two.grant_all_but("maps").await?;
    two.scene.create("one", "first").await?;
    two.create_other("two", "first").await?;
    let script = saying();
    let builder = two.with_few_rights().http_address(([127, 0, 0, 1], 0).into());
    let operator = TestOperator::start_unsynced(builder.register(two.keeper(&script)?)).await?;
    let says = |name: &'static str| {
        move |object: &TestResource| {
            let status: Option<&TestStatus> = object.status.as_ref();
            status.and_then(|status| status.message.as_deref()) == Some(name)
        }
    };
    two.scene.until("a status", "one", says("first")).await?;
    let (other, user) = (&two.other, &two.user);
    let line = format!(
        "controller keeper, source ConfigMap, namespace {other}: configmaps is forbidden: User \"{user}\" cannot list \
         resource \"configmaps\" in API group \"\" in the namespace \"{other}\"; grant list and watch on configmaps in \
         namespace {other} to {user}; the primaries in namespace {other} wait\n"
    );
    let said = eventually("the refusal", async || {
        let (ready, body) = readyz(&operator).await?;
        assert!(!ready, "{body}");
        Ok((!body.contains("syncing")).then_some(body))
    });
    assert_eq!(said.await?, line);
    assert_eq!(script.runs.of("two").len(), 0);

    two.scene.grant_in(&two.other, "maps", &two.user, &managed_maps()).await?;
    eventually("the other one's maps", async || {
        Ok((two.other_maps().await? == ["two-a", "two-b"]).then_some(()))
    })
    .await?;
    let settled = tokio::time::timeout(Duration::from_secs(120), operator.settled()).await?;
    settled.map_err(|error| anyhow::anyhow!(chain_of(&error)))?;
    assert_eq!(readyz(&operator).await?, (true, "ok".to_owned()));
    caught_up_once(&script.runs.of("two"));
    Ok(())
}
