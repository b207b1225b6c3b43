//! Writes of a run's primary that the framework makes: finalizer, object, status, and the annotations and fields of the status
//! that are its own. All carry the uid.

use bytes::Bytes;
use futures::FutureExt;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ManagedFieldsEntry;
use serde_json::{Map, Value, json};

use super::{
    error::Error,
    matcher::{Desired, Part, Seen, fingerprint, is_applied_by, owned_fields, strip_nulls},
    send::{
        ATTEMPTS, Target, body,
        intent::{Intent, Lock, WriteMode},
        request::{Verb, WriteRequest, WritingRun},
    },
};
use crate::{
    event_source::PrimarySource,
    resource::{AnyObject, Object, ObjectKey, ResourceType},
};

/// The outcome of adding a finalizer.
#[derive(Debug)]
pub(crate) enum FinalizerAdded {
    /// It is on the object, which is the server's newest answer.
    Yes(AnyObject),
    /// The object was marked for deletion in the meantime: it takes no new finalizer, and the mark's own event follows.
    Deleting,
}

/// Changes a status.
pub(crate) type ChangeStatus<'c> = dyn FnMut(&mut Value) + Send + 'c;

/// Writes one primary during one run.
#[derive(Debug)]
pub(crate) struct PrimaryWriter<'r> {
    target: Target<'r>,
    /// Whether the primary is written by server-side apply; otherwise by JSON patch.
    ssa: bool,
}

impl<'r> PrimaryWriter<'r> {
    pub(crate) fn new(run: WritingRun<'r>, source: &'r PrimarySource, ssa: bool) -> Self {
        Self { target: Target::of_primary(run, source), ssa }
    }

