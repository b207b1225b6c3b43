//! What can be wrong with groups.

use super::*;
use crate::workflow::{Group, group};

fn children() -> Group<Pod> {
    group("children", (html, web.after(html)))
}

#[test]
fn groups_that_contradict_themselves_are_told_at_once() {
    let twice = workflow().nodes((children(), group("children", (service,)).claiming("the condition Ready")));
    let twice = twice.nodes((group("other", (secret,)).claiming("the condition Ready"),));
    assert_eq!(
        mistakes(twice),
        [
            "2 groups are called `children`; give each group a name of its own",
            "the condition Ready is claimed by several groups: children and other",
        ]
    );
    let itself = workflow().nodes((
        group("outer", (children().after(&group("outer", (service,))), service.after(&children()))),
        group("alone", (secret.after(&group("alone", (secret,))),)),
        group("third", (pods, held)).after(pods),
    ));
    let told = mistakes(itself);
    let itself = |one: &str, other: &str| {
        format!("{one} comes after {other}, of which one is part of the other; leave that out")
    };
    let path = |node: &str| format!("`operator_core::workflow::declare::tests::{node}`");
    for expected in [
        itself("`group children`", "`group outer`"),
        itself(&path("secret"), "`group alone`"),
        itself("`group third`", &path("pods")),
    ] {
        assert!(told.contains(&expected), "{expected}: {told:#?}");
    }
    let strange = group("strange", (html,)).carrying_of(web, 1_u8).only_if_of(secret, |_: &Pod| true);
    assert_eq!(
        mistakes(workflow().nodes((strange,))),
        [
            format!("{} isn't in the group strange, which says something of it", path("web")),
            format!("{} isn't in the group strange, which says something of it", path("secret")),
        ]
    );
}

#[test]
fn a_node_in_two_groups_and_a_circle_through_groups_are_mistakes() {
    let two = workflow().nodes((children(), group("second", (html,))));
    assert_eq!(
        mistakes(two),
        ["`operator_core::workflow::declare::tests::html` is two nodes of this workflow"]
    );
    let circle = workflow().nodes((
        group("first", (html, service)).after(&group("second", (secret,))),
        group("second", (secret,)).starts_after(&group("first", (html,))),
    ));
    assert_eq!(mistakes(circle), ["there is a cycle of dependencies: html -> secret -> html"]);
    let unknown = workflow().nodes((html.after(&group("nowhere", (web,))),));
    assert_eq!(
        mistakes(unknown),
        [
            "`operator_core::workflow::declare::tests::html` comes after `group nowhere`, which isn't a node of this workflow"
        ]
    );
}
