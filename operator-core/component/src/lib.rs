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
//! - [`generator`]: the objects of a bundle, from functions, manifests and templates.
//!
//! All but the last are pure: the result depends on the arguments alone, and `now` is one of them.
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

// The code of the macros names the crate, also in its own tests.
#[cfg(test)]
extern crate self as operator_component;

mod bundle;
mod component;
pub mod condition;
mod feature;
pub mod generator;
pub mod health;
#[cfg(test)]
mod properties;

pub use bundle::{
    Bundle, BundleState, BundleStatus, Count, HasBundle, Inventory, InventoryItem, Settings, bundle,
};
pub use component::{Answer, Component, Components, HasComponents, component};
pub use feature::{FeatureError, feature};

/// The files `*.yaml` and `*.yml` of a directory as a [`Generator`](generator::Generator) of the objects in them, in the order of
/// their paths: [`generator::Manifests`]. The directory is below that of the package, with all its folders; hidden files are left
/// out. The files are embedded when the operator is compiled.
///
/// ```
/// use operator_component::{generator::Manifests, manifests};
///
/// static SHOP: Manifests = manifests!("tests-data/manifests");
/// assert_eq!(format!("{SHOP:?}"), r#"["namespace.yaml", "rbac/reader.yml"]"#);
/// ```
///
/// A directory without files, or a file that isn't YAML, doesn't compile:
///
/// ```compile_fail
/// let manifests = operator_component::manifests!("tests-data/absent");
/// ```
///
/// A change of a file compiles the operator again; cargo doesn't notice an additional file. With
/// `println!("cargo::rerun-if-changed=manifests")` in `build.rs` it does.
pub use operator_component_macros::manifests;

/// As [`manifests!`], with files that are templates in the language of Jinja: [`generator::Templates`].
///
/// ```yaml
/// apiVersion: v1
/// kind: ConfigMap
/// metadata:
///   name: {{ name }}
///   namespace: {{ namespace }}
/// data:
///   host: {{ parameters.host | required("parameters need a `host`") | to_yaml }}
///   settings.yaml: |
///     {{ parameters.settings | to_yaml(4) }}
///   {% set other = lookup("v1", "ConfigMap", namespace, "other") %}
///   {% if other %}
///   colour: {{ other.data.colour }}
///   {% endif %}
/// ```
///
/// | variable or function | value |
/// |---|---|
/// | `namespace`, `name` | where, and under which name, the objects are deployed |
/// | `parameters` | the parameters of the context |
/// | `revision`, `digest` | those of the context |
/// | `lookup(api_version, kind, namespace, name)` | an object in the cluster; none if it is absent |
/// | `x \| to_yaml`, `x \| to_yaml(4)` | the value in YAML: a text is in quotes and in one line, lists and mappings need lines of their own, and all but the first begin with four spaces |
/// | `scope(a=1)` | a value whose fields `{% set x.a = 2 %}` changes, also in a loop; Jinja's own name for it is `namespace` |
/// | `x \| required(message)` | the value; an error if it is undefined, none or empty |
/// | `x \| b64`, `x \| b64decode`, `x \| sha256` | base64 and back; the SHA-256 digest in hexadecimal |
///
/// Those of [minijinja](https://docs.rs/minijinja) are there, too. A file whose name begins with `_` has parts for others to
/// `import` or `include`, and isn't rendered itself. Undefined variables are errors. So is printing none, a list or a
/// mapping: `to_yaml` writes them. A line with nothing but a block leaves no empty line.
///
/// ```
/// use operator_component::{generator::Templates, templates};
///
/// static ADDON: Templates = templates!("tests-data/templates");
/// ```
///
/// A file that isn't a template doesn't compile. Whether the text is YAML with objects is known when it is rendered; an error has
/// the document and the line of the rendered text.
pub use operator_component_macros::templates;
