//! The dashboard of `docs/`: each of its queries is PromQL about metrics that exist, and a real Prometheus answers it for
//! the sample under load.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    process::Stdio,
};

use integration_tests::prelude::*;
use operator_core::{
    LeaderElection,
    metrics::{Metric, MetricKind},
    testing::Assets,
};
use promql_parser::{
    parser::{self, Expr, LabelModifier, VectorSelector},
    util::{ExprVisitor, walk_expr},
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::{Child, Command},
};
use webpage::{STYLES, WebPage};

use crate::support::until;

const DASHBOARD: &str = include_str!("../../../docs/src/grafana-dashboard.json");

/// The queries, with what Grafana puts in place of its variables.
fn queries() -> Vec<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("the dashboard is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array()).flatten();
    let queries = targets.map(|target| target["expr"].as_str().expect("each target has a query"));
    queries.map(|query| query.replace("$__rate_interval", "30s").replace("$controller", ".*")).collect()
}

/// The metrics and labels that a query names.
#[derive(Default)]
struct Named {
    metrics: BTreeSet<String>,
    labels: BTreeSet<String>,
}

impl Named {
    fn selector(&mut self, selector: &VectorSelector) {
        self.metrics.extend(selector.name.clone());
        self.labels.extend(selector.matchers.matchers.iter().map(|matcher| matcher.name.clone()));
    }
}

impl ExprVisitor for Named {
    type Error = String;

    fn pre_visit(&mut self, expr: &Expr) -> Result<bool, String> {
        match expr {
            Expr::VectorSelector(selector) => self.selector(selector),
            Expr::MatrixSelector(matrix) => self.selector(&matrix.vs),
            Expr::Aggregate(aggregate) => {
                if let Some(LabelModifier::Include(labels) | LabelModifier::Exclude(labels)) =
                    &aggregate.modifier
                {
                    self.labels.extend(labels.labels.iter().cloned());
                }
            }
            _ => {}
        }
        Ok(true)
    }
}

/// The metric of the table that a series belongs to: a histogram is several.
fn metric(series: &str) -> Option<&'static Metric> {
    Metric::all().iter().copied().find(|metric| {
        let rest = series.strip_prefix(metric.name);
        let suffixes: &[&str] = match metric.kind {
            MetricKind::Histogram => &["_bucket", "_sum", "_count"],
            MetricKind::Counter | MetricKind::Gauge => &[""],
        };
        rest.is_some_and(|rest| suffixes.contains(&rest))
    })
}

#[test]
fn each_query_is_promql_about_metrics_and_labels_that_exist() {
    let mut shown = BTreeSet::new();
    for query in queries() {
        let parsed = parser::parse(&query).unwrap_or_else(|error| panic!("{query}: {error}"));
        let mut named = Named::default();
        walk_expr(&mut named, &parsed).expect("a visit doesn't fail");
        assert!(!named.metrics.is_empty(), "{query}");
        let metrics: Vec<_> = named
            .metrics
            .iter()
            .map(|name| metric(name).unwrap_or_else(|| panic!("{query}: there is no metric {name}")))
            .collect();
        for label in &named.labels {
            let exists = label == "le" || metrics.iter().all(|metric| metric.labels.contains(&&**label));
            assert!(exists, "{query}: there is no label {label}");
        }
        shown.extend(metrics.iter().map(|metric| metric.name));
    }
    let missing: Vec<_> = Metric::all().iter().filter(|metric| !shown.contains(metric.name)).collect();
    assert!(missing.is_empty(), "the dashboard doesn't show {missing:?}");
}

/// A Prometheus that scrapes one address each second. It ends with this.
struct Prometheus {
    address: SocketAddr,
    process: Child,
}

