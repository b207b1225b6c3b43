//! Options of informers that contradict each other, or what else is declared.

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::core::PartialObjectMeta;

use super::{pods, told};
use crate::{
    cache::{Bounds, InitialList},
    controller::ControllerBuilder,
    event_source::InformerEventSource,
    resource::ObjectKey,
};

const HALF: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";

fn maps() -> InformerEventSource<ConfigMap> {
    InformerEventSource::new()
}

fn watching(source: InformerEventSource<ConfigMap>) -> ControllerBuilder<super::Pods> {
    pods().watches(source)
}

#[test]
fn what_a_bounded_source_cannot_have_is_said() {
    let by_name = |map: &ConfigMap| map.metadata.name.iter().cloned().collect();
    for told in [
        told(watching(maps().bounded(Bounds::new(10)).index("names", by_name))),
        told(watching(maps().index("names", by_name).bounded(Bounds::new(10)))),
    ] {
        assert!(
            told.contains("event source `ConfigMap`: it is bounded, and has the index `names`"),
            "{told}"
        );
        assert!(told.contains("write `.transform(…)`"), "{told}");
    }
    let references = |_: &Pod| Vec::<ObjectKey>::new();
    let told = told(pods().bounded(Bounds::new(10)).refers_to::<Secret>(references));
    assert!(
        told.contains("it is bounded, and has references to the objects of `Secret referred to`"),
        "{told}"
    );
}

#[test]
fn each_option_is_checked() {
    for (source, words) in [
        (maps().page_size(0), "pages of 0 objects"),
        (maps().metadata_only(), "`PartialObjectMeta<ConfigMap>` as the type"),
        (maps().shard_selector("a in (b)"), "its shard selector can't be used"),
        (maps().shard_selector(HALF).initial_list(InitialList::Streaming), "its lists are streamed"),
        (maps().shard_selector(HALF).metadata_only(), "and asks for metadata only"),
    ] {
        let told = told(watching(source));
        assert!(told.contains(words) && told.contains("event source `ConfigMap`: "), "{words}: {told}");
    }
    let told_of_primaries = told(pods().page_size(0).shard_selector(""));
    assert_eq!(told_of_primaries.matches("\n  why ").count(), 2, "{told_of_primaries}");
}

#[test]
fn all_of_them_may_be_used() {
    let source = InformerEventSource::<PartialObjectMeta<ConfigMap>>::new().metadata_only();
    let all = maps().name("all").bounded(Bounds::new(10)).transform(|map| map).page_size(100).unshared();
    let half = maps().name("half").shard_selector(HALF);
    assert_eq!(told(pods().watches(source).watches(all).watches(half).bounded(Bounds::new(10))), "");
}
