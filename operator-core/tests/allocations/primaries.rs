//! Primaries that come and go leave nothing behind: no entry of any map about them, and no bytes.
//!
//! ```text
//!  one thread, whose allocations are counted
//!   ├── an operator with all that it keeps for a primary
//!   └── the server inside the process, which is told to forget; a real one is another process
//! ```
//!
//! A primary and its map are two objects. The first rounds bring everything to its working size: buffers of connections, tables,
//! the server's types. Those after them are measured.

use std::{future::Future, sync::Arc, time::Duration};

use allocation_counter::AllocationInfo;
use http_body_util::{BodyExt, Full};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::{
    Api, Client, Config, ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
};
use operator_core::{
    BoxError, Cleaner, Context, Controller, GenericRetry, Operator, PerResourcePollingEventSource, Removal,
    UpdateControl, Workflow,
    client::TransportHook,
    node,
    operator::Settling,
    processor::GovernorRateLimiter,
    testing::{InProcessServer, Profile, TestCluster},
};
use tokio::{
    runtime::{Builder, Runtime},
    sync::Semaphore,
};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// A connection's buffer is as large as the largest answer that came over it, or the largest burst of a watch: chance makes one or two of
/// them larger late. They are few allocations, and an entry that is left is one of its own.
const BUFFERS: i64 = 512 * 1024;

/// So many rounds may grow.
const MOST_TO_WARM_UP: usize = 10;

/// Has a map of its own, an index, a clean-up, a poll, and a result of its workflow.
struct Keeper;

/// Wants a map. No garbage collector is needed to take it away.
fn map(account: &ServiceAccount) -> ConfigMap {
    let data = Some([("account".to_owned(), account.name_any())].into());
    let mut map = ConfigMap { data, ..ConfigMap::default() };
    map.metadata.name = Some(account.name_any());
    map
}

impl Cleaner for Keeper {
    type Primary = ServiceAccount;

    /// One in ten fails at first, so that its retries are counted.
    async fn reconcile(
        &self,
        account: &ServiceAccount,
        context: &mut Context<ServiceAccount>,
    ) -> Result<UpdateControl<ServiceAccount>, BoxError> {
        assert!(context.so_far()?.all_ready());
        let polled = context.external_source::<String>(None).ok_or("it is declared")?;
        polled.fetch_now(context.primary_key()).await?;
        if context.retry_info().is_none() && account.name_any().ends_with('7') {
            return Err("not at first".into());
        }
        Ok(UpdateControl::no_update().reschedule_after(HOUR))
    }

    async fn cleanup(
        &self,
        _: &ServiceAccount,
        _: &mut Context<ServiceAccount>,
    ) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

fn polls() -> PerResourcePollingEventSource<ServiceAccount, String, ()> {
    let name = |account: Arc<ServiceAccount>| async move { Ok::<_, BoxError>(vec![account.name_any()]) };
    PerResourcePollingEventSource::with_id("polls", HOUR, |_: &String| (), name)
}

enum Server {
    InProcess(InProcessServer),
    Real(TestCluster),
}

impl Server {
    fn config(&self) -> Config {
        match self {
            Self::InProcess(server) => server.config(),
            Self::Real(cluster) => cluster.config(),
        }
    }

    fn client(&self) -> Client {
        match self {
            Self::InProcess(server) => server.client(),
            Self::Real(cluster) => cluster.client().expect("a client can be made"),
        }
    }
}

/// An operator with its server and what is on it, on a runtime of its own.
struct World {
    runtime: Runtime,
    server: Server,
    namespace: String,
    client: Option<Client>,
    operator: Option<Operator>,
    /// How many primaries there are when there is none of ours, and how many tasks run.
    empty: (usize, usize),
}

impl World {
    fn in_process() -> Self {
        let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
        Self::on(runtime.expect("a runtime can be built"), Server::InProcess(InProcessServer::new()))
    }

    fn real() -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be built");
        // Without controllers: all that happens is the operator's doing.
        let cluster = runtime.block_on(TestCluster::real_with(Profile::ApiServer));
        Self::on(runtime, Server::Real(cluster.expect("the control plane starts")))
    }

    fn on(runtime: Runtime, server: Server) -> Self {
        let namespace = "churn".to_owned();
        Self { runtime, server, namespace, client: None, operator: None, empty: (0, 0) }
    }