impl Prometheus {
    async fn start(folder: &Path, target: SocketAddr) -> Result<Self> {
        let program = tokio::task::spawn_blocking(Assets::prometheus).await??;
        let config = json!({
            "global": { "scrape_interval": "1s" },
            "scrape_configs": [{ "job_name": "webpage", "static_configs": [{ "targets": [target.to_string()] }] }],
        });
        let file = folder.join("prometheus.yml");
        std::fs::write(&file, config.to_string())?;
        // Another process may take the port in between; then there is another try.
        for _ in 0..3 {
            let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()?;
            let process = Command::new(&program)
                .arg(format!("--config.file={}", file.display()))
                .arg(format!("--storage.tsdb.path={}", folder.join("data").display()))
                .arg(format!("--web.listen-address={address}"))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()?;
            let mut prometheus = Self { address, process };
            if prometheus.is_ready().await? {
                return Ok(prometheus);
            }
        }
        anyhow::bail!("prometheus has not come up in three attempts")
    }

    /// `false` if it has ended.
    async fn is_ready(&mut self) -> Result<bool> {
        let mut alive = true;
        until("prometheus", async || {
            alive = matches!(self.process.try_wait(), Ok(None));
            let ready = self.get("/-/ready").await.is_ok_and(|answer| answer.contains(" 200 OK"));
            (ready || !alive).then_some(())
        })
        .await?;
        Ok(alive)
    }

    async fn get(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok(answer)
    }

    /// The current result of a query.
    async fn ask(&self, query: &str) -> Result<Vec<Value>> {
        let escaped: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let answer = self.get(&format!("/api/v1/query?query={escaped}")).await?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no body")?;
        ensure!(head.contains(" 200 OK"), "{query}: {answer}");
        let body: Value = serde_json::from_str(body)?;
        Ok(body["data"]["result"].as_array().context("no result")?.clone())
    }
}

/// Pages are created, changed and deleted, for as long as this is polled, and now and then the server fails.
async fn load(pages: &Api<WebPage>, faulty: &Faulty) -> Result<()> {
    let page = |name: &str, html: String| {
        let page = json!({
            "apiVersion": "sample.operator-core.io/v1", "kind": "WebPage",
            "metadata": { "name": name }, "spec": { "html": html },
        });
        serde_json::from_value::<WebPage>(page)
    };
    for round in 0.. {
        faulty.writes([Answer::json(500, &json!({ "kind": "Status", "code": 500, "message": "no" }))]);
        for number in 0..10 {
            let (name, html) = (format!("page-{number}"), format!("<p>{round}</p>"));
            if round % 5 == 0 {
                pages.create(&PostParams::default(), &page(&name, html)?).await?;
            } else if round % 5 == 4 {
                pages.delete(&name, &DeleteParams::default()).await?;
            } else {
                let change = Patch::Merge(json!({ "spec": { "html": html } }));
                pages.patch(&name, &PatchParams::default(), &change).await?;
            }
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_prometheus_answers_each_query_for_the_sample_under_load() -> Result<()> {
    let cluster = TestCluster::in_process();
    cluster.install_crds([WebPage::crd()]).await?;
    let (_, declare) = STYLES[0];
    let election = LeaderElection::new("webpage").namespace("default").identity("only");
    let faulty = Faulty::of("configmaps");
    let builder = cluster.connect(declare()).transport(faulty.hook());
    let builder = builder.http_address((Ipv4Addr::LOCALHOST, 0).into());
    let operator = TestOperator::start(builder.leader_election(election)).await?;
    let target = operator.operator().http_address().await.context("it listens")?;
    let folder = tempfile::tempdir()?;
    let prometheus = Prometheus::start(folder.path(), target).await?;

    let pages: Api<WebPage> = Api::namespaced(cluster.client()?, "default");
    let answers = async {
        for query in queries() {
            let answer = until(&query, async || {
                let answer = prometheus.ask(&query).await.ok()?;
                // A share of nothing is no number.
                let is_number = |one: &Value| one["value"][1].as_str().is_some_and(|value| value != "NaN");
                answer.iter().any(is_number).then_some(answer)
            })
            .await?;
            ensure!(!answer.is_empty(), "{query}");
        }
        anyhow::Ok(())
    };
    tokio::select! {
        answered = answers => answered?,
        ended = load(&pages, &faulty) => ended.context("the load has ended")?,
    }
    operator.stop().await;
    Ok(())
}
