//! What is seen on the wire: protocols, compression, watches, limits, and the end. Where it can be, on both servers.

use std::{io::Read, time::Duration};

use flate2::read::GzDecoder;
use http_body_util::BodyExt;
use kube::Config;
use serde_json::{Value, json};
use test_cluster::InProcessServer;
use tokio::time::timeout;

use super::raw::{Connection, get, post};
use crate::harness::{Tested, planes};

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PROTOCOLS: [&[&str]; 3] = [&["h2", "http/1.1"], &["http/1.1"], &[]];
const PATIENCE: Duration = Duration::from_secs(60);

fn map(name: &str, size: usize) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "a": "x".repeat(size) } })
}

/// What is compared of the answers of both servers.
async fn told(config: &Config) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let mut told = Vec::new();
    for (number, protocols) in PROTOCOLS.into_iter().enumerate() {
        let mut connection = Connection::open(config, protocols).await?;
        told.push(format!("{protocols:?}: HTTP/2 {}", matches!(connection, Connection::Two(..))));
        // Around the threshold, in which metadata counts, too.
        for size in [100, 129_000, 140_000, 900_000] {
            let name = format!("m{number}-{size}");
            let made = connection.answer(post(MAPS, &map(&name, size))).await?;
            told.push(format!("{size} {}", made.code));
            for accepted in ["", "gzip", "deflate, gzip;q=1.0, *;q=0.5", "br, gzip"] {
                let mut request = get(&format!("{MAPS}/{name}"));
                if !accepted.is_empty() {
                    request.headers_mut().insert("accept-encoding", accepted.parse()?);
                }
                let answer = connection.answer(request).await?;
                let header = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
                let (encoding, vary) = (header("content-encoding"), header("vary"));
                let mut text = String::new();
                if encoding == Some("gzip") {
                    GzDecoder::new(&answer.body[..]).read_to_string(&mut text)?;
                } else {
                    text = String::from_utf8(answer.body.to_vec())?;
                }
                let object: Value = serde_json::from_str(&text)?;
                let length = object["data"]["a"].as_str().map(str::len);
                told.push(format!("{size} {accepted:?}: {encoding:?} {vary:?} {} {length:?}", answer.code));
            }
        }
        // A body that is too long is refused, and the next request is answered.
        let mut connection = Connection::open(config, protocols).await?;
        let answer = connection.answer(post(MAPS, &map("long", 4 << 20))).await;
        told.push(answer.map_or("broken off".to_owned(), |answer| answer.code.to_string()));
        let mut connection = Connection::open(config, protocols).await?;
        let answer = connection.answer(get("/readyz")).await?;
        told.push(format!("{} {:?}", answer.code, answer.body));
        let answer = connection
            .answer(get(&format!("{MAPS}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dnone")))
            .await?;
        told.push(format!("{} {:?}", answer.code, answer.body));
    }
    Ok(told)
}

#[tokio::test]
async fn the_wire_is_that_of_the_real_server() -> Tested {
    let plane = planes::plain().await;
    let listening = InProcessServer::new().listen().await?;
    let (real, ours) = (told(&plane.config()).await?, told(&listening.config()).await?);
    let differences: Vec<String> = real
        .iter()
        .zip(&ours)
        .filter(|(real, ours)| real != ours)
        .map(|(real, ours)| format!("{real} | {ours}"))
        .collect();
    assert!(differences.is_empty() && real.len() == ours.len(), "{differences:#?}");
    assert!(ours.iter().any(|line| line.contains("Some(\"gzip\")")), "nothing was compressed");
    Ok(())
}

#[tokio::test]
async fn a_watch_tells_each_change_at_once_and_ends_with_its_client() -> Tested {
    for protocols in PROTOCOLS {
        let server = InProcessServer::new();
        let listening = server.listen().await?;
        let mut watcher = Connection::open(&listening.config(), protocols).await?;
        // Without the certificate that every namespace has.
        let watched = format!("{MAPS}?watch=true&fieldSelector=metadata.name%21%3Dkube-root-ca.crt");
        let mut watch = watcher.send(get(&watched)).await?.into_body();
        let mut writer = Connection::open(&listening.config(), protocols).await?;
        for name in ["one", "two"] {
            assert_eq!(writer.answer(post(MAPS, &map(name, 1))).await?.code, 201);
            let line = timeout(PATIENCE, watch.frame()).await?.ok_or("the watch has ended")??;
            let line = line.into_data().map_err(|_| "trailers")?;
            let line: Value = serde_json::from_slice(&line)?;
            assert_eq!((&line["type"], &line["object"]["metadata"]["name"]), (&json!("ADDED"), &json!(name)));
        }
        let is_over =
            || server.audit().iter().any(|call| call.verb == "watch" && call.stage == "ResponseComplete");
        assert!(!is_over());
        drop((watch, watcher));
        timeout(PATIENCE, async {
            while !is_over() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn all_connections_end_with_the_socket() -> Tested {
    let server = InProcessServer::new();
    let listening = server.listen().await?;
    let (config, kubeconfig) = (listening.config(), listening.kubeconfig().to_owned());
    let mut open = Vec::new();
    for protocols in PROTOCOLS {
        let mut connection = Connection::open(&config, protocols).await?;
        assert_eq!(connection.answer(get("/readyz")).await?.body, "ok");
        open.push(connection);
    }
    drop(listening);
    for connection in open {
        timeout(PATIENCE, connection.closed()).await??;
    }
    assert!(Connection::open(&config, &[]).await.is_err());
    assert!(!kubeconfig.exists());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn in_virtual_time_there_is_no_socket() {
    let error = InProcessServer::new().listen().await.expect_err("the clock is paused").to_string();
    assert!(error.starts_with("the clients of a socket live in real time"), "{error}");
}
