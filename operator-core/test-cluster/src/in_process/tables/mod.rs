//! Objects as rows of a table, which is how `kubectl get` asks for them.
//!
//! ```text
//!  request for a table ─▶ answered as one for objects ─▶ columns of the kind ─▶ a row of cells for each object
//!                                                         │
//!                          recorded (Kubernetes' kinds), the definition's printer columns (custom kinds)
//! ```
//!
//! # Guarantees
//! - Columns are those of the recorded server, cells have its words. Ages count from the time of the request; in a
//!   watch, from that of the newest change.
//! - Only requests for tables pay for them.

mod cells;
mod columns;
mod custom;
mod duration;
mod jsonpath;
mod network;
mod others;
mod pods;
#[cfg(test)]
mod tests;
mod workloads;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use self::custom::CustomColumns;
use super::{
    api::{ApiServer, Reply},
    definitions::definition,
    failure::Failure,
    go::json::read as read_json,
    kinds::Kind,
    read::{MetadataOnly, json},
    request::{Representation, Request, Target},
    store::Store,
};

/// What a row shows of its object, besides the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Include {
    None,
    Metadata,
    Object,
}

/// How objects of a kind become rows.
#[derive(Clone, Debug)]
pub(super) struct Table {
    columns: Columns,
    include: Include,
    /// The time from which ages are counted.
    pub(super) now: Timestamp,
}

#[derive(Clone, Debug)]
enum Columns {
    /// Kubernetes' own kind, by apiVersion and kind.
    Builtin(String, String),
    /// A custom kind.
    Custom(CustomColumns),
}

/// Answers a request that wants a table.
pub(super) fn answer_with_table(
    api: &mut ApiServer,
    request: &Request,
    target: &Target,
) -> Result<Reply, Failure> {
    let kind = api.discovery.find(target)?;
    let table = table(&api.store, api.now, request, &kind)?;
    let request = Request { representation: Representation::Whole, ..request.clone() };
    match api.answer_objects(&request, target)? {
        Reply::Json(code, body) => {
            let object: Value = read_json(&body).unwrap_or_default();
            Ok(match object["kind"].as_str() {
                Some("Status") => Reply::Json(code, body),
                _ => Reply::Json(code, json(&table.of(&object, true))),
            })
        }
        Reply::Watch(mut watch) => {
            watch.filter.table = Some(table);
            watch.lines = watch.lines.iter().map(|line| watch.filter.as_table(line)).collect();
            Ok(Reply::Watch(watch))
        }
        other => Ok(other),
    }
}

fn table(store: &Store, now: Timestamp, request: &Request, kind: &Kind) -> Result<Table, Failure> {
    let include = match request.query.get("includeObject") {
        Some("None") => Include::None,
        None | Some("Metadata") => Include::Metadata,
        Some("Object") => Include::Object,
        Some(other) => {
            return Err(Failure::bad_request(format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: {other:?}: must be \
                 'Metadata', 'Object', 'None', or empty"
            )));
        }
    };
    let columns = if kind.is_custom() {
        Columns::Custom(CustomColumns::of(definition(store, kind), &kind.version))
    } else {
        Columns::Builtin(kind.api_version(), kind.kind.clone())
    };
    Ok(Table { columns, include, now })
}

impl Table {
    /// An object or a list of them as a table, with or without the columns.
    pub(super) fn of(&self, object: &Value, with_columns: bool) -> Value {
        let is_list = object["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
        let metadata = &object["metadata"];
        let mut shown = json!({});
        for field in ["resourceVersion", "continue", "remainingItemCount"] {
            if !metadata[field].is_null() && metadata[field] != "" && (is_list || field == "resourceVersion")
            {
                shown[field] = metadata[field].clone();
            }
        }
        let rows: Vec<Value> = match object["items"].as_array().filter(|_| is_list) {
            Some(items) => items.iter().map(|item| self.row(item)).collect(),
            None => vec![self.row(object)],
        };
        let columns = if with_columns { self.columns.shown() } else { Value::Null };
        json!({
            "kind": "Table",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": shown,
            "columnDefinitions": columns,
            "rows": rows,
        })
    }

    /// A line of a watch with its object as a table.
    pub(super) fn of_line(&self, line: &[u8], with_columns: bool) -> Bytes {
        let mut line: Value = read_json(line).unwrap_or_default();
        if line["object"]["kind"] != "Status" {
            line["object"] = self.of(&line["object"], with_columns);
        }
        let mut text = serde_json::to_vec(&line).unwrap_or_default();
        text.push(b'\n');
        text.into()
    }

    fn row(&self, object: &Value) -> Value {
        let shown = match self.include {
            Include::None => Value::Null,
            Include::Metadata => json!(MetadataOnly::of(object)),
            Include::Object => self.columns.typed(object),
        };
        let (cells, conditions) = match &self.columns {
            Columns::Builtin(api_version, kind) => {
                (cells::of(api_version, kind, object, self.now), pods::conditions(kind, object))
            }
            Columns::Custom(columns) => (columns.cells(object, self.now), None),
        };
        let mut row = json!({ "cells": cells, "object": shown });
        if let Some(conditions) = conditions {
            row["conditions"] = conditions;
        }
        row
    }
}

impl Columns {
    fn shown(&self) -> Value {
        match self {
            Self::Builtin(api_version, kind) => columns::of(api_version, kind),
            Self::Custom(columns) => columns.shown(),
        }
    }

    /// An object with its type, which it doesn't have in a list.
    fn typed(&self, object: &Value) -> Value {
        let mut object = object.clone();
        if let Self::Builtin(api_version, kind) = self {
            object["apiVersion"] = api_version.clone().into();
            object["kind"] = kind.clone().into();
        }
        object
    }
}
