//! Streamed lists, as far as the real server supports them: both kinds of list have the same result.

use integration_tests::prelude::*;
use operator_core::{
    cache::InitialList,
    client::{Clients, Transport, TransportHook},
    environment::Environment,
    testing::{Part, Profile},
};
use tower::{ServiceExt, util::BoxService};

use super::{Running, create, settings};

/// The queries of the requests that a client has made.
#[derive(Clone, Default)]
struct Queries(Arc<Mutex<Vec<String>>>);

impl Queries {
    fn client(&self, cluster: &TestCluster) -> Result<Client> {
        let queries = self.clone();
        let hook = TransportHook::new(move |inner: Transport| {
            let queries = queries.clone();
            BoxService::new(inner.map_request(move |request: http::Request<_>| {
                queries.0.lock().push(request.uri().query().unwrap_or_default().to_owned());
                request
            }))
        });
        let hooks: Vec<_> = cluster.server_hook().into_iter().chain([hook]).collect();
        Ok(Clients::new(&cluster.config(), &hooks, None, &Environment::real())?.direct)
    }

    /// How many of them were lists, and how many asked for a stream.
    fn count(&self) -> (usize, usize) {
        let queries = self.0.lock();
        let count = |is: fn(&String) -> bool| queries.iter().filter(|query| is(query)).count();
        (
            count(|query| !query.contains("watch=true")),
            count(|query| query.contains("sendInitialEvents=true")),
        )
    }
}

#[operator_test]
async fn a_streamed_list_gives_what_pages_give() -> Result<()> {
    let cluster = cluster().await?;
    let namespace = cluster.namespace("cache-streaming").await?;
    let empty = cluster.namespace("cache-streaming-empty").await?;
    let client = cluster.client()?;
    let api: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
    for name in ["a", "b", "c"] {
        create(&api, name, name).await?;
    }
    let queries = Queries::default();
    let start = |initial_list, page_size, client| {
        let mut settings = settings("lists", &[&namespace, &empty]);
        (settings.initial_list, settings.page_size) = (initial_list, page_size);
        Running::<ConfigMap>::start(settings, client)
    };
    let streamed = start(InitialList::Streaming, 500, queries.client(&cluster)?);
    let paged = start(InitialList::Paged, 2, client.clone());
    for running in [&streamed, &paged] {
        running.synced().await?;
        assert_eq!(running.told.take(), ["+a", "+b", "+c"]);
        assert!(
            running.informer.last_syncs().iter().all(|(_, version)| version.is_some()),
            "an empty one too"
        );
    }
    assert_eq!(queries.count(), (0, 2), "one stream for each namespace, and no list");
    assert_eq!(streamed.informer.list(), paged.informer.list());

    create(&api, "d", "d").await?;
    api.delete("a", &DeleteParams::default()).await?;
    for running in [&streamed, &paged] {
        running.caught_up().await?;
        assert_eq!(running.told.take(), ["+d", "-a"]);
    }
    let key = ObjectKey::namespaced(&namespace, "d");
    let d = streamed.informer.get(&key).context("it was told")?;
    assert_eq!(d.metadata.managed_fields, None);
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn a_server_that_cannot_stream_is_asked_for_pages() -> Result<()> {
    let plane = Profile::ApiServer.builder().flag(Part::ApiServer, "--feature-gates=WatchList=false");
    let cluster = TestCluster::own(plane).await?;
    let namespace = cluster.namespace("cache-refusal").await?;
    let api: Api<ConfigMap> = Api::namespaced(cluster.client()?, &namespace);
    create(&api, "a", "a").await?;
    let queries = Queries::default();
    let mut settings = settings("refused", &[&namespace]);
    settings.initial_list = InitialList::Streaming;
    let running = Running::<ConfigMap>::start(settings, queries.client(&cluster)?);
    running.synced().await?;
    assert_eq!(running.told.take(), ["+a"]);
    assert_eq!(queries.count(), (1, 1), "asked once in vain, then for a list");
    Ok(())
}
