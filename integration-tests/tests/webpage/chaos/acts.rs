//! The possible actions of a client, and their choice.

use std::fmt;

use fastrand::Rng;
use integration_tests::prelude::*;

use super::{PAGES, kinds::Child};

/// The names of all acts, and of those that concern only dependents.
pub(super) const ACTS: [&str; 10] =
    ["create", "edit", "expose", "hide", "break", "delete", "replace", "drift", "take away", "label"];
pub(super) const ACTS_ON_DEPENDENTS: [&str; 3] = ["strip", "move the port", "add a sidecar"];

/// How the garbage collector treats the children.
#[derive(Clone, Copy, Debug)]
pub(super) enum Deletion {
    Background,
    Foreground,
}

/// An act of a client. Whether it happens depends on the objects that exist then.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Create {
        page: String,
        html: String,
        exposed: bool,
    },
    Edit {
        page: String,
        html: String,
    },
    Expose {
        page: String,
        exposed: bool,
    },
    Break {
        page: String,
        html: String,
    },
    Delete {
        page: String,
        deletion: Deletion,
    },
    /// A deletion, and a creation under the same name.
    Replace {
        page: String,
        html: String,
        deletion: Deletion,
    },
    /// A value of a child that the operator applies is changed.
    Drift {
        page: String,
        child: Child,
        change: Change,
    },
    /// A child is deleted.
    TakeAway {
        page: String,
        child: Child,
    },
    /// The signs of a child's owner are removed in part.
    Strip {
        page: String,
        child: Child,
        what: Stripped,
    },
    /// The port of a Service, by which the server identifies it, is changed.
    MovePort {
        page: String,
        port: u16,
    },
    /// A container is added to a Deployment, which must stay.
    AddSidecar {
        page: String,
    },
    /// A child gets a label that is not the operator's.
    Label {
        page: String,
        child: Child,
        key: String,
        value: String,
    },
}

/// What is removed. An object without both owner and labels has no owner, so of one object it is always the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stripped {
    Owner,
    Labels,
    Mark,
}

impl Stripped {
    pub(super) fn patch(self, uid: &str) -> Patch<Value> {
        let key = |name: &str| format!("operator-core.io/{name}");
        let mut metadata = match self {
            Self::Owner => json!({ "ownerReferences": null }),
            Self::Labels => {
                json!({ "labels": { key("controller"): null, key("node"): null, key("owner"): null } })
            }
            Self::Mark => json!({ "annotations": { key("mark"): null } }),
        };
        // Refused where it is another object by now.
        metadata["uid"] = json!(uid);
        Patch::Merge(json!({ "metadata": metadata }))
    }
}

/// A change of a child.
#[derive(Clone, Debug)]
pub(super) enum Change {
    Merge(Value),
    /// One value, by its place.
    Value(&'static str, Value),
}

impl Change {
    pub(super) fn patch(&self) -> Patch<Value> {
        match self {
            Self::Merge(patch) => Patch::Merge(patch.clone()),
            Self::Value(path, value) => {
                let patch = json!([{ "op": "replace", "path": path, "value": value }]);
                // Each list of well-formed operations is one.
                Patch::Json(serde_json::from_value(patch).unwrap_or_default())
            }
        }
    }
}

/// The name of a page.
pub(super) fn page(number: usize) -> String {
    format!("page-{number}")
}

impl Act {
    /// Creates a page that doesn't exist.
    pub(super) fn create(rng: &mut Rng, page: String) -> Self {
        Self::Create { page, html: html(rng), exposed: rng.bool() }
    }

