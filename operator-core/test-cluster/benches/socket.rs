//! The in-process server behind its socket, beside a real control plane: how soon it is there, how much it keeps, and how
//! many requests it answers. `cargo bench -p test-cluster --bench socket`; `-- ours` leaves the real one out.
//!
//! The clients share the machine with the servers, so that only figures of the same minute can be compared.
#![expect(clippy::print_stdout, reason = "it is what a bench is for")]
#![expect(clippy::disallowed_methods, reason = "real time is measured")]

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/listen/raw.rs"]
mod raw;

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use kube::Config;
use serde_json::json;
use test_cluster::{ControlPlane, InProcessServer};

use raw::{Connection, get, post};

const IN_FLIGHT: u64 = 32;
const OBJECTS: u64 = 1_000;
const ROUND: Duration = Duration::from_secs(3);
const MAPS: &str = "/api/v1/namespaces/default/configmaps";

type Done = Result<(), Box<dyn Error>>;

fn object(number: u64, text: &str) -> serde_json::Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": { "name": format!("m{number}"), "namespace": "default" },
        "data": { "text": text, "fill": "x".repeat(900) },
    })
}

fn read(number: u64) -> Request<Full<Bytes>> {
    get(&format!("{MAPS}/m{}", number % OBJECTS))
}

fn apply(number: u64) -> Request<Full<Bytes>> {
    let path = format!("{MAPS}/m{}?fieldManager=bench&force=true", number % OBJECTS);
    let body = object(number % OBJECTS, &number.to_string()).to_string();
    let request = Request::patch(path).header("content-type", "application/apply-patch+yaml");
    request.body(body.into()).expect("a request")
}

/// Answers in a second, with 32 requests in flight, each on a connection of its own or all on one.
async fn rate(
    config: &Config,
    protocols: &[&str],
    request: fn(u64) -> Request<Full<Bytes>>,
) -> Result<u64, Box<dyn Error>> {
    let count = Arc::new(AtomicU64::new(0));
    let mut connections = Vec::new();
    for _ in 0..IN_FLIGHT {
        connections.push(Connection::open(config, protocols).await?);
    }
    let end = Instant::now() + ROUND;
    let tasks: Vec<_> = connections
        .into_iter()
        .map(|mut connection| {
            let count = Arc::clone(&count);
            tokio::spawn(async move {
                while Instant::now() < end {
                    let answer = connection.answer(request(count.fetch_add(1, Ordering::Relaxed))).await;
                    let answer = answer.map_err(|error| error.to_string())?;
                    if !answer.code.is_success() {
                        return Err(format!("{} {:?}", answer.code, answer.body));
                    }
                }
                Ok(())
            })
        })
        .collect();
    for task in tasks {
        task.await??;
    }
    Ok(count.load(Ordering::Relaxed) / ROUND.as_secs())
}

async fn fill(server: Option<&InProcessServer>, config: &Config, count: u64) -> Done {
    let mut connection = Connection::open(config, &[]).await?;
    for number in 0..count {
        let answer = connection.answer(post(MAPS, &object(number, ""))).await?;
        assert_eq!(answer.code, 201, "{:?}", answer.body);
        // The log of the calls is no part of the objects: it takes some 500 bytes for each call.
        if let Some(server) = server {
            server.forget_calls();
        }
    }
    Ok(())
}

/// What this process holds, in megabytes; 0 where there is no `/proc`.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or_default() / 1024.0
}

async fn start() -> Done {
    let mut times = Vec::new();
    for _ in 0..11 {
        let before = Instant::now();
        let listening = InProcessServer::new().listen().await?;
        Connection::open(&listening.config(), &[]).await?.answer(get("/readyz")).await?;
        times.push(before.elapsed());
    }
    times.sort();
    println!(
        "start to the first answer: {:.1?} (the longest of {}: {:.1?})",
        times[5],
        times.len(),
        times[10]
    );
    Ok(())
}

async fn memory() -> Done {
    // Before anything is measured, all code that it takes is loaded.
    fill(None, &InProcessServer::new().listen().await?.config(), 100).await?;
    let server = InProcessServer::new();
    let listening = server.listen().await?;
    let before = resident();
    fill(Some(&server), &listening.config(), 10_000).await?;
    println!("10,000 ConfigMaps of 1 KB: {:.1} MB", resident() - before);
    Ok(())
}

async fn rates(name: &str, config: &Config) -> Done {
    for (protocol, offers) in [("HTTP/1.1", &[][..]), ("HTTP/2", &["h2"][..])] {
        let reads = rate(config, offers, read).await?;
        let applies = rate(config, offers, apply).await?;
        println!("{name:<10} {protocol:<9} {reads:>7} GETs/s {applies:>7} applies/s");
    }
    Ok(())
}

async fn run() -> Done {
    let only_ours = std::env::args().any(|argument| argument == "ours");
    memory().await?;
    start().await?;
    let listening = InProcessServer::new().listen().await?;
    fill(None, &listening.config(), OBJECTS).await?;
    if only_ours {
        return rates("in-process", &listening.config()).await;
    }
    let plane = ControlPlane::builder().start().await?;
    fill(None, &plane.config(), OBJECTS).await?;
    for _ in 0..2 {
        rates("in-process", &listening.config()).await?;
        rates("real", &plane.config()).await?;
    }
    plane.stop().await;
    Ok(())
}

fn main() -> Done {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run())
}
