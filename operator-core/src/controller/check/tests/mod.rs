//! Each way in which a declaration can contradict itself, with the reported lines.

mod functions;
mod kinds;
mod options;
mod table;

use k8s_openapi::api::core::v1::ConfigMap;

use crate::controller::{Controller, ControllerBuilder, IntoController, pods_for_tests::Pods};

fn pods() -> ControllerBuilder<Pods> {
    Controller::builder(Pods).cleaner(false)
}

/// The report; empty if the declaration is sound.
fn told(controller: impl IntoController) -> String {
    controller.into_controller().err().map(|mistakes| mistakes.to_string()).unwrap_or_default()
}

#[test]
fn a_declaration_that_says_nothing_is_sound() {
    assert_eq!(told(pods()), "");
    assert_eq!(told(pods().owns::<ConfigMap>().cleaner(true).finalizer("pods.example.com/finalizer")), "");
}
