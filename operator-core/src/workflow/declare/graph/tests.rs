//! Graphs by hand.

use super::*;
use crate::workflow::Mistake;

fn graph(declarations: &[(&str, &[&str])]) -> Result<Graph, BuildError> {
    Graph::new(declarations.iter().map(|(name, dependencies)| (*name, dependencies.iter())))
}

fn mistakes(declarations: &[(&str, &[&str])]) -> Vec<Mistake> {
    let BuildError(mistakes) = graph(declarations).unwrap_err();
    mistakes
}

fn messages(declarations: &[(&str, &[&str])]) -> Vec<String> {
    mistakes(declarations).iter().map(ToString::to_string).collect()
}

/// The web page of the samples, declared in another order than it is worked off in.
fn page() -> Graph {
    graph(&[
        ("ingress", &["service"]),
        ("service", &["deployment", "config", "deployment"]),
        ("deployment", &["config"]),
        ("config", &[]),
        ("route", &["service"]),
    ])
    .unwrap()
}

fn names(graph: &Graph, nodes: impl IntoIterator<Item = NodeId>) -> Vec<&str> {
    nodes.into_iter().map(|node| graph.name(node)).collect()
}

#[test]
fn neighbours_are_told_in_the_order_of_the_declarations() {
    let page = page();
    let service = page.node("service").unwrap();
    assert_eq!(names(&page, page.nodes()), ["ingress", "service", "deployment", "config", "route"]);
    assert_eq!(names(&page, page.dependencies_of(service)), ["deployment", "config"]);
    assert_eq!(names(&page, page.dependents_of(service)), ["ingress", "route"]);
    let config = page.node("config").unwrap();
    assert_eq!(names(&page, page.dependents_of(config)), ["service", "deployment"]);
    let all = ["ingress", "service", "deployment", "route"];
    assert_eq!(names(&page, page.transitive_dependents_of(config)), all);
    assert_eq!(page.node("nobody"), None);
}

#[test]
fn the_depth_is_the_longest_way() {
    let page = page();
    assert_eq!(page.depth(), 3);
    let depths: Vec<usize> = page.nodes().map(|node| page.depth_of(node)).collect();
    assert_eq!(depths, [3, 2, 1, 0, 3]);
    assert_eq!(names(&page, page.in_order()), ["config", "deployment", "service", "ingress", "route"]);
}

#[test]
fn no_declarations_are_a_graph() {
    let empty = graph(&[]).unwrap();
    assert!(empty.is_empty());
    assert_eq!((empty.len(), empty.depth()), (0, 0));
}

#[test]
fn all_mistakes_are_told_at_once() {
    let wrong: &[(&str, &[&str])] = &[
        ("config", &["config"]),
        ("", &["nothing"]),
        ("deployment", &["confg", "volume"]),
        ("config", &[]),
        ("a", &["b", "d"]),
        ("b", &["c"]),
        ("c", &["a"]),
        ("d", &["c"]),
        ("x", &["y"]),
        ("y", &["x"]),
        ("", &[""]),
    ];
    let expected = [
        "`config` is declared 2 times; give each node a name of its own",
        "node #2 has an empty name",
        "node #11 has an empty name",
        "`config` depends on itself",
        "`#2` depends on `nothing`, which is not declared",
        "`deployment` depends on `confg`, which is not declared; did you mean `config`?",
        "`deployment` depends on `volume`, which is not declared",
        "`#11` depends on ``, which is not declared",
        "there is a cycle of dependencies: a -> b -> c -> a",
        "there is a cycle of dependencies: x -> y -> x",
    ];
    assert_eq!(messages(wrong), expected);
    let all = graph(wrong).unwrap_err().to_string();
    assert!(all.starts_with("the workflow can't be built: `config` is declared 2 times; "), "{all}");
}

#[test]
fn a_cycle_is_spelled_out_in_the_direction_of_the_dependencies() {
    let cycle = mistakes(&[("c", &["b"]), ("b", &["a"]), ("a", &["c", "top"]), ("top", &[])]);
    let path = ["c", "b", "a", "c"].map(str::to_owned).to_vec();
    assert_eq!(cycle, [Mistake::Cycle { path }]);
}

#[test]
fn of_several_ways_around_the_shortest_is_told() {
    let told = messages(&[("a", &["b", "z"]), ("b", &["c"]), ("c", &["a"]), ("z", &["a"])]);
    assert_eq!(told, ["there is a cycle of dependencies: a -> z -> a"]);
}

#[test]
fn a_name_that_is_quite_another_is_no_hint() {
    let told = messages(&[("db", &[]), ("web", &["qq"]), ("x", &["bd"])]);
    assert_eq!(
        told,
        [
            "`web` depends on `qq`, which is not declared",
            "`x` depends on `bd`, which is not declared; did you mean `db`?",
        ]
    );
}

#[test]
fn the_second_of_two_nodes_with_one_name_is_no_part_of_a_cycle() {
    let told = messages(&[("a", &[]), ("b", &["a"]), ("a", &["b"])]);
    assert_eq!(told, ["`a` is declared 2 times; give each node a name of its own"]);
}

#[test]
fn a_chain_may_be_as_long_as_it_likes() {
    let name = |position: usize| format!("node-{position}");
    let chain = (0..100_000).map(|at| (name(at), at.checked_sub(1).map(name)));
    let chain = Graph::new(chain).unwrap();
    assert_eq!(chain.depth(), 99_999);
    let first = chain.nodes().next().unwrap();
    assert_eq!(chain.transitive_dependents_of(first).len(), 99_999);
}
