//! Paths of a derived workflow that lead nowhere: the compiler doesn't look for them where a macro has found mistakes.
#![allow(dead_code, unused_imports)]

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use operator_core::{ControllerConfiguration, prelude::*};

mod children {
    use super::*;
    pub fn html(_: &Pod) -> ConfigMap {
        todo!()
    }
}

#[derive(ControllerConfiguration)]
#[controller(primary = Pod)]
#[workflow(
    children::htlm, //~ cannot find value `htlm` in module `children`
    explicit(after(children::htlm)), //~ cannot find value `explicit` in this scope //~ cannot find value `htlm` in module `children`
    records = Ledger::new(), //~ cannot find type `Ledger` in this scope
)]
struct Pods;

fn main() {}
