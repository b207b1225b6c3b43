//! What is kept is what the server sent; and who gets which object.

use std::sync::Arc;

use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    cache::{InformerSettings, engine::Decoded, kind_of, tests::typed::TestConfig},
    environment::Environment,
    resource::{
        KubeObject,
        arbitrary_tests::{any_bytes, any_json},
    },
};

impl Memo {
    /// The number of objects in the queue, and their weight.
    fn size(&self) -> (usize, usize) {
        let seats = self.0.lock();
        (seats.by_number.len(), seats.weight)
    }
}

impl TextObject {
    /// The number of informers with values of indexes in this object.
    pub(in crate::cache) fn indexed_for(&self) -> usize {
        self.indexed.get().map_or(0, |all| all.lock().len())
    }
}

fn keeping(managers: &[&str]) -> Keeping {
    let managers: Vec<String> = managers.iter().map(|&name| name.to_owned()).collect();
    Keeping::new(&ResourceType::of::<ConfigMap>(), &managers)
}

fn view<K: KubeObject<DynamicType = ()>>(memo: &Arc<Memo>) -> View {
    View::with_memo(&TestConfig::<K>::new(), kind_of::<K>(), Arc::clone(memo))
}

fn taken(view: &View, object: &Value) -> Arc<TextObject> {
    match view.take(&Item::of(&object.to_string())) {
        Decoded::Object { kept, .. } => kept,
        Decoded::Undecodable(undecodable) => panic!("{undecodable:?}"),
    }
}

fn of_type(object: &AnyObject) -> Arc<ConfigMap> {
    AnyObject::clone(object).typed().expect("a config map")
}

fn data(object: &AnyObject) -> Value {
    json!(of_type(object).data)
}

fn map(name: &str, value: &str) -> Value {
    json!({ "metadata": { "name": name, "uid": "u", "resourceVersion": "7" }, "data": { "a": value } })
}

/// Its metadata is known, and whoever asks for more is told that there is none.
#[test]
fn what_is_not_checked_and_can_not_be_decoded_is_no_other_object() {
    let settings = InformerSettings {
        is_checked: false,
        ..InformerSettings::new("test", ResourceType::of::<ConfigMap>())
    };
    let view = Arc::new(View::new(&settings, kind_of::<ConfigMap>(), &Environment::real()));
    let mut odd = map("odd", "value");
    odd["data"] = "words".into();
    let kept = taken(&view, &odd);
    let error = view.try_open(&kept).map(drop);
    assert_eq!(error, Err("data: invalid type, expected a map".to_owned()));
    let lazy = view.lazy(&ObjectKey::cluster_scoped("odd"), kept);
    assert_eq!(lazy.meta().uid.as_deref(), Some("u"));
    let refused = "odd can't be decoded: data: invalid type, expected a map";
    assert_eq!(lazy.check().map_err(|error| error.to_string()), Err(refused.to_owned()));
    assert_eq!(lazy.to_value().map_err(|error| error.to_string()), Err(refused.to_owned()));
    assert!(lazy.typed::<ConfigMap>().is_none());
}

/// An index, a filter or a handler of the user's looks at it before it is taken in.
#[test]
fn what_somebody_is_asked_about_is_decoded_once() {
    let settings =
        InformerSettings { is_asked: true, ..InformerSettings::new("test", ResourceType::of::<ConfigMap>()) };
    let view = View::new(&settings, kind_of::<ConfigMap>(), &Environment::real());
    let kept = taken(&view, &map("a", "first"));
    let checked = kept.held().expect("what was decoded to be checked waits for who is asked");
    assert!(Arc::ptr_eq(&checked, &view.open(&kept).unwrap()));
}

