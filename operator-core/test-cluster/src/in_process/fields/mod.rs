//! Ownership of fields, and the state of an object after a write: server-side apply, managed fields, defaults.
//!
//! Pure. The server around it knows paths, versions and deletion; this module knows the kinds' schemas.
//!
//! ```text
//!  body ─▶ read: canonical, pruned, defaults ─▶ managed fields ─▶ prepared for its endpoint ─▶ validated ─▶ to be stored
//!              │                                  │
//!      recorded (Kubernetes' own kinds)        typed: merge, compare, remove
//!      definition (custom kinds)               managed: who owns what
//! ```
//!
//! # Guarantees
//! - Objects, managed fields and conflicts are those of the kube-apiserver whose types are recorded; a fuzz test
//!   compares them.
//!
//! # Assumptions
//! - All versions of a custom kind that manage fields of one object have the same schema.
//! - Values of Kubernetes' own kinds are not validated here beyond their types; those of custom kinds are when it is asked
//!   what is [wrong](Schema::wrong) with them.

mod canonical;
mod defaults;
mod definition;
mod generation;
mod inconvertible;
mod last_applied;
mod managed;
mod prepare;
pub(super) mod protobuf;
mod quantity;
mod recorded;
mod same;
pub(super) mod scale;
mod schema;
mod set;
pub(super) mod strategic;
mod strict;
mod typed;

#[cfg(test)]
mod tests;

pub(super) use canonical::normal as whole;
pub(super) use definition::{
    Scale, check_default, field_path, is_known_format, is_valid_format, scale_integer, scale_names,
    scale_text, show_float,
};
pub(super) use quantity::{has_fraction, nanos, written};
pub(super) use same::is_same;
pub(super) use strict::{doubled, wrong_operations};

use std::{borrow::Cow, sync::Arc};

use jiff::Timestamp;
use kube::core::GroupVersionKind;
use serde_json::{Value, json};

pub(super) use self::defaults::quality;
use self::{
    canonical::{canonical, canonical_metadata},
    definition::Definition,
    inconvertible::{check_existing, check_live, check_patch, inconvertible, misfits},
    managed::{Context, Managers},
    recorded::{Go, RECORDED, at},
    schema::{TypeId, Types},
    set::Set,
};
use super::failure::Cause;

/// Why a write is refused; the server makes a `Status` of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// 409: others own what an apply would change. Manager (as the server names it) and field path of each conflict.
    Conflict(Vec<(String, String)>),
    /// 400.
    BadRequest(String),
    /// 500, as the API server answers to an apply that doesn't fit the kind's schema.
    Internal(String),
}

/// The endpoint that is written: each has fields that it doesn't change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Endpoint {
    /// The object itself.
    Main,
    /// Its status subresource.
    Status,
    /// Another subresource, which is treated like the object itself.
    Other(&'static str),
}

/// Everything known about one served version of a kind. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Schema(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: GroupVersionKind,
    origin: Origin,
}

#[derive(Debug)]
enum Origin {
    /// A kind of Kubernetes, with the name of its type.
    Builtin { go: Go, root: TypeId },
    /// A custom kind.
    Custom(Box<Definition>),
}

/// The circumstances of a write.
#[derive(Clone, Copy, Debug)]
pub(super) struct Write<'a> {
    /// The kind.
    pub(super) schema: &'a Schema,
    /// The endpoint.
    pub(super) endpoint: Endpoint,
    /// The field manager.
    pub(super) manager: &'a str,
    /// The time.
    pub(super) time: Timestamp,
}

impl Schema {
    /// A kind of Kubernetes itself; `None` for one whose types are not recorded.
    pub(super) fn builtin(kind: &GroupVersionKind) -> Option<Self> {
        let name = RECORDED.kind(&kind.api_version(), &kind.kind)?;
        let (go, root) = RECORDED.id(name)?;
        let origin = Origin::Builtin { go, root };
        Some(Self(Arc::new(Inner { kind: kind.clone(), origin })))
    }

