//! Objects that were generated already: rendered once for each digest.
//!
//! ```text
//! primary, node ─▶ entry: digest of the inputs, versions of what was looked up, objects
//!                    │ the same digest, and each object has its version still
//!                    ├─ yes ─▶ the objects, without a call of the generator
//!                    └─ no ──▶ generate, and keep
//! ```
//!
//! # Guarantees
//! - Objects are used again only if the inputs are the same, and all that was looked up is as it was.
//! - What is kept never exceeds the bound. The entry that wasn't used for the longest time goes first.
//! - Errors aren't kept.
//!
//! # Assumptions
//! - The context's digest changes with all that the generator reads of the primary.
//! - An object has another resource version when it has changed.
//!
//! The store is a map of its own: its bound holds after each insertion, and what goes depends on the calls alone. The caches of
//! other crates evict in the background, and exceed their bound until then.

use std::{
    collections::{BTreeMap, HashMap},
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures::future::BoxFuture;
use operator_core::{BoxError, Objects, resource::KubeObject};
use serde_json::{Value, json};

use super::{
    Generator, Lookup, LookupKey, RenderContext,
    digest::{digest_of, digest_of_value},
};

/// About as many bytes of memory as all objects take that are kept.
const BOUND: usize = 64 * 1024 * 1024;

/// Keeps the objects that a generator has made for a node of a primary, until their inputs change. What is kept takes about
/// 64 MiB at most.
///
/// ```
/// use k8s_openapi::api::core::v1::ConfigMap;
/// use operator_component::generator::{RenderCache, RenderContext};
/// use operator_core::{BoxError, Objects};
///
/// fn addon(cx: &RenderContext<'_, ConfigMap>) -> Result<Objects, BoxError> {
///     Ok(vec![cx.primary().clone()].into())
/// }
///
/// async fn objects(cache: &RenderCache, primary: &ConfigMap) -> Result<Objects, BoxError> {
///     let uid = primary.metadata.uid.as_deref().unwrap_or_default();
///     let cx = RenderContext::of(primary).with_digest("changes with the spec");
///     cache.generate(uid, "addon", &addon, &cx).await
/// }
/// # let _ = objects;
/// ```
#[derive(Default)]
pub struct RenderCache(Mutex<Entries>);

impl RenderCache {
    /// Empty.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The objects that the generator makes for this context, or has made for the same. `primary` is the primary's UID, and
    /// `node` names one of its nodes.
    ///
    /// # Errors
    /// Those of the generator and of the lookups.
    pub async fn generate<P: KubeObject, G: Generator<P>>(
        &self,
        primary: &str,
        node: &str,
        generator: &G,
        cx: &RenderContext<'_, P>,
    ) -> Result<Objects, BoxError> {
        let key = (primary.to_owned(), node.to_owned());
        let inputs = inputs(&generator.identity(), cx);
        let reader = Reader { cx, objects: Mutex::default() };
        let kept = self.entries().get(&key).filter(|entry| entry.inputs == inputs);
        if let Some(entry) = kept
            && entry.is_current(&reader).await?
        {
            return Ok(entry.objects.clone());
        }
        let objects = generator.generate(&cx.clone().with_lookup(&reader)).await?;
        let digest = cx.digest().to_owned();
        let entry = Entry { inputs, digest, versions: reader.versions(), objects: objects.clone() };
        let weight = entry.weight();
        self.entries().insert(key, Arc::new(entry), weight, BOUND);
        Ok(objects)
    }

    /// The digest of the context for which the node's objects were made last.
    pub(crate) fn digest(&self, primary: &str, node: &str) -> Option<String> {
        let key = (primary.to_owned(), node.to_owned());
        self.entries().get(&key).map(|entry| entry.digest.clone())
    }

    /// Forgets the primary, which is gone.
    pub fn forget(&self, primary: &str) {
        self.entries().retain(|(of, _)| of != primary);
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        // The map is whole between its operations, and none of them calls foreign code.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RenderCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entries = self.entries();
        f.debug_struct("RenderCache")
            .field("entries", &entries.all.len())
            .field("weight", &entries.weight)
            .finish_non_exhaustive()
    }
}

fn inputs<P>(identity: &str, cx: &RenderContext<'_, P>) -> String {
    let inputs = json!([cx.digest(), cx.namespace(), cx.name(), cx.revision(), cx.parameters()]);
    digest_of(&inputs, identity, &BTreeMap::new())
}

/// What was generated.
struct Entry {
    inputs: String,
    /// That of the context.
    digest: String,
    versions: BTreeMap<LookupKey, String>,
    objects: Objects,
}

impl Entry {
    async fn is_current<P: KubeObject>(&self, reader: &Reader<'_, P>) -> Result<bool, BoxError> {
        for (key, version) in &self.versions {
            if version_of(reader.read(key).await?.as_ref()) != *version {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn weight(&self) -> usize {
        let versions = self.versions.iter().map(|(key, version)| {
            mem::size_of::<(LookupKey, String)>()
                + key.api_version.len()
                + key.kind.len()
                + key.namespace.len()
                + key.name.len()
                + version.len()
        });
        let objects =
            self.objects.iter().map(|object| serde_json::to_value(object).map_or(0, |it| weight_of(&it)));
        mem::size_of::<Self>() + self.inputs.len() + versions.sum::<usize>() + objects.sum::<usize>()
    }
}

/// About as many bytes as a value takes in memory.
fn weight_of(value: &Value) -> usize {
    let inside = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight_of).sum(),
        Value::Object(fields) => {
            let fields =
                fields.iter().map(|(key, value)| mem::size_of::<String>() + key.len() + weight_of(value));
            fields.sum()
        }
    };
    mem::size_of::<Value>() + inside
}

/// What changes with the object.
fn version_of(object: Option<&Value>) -> String {
    let Some(object) = object else { return "absent".to_owned() };
    let metadata = &object["metadata"];
    match (metadata["uid"].as_str(), metadata["resourceVersion"].as_str()) {
        (Some(uid), Some(version)) => format!("{uid} {version}"),
        _ => digest_of_value(object),
    }
}

/// Reads each object once, so that it is the same for the check and for the generator; and remembers which of them the
/// generator has asked for.
struct Reader<'r, P> {
    cx: &'r RenderContext<'r, P>,
    objects: Mutex<BTreeMap<LookupKey, Read>>,
}

struct Read {
    object: Option<Value>,
    is_used: bool,
}

impl<P: KubeObject> Reader<'_, P> {
    async fn read(&self, key: &LookupKey) -> Result<Option<Value>, BoxError> {
        if let Some(read) = self.objects().get(key) {
            return Ok(read.object.clone());
        }
        let object = self.cx.lookup(key).await?;
        self.objects().insert(key.clone(), Read { object: object.clone(), is_used: false });
        Ok(object)
    }

    fn versions(&self) -> BTreeMap<LookupKey, String> {
        let objects = self.objects();
        let used = objects.iter().filter(|(_, read)| read.is_used);
        used.map(|(key, read)| (key.clone(), version_of(read.object.as_ref()))).collect()
    }
}