#[test]
fn the_header_is_found_wherever_the_managed_fields_are() {
    let item = r#"{"metadata":{"name":"ä","resourceVersion":"7","managedFields": [{"manager":"me","fieldsV1":{"f:b":{},"f:a":{}}}, {"manager":"kubectl"},{"manager":"me\u0021"},{"no":1},{"manager":"me","operation":"Apply","time":"2026-11-21T12:00:00Z"}] ,"uid":"u","labels":{"a":"ö\n"},"generation":3,"deletionTimestamp":"2026-11-21T12:00:00Z","finalizers":["f"],"ownerReferences":null},"spec":{"managedFields":[1]}}"#;
    let (key, kept) = keeping(&["me"]).keep(&Item::of(item)).unwrap();
    assert_eq!(key, Some(ObjectKey::cluster_scoped("ä")));
    assert!(
        kept.text().contains(r#""managedFields": null ,"uid""#) && kept.text().contains("[1]"),
        "{}",
        kept.text()
    );
    assert_eq!((kept.uid(), kept.version(), kept.generation()), (Some("u"), Some("7"), Some(3)));
    assert!(Item::of(item).is_state(&kept), "the same is found before it is kept");
    for (other, another) in [(r#""uid":"u""#, r#""uid":"v""#), (r#"Version":"7""#, r#"Version":"8""#)] {
        assert!(!Item::of(&item.replacen(other, another, 1)).is_state(&kept), "{another}");
    }
    assert_eq!(kept.labels(), Some([("a".to_owned(), "ö\n".to_owned())].into()));
    assert_eq!(
        (kept.finalizers(), kept.owners(), kept.annotations()),
        (Some(vec!["f".to_owned()]), None, None)
    );
    assert!(kept.is_marked() && kept.marked_at().is_some());
    assert_eq!(
        json!(kept.own_managed_fields()),
        json!([{ "manager": "me", "fieldsV1": r#"{"f:b":{},"f:a":{}}"# }, { "manager": "me", "operation": "Apply" }])
    );
    assert_eq!(json!(keeping(&[]).keep(&Item::of(item)).unwrap().1.own_managed_fields()), json!(null));
    let own = keeping(&["me!"]).keep(&Item::of(item)).unwrap().1.own_managed_fields();
    assert_eq!(json!(own), json!([{ "manager": "me!" }]), "names are compared, not their text");
}

#[test]
fn what_cannot_be_read_is_not_kept() {
    for item in ["{}", "[1", "7", r#"{"metadata":7}"#, r#"{"metadata":{"uid":"\u0041"}}"#] {
        assert!(keeping(&["me"]).keep(&Item::of(item)).is_none(), "{item}");
    }
    let (key, kept) =
        keeping(&["me"]).keep(&Item::of(r#"{"metadata":{"managedFields":7,"uid":"u"}}"#)).unwrap();
    assert_eq!(
        (key, kept.text(), kept.uid()),
        (None, r#"{"metadata":{"managedFields":null,"uid":"u"}}"#, Some("u"))
    );
    // Less than what stands in its place.
    for fields in ["[]", "7", r#"[{"manager":"somebody"}]"#] {
        let text = format!(
            r#"{{"metadata":{{"managedFields":{fields},"uid":"u","resourceVersion":"7","name":"a"}}}}"#
        );
        let (_, kept) = keeping(&["me"]).keep(&Item::of(&text)).unwrap();
        assert!(Item::of(&text).is_state(&kept), "{fields}");
    }
}

#[test]
fn all_readers_get_the_same_object_while_anybody_holds_it() {
    let memo = Arc::default();
    let view = view::<ConfigMap>(&memo);
    let kept = taken(&view, &map("a", "first"));
    assert_eq!(memo.size().0, 0, "it was decoded to be checked, and nobody has asked");
    let held = view.open(&kept).unwrap();
    assert!(Arc::ptr_eq(&held, &view.open(&kept).unwrap()));
    assert_eq!(memo.size().0, 1);
    // The memo lets it go, and its reader doesn't.
    let long = "x".repeat(1 << 20);
    let others: Vec<_> = (0..10).map(|_| taken(&view, &map("b", &long))).collect();
    others.iter().for_each(|other| drop(view.open(other)));
    assert!(memo.size().1 <= 4 << 20, "{:?}", memo.size());
    assert!(Arc::ptr_eq(&held, &view.open(&kept).unwrap()));
    let again = Arc::downgrade(&held);
    drop(held);
    assert!(again.upgrade().is_none(), "nobody holds it any more");
    assert_eq!(data(&view.open(&kept).unwrap()), json!({ "a": "first" }));
}

#[test]
fn what_is_kept_no_more_leaves_nothing_in_the_memo() {
    let memo = Arc::default();
    let view = view::<ConfigMap>(&memo);
    let all: Vec<_> = (0..100).map(|_| taken(&view, &map("a", "first"))).collect();
    let weak: Vec<_> = all.iter().map(|kept| Arc::downgrade(&view.open(kept).unwrap())).collect();
    assert_eq!(memo.size().0, 100);
    drop(all);
    assert_eq!(memo.size(), (0, 0));
    assert!(weak.iter().all(|object| object.upgrade().is_none()));
}

#[test]
fn what_left_the_memo_takes_no_memory() {
    let memo = Arc::default();
    let view = view::<ConfigMap>(&memo);
    let all: Vec<_> = (0..10).map(|_| taken(&view, &map("a", &"x".repeat(1 << 20)))).collect();
    all.iter().for_each(|kept| drop(view.open(kept)));
    let opened = all.iter().filter(|kept| kept.opened.lock().is_some()).count();
    assert_eq!(opened, memo.size().0, "a weak pointer keeps the memory that an object was built in");
}

#[test]
fn a_secret_is_held_no_longer_than_by_its_readers_and_never_printed() {
    let memo = Arc::default();
    let view = view::<Secret>(&memo);
    let data = json!({ "password": ByteString("hunter2".into()) });
    let kept = taken(&view, &json!({ "metadata": { "name": "a", "uid": "u" }, "data": data }));
    let held = view.open(&kept).unwrap();
    assert!(Arc::ptr_eq(&held, &view.open(&kept).unwrap()));
    let weak = Arc::downgrade(&held);
    drop(held);
    assert!(weak.upgrade().is_none() && memo.size().0 == 0);
    let encoded = data["password"].as_str().unwrap();
    assert!(!format!("{kept:?} {view:?}").contains(encoded));
}

#[test]
fn the_text_of_a_secret_is_overwritten() {
    for (is_sensitive, expected) in [(true, "\0".repeat(7)), (false, "hunter2".to_owned())] {
        let mut text = std::mem::ManuallyDrop::new(Text { text: "hunter2".into(), is_sensitive });
        // What `Drop` does, but for giving back the memory.
        text.wipe();
        assert_eq!(&*text.text, expected);
        drop(std::mem::ManuallyDrop::into_inner(text));
    }
}

#[test]
fn metadata_is_taken_over_from_what_cannot_be_understood() {
    let view = view::<ConfigMap>(&Arc::default());
    let good = taken(&view, &map("a", "first"));
    let broken = json!({
        "metadata": { "name": "a", "uid": "u", "resourceVersion": "9", "deletionTimestamp": "2026-11-21T12:00:00Z" },
        "data": "not a map",
    });
    let Decoded::Undecodable(undecodable) = view.take(&Item::of(&broken.to_string())) else {
        panic!("it can't be decoded")
    };
    let both = view.with_metadata(&good, undecodable.kept.as_ref().unwrap()).unwrap();
    assert!(both.is_marked() && both.version() == Some("9"));
    assert_eq!(data(&view.open(&Arc::new(both)).unwrap()), json!({ "a": "first" }));
    // Labels that are none: what would come of it can't be understood either.
    let odd = json!({ "metadata": { "name": "a", "labels": 7 } });
    let Decoded::Undecodable(undecodable) = view.take(&Item::of(&odd.to_string())) else {
        panic!("it can't be decoded")
    };
    assert!(view.with_metadata(&good, undecodable.kept.as_ref().unwrap()).is_none());
}

#[test]
fn an_answer_is_kept_as_the_watch_will_show_it() {
    let view = Arc::new(crate::cache::tests::known::view::<ConfigMap>());
    let mut object = map("a", "first");
    object["metadata"]["managedFields"] = json!([
        { "manager": "me", "operation": "Apply", "fieldsV1": { "f:data": { "f:a": {} } } },
        { "manager": "kubectl", "operation": "Update", "fieldsV1": { "f:data": { "f:b": {} } } },
    ]);
    let shown = view.open(&taken(&view, &object)).unwrap();
    let read = view.answer(&object.to_string()).unwrap();
    let given = view.answer_of(Arc::new(serde_json::from_value::<ConfigMap>(object).unwrap()));
    for answer in [read, given] {
        assert_eq!(of_type(&answer.object), of_type(&shown));
        let kept = answer.kept.unwrap();
        assert!(Arc::ptr_eq(&answer.object, &view.open(&kept).unwrap()), "it isn't decoded once more");
        drop(answer.object);
        assert_eq!(of_type(&view.open(&kept).unwrap()), of_type(&shown));
    }
}

#[test]
fn the_error_of_an_answer_repeats_none_of_its_values_whatever_its_kind() {
    let answer =
        json!({ "metadata": { "name": "a" }, "data": { "password": { "hunter2": 1 }, "more": "hunter2" } });
    let view = Arc::new(view::<ConfigMap>(&Arc::default()));
    let error = view.answer(&answer.to_string()).err().expect("a map is no text");
    assert_eq!(error.to_string(), "data.password: invalid type, expected a string");
}

/// Whatever else others change, the operator's managers would own less if it mattered.
#[test]
fn what_lasts_holds_while_our_managers_own_the_same() {
    let state_of = |owned: &Value, label: &str, time: u32| {
        let mut object = map("a", "first");
        object["metadata"]["labels"] = json!({ "of-others": label });
        object["metadata"]["managedFields"] = json!([
            { "manager": "me", "operation": "Apply", "time": format!("2026-11-21T12:00:0{time}Z"), "fieldsV1": owned },
            { "manager": "kubectl", "operation": "Update", "fieldsV1": { "f:metadata": { "f:labels": { "f:of-others": {} } } } },
        ]);
        object.to_string()
    };
    let state = |owned: &Value, label: &str| state_of(owned, label, 0);
    let keeping = keeping(&["me"]);
    let keep = |text: &str| keeping.keep(&Item::of(text)).unwrap().1;
    let (all, less) = (json!({ "f:data": { "f:a": {}, "f:b": {} } }), json!({ "f:data": { "f:a": {} } }));
    let verdict = NonZeroU64::new(8);
    for (lasts, owned, expected) in [(true, &all, verdict), (true, &less, None), (false, &all, None)] {
        let (older, newer) = (keep(&state(&all, "one")), keep(&state(owned, "other")));
        older.verdict().note(verdict.unwrap(), lasts);
        newer.take_over_verdict(&older);
        assert_eq!(newer.verdict().get(), expected, "{lasts} {owned}");
        let next = keep(&state(&all, "third"));
        next.take_over_verdict(&newer);
        assert_eq!(next.verdict().get(), expected, "and the one after that");
    }
    let (older, unowned) = (keep(&state(&all, "one")), keep(&map("a", "first").to_string()));
    older.verdict().note(verdict.unwrap(), true);
    unowned.take_over_verdict(&older);
    assert_eq!(unowned.verdict().get(), None);
    let (older, applied) = (keep(&state(&all, "one")), keep(&state_of(&all, "one", 1)));
    older.verdict().note(verdict.unwrap(), true);
    applied.take_over_verdict(&older);
    assert_eq!(applied.verdict().get(), None, "another process of this name has applied other values");
    older.verdict().forget();
    let next = keep(&state(&all, "other"));
    next.take_over_verdict(&older);
    assert_eq!(next.verdict().get(), None, "we have applied other values");
}

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn a_text_of_any_kind_is_kept_as_it_is_or_not_at_all(text in any_bytes()) {
        if let Ok(text) = std::str::from_utf8(&text)
            && let Some((_, kept)) = keeping(&["me"]).keep(&Item::of(text))
        {
            prop_assert!(kept.text() == text || text.contains("managedFields"));
        }
    }

    #[test]
    fn nothing_but_the_managed_fields_is_cut(object in any_json(), managed_fields in any_json()) {
        let mut whole = json!({ "spec": object.clone(), "metadata": { "a": object.clone(), "z": object } });
        whole["metadata"]["managedFields"] = managed_fields;
        let (_, kept) = keeping(&["me"]).keep(&Item::of(&whole.to_string())).unwrap();
        whole["metadata"]["managedFields"] = Value::Null;
        prop_assert_eq!(serde_json::from_str::<Value>(kept.text()).unwrap(), whole);
    }

    #[test]
    fn the_header_says_what_the_metadata_does(
        words in prop::collection::vec(prop::option::of("[a-z0-9ä.-]{0,6}"), 4),
        labels in prop::option::of(prop::collection::btree_map(".{0,4}", ".{0,4}", 0..3)),
        finalizers in prop::option::of(prop::collection::vec(".{0,4}", 0..3)),
        generation in prop::option::of(any::<i64>()),
        managed in any_json(),
    ) {
        let mut whole = json!({ "metadata": {
            "annotations": labels, "generation": generation, "finalizers": finalizers,
            "managedFields": managed, "labels": labels,
            "name": words[0], "namespace": words[1], "resourceVersion": words[2], "uid": words[3],
        }});
        let (key, kept) = keeping(&[]).keep(&Item::of(&whole.to_string())).unwrap();
        whole["metadata"]["managedFields"] = Value::Null;
        let meta: ObjectMeta = serde_json::from_value(whole["metadata"].clone()).unwrap();
        let named = ConfigMap { metadata: meta.clone(), ..ConfigMap::default() };
        prop_assert_eq!(key, meta.name.is_some().then(|| ObjectKey::of(&named)));
        let some = |word: Option<String>| word.filter(|word| !word.is_empty());
        prop_assert_eq!(kept.uid().map(str::to_owned), some(meta.uid));
        prop_assert_eq!(kept.version().map(str::to_owned), some(meta.resource_version));
        prop_assert_eq!(kept.generation(), meta.generation);
        prop_assert_eq!((kept.labels(), kept.annotations()), (meta.labels, meta.annotations));
        prop_assert_eq!(kept.finalizers(), meta.finalizers);
    }
}
