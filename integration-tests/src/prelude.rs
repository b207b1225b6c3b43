//! The imports of nearly all tests: the fixtures, and the common names of the crates that tests are written with.

pub use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

pub use anyhow::{Context as _, Result, bail, ensure};
pub use k8s_openapi::api::{
    apps::v1::Deployment,
    core::v1::{ConfigMap, Secret, Service},
};
pub use kube::{
    Api, Client, CustomResourceExt, Resource, ResourceExt,
    api::{DeleteParams, ListParams, Patch, PatchParams, PostParams},
};
pub use operator_core::{
    BoxError, Controller, ControllerBuilder, GenericRetry, InformerEventSource, ObjectKey, Operator,
    OperatorBuilder, Removal, UpdateControl, Workflow, node,
    testing::{
        TestCluster, TestOperator,
        faults::{Fault, Faults, Rule, StatusAnswer, Verb},
        operator_test,
    },
};
pub use parking_lot::Mutex;
pub use serde_json::{Value, json};
pub use tokio::time::Instant;

pub use crate::*;
