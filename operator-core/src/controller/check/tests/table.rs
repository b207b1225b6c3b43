//! The table: a declaration, and its report.

use std::{fmt::Write as _, time::Duration};

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};

use super::{
    Pods,
    kinds::{
        Map, dns, forgetful_dns, maps, read, read_all, records, records_of_machines, records_of_pods, role,
        several_dns,
    },
    pods, told,
};
use crate::{
    controller::ControllerBuilder,
    dependent::System,
    event_source::InformerEventSource,
    processor::{GenericRetry, GovernorRateLimiter},
    reconciler::run::Run,
    workflow::{
        Workflow, WorkflowBuilder,
        declare::{Nodes, declared::node, wire::Wire as _},
    },
};

fn workflow() -> WorkflowBuilder<Pod> {
    Workflow::builder()
}

/// A controller with these nodes in its workflow.
fn with<M>(nodes: impl Nodes<Pod, M>) -> ControllerBuilder<Pods> {
    pods().workflow(workflow().nodes(nodes))
}

fn one(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

fn two(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

fn three(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

fn four(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

fn unheard_of(_: &Pod) -> Secret {
    Secret::default()
}

fn status(_: &Pod, run: &Run<Pod>) -> bool {
    run.all_ready()
}

type Declaration = ControllerBuilder<Pods>;

/// Wrong declarations of one controller, each with what is wrong.
fn wrong() -> Vec<(&'static str, Declaration)> {
    let secrets_as_maps = InformerEventSource::<Secret>::new().name("ConfigMap");
    let standalone = || workflow().nodes((dns(),));
    vec![
        ("a name with capitals", pods().name("WebPages")),
        ("an empty name", pods().name("")),
        ("a field manager", pods().field_manager("web pages")),
        ("a finalizer", pods().finalizer("finalizer")),
        ("no run at all", pods().max_concurrent_reconciles(0)),
        ("no time", pods().reconcile_timeout(Duration::ZERO)),
        ("no interval", pods().max_reconciliation_interval(Duration::ZERO)),
        ("a jitter of more than the delay", pods().jitter(2.0)),
        ("a jitter that is no number", pods().jitter(f64::NAN)),
        ("all events and a cleaner", pods().trigger_on_all_events(true).cleaner(true)),
        ("all events and a workflow", with((Map("a").node(),)).trigger_on_all_events(true)),
        ("no namespace", pods().namespaces([""; 0])),
        (
            "a retry without a pause",
            pods().retry(GenericRetry::default().with_initial_interval(Duration::ZERO)),
        ),
        ("a shrinking retry", pods().retry(GenericRetry::default().with_multiplier(0.5))),
        ("a rate limit of nothing", pods().rate_limiter(GovernorRateLimiter::new(0, Duration::from_secs(1)))),
        ("a rate limit without a period", pods().rate_limiter(GovernorRateLimiter::new(1, Duration::ZERO))),
        ("two workflows", with((Map("a").node(),)).workflow(workflow())),
        ("two indexes of one name", pods().index("team", |_| Vec::new()).index("team", |_| Vec::new())),
        ("two status functions", pods().status(status).status(status)),
        ("two sources of one name", pods().owns::<Secret>().owns::<Secret>()),
        (
            "nodes that contradict one another",
            with((
                one.after(two),
                two.after(one),
                three.after(three).after(unheard_of),
                Map("").node(),
                Map("one").node(),
                Map("d").node().after(one),
                Map("d").node(),
                node(four).named("first"),
                node(four).named("second").after(four),
            )),
        ),
        (
            "an event source that nobody declares",
            with((Map("a").node().event_source("shared"),)).owns::<Secret>(),
        ),
        ("an event source of another type", with((Map("a").node().event_source("Secret"),)).owns::<Secret>()),
        ("another type under the kind's name", with((Map("a").node(),)).watches(secrets_as_maps)),
        ("records without a place for their ids", with((forgetful_dns(),))),
        ("several records whose ids follow", with((several_dns().id_of(|_| "one".to_owned()),))),
        (
            "a source with a selector in place of that of the objects that keep ids",
            with((forgetful_dns().id_in_config_map(),))
                .watches(InformerEventSource::<ConfigMap>::new().label_selector("app=web")),
        ),
        (
            "a source that has the name of one of the records' own",
            with((dns(),)).watches(InformerEventSource::<Secret>::new().name("Dns records")),
        ),
        ("a source of another primary", pods().watches(records_of_machines())),
        ("a standalone workflow that leaks", pods().event_sources_of(standalone())),
        ("a standalone dependent that leaks", pods().dependent(&dns().standalone())),
        ("two dependents of one name", with((Map("a").node(),)).dependent(&Map("a").node().standalone())),
        (
            "a source with a selector in place of a node's own",
            with((Map("a").node(),))
                .watches(InformerEventSource::<ConfigMap>::new().label_selector("app=web")),
        ),
        (
            "a source with a mapper in place of a node's own",
            with((Map("a").node(),))
                .watches(InformerEventSource::<ConfigMap>::new().map_to_primary(|_| Vec::new())),
        ),
        (
            "a source with a selector that a node asks for",
            with((Map("a").node().event_source("some"),)).watches(
                InformerEventSource::<ConfigMap>::new().name("some").field_selector("metadata.name=a"),
            ),
        ),
        ("a read of all that is related, and nothing relates any", with((read_all,))),
        (
            "a read of all that is related, and only something else is",
            with((read_all,)).owns::<Secret>().max_concurrent_reconciles(0),
        ),
        (
            "several mistakes of one controller",
            with((Map("a").node().event_source("maps"), maps("pages")))
                .name("Pods")
                .max_concurrent_reconciles(0)
                .namespaces([""; 0]),
        ),
    ]
}

/// Declarations like those above which are sound.
fn sound() -> Vec<(&'static str, Declaration)> {
    let system = System::new("dns");
    let labelled = || InformerEventSource::<ConfigMap>::new().label_selector("part=pages");
    vec![
        (
            "a workflow and one that the reconciler calls",
            with((Map("a").node(),)).event_sources_of(workflow().nodes((Map("b").node(),))),
        ),
        ("an object without a namespace, which the operator deletes by itself", with((role,))),
        ("an object without a namespace that the operator deletes", with((node(role).without_owner(),))),
        (
            "an event source by its name",
            with((Map("a").node().event_source("shared"),))
                .watches(InformerEventSource::<ConfigMap>::new().name("shared")),
        ),
        (
            "an event source of another node",
            with((
                Map("a").node().informer(InformerEventSource::new().name("shared")),
                Map("b").node().event_source("shared"),
            )),
        ),
        ("what another system is asked for, and nobody reads", pods().watches(records("records"))),
        ("the same for pods", pods().watches(records_of_pods())),
        (
            "all events and a standalone dependent",
            pods().trigger_on_all_events(true).dependent(&Map("a").node().standalone()),
        ),
        ("records", with((dns(),))),
        ("records whose ids are kept in an object", with((forgetful_dns().id_in_secret(),))),
        ("records whose ids are kept in a map", with((forgetful_dns().id_in_config_map(),))),
        ("two nodes of one type of records", with((dns(), dns().named("other")))),
        (
            "several records in one system with others",
            with((dns().system(&system), several_dns().id_in_config_map().system(&system).named("several"))),
        ),
        ("one that is cleaned up", pods().dependent(&dns().standalone()).cleaner(true)),
        (
            "a bulk beside a single of one kind, and beside a standalone dependent",
            with((maps("pages"), Map("settings").node())).dependent(&Map("others").node().standalone()),
        ),
        (
            "a source with a selector beside a node's own",
            with((Map("a").node(),))
                .watches(InformerEventSource::<ConfigMap>::new().name("some").label_selector("app=web")),
        ),
        (
            "a source that shows all, in place of a node's own",
            with((Map("a").node(),)).watches(InformerEventSource::<ConfigMap>::new()),
        ),
        (
            "a source with a mapper that a node asks for",
            with((Map("a").node().event_source("mapped"),)).watches(
                InformerEventSource::<ConfigMap>::new().name("mapped").map_to_primary(|_| Vec::new()),
            ),
        ),
        (
            "a bulk with objects of its own",
            with((maps("pages").informer(labelled()), Map("settings").node())),
        ),
        ("a bulk beside one that reads what it makes", with((maps("pages"), read))),
        ("a read of all that is related by owner references", with((read_all,)).owns::<ConfigMap>()),
        (
            "a read of all that is related, by an informer of its own",
            with((node(read_all).informer(InformerEventSource::new()),)),
        ),
        (
            "a read of all that primaries refer to",
            with((read_all,)).refers_to::<ConfigMap>(|_: &Pod| Vec::new()),
        ),
        ("a read of all that a sibling makes", with((read_all, maps("pages")))),
        ("two of one type with data", with((Map("a").node(), Map("b").node()))),
    ]
}

#[test]
fn each_mistake_is_told_in_three_lines() {
    let mut all = String::new();
    for (name, controller) in wrong() {
        let told = told(controller);
        let lines: Vec<&str> = told.lines().collect();
        assert!(!lines.is_empty(), "{name}: nothing is told");
        for mistake in lines.chunks(3) {
            let [_, why, write] = mistake else { panic!("{name}: {mistake:?} are not three lines") };
            assert!(why.starts_with("  why   ") && write.starts_with("  write "), "{name}: {mistake:?}");
        }
        writeln!(all, "# {name}\n{told}\n").expect("a string takes everything");
    }
    insta::assert_snapshot!("mistakes", all);
}

#[test]
fn what_is_sound_is_told_from_what_is_not() {
    for (name, controller) in sound() {
        assert_eq!(told(controller), "", "{name}");
    }
}