impl<P> Reader<'_, P> {
    fn objects(&self) -> MutexGuard<'_, BTreeMap<LookupKey, Read>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: KubeObject> Lookup for Reader<'_, P> {
    fn lookup<'a>(&'a self, key: &'a LookupKey) -> BoxFuture<'a, Result<Option<Value>, BoxError>> {
        Box::pin(async move {
            let object = self.read(key).await?;
            if let Some(read) = self.objects().get_mut(key) {
                read.is_used = true;
            }
            Ok(object)
        })
    }
}

type Key = (String, String);

/// Entries and the order in which they were used. Pure.
#[derive(Default)]
struct Entries {
    all: HashMap<Key, Slot>,
    /// By the number of the use. The first is the one that wasn't used for the longest time.
    by_use: BTreeMap<u64, Key>,
    uses: u64,
    weight: usize,
}

struct Slot {
    entry: Arc<Entry>,
    weight: usize,
    used: u64,
}

impl Entries {
    fn get(&mut self, key: &Key) -> Option<Arc<Entry>> {
        let slot = self.all.get_mut(key)?;
        self.uses += 1;
        self.by_use.remove(&slot.used);
        slot.used = self.uses;
        self.by_use.insert(self.uses, key.clone());
        Some(slot.entry.clone())
    }