    /// Adds `finalizer` to the primary.
    pub(crate) async fn add_finalizer(&self, finalizer: &str) -> Result<FinalizerAdded, Error> {
        let mut known = self.target.own_primary()?;
        for _ in 0..ATTEMPTS {
            if known.meta().deletion_timestamp.is_some() {
                return Ok(FinalizerAdded::Deleting);
            }
            if has_finalizer(&*known, finalizer) {
                return Ok(FinalizerAdded::Yes(known));
            }
            let intent = self.finalizer_added(&*known, finalizer);
            let lock = Lock::Version(body::version_of(Some(&*known)).to_owned());
            match self.target.write_locked(&intent, &lock).await {
                Ok(answer) => return Ok(FinalizerAdded::Yes(answer)),
                Err(error) if error.is_about_another_state() => {
                    // Kept as caches keep it: without what others manage, and read by whoever asks next.
                    known = self.target.remember(self.target.live().await?);
                    if !error.is_outdated() {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        Err(self.target.contended())
    }

    /// Removes `finalizer` from the primary, by JSON patch, so that no other finalizers are touched. If it is already
    /// removed, or the primary is gone, that counts as done.
    pub(crate) async fn remove_finalizer(&self, finalizer: &str) -> Result<(), Error> {
        let mut known = self.target.own_primary()?;
        for _ in 0..ATTEMPTS {
            let finalizers = known.meta().finalizers.as_deref().unwrap_or_default();
            let left: Vec<&String> = finalizers.iter().filter(|name| *name != finalizer).collect();
            if left.len() == finalizers.len() {
                return Ok(());
            }
            // The finalizers are all that is tested, so that nothing else that happens to the object comes in between.
            let intent = self.finalizers_changed(&*known, &json!(left));
            match self.target.send(&intent, None).await {
                Ok(answer) => {
                    // With the last finalizer the object is gone, and must not be remembered as if it were there.
                    if answer.object.meta().finalizers.as_ref().is_some_and(|left| !left.is_empty()) {
                        self.target.remember_answer(answer);
                    }
                    return Ok(());
                }
                Err(error) if error.is_not_found() => return Ok(()),
                // It was done; the answer shows an object whose spec nobody here understands.
                Err(Error::Undecodable { .. }) => return Ok(()),
                // 422 is a failed test: somebody else's finalizer went first, or the object is another one.
                Err(error) if matches!(error.code(), Some(409 | 422)) => known = self.target.live().await?,
                Err(error) => return Err(error),
            }
        }
        Err(self.target.contended())
    }

    /// Removes a finalizer that user code handles. Its echo triggers nothing, unless it ends the object.
    pub(crate) async fn take_off_finalizer(&self, finalizer: &str) -> Result<(), Error> {
        let known = self.target.own_primary()?;
        let mut differ = |state: &dyn Object| {
            if !has_finalizer(state, finalizer) {
                let nothing = Intent::difference(Part::Object, self.key().clone(), &json!({}), &json!({}));
                return Ok(Some(nothing.made_from(state.version())));
            }
            let finalizers = state.meta().finalizers.iter().flatten();
            let left: Vec<&String> = finalizers.filter(|name| *name != finalizer).collect();
            let ends_it = left.is_empty() && state.meta().deletion_timestamp.is_some();
            Ok((!ends_it).then(|| self.finalizers_changed(state, &json!(left))))
        };
        let mode = WriteMode::MatchAndFilter;
        match self.target.write_difference(self.key(), &*known, mode, &mut differ).await {
            Ok(_) => Ok(()),
            // What ends the object is no state of it, and must not be remembered as one.
            Err(Error::Overtaken { .. }) => self.remove_finalizer(finalizer).await,
            Err(error) => Err(error),
        }
    }

    /// Writes the primary without its status. `original` is the object that the reconciler was given.
    pub(crate) async fn patch_resource(
        &self,
        original: &dyn Object,
        desired: &dyn Object,
    ) -> Result<AnyObject, Error> {
        let (kind, key, run) = (self.kind(), self.key(), self.target.run);
        if self.ssa {
            let body = body::applied_primary(desired, kind, key, run.finalizer, run.own_annotations)?;
            let intent = Intent::of(Verb::Apply, Part::Object, key.clone(), body);
            return self.target.write(&intent, WriteMode::MatchAndFilter).await;
        }
        let from = body::patched_part(original, kind, Part::Object)?;
        let mut to = body::patched_part(desired, kind, Part::Object)?;
        // A desired object that was not made from the original must not take our finalizer off by leaving it out.
        run.keep_own(Part::Object, &from, &mut to);
        self.carry_over(original, Part::Object, &from, &to).await
    }

    /// Writes the fields of the primary that `part` names, and our finalizer, if an apply keeps it, or an earlier one did.
    pub(crate) async fn apply_part(&self, part: Value) -> Result<AnyObject, Error> {
        let (kind, key, run) = (self.kind(), self.key(), self.target.run);
        let is_applied = |finalizer: &&str| {
            let newest = self.target.own_primary();
            newest.is_ok_and(|newest| self.applied(&*newest).any(|entry| owns_finalizer(entry, finalizer)))
        };
        let finalizer = run.finalizer.filter(|finalizer| self.ssa || is_applied(finalizer));
        let body = body::applied_part(part, kind, key, finalizer, run.own_annotations)?;
        let intent = Intent::of(Verb::Apply, Part::Object, key.clone(), body);
        self.target.write(&intent, WriteMode::MatchAndFilter).await
    }

    /// Writes the status, which was made from the state of the primary with this version, and is refused with 409 if there
    /// is a newer one. `original` is the object that the reconciler was given.
    pub(crate) async fn patch_status(
        &self,
        original: &dyn Object,
        mut status: Value,
        made_from: Option<&str>,
    ) -> Result<AnyObject, Error> {
        strip_nulls(&mut status);
        self.keep_own_fields(original, &mut status)?;
        let (run, kind) = (self.target.run, self.kind());
        let (undeclared, now) = (&run.writer.undeclared, || run.writer.environment.now());
        let mut is_incomplete = undeclared.take_out(&mut status, now());
        let written = if self.ssa {
            loop {
                match self.apply_status(status.clone(), made_from).await {
                    Err(error) if undeclared.found_by(&error, &mut status, kind, now()) => {
                        is_incomplete = true
                    }
                    result => break result?,
                }
            }
        } else {
            let from = body::patched_part(original, kind, Part::Status)?;
            let to = if status.is_null() { json!({}) } else { json!({ "status": status }) };
            let written = self.carry_over(original, Part::Status, &from, &to).boxed().await?;
            let answer = body::patched_part(&*written, kind, Part::Status)?;
            let states = (&from["status"], &to["status"], &answer["status"]);
            is_incomplete |= undeclared.found_in(states, kind, now());
            written
        };
        run.findings.lock().status_is_incomplete |= is_incomplete;
        Ok(written)
    }

    async fn apply_status(&self, status: Value, made_from: Option<&str>) -> Result<AnyObject, Error> {
        let (kind, key, run) = (self.kind(), self.key(), self.target.run);
        let known = self.target.informer().kept(key).filter(|known| known.uid() == Some(run.uid));
        let known = known.map(|known| {
            let manager = &*run.writer.field_manager;
            let desired = fingerprint([manager, ""], |to| serde_json::to_writer(to, &status));
            self.target.seen(known, Part::Status, Desired::Known(desired))
        });
        if known.as_ref().is_some_and(Seen::has_matched) {
            run.writer.matched(run.key, kind, key, Part::Status.subresource());
            return self.target.own_primary();
        }
        let intent = Intent::of(Verb::Apply, Part::Status, key.clone(), body::of_status(kind, key, status));
        let intent = intent.made_from(made_from);
        let mode = match made_from {
            Some(_) => WriteMode::FilterWithOptimisticLocking,
            None => WriteMode::MatchAndFilter,
        };
        let written = self.target.write(&intent, mode).await?;
        if let Some(known) = known {
            known.note_if_unchanged(&*written);
        }
        Ok(written)
    }

    /// Writes what was made from `original` as a JSON patch of the current state.
    async fn carry_over(
        &self,
        original: &dyn Object,
        part: Part,
        from: &Value,
        to: &Value,
    ) -> Result<AnyObject, Error> {
        let (kind, key) = (self.kind(), self.key());
        let mut differ = |state: &dyn Object| {
            let live = body::patched_part(state, kind, part)?;
            let carried = carry_over(from, to, &live);
            let intent =
                |carried| Intent::difference(part, key.clone(), &live, &carried).made_from(state.version());
            Ok(carried.map(intent))
        };
        self.target.write_difference(key, original, WriteMode::MatchAndFilter, &mut differ).await
    }

    /// Sets the annotation to what `change` returns for a state of the primary; `None` for no annotation. It is a JSON
    /// patch that carries uid and version, so that two nodes of one run don't undo one another's changes. Its echo
    /// triggers nothing.
    pub(crate) async fn change_annotation(
        &self,
        name: &str,
        change: &mut (dyn FnMut(&dyn Object) -> Option<String> + Send),
    ) -> Result<AnyObject, Error> {
        let key = self.key();
        let known = self.target.own_primary()?;
        let mut differ = |state: &dyn Object| {
            let (from, to) = bodies(state, name, change(state));
            let intent = Intent::difference(Part::Object, key.clone(), &from, &to);
            Ok(Some(intent.made_from(state.version())))
        };
        self.target.write_difference(key, &*known, WriteMode::MatchAndFilter, &mut differ).await
    }

    /// The newest state of the primary, past all caches.
    pub(crate) async fn look(&self) -> Result<AnyObject, Error> {
        Ok(self.target.remember(self.target.live().await?))
    }

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
        let body = intent.bytes(self.target.uid(), None);
        let write = WriteRequest::of(Verb::JsonPatch, self.kind(), self.key(), body);
        let write = WriteRequest { subresource: Part::Status.subresource(), ..write };
        self.target.run.writer.try_out(&write).await
    }

    /// Leaves the fields of a status alone that the framework writes itself. `status` is to be written, and was made from
    /// `original`, whose values it may repeat.
    fn keep_own_fields(&self, original: &dyn Object, status: &mut Value) -> Result<(), Error> {
        let fields = self.target.run.own_fields;
        if fields.is_empty() {
            return Ok(());
        }
        let kind = self.target.kind();
        let newest = self.target.own_primary()?;
        let newest = body::patched_part(&*newest, kind, Part::Status)?;
        let original = body::patched_part(original, kind, Part::Status)?;
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
        let from = body::patched_part(state, self.target.kind(), Part::Status)?;
        let mut status = from["status"].clone();
        change(&mut status);
        let to = json!({ "status": status });
        Ok(Intent::difference(Part::Status, self.key().clone(), &from, &to).made_from(state.version()))
    }

    /// Whether our manager has applied the primary before: the finalizer alone would give up what it has applied.
    fn was_applied(&self, known: &dyn Object) -> bool {
        self.applied(known).next().is_some()
    }

    /// What our manager has applied of the primary.
    fn applied<'o>(&self, known: &'o dyn Object) -> impl Iterator<Item = &'o ManagedFieldsEntry> {
        let manager = &*self.target.run.writer.field_manager;
        known.meta().managed_fields.iter().flatten().filter(move |entry| is_applied_by(entry, manager, None))
    }

    fn finalizer_added(&self, known: &dyn Object, finalizer: &str) -> Intent {
        if self.ssa && !self.was_applied(known) {
            let mut content = body::identity(self.kind(), self.key());
            content["metadata"]["finalizers"] = json!([finalizer]);
            return Intent::of(Verb::Apply, Part::Object, self.key().clone(), content);
        }
        let mut finalizers = known.meta().finalizers.clone().unwrap_or_default();
        finalizers.push(finalizer.to_owned());
        self.finalizers_changed(known, &json!(finalizers))
    }

    fn finalizers_changed(&self, known: &dyn Object, finalizers: &Value) -> Intent {
        // One that has none yet is patched as a whole, as there is no list to add to.
        let list = |finalizers: Value| json!({ "metadata": { "finalizers": finalizers } });
        let from = match &known.meta().finalizers {
            Some(finalizers) if !finalizers.is_empty() => list(json!(finalizers)),
            _ => json!({ "metadata": {} }),
        };
        let intent = Intent::difference(Part::Object, self.key().clone(), &from, &list(finalizers.clone()));
        intent.made_from(known.version())
    }

    fn kind(&self) -> &ResourceType {
        self.target.kind()
    }

    fn key(&self) -> &'r ObjectKey {
        self.target.run.key
    }
}

