//! Which informers share a list-watch: those that don't differ in anything that the server or its answers depend on.

use std::sync::Arc;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::{ApiResource, DynamicObject};

use super::{InformerPool, Key, Share};
use crate::{
    cache::{
        InformerSettings, InitialList, View,
        config::Transform,
        kind_of,
        shard::Shard,
        text::{AnyKind, transformed_kind},
    },
    environment::Environment,
    resource::{Cluster, ResourceType},
};

/// The first half of all objects.
const HALF: &str = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";

/// An informer's settings, the form of its objects, the collection, and the selector of all informers that share it.
struct Settings {
    settings: InformerSettings,
    kind: AnyKind,
    namespace: Option<&'static str>,
    wider: Option<&'static str>,
}

/// All settings that distinguish list-watches.
#[test]
fn informers_that_differ_in_any_setting_have_separate_lists() {
    let key = |change: &dyn Fn(&mut Settings)| {
        let settings = InformerSettings::new("test", ResourceType::of::<ConfigMap>());
        let mut of =
            Settings { settings, kind: kind_of::<ConfigMap>(), namespace: Some("shop"), wider: None };
        change(&mut of);
        let view = View::new(&of.settings, of.kind, &Environment::real());
        let wider = of.wider.map(|labels| (labels.to_owned(), Arc::new(|_: &_| true) as _));
        Key::new(&Share { pool: InformerPool::default(), wider }, &of.settings, &view, of.namespace)
    };
    let kind = |group: &str, version: &str, kind: &str, plural: &str| {
        ResourceType::with::<DynamicObject>(&ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: format!("{group}/{version}"),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        })
    };
    let transform: Transform<ConfigMap> = Arc::new(|map| map);
    let transformed = || transformed_kind::<ConfigMap>(Arc::clone(&transform));
    type Change<'c> = (&'c str, &'c dyn Fn(&mut Settings));
    let changes: &[Change<'_>] = &[
        ("nothing", &|_| {}),
        ("cluster", &|of| of.settings.cluster = Cluster::named("edge")),
        ("another cluster of that name", &|of| {
            (of.settings.cluster, of.settings.cluster_number) = (Cluster::named("edge"), 7);
        }),
        ("group", &|of| of.settings.resource_type = kind("a.example", "v1", "Route", "routes")),
        ("another group", &|of| of.settings.resource_type = kind("b.example", "v1", "Route", "routes")),
        ("version", &|of| of.settings.resource_type = kind("a.example", "v2", "Route", "routes")),
        ("kind", &|of| of.settings.resource_type = kind("a.example", "v1", "Rout", "routes")),
        ("plural", &|of| of.settings.resource_type = kind("a.example", "v1", "Route", "routen")),
        ("namespace", &|of| of.namespace = Some("bank")),
        ("all namespaces", &|of| of.namespace = None),
        ("labels", &|of| of.settings.label_selector = Some("a=b".to_owned())),
        ("labels for all", &|of| of.wider = Some("a in (b,c)")),
        ("fields", &|of| of.settings.field_selector = Some("a=b".to_owned())),
        ("shard", &|of| of.settings.shard = Shard::parse(HALF).ok()),
        ("metadata", &|of| of.settings.metadata_only = true),
        ("transform", &|of| of.kind = transformed()),
        ("transform that keeps an annotation", &|of| {
            (of.kind, of.settings.annotations) = (transformed(), vec!["a/b".to_owned()]);
        }),
        ("managers", &|of| of.settings.own_managers = vec!["web".to_owned()]),
        ("pages", &|of| of.settings.page_size = 7),
        ("streams", &|of| of.settings.initial_list = InitialList::Streaming),
        ("watches", &|of| of.settings.watch_timeout = std::time::Duration::from_secs(7)),
    ];
    for (one, change) in changes {
        assert_eq!(key(change), key(change), "{one}: equal settings share");
        for (other, other_change) in changes.iter().filter(|(other, _)| other != one) {
            assert_ne!(key(change), key(other_change), "{one}, {other}");
        }
    }
}
