//! Where the ids of records are kept.

use std::{collections::BTreeMap, fmt, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::object::IdObject;
use crate::{
    dependent::{Asked, Declaration, Error},
    operations::{PrimaryWriter, Writer, WritingRun, at, put_at, records_manager},
    reconciler::{AnyContext, BoxError},
    resource::KubeObject,
};

/// Where the ids of a node's records are kept.
pub(super) enum Ids<P> {
    /// In this field of the primary's status: a text, or an object of texts by key if there are several records.
    Status(Arc<str>),
    /// In an object of the cluster.
    Object(IdObject),
    /// Nowhere: the ids follow from the primary.
    Follow(Arc<dyn Fn(&P) -> String + Send + Sync>),
    /// Wherever an earlier version kept them: in this object, or in a field of the status that no node declares.
    Former(IdObject),
}

/// The only part of a primary that is read.
#[derive(Deserialize)]
struct Primary<'t> {
    #[serde(borrow)]
    status: Option<&'t RawValue>,
}

impl<P: KubeObject> Ids<P> {
    /// The ids that are written, by key; the one record of a primary has an empty key.
    ///
    /// # Errors
    /// If the object that keeps them can't be read yet.
    pub(super) fn written(
        &self,
        primary: &P,
        asked: Asked<'_>,
    ) -> Result<BTreeMap<String, String>, BoxError> {
        match self {
            Self::Status(field) => Ok(of_status(field, asked.context)),
            Self::Object(object) => object.written(asked),
            Self::Former(object) => {
                let mut ids = object.written(asked)?;
                for (field, key) in object.former_fields(asked) {
                    ids.extend(of_status(&field, asked.context).remove_entry(&key));
                }
                Ok(ids)
            }
            Self::Follow(id) => Ok(BTreeMap::from([(String::new(), id(primary))])),
        }
    }

    /// Whether the ids follow from the primary: then they aren't written, searched for or noted.
    pub(super) const fn follow(&self) -> bool {
        matches!(self, Self::Follow(_))
    }

    /// Writes the id of a record.
    pub(super) async fn keep(
        &self,
        (several, key): (bool, &str),
        id: Option<&str>,
        asked: Asked<'_>,
    ) -> Result<(), BoxError> {
        let (field, context): (Arc<str>, _) = match self {
            Self::Status(field) => (Arc::clone(field), asked.context),
            Self::Object(object) => return object.keep(asked, key, id).await,
            Self::Former(object) => {
                let field = object.former_fields(asked).into_iter().find(|(_, of)| of == key);
                match field.filter(|_| id.is_none()) {
                    Some((field, _)) => (Arc::from(field), asked.context),
                    None => return object.keep(asked, key, id).await,
                }
            }
            Self::Follow(_) => return Ok(()),
        };
        let writer = own_writer(context);
        let mut change = |status: &mut Value| set(status, &field, several.then_some(key), id);
        context.permitted(primary_writer(context, &writer).change_status(&mut change)).await?;
        if let Some(id) = id
            && of_status(&field, context).get(key).map(String::as_str) != Some(id)
        {
            return Err(Error::IdDropped { field }.boxed());
        }
        Ok(())
    }

    /// Finds out whether ids can be written, without writing one.
    ///
    /// # Errors
    /// If the server would drop the field, or refuse it.
    pub(super) async fn try_out(&self, several: bool, asked: Asked<'_>) -> Result<(), BoxError> {
        const SAMPLE: &str = "an-id";
        let (field, context) = match self {
            Self::Status(field) => (field, asked.context),
            Self::Object(object) => return object.try_out(asked).await,
            Self::Follow(_) | Self::Former(_) => return Ok(()),
        };
        let writer = own_writer(context);
        let key = several.then_some(SAMPLE);
        let mut change = |status: &mut Value| set(status, field, key, Some(SAMPLE));
        let tried = context.permitted(primary_writer(context, &writer).try_status(&mut change)).await;
        let answer = match tried {
            Ok(answer) => answer,
            Err(error) if error.code() == Some(422) => {
                let source = Box::new(error);
                return Err(Error::IdRefused { field: Arc::clone(field), source }.boxed());
            }
            Err(error) => return Err(error.into()),
        };
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        match at(&answer["status"], field).is_some_and(|value| !ids_in(value).is_empty()) {
            true => Ok(()),
            false => Err(Error::IdDropped { field: Arc::clone(field) }.boxed()),
        }
    }

    /// The place of the ids, for people.
    pub(super) fn place(&self) -> String {
        match self {
            Self::Status(field) => format!("`status.{field}`"),
            Self::Object(object) => format!("the {} `<primary>-<node>`", object.kind()),
            Self::Follow(_) | Self::Former(_) => "its primary".to_owned(),
        }
    }

