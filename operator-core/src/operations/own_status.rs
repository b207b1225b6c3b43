//! Writes a field of a primary's status that is the framework's own, and changes nothing else.

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    Error, PrimaryWriter, WriteMode,
    send::{
        body,
        intent::{Intent, Part},
        request::{Verb, WriteRequest},
    },
};
use crate::resource::{AnyObject, Object};

/// Changes a status.
pub(crate) type ChangeStatus<'c> = dyn FnMut(&mut Value) + Send + 'c;

impl PrimaryWriter<'_> {
    /// Changes the status as `change` does. It is a JSON patch that carries uid and version, so that it undoes nobody
    /// else's change. Its echo triggers nothing.
    pub(crate) async fn change_status(&self, change: &mut ChangeStatus<'_>) -> Result<AnyObject, Error> {
        let known = self.target.own_primary()?;
        let mut differ = |state: &dyn Object| self.status_changed(state, change).map(Some);
        self.target.write_difference(self.key(), &*known, WriteMode::MatchAndFilter, &mut differ).await
    }

    /// What the server would make of such a change, which it doesn't make: its answer as it is.
    pub(crate) async fn try_status(&self, change: &mut ChangeStatus<'_>) -> Result<Bytes, Error> {
        let known = self.target.own_primary()?;
        let intent = self.status_changed(&*known, change)?;
        let write = WriteRequest {
            verb: Verb::JsonPatch,
            kind: self.target.kind(),
            key: self.key(),
            subresource: Part::Status.subresource(),
            body: intent.bytes(self.target.uid(), None),
            base: None,
        };
        self.target.run.writer.try_out(&write).await
    }

    /// Leaves the fields of a status alone that the framework writes itself. `status` is to be written, and was made from
    /// `original`, whose values it may repeat.
    pub(super) fn keep_own_fields(&self, original: &dyn Object, status: &mut Value) -> Result<(), Error> {
        let fields = self.target.run.own_fields;
        if fields.is_empty() {
            return Ok(());
        }
        let kind = self.target.kind();
        let newest = self.target.own_primary()?;
        let newest = body::patched_part(&*newest, kind, Part::Status, None)?;
        let original = body::patched_part(original, kind, Part::Status, None)?;
        for field in fields {
            let kept = at(&newest["status"], field);
            let said = at(status, field);
            let repeats = |of: Option<&Value>| said.is_none() || said == of;
            if !repeats(kept) && !repeats(at(&original["status"], field)) {
                let text = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), Value::to_string);
                return Err(Error::OwnField {
                    kind: kind.clone(),
                    key: self.key().clone(),
                    field: field.clone(),
                    said: text(said),
                    kept: text(kept),
                });
            }
            // What is applied would become the status function's, too. What replaces the status has to repeat it.
            let put = if self.ssa { None } else { kept.cloned() };
            let is_there = said.is_some();
            if is_there || put.is_some() {
                put_at(status, field, put);
            }
        }
        Ok(())
    }

    fn status_changed(&self, state: &dyn Object, change: &mut ChangeStatus<'_>) -> Result<Intent, Error> {
        let from = body::patched_part(state, self.target.kind(), Part::Status, None)?;
        let mut status = from["status"].clone();
        change(&mut status);
        let to = json!({ "status": status });
        Ok(Intent::difference(Part::Status, self.key().clone(), &from, &to).made_from(state.version()))
    }
}

/// The field with this name, or path with dots.
pub(crate) fn at<'v>(status: &'v Value, field: &str) -> Option<&'v Value> {
    field.split('.').try_fold(status, |value, name| value.get(name))
}

/// Sets the field with this name, or path with dots, or takes it out.
pub(crate) fn put_at(status: &mut Value, field: &str, value: Option<Value>) {
    let (path, name) = field.rsplit_once('.').map_or((None, field), |(path, name)| (Some(path), name));
    let mut place = status;
    for part in path.into_iter().flat_map(|path| path.split('.')) {
        if value.is_none() && place.get(part).is_none() {
            return;
        }
        if !place.is_object() {
            *place = json!({});
        }
        let Some(fields) = place.as_object_mut() else { return };
        place = fields.entry(part).or_insert_with(|| json!({}));
    }
    match value {
        Some(value) => {
            if !place.is_object() {
                *place = json!({});
            }
            place[name] = value;
        }
        None => {
            if let Some(fields) = place.as_object_mut() {
                fields.remove(name);
            }
        }
    }
}
