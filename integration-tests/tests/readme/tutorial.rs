//! The chapter "A tutorial of ten minutes": its operator is built, its tests run, and its role has the rights that the operator needs.

use std::fs;

use anyhow::{Context as _, Result, ensure};
use operator_core::resource::Access;
use serde_json::Value;

use crate::{block, repository};

#[allow(dead_code, clippy::all, clippy::pedantic, clippy::restriction, clippy::nursery)]
mod greeter {
    include!("programs/tutorial.rs");
    include!("programs/tutorial_tests.rs");

    pub(super) fn access() -> Result<Vec<operator_core::resource::Access>> {
        use operator_core::controller::IntoController as _;

        Ok(greetings().into_controller()?.access())
    }
}

fn page() -> Result<String> {
    Ok(fs::read_to_string(repository().join("docs/src/tutorial.md"))?)
}

fn manifests() -> Result<String> {
    Ok(fs::read_to_string(repository().join("integration-tests/deploy/operator.yaml"))?)
}

#[test]
fn the_page_has_what_is_built_and_applied() -> Result<()> {
    let page = page()?;
    for (heading, language, used) in [
        ("## 2. The operator", "rust", include_str!("programs/tutorial.rs")),
        ("## 4. The first tests", "rust", include_str!("programs/tutorial_tests.rs")),
        ("## 5. The definition and the rights", "yaml", &*manifests()?),
    ] {
        ensure!(block(&page, heading, language)? == used, "{heading}: the page has another one");
    }
    ensure!(page.matches("```rust").count() == 2, "a block of Rust is not built");
    Ok(())
}

/// Whether a rule of the role grants all of it.
fn grants(rule: &Value, access: &Access) -> bool {
    let has = |list: &str, wanted: &str| {
        rule[list].as_array().is_some_and(|names| names.iter().any(|name| *name == wanted))
    };
    let plural = access.resource_type.plural();
    let resource =
        access.subresource.map_or(plural.to_owned(), |subresource| format!("{plural}/{subresource}"));
    let verbs = access.verbs.iter().all(|verb| has("verbs", verb));
    has("apiGroups", access.resource_type.group()) && has("resources", &resource) && verbs
}

#[test]
fn the_role_grants_what_the_controller_needs() -> Result<()> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(&manifests()?)?;
    let role =
        documents.iter().find(|document| document["kind"] == "ClusterRole").context("there is a role")?;
    let rules = role["rules"].as_array().context("the role has rules")?;
    let access = greeter::access().map_err(anyhow::Error::from_boxed)?;
    ensure!(!access.is_empty(), "a controller needs rights");
    let missing: Vec<_> =
        access.iter().filter(|access| !rules.iter().any(|rule| grants(rule, access))).collect();
    ensure!(missing.is_empty(), "the role lacks {missing:?}");
    Ok(())
}
