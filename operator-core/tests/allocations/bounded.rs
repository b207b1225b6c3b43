//! What a bounded source saves: the live bytes of an operator's process alone. The server is another process, this same
//! binary.

use std::{
    env,
    fmt::Write as _,
    io::{BufRead, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
};

use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use kube::Config;
use operator_core::{
    BoxError, Context, Controller, InformerEventSource, ObjectKey, Operator, Reconciler, UpdateControl,
    cache::Bounds,
};

const OBJECTS: usize = 100_000;
const BYTES: usize = 4_096;
/// Set for the process that is the server.
const SERVES: &str = "BOUNDED_SERVES";
/// How that one is called.
const TEST: &str = "bounded::a_bounded_source_takes_less_than_a_fifth";

struct Idle;

impl Reconciler for Idle {
    type Primary = ServiceAccount;

    async fn reconcile(
        &self,
        _: &ServiceAccount,
        _: &mut Context<ServiceAccount>,
    ) -> Result<UpdateControl<ServiceAccount>, BoxError> {
        Ok(UpdateControl::no_update())
    }
}

/// Ends with the test.
struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start() -> Self {
        let mut process = Command::new(env::current_exe().expect("the test's own binary"))
            .args(["--exact", TEST, "--nocapture"])
            .env(SERVES, "1")
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary can be run");
        let said = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut said = said.lines().map_while(Result::ok);
        let port = said.find_map(|line| line.split_once("port=")?.1.parse().ok());
        // After a minute the process tells that its test still runs; if nobody read that, it would end.
        thread::spawn(move || said.for_each(drop));
        Self { process, port: port.expect("it says its port") }
    }
}

fn serve() -> ! {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    #[expect(clippy::print_stdout, reason = "the parent reads it")]
    {
        println!("port={}", listener.local_addr().expect("it has one").port());
    }
    for connection in listener.incoming().map_while(Result::ok) {
        thread::spawn(|| answer(connection));
    }
    std::process::exit(0)
}

/// Answers the requests of one connection.
fn answer(mut connection: TcpStream) -> Option<()> {
    let mut lines = BufReader::new(connection.try_clone().ok()?).lines();
    loop {
        let head = lines.next()?.ok()?;
        while !lines.next()?.ok()?.is_empty() {}
        let target = head.split(' ').nth(1)?;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let of = |name: &str| {
            query
                .split('&')
                .filter_map(|pair| pair.split_once('='))
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value)
        };
        let begin = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        if of("watch").is_some() {
            connection.write_all(format!("{begin}transfer-encoding: chunked\r\n\r\n").as_bytes()).ok()?;
            // Nothing happens.
            loop {
                thread::park();
            }
        }
        let number = |name| of(name).and_then(|value| value.parse().ok());
        let body = match path.ends_with("/configmaps") {
            true => page(number("continue").unwrap_or(0), number("limit").unwrap_or(OBJECTS)),
            false => {
                r#"{"kind":"ServiceAccountList","apiVersion":"v1","metadata":{"resourceVersion":"1000000"},"items":[]}"#
                    .to_owned()
            }
        };
        let head = format!("{begin}content-length: {}\r\n\r\n", body.len());
        connection.write_all(head.as_bytes()).ok()?;
        connection.write_all(body.as_bytes()).ok()?;
    }
}

fn page(from: usize, limit: usize) -> String {
    let to = OBJECTS.min(from + limit);
    let go_on = if to < OBJECTS { to.to_string() } else { String::new() };
    let mut body = format!(
        r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"1000000","continue":"{go_on}"}},"items":["#
    );
    let content = "x".repeat(BYTES);
    for index in from..to {
        let comma = if index == from { "" } else { "," };
        write!(
            body,
            r#"{comma}{{"metadata":{{"name":"map-{index:06}","namespace":"shop","uid":"00000000-0000-4000-8000-{index:012}","resourceVersion":"{}","labels":{{"app":"web"}}}},"data":{{"value":"{content}"}}}}"#,
            index + 1
        )
        .expect("text can be written");
    }
    body.push_str("]}");
    body
}

/// The live bytes of an operator with a source of these config maps, once it has seen them all.
fn live_bytes(server: &Server, bounds: Option<Bounds<ConfigMap>>) -> i64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let source = InformerEventSource::<ConfigMap>::new().map_to_primary(|_| Vec::<ObjectKey>::new());
    let source = match bounds {
        Some(bounds) => source.bounded(bounds),
        None => source,
    };
    let config = Config::new(format!("http://127.0.0.1:{}", server.port).parse().expect("an address"));
    let mut running = None;
    // All of it happens on this thread, which is the one that is counted.
    let counted = allocation_counter::measure(|| {
        let operator = Operator::builder()
            .config(config)
            .register(Controller::builder(Idle).watches(source))
            .build()
            .expect("a sound declaration");
        runtime.block_on(async {
            operator.start().await.expect("it starts");
            operator.synced().await;
        });
        running = Some(operator);
    });
    drop(running);
    counted.bytes_current
}

#[test]
fn a_bounded_source_takes_less_than_a_fifth() {
    if env::var_os(SERVES).is_some() {
        serve();
    }
    let server = Server::start();
    let all = live_bytes(&server, None);
    let some = live_bytes(&server, Some(Bounds::new(1_000)));
    let expected = i64::try_from(OBJECTS * BYTES).expect("it is small");
    #[expect(clippy::print_stdout, reason = "the figures that the documentation names this test for")]
    {
        println!(
            "live bytes for {OBJECTS} config maps of {BYTES} bytes: {all} unbounded, {some} with 1,000 in full"
        );
    }
    assert!(all > expected, "{all}: all of them are held");
    assert!(some * 5 < all, "{some} is not below a fifth of {all}");
}