/// Whether `finalizer` is on `object`.
pub(crate) fn has_finalizer(object: &dyn Object, finalizer: &str) -> bool {
    object.meta().finalizers.iter().flatten().any(|name| name == finalizer)
}

/// Whether `finalizer` is on `object`, put there by this field manager.
pub(crate) fn has_set_finalizer(object: &dyn Object, finalizer: &str, manager: &str) -> bool {
    let mut entries = object.meta().managed_fields.iter().flatten();
    has_finalizer(object, finalizer)
        && entries.any(|entry| entry.manager.as_deref() == Some(manager) && owns_finalizer(entry, finalizer))
}

fn owns_finalizer(entry: &ManagedFieldsEntry, finalizer: &str) -> bool {
    let item = format!("v:{}", Value::from(finalizer));
    let fields = owned_fields(entry);
    fields.and_then(|fields| fields.get("f:metadata")?["f:finalizers"].get(&item).map(drop)).is_some()
}

/// The annotations before and after, or all metadata if there are none yet.
fn bodies(state: &dyn Object, name: &str, text: Option<String>) -> (Value, Value) {
    let annotations = state.meta().annotations.as_ref().filter(|annotations| !annotations.is_empty());
    let from = match annotations {
        Some(annotations) => json!({ "metadata": { "annotations": annotations } }),
        None => json!({ "metadata": {} }),
    };
    let mut changed = annotations.cloned().unwrap_or_default();
    match text {
        Some(text) => drop(changed.insert(name.to_owned(), text)),
        None => drop(changed.remove(name)),
    }
    let to = match annotations.is_none() && changed.is_empty() {
        true => from.clone(),
        false => json!({ "metadata": { "annotations": changed } }),
    };
    (from, to)
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

/// A change that was made to one state, applied to another: the state that should be on the server if `from` was to become `to`, and `live` exists now: what the change doesn't
/// touch stays as it is in `live`, what it does touch is as in `to`. `None` if both have changed the same list: its
/// items can't be distinguished, so it is not clear what was meant.
fn carry_over(from: &Value, to: &Value, live: &Value) -> Option<Value> {
    carry(Some(from), Some(to), Some(live)).map(Option::unwrap_or_default)
}

/// The same for values that may be missing.
fn carry(from: Option<&Value>, to: Option<&Value>, live: Option<&Value>) -> Option<Option<Value>> {
    if from == to {
        return Some(live.cloned());
    }
    if from == live || live == to {
        return Some(to.cloned());
    }
    if [from, to, live].into_iter().flatten().any(Value::is_array) {
        return None;
    }
    let (Some(Value::Object(to)), Some(Value::Object(live))) = (to, live) else { return Some(to.cloned()) };
    let none = Map::new();
    let from = from.and_then(Value::as_object).unwrap_or(&none);
    let mut carried = Map::new();
    for name in live.keys().chain(to.keys().filter(|name| !live.contains_key(*name))) {
        if let Some(value) = carry(from.get(name), to.get(name), live.get(name))? {
            carried.insert(name.clone(), value);
        }
    }
    Some(Some(Value::Object(carried)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use crate::resource::arbitrary_tests::any_json;

    use super::*;

    #[test]
    fn a_change_is_carried_over_to_what_others_have_changed_elsewhere() {
        let from = json!({ "status": { "ours": 1, "theirs": 1, "list": ["a"] } });
        let to = json!({ "status": { "ours": 2, "theirs": 1, "list": ["a", "b"], "new": true } });
        let live = json!({ "status": { "ours": 1, "theirs": 7, "list": ["a"], "more": 1 } });
        let expected =
            json!({ "status": { "ours": 2, "theirs": 7, "list": ["a", "b"], "new": true, "more": 1 } });
        assert_eq!(carry_over(&from, &to, &live), Some(expected));
    }

    #[test]
    fn a_list_that_both_have_changed_is_nobody_s() {
        let (from, to) = (json!({ "list": ["a", "b"] }), json!({ "list": ["a", "B"] }));
        assert_eq!(carry_over(&from, &to, &json!({ "list": ["x", "a", "b"] })), None);
        assert_eq!(carry_over(&from, &to, &json!({})), None);
        assert_eq!(carry_over(&from, &json!({}), &json!({ "list": ["x", "a", "b"] })), None);
        assert_eq!(carry_over(&from, &to, &to), Some(to.clone()), "both the same");
    }

    #[test]
    fn of_a_value_that_both_have_changed_ours_counts() {
        let of = |value: u32| json!({ "value": value });
        assert_eq!(carry_over(&of(1), &of(2), &of(3)), Some(of(2)));
        assert_eq!(carry_over(&of(1), &json!({}), &of(3)), Some(json!({})));
        assert_eq!(carry_over(&json!({}), &of(2), &of(3)), Some(of(2)));
    }

    proptest! {
        #![proptest_config(crate::properties::daily())]

        #[test]
        fn upon_the_same_state_it_is_the_change_itself(from in any_json(), to in any_json()) {
            prop_assert_eq!(carry_over(&from, &to, &from), Some(to));
        }

        #[test]
        fn no_change_leaves_any_state_alone(from in any_json(), live in any_json()) {
            prop_assert_eq!(carry_over(&from, &from, &live), Some(live));
        }

        #[test]
        fn what_was_carried_over_is_not_carried_over_again(from in any_json(), to in any_json(), live in any_json()) {
            if let Some(carried) = carry_over(&from, &to, &live) {
                prop_assert_eq!(carry_over(&from, &to, &carried), Some(carried));
            }
        }
    }
}
