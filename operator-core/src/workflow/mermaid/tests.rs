//! Golden pictures.

use super::*;
use crate::results::Operation;

fn page() -> Graph {
    let none: &[&str] = &[];
    Graph::new([("config", none), ("deployment", &["config"]), ("service", &["config", "deployment"])])
        .unwrap()
}

#[test]
fn a_graph_without_labels() {
    let expected = "\
flowchart TD
    n0[\"config\"]
    n1[\"deployment\"]
    n2[\"service\"]
    n0 --> n1
    n0 --> n2
    n1 --> n2
";
    assert_eq!(flowchart(&page(), &BTreeMap::new(), &[]), expected);
}

#[test]
fn what_requires_another_one_has_a_thick_arrow() {
    let graph = Graph::of_words([("config", vec![]), ("web", vec![("config", Word::Requires)])]).unwrap();
    let chart = flowchart(&graph, &BTreeMap::new(), &[]);
    assert_eq!(chart.lines().last(), Some("    n0 ==> n1"));
}

#[test]
fn a_graph_with_a_result() {
    let page = page();
    let label = |state: &str, class| Label { state: state.to_owned(), class: Some(class) };
    let labels = page.nodes().zip([
        label("matched", Class::Ready),
        label("waiting: 1/3 replicas ready\nsince 12:00", Class::Waiting),
    ]);
    let expected = "\
flowchart TD
    n0[\"config<br/>matched\"]:::ready
    n1[\"deployment<br/>waiting: 1/3 replicas ready<br/>since 12:00\"]:::waiting
    n2[\"service\"]
    n0 --> n1
    n0 --> n2
    n1 --> n2
    classDef ready fill:#d3f9d8,stroke:#2b8a3e,color:#000
    classDef waiting fill:#fff3bf,stroke:#e67700,color:#000
";
    assert_eq!(flowchart(&page, &labels.collect(), &[]), expected);
}

#[test]
fn no_name_and_no_state_gets_out_of_its_quotes() {
    let graph = Graph::new([("end\"] --> `x`", [""; 0])]).unwrap();
    let state = "failed: <b>#1</b> & \"quoted\"\r\ttext".to_owned();
    let labels = graph.nodes().map(|node| (node, Label { state: state.clone(), class: Some(Class::Failed) }));
    let chart = flowchart(&graph, &labels.collect(), &[]);
    let expected = "    n0[\"end#quot;] --#gt; #96;x#96;<br/>failed: #lt;b#gt;#35;1#lt;/b#gt; #amp; \
                    #quot;quoted#quot;  text\"]:::failed";
    assert_eq!(chart.lines().nth(1), Some(expected));
}

#[test]
fn every_fate_has_a_colour() {
    let reason = String::new;
    // A node that is only blocked isn't at fault itself.
    assert_eq!(Class::from(&NodeState::Blocked { by: "config".into(), reason: reason() }), Class::Waiting);
    assert_eq!(Class::from(&NodeState::Failed { error: reason() }), Class::Failed);
    assert_eq!(Class::from(&NodeState::Inactive { reason: reason() }), Class::Absent);
    assert_eq!(Class::from(&NodeState::Ready(Operation::Matched)), Class::Ready);
    for (position, (class, ..)) in Class::ALL.into_iter().enumerate() {
        assert_eq!(class as usize, position, "it is found by its number");
    }
}
