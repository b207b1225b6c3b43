//! The dependencies of the library without its default features.

use std::{collections::BTreeSet, process::Command};

use crate::sources;

fn tree(features: &[&str]) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .current_dir(sources::root())
        .args(["tree", "--package", "operator-core", "--edges", "normal,features", "--prefix", "none"])
        .args(["--offline", "--quiet"])
        .args(features)
        .output()
        .expect("cargo can be run");
    let text = String::from_utf8_lossy(&tree.stdout);
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

fn serves(tree: &BTreeSet<String>) -> Vec<&str> {
    let is_served = |line: &&String| {
        line.starts_with("axum ")
            || line.starts_with("metrics-exporter-prometheus ")
            || line.starts_with("hyper feature \"server\"")
    };
    tree.iter().filter(is_served).map(String::as_str).collect()
}

#[test]
fn an_operator_without_the_feature_http_has_no_http_server_and_no_exporter() {
    let without = tree(&["--no-default-features"]);
    assert!(without.iter().any(|line| line.starts_with("hyper feature \"client\"")), "{without:#?}");
    assert_eq!(serves(&without), [""; 0]);
    let with = tree(&[]);
    for part in ["axum ", "metrics-exporter-prometheus ", "hyper feature \"server\""] {
        assert!(serves(&with).iter().any(|line| line.starts_with(part)), "{part}: {with:#?}");
    }
}
