//! An operator framework for Kubernetes.

pub mod cache;
pub mod environment;
pub mod metrics;
pub mod observe;
pub mod resource;

pub use k8s_openapi;
pub use kube;
