//! Lists of very many objects.

use bytes::Bytes;
use futures::{StreamExt, stream};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use integration_tests::prelude::*;
use operator_core::{client::TransportHook, environment::Environment};

use super::{TestResource, pass, scene};

// `LIST_OBJECTS` says another number; nightly lists 100,000.
const OBJECTS: usize = 12_000;
const PAGE: usize = 500;

/// Notes each list of config maps: `first`, `next` or `whole`. The body of the tenth comes in parts, over two minutes.
fn noted(lists: &Arc<Mutex<Vec<&'static str>>>) -> TransportHook {
    let (lists, count) = (Arc::clone(lists), Arc::new(AtomicUsize::new(0)));
    TransportHook::around(move |request, inner| {
        let accept = request.headers().get(http::header::ACCEPT).and_then(|accept| accept.to_str().ok());
        let query = request.uri().query().unwrap_or_default();
        let is_list = request.method() == http::Method::GET
            && request.uri().path().ends_with("/configmaps")
            && !query.contains("watch=true")
            && !accept.unwrap_or_default().contains("PartialObjectMetadata");
        let mut slow = false;
        if is_list {
            let what = match (query.contains("limit="), query.contains("continue=")) {
                (true, true) => "next",
                (true, false) => "first",
                (false, _) => "whole",
            };
            lists.lock().push(what);
            slow = count.fetch_add(1, Ordering::Relaxed) == 9;
        }
        async move {
            let answer = inner.send(request).await?;
            if !slow {
                return Ok(answer);
            }
            let (head, body) = answer.into_parts();
            let body = body.collect().await?.to_bytes();
            let size = body.len() / 6 + 1;
            let parts: Vec<Bytes> =
                (0..6).map(|part| body.slice(part * size..body.len().min((part + 1) * size))).collect();
            let parts = stream::iter(parts).then(|part| async move {
                tokio::time::sleep(Duration::from_secs(20)).await;
                Ok::<_, tower::BoxError>(Frame::data(part))
            });
            Ok(http::Response::from_parts(head, StreamBody::new(parts).boxed_unsync()))
        }
    })
}

#[tokio::test(start_paused = true)]
async fn many_objects_are_listed_though_a_body_is_slow_and_a_page_expires() -> Result<()> {
    let objects = match std::env::var("LIST_OBJECTS") {
        Ok(number) => number.parse().context("LIST_OBJECTS is a number")?,
        Err(_) => OBJECTS,
    };
    let scene = scene().await?;
    let maps = scene.api::<ConfigMap>();
    let mut map =
        ConfigMap { data: Some([("value".to_owned(), "x".repeat(4_000))].into()), ..ConfigMap::default() };
    for number in 0..objects {
        map.metadata.name = Some(format!("map-{number:06}"));
        maps.create(&PostParams::default(), &map).await?;
    }
    scene.create("one", "first").await?;

    let lists = Arc::default();
    // In the middle of the first list its page expires, and the whole list is more than the server can answer.
    let of_maps = || Rule::on(Verb::List).resource("configmaps");
    let expired = of_maps().nth(21).status(StatusAnswer::gone());
    let too_much = of_maps().nth(22).status(StatusAnswer::timeout());
    let faults = Faults::new([expired.clone(), too_much.clone()]);
    let found = Arc::new(AtomicUsize::new(0));
    let script = Script::new({
        let found = Arc::clone(&found);
        move |_, _: Arc<TestResource>, context| {
            found.store(
                context
                    .event_source::<ConfigMap>("ConfigMap")
                    .map_or(0, |source| source.cache().keys().len()),
                Ordering::Relaxed,
            );
            Box::pin(async { Ok(UpdateControl::no_update()) })
        }
    });
    let source = InformerEventSource::<ConfigMap>::new();
    let controller = script.controller().name("many").watches(source);
    let builder = scene.operator().environment(|| Environment::real().with_seed(1));
    let builder = builder.transport(faults.hook()).transport(noted(&lists));
    let operator =
        TestOperator::start_unsynced(builder.register(controller.namespaces([&scene.namespace]))).await?;
    tokio::time::timeout(Duration::from_secs(600), operator.operator().synced()).await?;
    assert_eq!((expired.fired(), too_much.fired()), (1, 1));
    pass(1).await;
    assert_eq!((script.runs.count(), found.load(Ordering::Relaxed)), (1, objects), "the run found them all");
    let lists = lists.lock().clone();
    let pages = objects / PAGE;
    let mut expected = vec!["first"];
    expected.extend(vec!["next"; 20]);
    expected.extend(["whole", "first"]);
    expected.extend(vec!["next"; pages - 1]);
    assert_eq!(lists, expected);
    operator.stop().await;
    Ok(())
}
