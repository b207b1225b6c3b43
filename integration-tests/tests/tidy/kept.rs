//! Everything in the library that is keyed by an object is counted when a test looks for leaks, or is no memory of the past.
//!
//! A map that is keyed by a primary outlives the primary unless somebody takes the entry out. So each field whose type holds such
//! a map or set stands in the table below, with the words of the code that count it, or with why it can't leak. Whoever adds one
//! registers it with `Environment::keeps`, or counts it in the `leftovers` of its event source, and adds it here.

use std::collections::BTreeSet;

use syn::{Fields, Item};

use crate::sources;

/// How a map is accounted for.
enum How {
    /// These words of the library count it.
    Counted(&'static str),
    /// It keeps nothing about what is gone.
    Passing(&'static str),
}

use How::{Counted, Passing};

const KEPT: &[(&str, &str, How)] = &[
    ("event_source/references.rs", "References.lookup", Passing("a function")),
    (
        "cache/engine/mod.rs",
        "State.undecodable",
        Passing("objects that exist, told by their own name in `/readyz`"),
    ),
    ("cache/engine/mod.rs", "Collection.stored", Counted("engine.collection_leftovers()")),
    ("cache/engine/mod.rs", "Listing.keys", Passing("what a list that is being taken in has shown")),
    ("cache/list_watch/feed/shown.rs", "Shown.objects", Passing("objects that exist")),
    (
        "cache/list_watch/feed/shown.rs",
        "Listing.keys",
        Passing("what a list that is being taken in has shown"),
    ),
    ("cache/indexers.rs", "Index.keys", Counted("engine.index_leftovers()")),
    ("cache/overlay/mod.rs", "Collection.own", Passing("bounded by `MOST_AWAITED`")),
    ("cache/overlay/mod.rs", "Collection.recent", Counted("engine.recent()")),
    ("cache/overlay/mod.rs", "Overlay.windows", Counted("engine.windows()")),
    ("cache/overlay/recent.rs", "Recent.objects", Counted("engine.recent()")),
    ("cache/store/pins.rs", "Pins.0", Passing("a run gives its pins back when it ends, by a guard")),
    ("cache/secondary_index.rs", "SecondaryIndex.primaries", Counted("links.lock().secondaries()")),
    ("cache/secondary_index.rs", "SecondaryIndex.secondaries", Counted("links.lock().secondaries()")),
    ("cache/store/bounded.rs", "BoundedStore.records", Passing("the store itself: objects that exist")),
    ("cache/store/bounded.rs", "BoundedStore.objects", Passing("the store itself: objects that exist")),
    ("cache/store/full.rs", "FullStore.0", Passing("the store itself: objects that exist")),
    ("cli/dev/nodes.rs", "Nodes.0", Passing("what `dev` has said of a primary, which goes with it")),
    ("cli/dev/objects.rs", "Narrator.unready", Passing("what `dev` waits for, which goes with the object")),
    ("dependent/object/jobs/memory.rs", "Jobs.wanted", Passing("what one run wants")),
    ("dependent/record/memory.rs", "Memory.0", Counted("self.memory.leftovers(exists)")),
    ("dependent/system/backoff.rs", "Backoff.controllers", Counted("backoff.leftovers(&self.controller")),
    ("event_source/conditional/claims.rs", "Claims.active", Counted(r#"keeps("claims""#)),
    ("event_source/conditional/claims.rs", "Phase::Syncing.waiting", Counted(r#"keeps("claims""#)),
    ("event_source/external/cache.rs", "ExternalCache.entries", Counted("self.cache.primaries()")),
    ("event_source/external/per_primary/members.rs", "Members.members", Counted("self.members.keys()")),
    ("event_source/external/schedule.rs", "Schedule.by_key", Counted("self.schedule.keys()")),
    ("event_source/external/schedule.rs", "Schedule.by_time", Counted("self.schedule.keys()")),
    (
        "event_source/unconfirmed_writes.rs",
        "UnconfirmedWrites.0",
        Counted("self.unconfirmed.leftovers(exists)"),
    ),
    ("reconciler/expectation.rs", "Expectations.0", Counted(r#"keeps("expectations""#)),
    ("operations/events/spam.rs", "Quotas.of", Counted("quotas.leftovers(exists)")),
    ("processor/machine/mod.rs", "Machine.records", Counted("controller.snapshot().await.keys")),
    (
        "processor/machine/ready.rs",
        "Ready.background",
        Passing("goes with its record, as the properties of the machine say"),
    ),
    (
        "processor/machine/ready.rs",
        "Ready.foreground",
        Passing("goes with its record, as the properties of the machine say"),
    ),
    (
        "processor/machine/timers.rs",
        "Timers.by_deadline",
        Passing("goes with its record, as the properties of the machine say"),
    ),
    ("processor/shell/gauges.rs", "Bench.running", Passing("a test's own")),
    ("results/leaving.rs", "Leaving.0", Counted(r#"keeps("deletions""#)),
    ("results/latest.rs", "LatestResults.0", Counted(r#"keeps("results""#)),
];

const COLLECTIONS: [&str; 7] = ["HashMap", "BTreeMap", "DashMap", "HashSet", "BTreeSet", "IndexMap", "Cache"];
const KEYS: [&str; 3] = ["ObjectKey", "ResourceId", "Uid"];

/// Whether a type holds a map or a set of objects, be it by a name of its own.
fn is_keyed(of: &syn::Type, aliases: &BTreeSet<String>) -> bool {
    let text = format!("{of:?}");
    let words: BTreeSet<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let names = |name: &str| words.contains(name);
    COLLECTIONS.iter().any(|name| names(name)) && KEYS.iter().any(|name| names(name))
        || aliases.iter().any(|alias| names(alias))
}

/// The fields that hold one, as `Struct.field`.
fn keyed_fields(owner: &str, fields: &Fields, aliases: &BTreeSet<String>) -> Vec<String> {
    let keyed = fields.iter().enumerate().filter(|(_, field)| is_keyed(&field.ty, aliases));
    let name = |(number, field): (usize, &syn::Field)| {
        field.ident.as_ref().map_or_else(|| number.to_string(), ToString::to_string)
    };
    keyed.map(|field| format!("{owner}.{}", name(field))).collect()
}

/// All that hold one in a file.
fn keyed(items: &[Item], aliases: &BTreeSet<String>) -> Vec<String> {
    let of = |item: &Item| match item {
        Item::Struct(item) => keyed_fields(&item.ident.to_string(), &item.fields, aliases),
        Item::Enum(item) => {
            let variant = |variant: &syn::Variant| {
                keyed_fields(&format!("{}::{}", item.ident, variant.ident), &variant.fields, aliases)
            };
            item.variants.iter().flat_map(variant).collect()
        }
        Item::Static(item) if is_keyed(&item.ty, aliases) => vec![item.ident.to_string()],
        _ => Vec::new(),
    };
    items.iter().flat_map(of).collect()
}

/// The names that a file gives to such maps.
fn aliases(items: &[Item]) -> BTreeSet<String> {
    let none = BTreeSet::new();
    let all = items.iter().filter_map(|item| match item {
        Item::Type(alias) if is_keyed(&alias.ty, &none) => Some(alias.ident.to_string()),
        _ => None,
    });
    all.collect()
}

fn parsed(text: &str) -> Vec<Item> {
    syn::parse_file(text).expect("a source file is Rust").items
}

#[test]
fn fields_are_found_whatever_the_map_is_called() {
    let items = parsed(
        "type Known = HashMap<ObjectKey, u32>; struct A { known: Mutex<Known>, text: String } \
         struct B(BTreeSet<(Now, ObjectKey)>); enum C { D { runs: DashMap<(String, Uid), u8> } } \
         struct E { of: BTreeMap<String, ObjectKey> } struct F { one: ObjectKey, all: BTreeMap<String, u32> }",
    );
    assert_eq!(keyed(&items, &aliases(&items)), ["A.known", "B.0", "C::D.runs", "E.of"]);
}

#[test]
fn what_is_keyed_by_an_object_is_counted() {
    let sources: Vec<_> =
        sources::rust("operator-core/src").into_iter().filter(|source| !source.is_test()).collect();
    let code: String = sources.iter().map(sources::Source::code).collect();
    let mut found = Vec::new();
    for source in sources.iter().filter(|source| !source.path.starts_with("testing/")) {
        let items = parsed(&source.text);
        found.extend(keyed(&items, &aliases(&items)).into_iter().map(|field| (source.path.clone(), field)));
    }
    assert!(!found.is_empty(), "the check finds what there is");
    let listed =
        |(path, field): &(String, String)| KEPT.iter().any(|(file, name, _)| file == path && name == field);
    let missing: Vec<_> = found.iter().filter(|field| !listed(field)).collect();
    assert!(missing.is_empty(), "keyed by an object, and nobody says how it is counted: {missing:#?}");
    for (file, field, how) in KEPT {
        let is_there = found.iter().any(|(path, name)| path == file && name == field);
        assert!(is_there, "{file} has no {field} any more");
        match how {
            Counted(by) => assert!(code.contains(by), "{file}, {field}: nothing says {by:?}"),
            Passing(why) => assert!(!why.is_empty(), "{file}, {field}: why can it not leak?"),
        }
    }
}
