//! The mistakes of nodes that are functions, and of controllers without a reconciler.

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kube::core::DynamicObject;

use super::{Pods, pods, told};
use crate::{
    controller::Controller,
    dependent::{function::wanted::Mixed, set::objects::Objects},
    reconciler::{Context, Data},
    resource::MappingAnnotations,
    workflow::{
        Workflow,
        declare::{
            declared::{Node, node},
            wire::Wire as _,
        },
    },
};

fn html(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

fn web(_: &Pod) -> ConfigMap {
    ConfigMap::default()
}

fn maps(_: &Pod) -> Vec<ConfigMap> {
    Vec::new()
}

fn others(_: &Pod) -> Vec<ConfigMap> {
    Vec::new()
}

fn keys(_: &Pod) -> Option<Secret> {
    None
}

struct Quota;
struct Plan;

fn granted(_: &Pod, _: Data<Quota>, _: Option<Data<Plan>>) -> Option<ConfigMap> {
    None
}

fn planned(_: &ConfigMap, _: Data<Plan>) -> bool {
    true
}

#[test]
fn data_that_a_node_or_its_condition_takes_has_to_be_put_by_the_reconciler() {
    let nodes = || (granted.ready(planned), keys);
    assert_eq!(told(pods().workflow(nodes()).puts::<Quota>().puts::<Plan>()), "");
    assert_eq!(
        told(
            Controller::of_existing::<Pod>()
                .reconciler(Pods)
                .cleaner(false)
                .workflow(nodes())
                .puts::<Quota>()
                .puts::<Plan>()
        ),
        ""
    );
    let expected = "controller `pods`: node `granted` takes a `Data<Plan>`, which nothing puts into the run\n  \
                    why   it would fail in each run\n  \
                    write `.puts::<Plan>()` on the controller (`puts(Plan)` in an attribute), whose reconciler calls `cx.put(…)`; or \
                    `Option<Data<Plan>>` in the function\n";
    assert_eq!(told(pods().workflow(nodes()).puts::<Quota>()).trim_end(), expected.trim_end());
    let alone = told(Controller::of_existing::<Pod>().workflow((granted,)));
    assert!(alone.contains("node `granted` takes a `Data<Quota>`"), "{alone}");
    assert!(
        alone.contains("write `Option<Data<Quota>>` in the function, or a reconciler that puts a `Quota`"),
        "{alone}"
    );
}

#[test]
fn data_that_nothing_puts_is_told_beside_what_else_is_wrong_with_the_workflow() {
    let told = told(pods().workflow((granted.ready(planned).after(html), keys)));
    for mistake in ["comes after", "takes a `Data<Quota>`", "takes a `Data<Plan>`"] {
        assert_eq!(told.matches(mistake).count(), 1, "{mistake}: {told}");
    }
}

#[test]
fn nodes_add_up_and_a_node_of_one_tuple_may_come_after_one_of_another() {
    let controller =
        Controller::of_existing::<Pod>().workflow((web.after(html), maps)).workflow((html, others));
    let controller = controller.build().expect("nothing is wrong");
    assert_eq!(controller.name(), "pod");
    let [outline] = controller.outlines() else { panic!("there is one workflow") };
    assert_eq!(outline.graph().len(), 4);
    assert_eq!(told(pods().workflow((html, keys))), "");
}

#[test]
fn what_is_wrong_with_nodes_is_told_with_all_else_and_says_what_to_write() {
    const HERE: &str = "operator_core::controller::check::tests::functions";
    let wrong = pods().name("PODS").workflow((web.after(html), keys.after(maps), keys)).workflow((
        maps.after(others),
        others.after(maps),
        (|_: &Pod| ConfigMap::default()).after(maps),
    ));
    let told = told(wrong);
    let lines: Vec<&str> = told.lines().filter(|line| !line.starts_with("  why")).collect();
    let expected = [
        format!("controller `PODS`: `{HERE}::keys` is two nodes of the workflow"),
        "  write it once; or `.named(\"…\")` on each, or a function of its own for each node".to_owned(),
        format!(
            "controller `PODS`: `{HERE}::what_is_wrong_with_nodes_is_told_with_all_else_and_says_what_to_write::{{{{closure}}}}` has no name"
        ),
        "  write `.named(\"…\")` on it, or a function with a name".to_owned(),
        format!("controller `PODS`: `{HERE}::web` comes after `{HERE}::html`"),
        "  write it as a node of its own, or another one in `.after(…)`".to_owned(),
        "controller `PODS`: nodes depend on each other in a cycle: maps -> others -> maps".to_owned(),
        "  write one `.after(…)` fewer, for example the one of `maps`".to_owned(),
    ];
    assert_eq!(lines[..8], expected, "{told}");
    assert_eq!(lines[8], "controller `PODS`: its name can't be used", "{told}");
}

#[test]
fn a_controller_without_a_reconciler_needs_a_workflow_that_runs_by_itself() {
    let nothing = told(Controller::of_existing::<Pod>());
    assert!(nothing.starts_with("controller `pod`: it has neither a workflow nor a reconciler"), "{nothing}");
    let explicit = Workflow::<Pod>::builder().nodes((html,)).explicit_invocation();
    let explicit = told(Controller::of_existing::<Pod>().workflow(explicit));
    assert!(explicit.contains("its workflow is invoked explicitly"), "{explicit}");
    let built = Workflow::<Pod>::builder().nodes((html,));
    let twice = told(pods().workflow((web,)).workflow(built));
    assert!(twice.starts_with("controller `pods`: it has two workflows"), "{twice}");
}

/// A word that is about one kind has no effect on objects of several kinds, so it is refused.
#[test]
fn words_about_one_kind_are_refused_where_objects_are_of_several() {
    fn addon(_: &Pod) -> Objects {
        Objects::new()
    }

    fn same(_: &DynamicObject, _: &DynamicObject, _: &Pod, _: &Context<Pod>) -> bool {
        true
    }

    let of = |node: Node<Pod, Mixed>| told(Controller::of_existing::<Pod>().workflow((node,)));
    assert_eq!(of(node(addon)), "");
    for (node, what) in [
        (node(addon).when_served(), "and `when_served`"),
        (node(addon).event_source("maps"), "and an event source of its own"),
        (node(addon).matches(same), "and compares them itself"),
        (node(addon).mapping_annotations(MappingAnnotations::default()), "and mapping annotations"),
    ] {
        let told = of(node);
        let expected = format!("node `addon` has objects of several kinds, {what}\n");
        assert!(told.contains(&expected), "{told}");
    }
}
