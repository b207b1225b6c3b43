//! Writes an annotation of a run's primary, and changes nothing else.

use serde_json::{Value, json};

use super::{
    Error, PrimaryWriter, WriteMode,
    send::intent::{Intent, Part},
};
use crate::resource::{AnyObject, Object};

impl PrimaryWriter<'_> {
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