    /// What is heavier than the bound isn't kept.
    fn insert(&mut self, key: Key, entry: Arc<Entry>, weight: usize, bound: usize) {
        self.remove(&key);
        if weight > bound {
            return;
        }
        while self.weight > bound - weight
            && let Some((_, oldest)) = self.by_use.first_key_value()
        {
            let oldest = oldest.clone();
            self.remove(&oldest);
        }
        self.uses += 1;
        self.weight += weight;
        self.by_use.insert(self.uses, key.clone());
        self.all.insert(key, Slot { entry, weight, used: self.uses });
    }

    fn remove(&mut self, key: &Key) {
        if let Some(slot) = self.all.remove(key) {
            self.by_use.remove(&slot.used);
            self.weight -= slot.weight;
        }
    }

    fn retain(&mut self, keep: impl Fn(&Key) -> bool) {
        let gone: Vec<Key> = self.all.keys().filter(|key| !keep(key)).cloned().collect();
        for key in &gone {
            self.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::Config};

    use super::*;
    use crate::properties::daily;

    fn entry() -> Arc<Entry> {
        Arc::new(Entry {
            inputs: String::new(),
            digest: String::new(),
            versions: BTreeMap::new(),
            objects: Objects::new(),
        })
    }

    fn key(number: u8) -> Key {
        (format!("primary {}", number / 4), format!("node {}", number % 4))
    }

    /// What is done with the map.
    #[derive(Clone, Debug)]
    enum Step {
        Get(u8),
        Insert(u8, usize),
        Forget(u8),
    }

    fn any_step() -> impl Strategy<Value = Step> {
        prop_oneof![
            3 => (0_u8..12).prop_map(Step::Get),
            5 => (0_u8..12, 0_usize..120).prop_map(|(key, weight)| Step::Insert(key, weight)),
            1 => (0_u8..3).prop_map(Step::Forget),
        ]
    }

    proptest! {
        #![proptest_config(Config { cases: 2000, ..daily() })]

        /// Against a list, whose first entry wasn't used for the longest time.
        #[test]
        fn the_bound_holds_and_what_was_not_used_for_longest_goes(
            steps in prop::collection::vec(any_step(), 0..60),
        ) {
            const BOUND: usize = 100;
            let (mut entries, mut list) = (Entries::default(), Vec::<(Key, usize)>::new());
            for step in steps {
                match step {
                    Step::Get(number) => {
                        let at = list.iter().position(|(of, _)| *of == key(number));
                        prop_assert_eq!(entries.get(&key(number)).is_some(), at.is_some());
                        if let Some(at) = at {
                            let used = list.remove(at);
                            list.push(used);
                        }
                    }
                    Step::Insert(number, weight) => {
                        entries.insert(key(number), entry(), weight, BOUND);
                        list.retain(|(of, _)| *of != key(number));
                        if weight <= BOUND {
                            list.push((key(number), weight));
                        }
                        while list.iter().map(|(_, weight)| weight).sum::<usize>() > BOUND {
                            list.remove(0);
                        }
                    }
                    Step::Forget(primary) => {
                        let primary = format!("primary {primary}");
                        entries.retain(|(of, _)| *of != primary);
                        list.retain(|((of, _), _)| *of != primary);
                    }
                }
                prop_assert!(entries.weight <= BOUND);
                let order: Vec<_> =
                    entries.by_use.values().map(|key| (key.clone(), entries.all[key].weight)).collect();
                prop_assert_eq!(&order, &list);
                prop_assert_eq!(entries.all.len(), list.len());
                prop_assert_eq!(entries.weight, list.iter().map(|(_, weight)| weight).sum::<usize>());
            }
        }
    }

    #[test]
    fn an_entry_weighs_about_what_it_takes_in_memory() {
        let weight = |text: &str| {
            let objects = Objects::from_yaml(text).expect("it is YAML");
            Entry { inputs: String::new(), digest: String::new(), versions: BTreeMap::new(), objects }
                .weight()
        };
        let (empty, small) = (weight(""), weight("{apiVersion: v1, kind: A}"));
        let large = weight(&format!("{{apiVersion: v1, kind: A, data: {}}}", "x".repeat(10_000)));
        let many = weight(&format!("{{apiVersion: v1, kind: A, data: [{}]}}", "1, ".repeat(1_000)));
        assert!(
            (1..1_000).contains(&empty) && (empty + 20..empty + 1_000).contains(&small),
            "{empty} {small}"
        );
        assert!((10_000..11_000).contains(&(large - small)), "{large}");
        assert!((1_000 * mem::size_of::<Value>()..100_000).contains(&(many - small)), "{many}");
    }
}