    /// A custom kind, by the subresources and the `openAPIV3Schema` of its definition.
    pub(super) fn custom(kind: GroupVersionKind, subresources: &Value, schema: &Value) -> Self {
        let definition = Definition::new(subresources, schema);
        Self(Arc::new(Inner { kind, origin: Origin::Custom(Box::new(definition)) }))
    }

    /// What an object of a custom kind has that its definition doesn't allow, after the causes that were found in its
    /// metadata. The second list are warnings: what rules find wrong, and let be because it was so before.
    pub(super) fn wrong(
        &self,
        object: &Value,
        live: Option<&Value>,
        endpoint: Endpoint,
        causes: Vec<Cause>,
    ) -> (Vec<Cause>, Vec<String>) {
        match &self.0.origin {
            Origin::Custom(definition) => definition.validate(object, live, endpoint, causes),
            Origin::Builtin { .. } => (causes, Vec::new()),
        }
    }

    /// A body as the server reads it: in the form that Go gives it, unknown fields dropped, defaults filled in.
    pub(super) fn read(&self, object: Value) -> Result<Value, Refusal> {
        match &self.0.origin {
            Origin::Builtin { go, .. } => {
                let spec = object.get("spec").cloned();
                let mut object = canonical(go, object).map_err(|message| self.unreadable(&message))?;
                if let (true, Some(spec)) = (generation::knows_empty(&self.0.kind.kind), spec) {
                    let spec = canonical::in_memory(go, json!({ "spec": spec })).unwrap_or_default();
                    object["spec"] = at(&spec, "spec").clone();
                }
                defaults::fill(&self.0.kind.kind, &mut object);
                Ok(object)
            }
            Origin::Custom(definition) => {
                let mut object = self.with_read_metadata(object)?;
                definition.coerce(&mut object).map_err(|message| self.unreadable(&message))?;
                Ok(object)
            }
        }
    }

    /// A stored object of a built-in kind with its defaults; `None` for a custom kind, or if it can't be read.
    pub(super) fn filled(&self, object: &Value) -> Option<Value> {
        match &self.0.origin {
            Origin::Builtin { .. } => self.read(object.clone()).ok().map(|object| self.settled(object)),
            Origin::Custom(_) => None,
        }
    }

    /// A body of a custom kind without the fields that it doesn't have.
    pub(super) fn pruned(&self, mut object: Value) -> Value {
        if let Origin::Custom(definition) = &self.0.origin {
            definition.prune(&mut object);
        }
        object
    }

    /// An object of another version of this custom kind in the form of this one. It gets no defaults.
    pub(super) fn converted(&self, mut object: Value) -> Value {
        if let Origin::Custom(definition) = &self.0.origin {
            definition.convert(&mut object);
        }
        object
    }

    fn with_read_metadata(&self, mut object: Value) -> Result<Value, Refusal> {
        if let Some(metadata) = object.get_mut("metadata") {
            *metadata = canonical_metadata(metadata.take()).map_err(|message| self.unreadable(&message))?;
        }
        Ok(object)
    }

    fn unreadable(&self, message: &str) -> Refusal {
        let GroupVersionKind { version, kind, .. } = &self.0.kind;
        Refusal::BadRequest(format!("{kind} in version {version:?} cannot be handled as a {kind}: {message}"))
    }

    /// Whether a write from `old` to `new` increments `metadata.generation`.
    pub(super) fn changes_generation(&self, old: &Value, new: &Value) -> bool {
        generation::changes_generation(self, old, new)
    }

    /// Whether objects of the kind have a `metadata.generation`, which starts at 1.
    pub(super) fn starts_generation(&self) -> bool {
        generation::starts_generation(self)
    }

