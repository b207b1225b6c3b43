//! Components of [`operator_core`]: many resources of one feature, one condition.
//!
//! ```text
//!  object, operation, now ──▶ health ──▶ Row { reason, message }  ┐
//!  gate, start, suspension ─▶ Stage                               ├─▶ condition ─▶ one Row, convergingSince, again_in
//!  stored condition, convergingSince ─▶ Before                    ┘                 └─▶ Ready of all components
//! ```
//!
//! - [`health`]: the state of one object, and how its kind is suspended.
//! - [`condition`]: the condition of a component, made of the states of its objects.
//! - [`feature`]: a version of the primary as a condition for a node or a component.
//!
//! All of these are pure: the result depends on the arguments alone, and `now` is one of them.
//!
//! A component itself, made by [`component()`], is a group of nodes with the rules of a feature; [`Components`] makes its condition in the
//! status function:
//!
//! ```
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::CustomResource;
//! use operator_component::{Component, Components, HasComponents, component};
//! use operator_core::prelude::*;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(CustomResource, Serialize, Deserialize, JsonSchema, Clone, Debug)]
//! #[kube(group = "example.com", version = "v1", kind = "Shop", namespaced, status = "ShopStatus")]
//! struct ShopSpec {
//!     suspended: bool,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema, Clone, Debug, Default)]
//! struct ShopStatus {
//!     #[serde(flatten)]
//!     components: Components,
//! }
//!
//! impl HasComponents for ShopStatus {
//!     fn components(&self) -> &Components {
//!         &self.components
//!     }
//! }
//!
//! fn config(_: &Shop) -> ConfigMap {
//!     ConfigMap::default()
//! }
//!
//! fn web() -> Component<Shop> {
//!     component("web", (config,)).suspended_if(|shop: &Shop| shop.spec.suspended)
//! }
//!
//! fn status(shop: &Shop, run: &Run<Shop>) -> ShopStatus {
//!     ShopStatus { components: Components::of(shop, run) }
//! }
//!
//! let controller = Controller::of::<Shop>().workflow((web(),)).status(status);
//! ```

mod component;
pub mod condition;
mod feature;
pub mod health;

pub use component::{Answer, Component, Components, HasComponents, component};
pub use feature::{FeatureError, feature};
