//! Clients that ask for the metrics, and don't wait for the answer.

use integration_tests::prelude::*;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{keeper, keeping, kept};

/// Half of them never end their requests, which takes all places of the listener; half never read the answer.
const HANGING: usize = 128;

/// Not on both servers: sockets know nothing of the virtual time inside the process.
#[tokio::test(flavor = "multi_thread")]
async fn f42_scrapes_that_hang_hold_up_no_run_and_no_probe_for_long() -> Result<()> {
    let scene = Scene::new("f42").await?;
    let script = keeping();
    let builder = scene.operator().http_address(([127, 0, 0, 1], 0).into());
    let operator = TestOperator::start(builder.register(keeper(&scene, &script)?)).await?;
    let address = operator.operator().http_address().await.context("it serves")?;
    scene.create("one", "first").await?;
    kept(&scene, "one", "first").await?;

    let begin = Instant::now();
    let mut hanging = Vec::new();
    for number in 0..HANGING {
        let mut stream = TcpStream::connect(address).await?;
        let question = ["GET /metrics HTTP/1.1\r\nhost: test\r\n\r\n", "GET /metrics HTTP/1.1\r\nhos"];
        stream.write_all(question[number % 2].as_bytes()).await?;
        hanging.push(stream);
    }
    for value in ["second", "third", "fourth"] {
        let before = Instant::now();
        scene.set("one", value).await?;
        kept(&scene, "one", value).await?;
        assert!(before.elapsed() < Duration::from_secs(5), "it took {:?}", before.elapsed());
    }
    let healthy = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        anyhow::Ok(answer)
    };
    let answer =
        timeout(Duration::from_secs(2), healthy).await.context("no probe is answered any more")??;
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer} after {:?}", begin.elapsed());
    drop(hanging);
    operator.settled().await?;
    operator.stop().await;
    Ok(())
}