    /// A new object once it has its uid: some kinds select by it.
    pub(super) fn identified(&self, mut object: Value) -> Value {
        if let Origin::Builtin { .. } = self.0.origin {
            defaults::identified(&self.0.kind.kind, &mut object);
        }
        object
    }

    fn types(&self) -> (&Types, TypeId) {
        match &self.0.origin {
            Origin::Builtin { root, .. } => (&RECORDED.types, *root),
            Origin::Custom(definition) => (&definition.types, definition.root),
        }
    }

    /// The state of an object before it exists.
    fn empty(&self) -> Value {
        let mut empty = match &self.0.origin {
            Origin::Builtin { go, .. } => canonical(go, Value::Null).unwrap_or_default(),
            Origin::Custom(_) => json!({}),
        };
        empty["apiVersion"] = json!(self.0.kind.api_version());
        empty["kind"] = json!(self.0.kind.kind);
        empty
    }

    /// The part of an object that managed fields cover.
    fn visible<'o>(&self, object: &'o Value) -> Cow<'o, Value> {
        match &self.0.origin {
            Origin::Builtin { go, .. } if generation::knows_empty(&self.0.kind.kind) => {
                canonical(go, object.clone()).map_or(Cow::Borrowed(object), Cow::Owned)
            }
            _ => Cow::Borrowed(object),
        }
    }

    /// The object as it is read back after a write. Before that, it still has what only a comparison with the live one
    /// sees, such as the difference between 1.0 and 1: to a custom kind's generation they are not the same.
    pub(super) fn settled(&self, object: Value) -> Value {
        match &self.0.origin {
            Origin::Builtin { go, .. } => {
                let mut object = match self.visible(&object) {
                    Cow::Owned(visible) => visible,
                    Cow::Borrowed(_) => object,
                };
                canonical::stored(go, &mut object);
                defaults::stored(&self.0.kind.kind, &mut object);
                object
            }
            Origin::Custom(definition) => {
                let mut settled = canonical::normal(object.clone());
                definition.coerce(&mut settled).map_or(object, |()| settled)
            }
        }
    }

    /// How the storage of most kinds converts an object before it checks whether anything changes.
    fn stored(&self, mut object: Value) -> Value {
        match &self.0.origin {
            Origin::Builtin { go, .. } if !generation::knows_empty(&self.0.kind.kind) => {
                canonical::stored(go, &mut object);
            }
            _ => {}
        }
        object
    }
}

impl Write<'_> {
    fn context<'a>(&'a self, api_version: &'a str, reset: &'a Set) -> Context<'a> {
        let (types, root) = self.schema.types();
        let subresource = match self.endpoint {
            Endpoint::Main => "",
            Endpoint::Status => "status",
            Endpoint::Other(name) => name,
        };
        Context { types, root, api_version, subresource, reset, time: self.time }
    }

    /// The last steps of every write.
    fn finish(&self, live: Option<&Value>, new: Value, managers: &Managers) -> Value {
        let mut new = prepare::prepare(self, live, new);
        prepare::set_managed(&mut new, managers.encode());
        self.schema.stored(new)
    }
}

