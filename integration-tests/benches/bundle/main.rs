//! What a bundle costs beside ordinary nodes: `cargo bench -p integration-tests --bench bundle`, a minute.
//!
//! One process and one thread, with the API server in it, whose part is in all numbers. Prints the CPU time of a first run and of a run
//! that changes nothing, and the bytes that are held then: of one bundle, and of eight nodes with a list of the same objects each; and
//! of a bundle of 500 objects against one of 100. Only the ratios mean something.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]

#[path = "../costs/mod.rs"]
mod costs;

use std::collections::BTreeMap;

use allocation_counter::measure;
use anyhow::Result;
use costs::{least, measured, print};
use k8s_openapi::api::{
    coordination::v1::Lease,
    core::v1::{ConfigMap, LimitRange, Secret, ServiceAccount},
    networking::v1::NetworkPolicy,
    rbac::v1::{Role, RoleBinding, RoleRef},
};
use kube::{CustomResource, Resource};
use operator_component::{BundleStatus, HasBundle, bundle, generator::RenderContext};
use operator_core::{BoxError, Controller, Objects, Run, Workflow, node, workflow::WorkflowBuilder};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A primary with objects of eight kinds.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
#[kube(group = "bench.example.com", version = "v1", kind = "Pile", namespaced, status = "PileStatus")]
struct PileSpec {
    count: usize,
}

#[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
struct PileStatus {
    #[serde(flatten)]
    bundle: BundleStatus,
}

impl HasBundle for PileStatus {
    fn bundle(&self) -> &BundleStatus {
        &self.bundle
    }
}

const KINDS: usize = 8;

/// As many objects of one kind as the primary says; all are made by `fill`.
fn all<K: Resource + Default>(pile: &Pile, fill: fn(usize) -> K) -> Vec<K> {
    let make = |number| {
        let mut made = fill(number);
        made.meta_mut().name = Some(format!("pile-{number}"));
        made
    };
    (0..pile.spec.count / KINDS).map(make).collect()
}

fn text(number: usize) -> BTreeMap<String, String> {
    [("number".to_owned(), number.to_string()), ("text".to_owned(), "x".repeat(400))].into()
}

fn maps(pile: &Pile) -> Vec<ConfigMap> {
    all(pile, |number| ConfigMap { data: Some(text(number)), ..ConfigMap::default() })
}

fn secrets(pile: &Pile) -> Vec<Secret> {
    all(pile, |number| Secret { string_data: Some(text(number)), ..Secret::default() })
}

fn accounts(pile: &Pile) -> Vec<ServiceAccount> {
    all(pile, |_| ServiceAccount::default())
}

fn roles(pile: &Pile) -> Vec<Role> {
    all(pile, |_| Role::default())
}

fn bindings(pile: &Pile) -> Vec<RoleBinding> {
    all(pile, |number| {
        let name = format!("pile-{number}");
        let role_ref =
            RoleRef { api_group: Some("rbac.authorization.k8s.io".into()), kind: "Role".into(), name };
        RoleBinding { role_ref, ..RoleBinding::default() }
    })
}

fn limits(pile: &Pile) -> Vec<LimitRange> {
    all(pile, |_| LimitRange::default())
}

fn policies(pile: &Pile) -> Vec<NetworkPolicy> {
    all(pile, |_| NetworkPolicy::default())
}

fn leases(pile: &Pile) -> Vec<Lease> {
    all(pile, |_| Lease::default())
}

fn of_lists() -> WorkflowBuilder<Pile> {
    Workflow::builder().nodes((
        node(maps),
        node(secrets),
        node(accounts),
        node(roles),
        node(bindings),
        node(limits),
        node(policies),
        node(leases),
    ))
}

fn objects(pile: &Pile) -> Objects {
    let mut objects = Objects::new();
    objects.extend(maps(pile));
    objects.extend(secrets(pile));
    objects.extend(accounts(pile));
    objects.extend(roles(pile));
    objects.extend(bindings(pile));
    objects.extend(limits(pile));
    objects.extend(policies(pile));
    objects.extend(leases(pile));
    objects
}

fn pile() -> operator_component::Bundle<Pile> {
    let generate = |cx: &RenderContext<'_, Pile>| -> Result<Objects, BoxError> { Ok(objects(cx.primary())) };
    bundle("pile", generate)
}

fn of_a_bundle() -> WorkflowBuilder<Pile> {
    Workflow::builder().nodes((pile(),))
}

fn of_the_bundle(primary: &Pile, run: &Run<Pile>) -> PileStatus {
    PileStatus { bundle: pile().of(primary, run) }
}

fn without(primary: &Pile, run: &Run<Pile>) -> PileStatus {
    PileStatus { bundle: BundleStatus { conditions: run.conditions(primary), ..BundleStatus::default() } }
}

fn main() -> Result<()> {
    let many = Pile::new("one", PileSpec { count: 496 });
    let few = Pile::new("one", PileSpec { count: 96 });
    let of_bundle = || Controller::of::<Pile>().workflow(of_a_bundle()).status(of_the_bundle);
    let [lists, whole, small] = least([
        &|| measured(&many, Controller::of::<Pile>().workflow(of_lists()).status(without)),
        &|| measured(&many, of_bundle()),
        &|| measured(&few, of_bundle()),
    ])?;
    print("a bundle of 496 objects against eight lists", &whole, &lists, [f64::INFINITY, 1.3]);
    let mut kept = None;
    let size = measure(|| kept = Some(objects(&many))).bytes_current;
    let more = whole.held - lists.held;
    println!("it holds {more} bytes more; the objects that it keeps have {size}, and 65536 may be added");
    print("a bundle of 496 objects against one of 96", &whole, &small, [6.0, 6.0]);
    Ok(())
}
