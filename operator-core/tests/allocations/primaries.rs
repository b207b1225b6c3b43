//! Primaries that come and go leave nothing behind: the bytes that a whole operator holds are counted.

use std::{future::Future, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use kube::{
    Api, Client, ResourceExt,
    api::{DeleteParams, ListParams, PostParams},
};
use operator_core::{
    BoxError, Cleaner, Context, Controller, Operator, Reconciler, Removal, UpdateControl, Workflow,
    operator::Settling, testing::InProcessServer,
};

/// So many come and go in one round.
const PRIMARIES: usize = 2_000;

/// Has a map of its own, an index, a clean-up and a result of its workflow.
struct Keeper;

/// Wants a map.
fn map(account: &ServiceAccount) -> ConfigMap {
    let data = Some([("account".to_owned(), account.name_any())].into());
    let mut map = ConfigMap { data, ..ConfigMap::default() };
    map.metadata.name = Some(account.name_any());
    map
}

impl Reconciler for Keeper {
    type Primary = ServiceAccount;

    async fn reconcile(
        &self,
        _: &ServiceAccount,
        context: &mut Context<ServiceAccount>,
    ) -> Result<UpdateControl<ServiceAccount>, BoxError> {
        assert!(context.so_far()?.all_ready());
        Ok(UpdateControl::no_update().reschedule_after(Duration::from_secs(60 * 60)))
    }
}

impl Cleaner for Keeper {
    async fn cleanup(
        &self,
        _: &ServiceAccount,
        _: &mut Context<ServiceAccount>,
    ) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

/// An operator with its server and what is on it, on a runtime of its own.
struct World {
    runtime: tokio::runtime::Runtime,
    server: InProcessServer,
    client: Option<Client>,
    operator: Option<Operator>,
}

impl World {
    fn new() -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        Self {
            runtime: runtime.expect("a runtime can be built"),
            server: InProcessServer::new(),
            client: None,
            operator: None,
        }
    }

    fn run<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(what)
    }

    fn start(&mut self) {
        let workflow = Workflow::builder().nodes((map,));
        let controller = Controller::builder(Keeper)
            .name("keeper")
            .index("by-name", |account: &ServiceAccount| vec![account.name_any()])
            .with_cleaner()
            .workflow(workflow)
            .namespaces(["default"]);
        let operator = Operator::builder()
            .config(self.server.config())
            .transport(self.server.clone().into())
            .register(controller)
            .build()
            .expect("the declaration is right");
        let client = self.run(async {
            let client = self.server.client();
            let mut namespace = Namespace::default();
            namespace.metadata.name = Some("default".to_owned());
            let namespaces: Api<Namespace> = Api::all(client.clone());
            drop(namespaces.create(&PostParams::default(), &namespace).await);
            operator.start().await.expect("it starts");
            client
        });
        (self.client, self.operator) = (Some(client), Some(operator));
    }

    /// Makes all, waits until each has its map, and deletes them.
    fn round(&self, round: usize) {
        let (client, operator) = (self.client.as_ref(), self.operator.as_ref());
        let (client, operator) = (client.expect("it has started"), operator.expect("it has started"));
        self.run(async {
            let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "default");
            let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
            let names: Vec<String> = (0..PRIMARIES).map(|number| format!("p-{round}-{number:04}")).collect();
            for name in &names {
                let mut account = ServiceAccount::default();
                account.metadata.name = Some(name.clone());
                accounts.create(&PostParams::default(), &account).await.expect("it is created");
            }
            settled(operator).await;
            assert_eq!(ours(&maps).await, PRIMARIES);
            for name in &names {
                accounts.delete(name, &DeleteParams::default()).await.expect("it is deleted");
            }
            settled(operator).await;
            assert_eq!((ours(&accounts).await, ours(&maps).await), (0, 0));
            let footprint = operator.footprint().await;
            // The account that the server makes in each namespace stays.
            assert_eq!((footprint.primaries, footprint.leftovers), (1, Vec::new()));
        });
        // What the server remembers is its own.
        self.server.compact();
        self.server.forget_calls();
        // Watches that were behind are told, and resumed.
        self.run(async {
            settled(operator).await;
            tokio::time::sleep(Duration::from_secs(2 * 60 * 60)).await;
            settled(operator).await;
        });
        self.server.forget_calls();
    }
}

/// How many objects there are but the server's own.
async fn ours<K>(api: &Api<K>) -> usize
where
    K: kube::Resource + Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let all = api.list(&ListParams::default()).await.expect("a list");
    all.items.iter().filter(|object| object.name_any().starts_with("p-")).count()
}

async fn settled(operator: &Operator) {
    let look = Settling { no_timer_within: Duration::from_secs(3), timeout: Duration::from_secs(600) };
    operator.settled(look).await.expect("it settles");
}

#[test]
fn two_thousand_primaries_come_and_go_and_the_live_bytes_are_back_within_a_hundredth() {
    let mut world = World::new();
    // The first round makes what is made once and for all: buffers of their sizes, the server's types.
    let first = allocation_counter::measure(|| {
        world.start();
        world.round(1);
    });
    let second = allocation_counter::measure(|| world.round(2));
    let (live, more) = (first.bytes_current, second.bytes_current);
    assert!(second.bytes_max > 1_000_000, "the second round holds much for a while: {second:?}");
    assert!(live > 100_000, "something is held all the time: {first:?}");
    assert!(
        more.abs() * 100 <= live,
        "{more} bytes more are held after {PRIMARIES} primaries came and went, and {live} before"
    );
}