/// Server-side apply. `applied` is the body as it arrived; the result is the object to be stored, with managed fields,
/// but without what the server counts: resourceVersion, generation, and uid and creationTimestamp of a new object.
pub(super) fn apply(
    write: &Write<'_>,
    live: Option<&Value>,
    applied: &Value,
    force: bool,
) -> Result<Value, Refusal> {
    let schema = write.schema;
    let kind = &schema.0.kind;
    let api_version = kind.api_version();
    if at(applied, "apiVersion") != &json!(api_version) || at(applied, "kind") != &json!(kind.kind) {
        let text = |field| at(applied, field).as_str().unwrap_or("").to_owned();
        let given = format!("{}, Kind={}", text("apiVersion"), text("kind"));
        return Err(Refusal::BadRequest(format!("invalid object type: {given}")));
    }
    if !at(at(applied, "metadata"), "managedFields").is_null() {
        return Err(Refusal::BadRequest("metadata.managedFields must be nil".to_owned()));
    }
    let mut managers = Managers::decode(live.map_or(&Value::Null, entries))
        .ok_or_else(|| Refusal::Internal("failed to decode managed fields".to_owned()))?;
    let before = live.map_or_else(|| schema.empty(), prepare::copy_without_managed);
    let reset = prepare::reset(schema, write.endpoint);
    let context = write.context(&api_version, &reset);
    if managers.is_empty() {
        check_existing(schema, &before)?;
        managers.update(&context, &schema.empty(), &before, "before-first-apply");
    }
    managers.forget_other_forms(kind);
    check_patch(schema, applied)?;
    check_live(schema, &before)?;
    let allowed = last_applied::fields(&context, write.manager, &before);
    let new = managers.apply(&context, &before, applied, write.manager, force, allowed.as_ref());
    let mut new = new.map_err(Refusal::Conflict)?;
    let is_same = canonical::equal(&new, &before);
    if is_same {
        // To an apply, two integers that are one float are the same.
        new = before;
    }
    last_applied::renew(write.manager, applied, &mut new);
    let new = match &schema.0.origin {
        Origin::Builtin { .. } => {
            schema.read(whole(new)).map_err(|refusal| inconvertible(applied, kind, refusal))?
        }
        // Nothing is filled in where nothing changes, even if the version of the storage doesn't know what was.
        Origin::Custom(_) if is_same => new,
        // What was applied has only fields of the schema, and its nulls are left for validation.
        Origin::Custom(definition) => definition.filled(schema.with_read_metadata(new)?),
    };
    Ok(write.finish(live, new, &managers))
}

/// The managed fields of an object that the writer has applied as it is.
pub(super) fn applied_as_it_is(write: &Write<'_>, object: &Value) -> Value {
    let (api_version, reset) =
        (write.schema.0.kind.api_version(), prepare::reset(write.schema, write.endpoint));
    let (context, mut managers) = (write.context(&api_version, &reset), Managers::default());
    let applied = prepare::copy_without_managed(object);
    // Without other managers there is no conflict.
    let _ = managers.apply(&context, &write.schema.empty(), &applied, write.manager, true, None);
    managers.encode().unwrap_or_default()
}

/// Any other write. `new` is the whole object as the request wants it: a body, or the live object after a patch.
pub(super) fn change(write: &Write<'_>, live: Option<&Value>, new: Value) -> Result<Value, Refusal> {
    let schema = write.schema;
    let live_managers = || live.and_then(|live| Managers::decode(entries(live))).unwrap_or_default();
    let mut managers = match (write.endpoint, entries(&new)) {
        (Endpoint::Status, _) => live_managers(),
        (_, Value::Array(list)) if list.is_empty() || *list == [json!({})] => Managers::default(),
        (_, list) => {
            Managers::decode(list).filter(|managers| !managers.is_empty()).unwrap_or_else(live_managers)
        }
    };
    let before = live.map_or_else(|| schema.empty(), prepare::copy_without_managed);
    let new = prepare::without_managed(schema.read(new)?);
    // An object that nobody's fields are noted of stays so, until somebody applies to it.
    let is_noted = live.is_none() || !managers.is_empty();
    if is_noted && (!misfits(schema, &new).is_empty() || !misfits(schema, &before).is_empty()) {
        managers = Managers::default();
    } else if is_noted {
        managers.forget_other_forms(&schema.0.kind);
        let api_version = schema.0.kind.api_version();
        let reset = prepare::reset(schema, write.endpoint);
        managers.update(&write.context(&api_version, &reset), &before, &schema.visible(&new), write.manager);
    }
    Ok(write.finish(live, new, &managers))
}

/// The managed fields in an object.
fn entries(object: &Value) -> &Value {
    at(at(object, "metadata"), "managedFields")
}