    /// The same, in notes.
    pub(super) fn place_of_notes(&self) -> Option<String> {
        match self {
            Self::Status(field) => Some(field.to_string()),
            Self::Object(object) => Some(object.kind().to_owned()),
            Self::Follow(_) | Self::Former(_) => None,
        }
    }

    /// The field of the status that no status function may set.
    pub(super) fn field(&self) -> Option<&Arc<str>> {
        match self {
            Self::Status(field) => Some(field),
            Self::Object(_) | Self::Follow(_) | Self::Former(_) => None,
        }
    }

    /// What is known about the object that keeps them before anything runs.
    pub(super) fn declaration(&self) -> Declaration {
        match self {
            Self::Object(object) | Self::Former(object) => object.declaration(),
            Self::Status(_) | Self::Follow(_) => Declaration::default(),
        }
    }
}

impl<P> fmt::Debug for Ids<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(field) => f.debug_tuple("Status").field(field).finish(),
            Self::Object(object) => f.debug_tuple("Object").field(&object.kind()).finish(),
            Self::Follow(_) => f.write_str("Follow"),
            Self::Former(_) => f.write_str("Former"),
        }
    }
}

/// The ids in the newest known status, own writes included. Read from its text, because the primary's type may not have
/// the field.
fn of_status(field: &str, context: &AnyContext) -> BTreeMap<String, String> {
    let run = context.run();
    let kept = context.shared().primary.informer().kept(&run.key);
    let Some(kept) = kept.filter(|kept| kept.uid() == Some(run.uid.as_str())) else { return BTreeMap::new() };
    let status = serde_json::from_str::<Primary<'_>>(kept.text()).ok().and_then(|primary| primary.status);
    let status = status.and_then(|status| serde_json::from_str::<Value>(status.get()).ok());
    status.as_ref().and_then(|status| at(status, field)).map(ids_in).unwrap_or_default()
}

/// The ids in a field: a text for the one record, an object for several.
fn ids_in(value: &Value) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    match value {
        Value::Object(by_key) => {
            by_key.iter().filter_map(|(key, id)| Some((key.clone(), text(id)?))).collect()
        }
        one => text(one).map(|id| (String::new(), id)).into_iter().collect(),
    }
}

/// Sets the field, or the entry with this key in it.
fn set(status: &mut Value, field: &str, key: Option<&str>, id: Option<&str>) {
    let Some(key) = key else { return put_at(status, field, id.map(Value::from)) };
    // A key may contain dots.
    let mut all = at(status, field).and_then(Value::as_object).cloned().unwrap_or_default();
    match id {
        Some(id) => drop(all.insert(key.to_owned(), id.into())),
        None => drop(all.remove(key)),
    }
    put_at(status, field, Some(all).filter(|all| !all.is_empty()).map(Value::Object));
}

/// The writer of ids and notes: it has its own field manager, so an apply by the controller's field manager removes none.
pub(super) fn own_writer(context: &AnyContext) -> Writer {
    let writer = &context.shared().writer;
    Writer { field_manager: Arc::from(records_manager(&writer.field_manager)), ..writer.clone() }
}

/// Writes the primary with this writer.
pub(super) fn primary_writer<'r>(context: &'r AnyContext, writer: &'r Writer) -> PrimaryWriter<'r> {
    let run = WritingRun { writer, ..context.writing_run() };
    PrimaryWriter::new(run, &context.shared().primary, true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_id_is_put_where_the_path_leads_and_taken_out_again() {
        let mut status = json!({ "ready": true });
        set(&mut status, "dns.recordId", None, Some("r1"));
        assert_eq!(status, json!({ "ready": true, "dns": { "recordId": "r1" } }));
        assert_eq!(at(&status, "dns.recordId").map(ids_in), Some([(String::new(), "r1".to_owned())].into()));
        set(&mut status, "ids", Some("a"), Some("1"));
        set(&mut status, "ids", Some("b"), Some("2"));
        set(&mut status, "ids", Some("a"), None);
        assert_eq!(at(&status, "ids").map(ids_in), Some([("b".to_owned(), "2".to_owned())].into()));
        set(&mut status, "dns.recordId", None, None);
        assert_eq!(at(&status, "dns.recordId"), None);
        let mut nothing = Value::Null;
        set(&mut nothing, "recordId", None, Some("r2"));
        assert_eq!(nothing, json!({ "recordId": "r2" }));
        assert!(ids_in(&json!("")).is_empty() && ids_in(&json!(7)).is_empty());
    }
}