    fn run<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(what)
    }

    fn start(&mut self) {
        let retry = GenericRetry::default().with_initial_interval(Duration::from_millis(10));
        let limiter = GovernorRateLimiter::new(100, Duration::from_secs(1));
        let controller = Controller::builder(Keeper)
            .name("keeper")
            .index("by-name", |account: &ServiceAccount| vec![account.name_any()])
            .workflow(Workflow::builder().nodes((node(map).without_owner(),)))
            .retry(retry.expect("an interval"))
            .rate_limiter(limiter.expect("a limit"))
            .watches(polls())
            .namespaces([&self.namespace]);
        let operator = Operator::builder().config(self.server.config()).register(controller);
        let operator = match &self.server {
            Server::InProcess(server) => operator.transport(server.clone().into()),
            Server::Real(_) => operator.transport(one_at_a_time()),
        };
        let operator = operator.build().expect("the declaration is right");
        let (client, empty) = self.run(async {
            let client = self.server.client();
            let mut namespace = Namespace::default();
            namespace.metadata.name = Some(self.namespace.clone());
            let namespaces: Api<Namespace> = Api::all(client.clone());
            namespaces.create(&PostParams::default(), &namespace).await.expect("it is created");
            operator.start().await.expect("it starts");
            settled(&operator).await;
            (client, kept(&operator).await)
        });
        (self.client, self.operator, self.empty) = (Some(client), Some(operator), empty);
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone().expect("it has started"), &self.namespace)
    }

    /// Makes all, waits until each has its map, and deletes them.
    fn round(&self, round: usize, primaries: usize) {
        let operator = self.operator.as_ref().expect("it has started");
        let (accounts, maps) = (self.api::<ServiceAccount>(), self.api::<ConfigMap>());
        let names: Vec<String> = (0..primaries).map(|number| format!("p-{round:03}-{number:03}")).collect();
        self.run(async {
            for name in &names {
                let mut account = ServiceAccount::default();
                account.metadata.name = Some(name.clone());
                accounts.create(&PostParams::default(), &account).await.expect("it is created");
            }
            settled(operator).await;
            assert_eq!(ours(&maps).await, primaries);
            assert_eq!(kept(operator).await.0, self.empty.0 + primaries);
            for name in &names {
                accounts.delete(name, &DeleteParams::default()).await.expect("it is deleted");
            }
            settled(operator).await;
            assert_eq!((ours(&accounts).await, ours(&maps).await), (0, 0));
            assert_eq!(kept(operator).await, self.empty);
        });
        if let Server::InProcess(server) = &self.server {
            // What the server remembers is its own.
            server.compact();
            server.forget_calls();
            // Watches that were behind are told, and resumed.
            self.run(async {
                settled(operator).await;
                tokio::time::sleep(2 * HOUR).await;
                settled(operator).await;
            });
            server.forget_calls();
        }
    }

    /// Lets so many primaries at a time come and go, in so many rounds after those until one leaves next to nothing; and compares
    /// what is held then with what was held before. `CHURN_TIMES` makes it longer.
    fn churn(mut self, rounds: usize, primaries: usize) {
        let times = std::env::var("CHURN_TIMES").map_or(1, |times| times.parse().expect("a number"));
        let mut live = allocation_counter::measure(|| self.start());
        let mut numbers = 0..;
        for round in numbers.by_ref().take(MOST_TO_WARM_UP) {
            let left = allocation_counter::measure(|| self.round(round, primaries));
            live += left;
            if left.bytes_current.abs() * 1_000 <= live.bytes_current {
                break;
            }
        }
        assert!(live.bytes_current > 100_000, "something is held all the time: {live:?}");
        let rounds: Vec<AllocationInfo> = numbers
            .take(rounds * times)
            .map(|round| allocation_counter::measure(|| self.round(round, primaries)))
            .collect();
        assert!(
            rounds.iter().all(|round| round.bytes_max > 1_000 * primaries as u64),
            "each round holds much for a while: {rounds:?}"
        );
        // What leaks is there in the end, and after each round. A table that many have passed through grows now and then, to have
        // room for those that are marked as deleted: it isn't seen in the quieter rounds. A few buffers and timers are there after
        // one round and not after the next: they aren't seen in the end.
        let bytes = of_all(&rounds, |round| round.bytes_current);
        let count = of_all(&rounds, |round| round.count_current);
        let buffers = if matches!(self.server, Server::Real(_)) { BUFFERS * rounds.len() as i64 } else { 0 };
        assert!(
            (bytes - buffers) * 100 <= live.bytes_current && count * 100 <= live.count_current,
            "more is held after {} rounds: {bytes} bytes and {count} allocations, than was before: {live:?}; \
             after each round: {rounds:?}",
            rounds.len()
        );
    }
}

/// What all rounds have left together, or what they leave if each leaves what three of four do at least: the smaller of the two.
fn of_all(rounds: &[AllocationInfo], left: impl Fn(&AllocationInfo) -> i64) -> i64 {
    let mut left: Vec<i64> = rounds.iter().map(left).collect();
    left.sort_unstable();
    let together: i64 = left.iter().sum();
    together.min(left[left.len() / 4] * left.len() as i64)
}

/// A connection has buffers as large as the largest answer that came over it. One request at a time needs one connection, beside those
/// of the watches.
fn one_at_a_time() -> TransportHook {
    let turn = Arc::new(Semaphore::new(1));
    TransportHook::around(move |request, inner| {
        let turn = Arc::clone(&turn);
        let is_watch = request.uri().query().is_some_and(|query| query.contains("watch=true"));
        async move {
            if is_watch {
                return inner.send(request).await;
            }
            let _turn = turn.acquire().await?;
            let (parts, body) = inner.send(request).await?.into_parts();
            let body = Full::new(body.collect().await?.to_bytes());
            // The connection is free again a moment after the end of its answer.
            for _ in 0..8 {
                tokio::task::yield_now().await;
            }
            let body = body.map_err(|never| match never {}).boxed_unsync();
            Ok(http::Response::from_parts(parts, body))
        }
    })
}

/// How many objects there are but the server's own.
async fn ours<K>(api: &Api<K>) -> usize
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let all = api.list(&ListParams::default()).await.expect("a list");
    all.items.iter().filter(|object| object.name_any().starts_with("p-")).count()
}

/// How many primaries the operator knows, and how many tasks run. No map has an entry of one that is gone.
async fn kept(operator: &Operator) -> (usize, usize) {
    let footprint = operator.footprint().await;
    assert_eq!(footprint.leftovers, []);
    (footprint.primaries, footprint.tasks.values().sum())
}

async fn settled(operator: &Operator) {
    let look = Settling { no_timer_within: Duration::from_secs(3), timeout: Duration::from_secs(600) };
    operator.settled(look).await.expect("it settles");
}

#[test]
fn objects_come_and_go_and_the_live_bytes_are_back_within_a_hundredth() {
    World::in_process().churn(6, 150);
}

#[test]
fn objects_of_a_real_server_come_and_go_and_the_live_bytes_are_back_within_a_hundredth() {
    World::real().churn(4, 50);
}