    /// An act of client `number`.
    pub(super) fn draw(rng: &mut Rng, number: usize, on_dependents: bool) -> Self {
        let page = page(rng.usize(..PAGES));
        let child = Child::ALL[rng.usize(..Child::ALL.len())];
        if on_dependents && rng.usize(..100) < 12 {
            return match rng.usize(..4) {
                0 => Self::MovePort { page, port: rng.u16(81..9000) },
                1 => Self::AddSidecar { page },
                _ => {
                    let what = [Stripped::Owner, Stripped::Labels, Stripped::Mark][rng.usize(..3)];
                    Self::Strip { page, child, what }
                }
            };
        }
        match rng.usize(..100) {
            0..18 => Self::create(rng, page),
            18..33 => Self::Edit { page, html: html(rng) },
            33..43 => Self::Expose { page, exposed: rng.bool() },
            43..49 => Self::Break { page, html: format!("<p>an error, {}</p>", rng.u32(..)) },
            49..58 => Self::Delete { page, deletion: deletion(rng) },
            58..66 => Self::Replace { page, html: html(rng), deletion: deletion(rng) },
            66..82 => Self::Drift { page, child, change: drift(rng, child) },
            82..88 => Self::TakeAway { page, child },
            _ => {
                let (key, value) = (format!("client-{number}.example.com/note"), rng.u32(..).to_string());
                Self::Label { page, child, key, value }
            }
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Edit { .. } => "edit",
            Self::Expose { exposed: true, .. } => "expose",
            Self::Expose { exposed: false, .. } => "hide",
            Self::Break { .. } => "break",
            Self::Delete { .. } => "delete",
            Self::Replace { .. } => "replace",
            Self::Drift { .. } => "drift",
            Self::TakeAway { .. } => "take away",
            Self::Label { .. } => "label",
            Self::Strip { .. } => "strip",
            Self::MovePort { .. } => "move the port",
            Self::AddSidecar { .. } => "add a sidecar",
        }
    }

    /// The page that it is about.
    pub(super) fn page(&self) -> &str {
        match self {
            Self::Create { page, .. }
            | Self::Edit { page, .. }
            | Self::Expose { page, .. }
            | Self::Break { page, .. }
            | Self::Delete { page, .. }
            | Self::Replace { page, .. }
            | Self::Drift { page, .. }
            | Self::TakeAway { page, .. }
            | Self::Strip { page, .. }
            | Self::MovePort { page, .. }
            | Self::AddSidecar { page }
            | Self::Label { page, .. } => page,
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.page())?;
        match self {
            Self::Create { html, exposed, .. } => write!(f, " {html}, exposed: {exposed}"),
            Self::Edit { html, .. } | Self::Break { html, .. } => write!(f, " {html}"),
            Self::Expose { .. } | Self::AddSidecar { .. } => Ok(()),
            Self::Strip { child, what, .. } => write!(f, " {child:?}: {what:?}"),
            Self::MovePort { port, .. } => write!(f, " {port}"),
            Self::Delete { deletion, .. } => write!(f, " in the {deletion:?}"),
            Self::Replace { html, deletion, .. } => write!(f, " in the {deletion:?}, then {html}"),
            Self::Drift { child, change, .. } => write!(f, " {child:?}: {change:?}"),
            Self::TakeAway { child, .. } => write!(f, " {child:?}"),
            Self::Label { child, key, value, .. } => write!(f, " {child:?}: {key}={value}"),
        }
    }
}

fn html(rng: &mut Rng) -> String {
    format!("<p>{}</p>", rng.u32(..))
}

fn deletion(rng: &mut Rng) -> Deletion {
    if rng.bool() { Deletion::Background } else { Deletion::Foreground }
}

/// Another value for a field that the operator applies, and never for a key of a list's items.
fn drift(rng: &mut Rng, child: Child) -> Change {
    let value = format!("drifted-{}", rng.u32(..));
    let labels = json!({ "metadata": { "labels": { "app.kubernetes.io/instance": value } } });
    let template = |template: Value| Change::Merge(json!({ "spec": { "template": template } }));
    let mut changes = match child {
        Child::ConfigMap => vec![
            Change::Merge(json!({ "data": { "index.html": value } })),
            Change::Merge(json!({ "data": { "index.html": null } })),
        ],
        Child::Deployment => vec![
            Change::Merge(json!({ "spec": { "replicas": rng.u8(2..4) } })),
            Change::Value("/spec/template/spec/containers/0/image", json!(value)),
            Change::Value(
                "/spec/template/spec/containers/0/securityContext/allowPrivilegeEscalation",
                json!(true),
            ),
            template(json!({ "spec": { "securityContext": { "runAsNonRoot": false } } })),
            template(
                json!({ "metadata": { "annotations": { "sample.operator-core.io/html-hash": value } } }),
            ),
        ],
        Child::Service => vec![
            Change::Merge(json!({ "spec": { "selector": { "app.kubernetes.io/instance": value } } })),
            Change::Value("/spec/ports/0/targetPort", json!(8080)),
        ],
        Child::Ingress => vec![
            Change::Value("/spec/rules/0/http/paths/0/path", json!(format!("/{value}"))),
            Change::Value("/spec/rules/0/http/paths/0/backend/service/name", json!(value)),
        ],
    };
    changes.push(Change::Merge(labels));
    changes.swap_remove(rng.usize(..changes.len()))
}
