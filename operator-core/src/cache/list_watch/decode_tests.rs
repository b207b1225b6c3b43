//! Whatever a server sends is understood, or refused with words that name what was wrong, and never with a Secret's values.

use std::sync::Arc;

use http::{HeaderValue, header::RETRY_AFTER};
use k8s_openapi::{
    ByteString,
    api::core::v1::{ConfigMap, Secret},
};
use kube::core::DynamicObject;
use proptest::prelude::*;
use serde_json::{Value, json, value::RawValue};

use crate::{
    cache::{
        InformerSettings,
        engine::{Decoded, Undecodable, WatchEvent},
        kind_of,
        text::{Face, Item, View},
    },
    client::retry_after,
    resource::{
        KubeObject, MASKED, ObjectKey, ResourceType,
        arbitrary_tests::{any_bytes, any_json},
    },
};

use super::{
    backoff,
    decode::{Identity, Line, List, Page, RawLine, as_go_spells_it, line, refusal, shown},
    failure::Failure,
};

/// The value that must not be seen anywhere.
const CANARY: &str = "hunter2";

fn view<K: KubeObject>(kind: &ResourceType) -> View {
    let own_managers = vec!["me".to_owned()];
    let settings = InformerSettings { own_managers, ..InformerSettings::new("test", kind.clone()) };
    View::with_memo(&settings, kind_of::<K>(), Arc::default())
}

fn understood<K: KubeObject>(text: &[u8], kind: &ResourceType) -> Line {
    line(text, kind, &view::<K>(kind), &|_| None)
}

/// The items of a list that `body` is, as they are decoded.
fn listed(body: &[u8], kind: &ResourceType) -> Result<Vec<Decoded>, Failure> {
    let view = view::<ConfigMap>(kind);
    let body = String::from_utf8(body.to_vec())
        .map_err(|_| Failure::new("the response isn't a list: it isn't valid UTF-8"))?;
    Ok(Page::parse(body, kind)?.items().map(|item| view.take(&item)).collect())
}

/// Whether what is understood in one pass of a line stands so in it.
fn line_is_the_same(line: &str) -> bool {
    let Some((kind, item)) = shown(line.as_bytes()) else { return true };
    let raw = serde_json::from_str::<RawLine<'_>>(line);
    raw.is_ok_and(|raw| {
        raw.kind == kind && format!("{:?}", Item::of(raw.object.get())) == format!("{item:?}")
    })
}

/// Whether a list that is read in one pass is that list.
fn list_is_the_same(body: &str) -> bool {
    let Some((metadata, found)) = as_go_spells_it(body) else { return true };
    let Ok(list) = serde_json::from_str::<List<&RawValue>>(body) else { return false };
    let two: Vec<_> = list.items.into_iter().flatten().map(|item| Item::of(item.get())).collect();
    let one = found.iter().map(|item| Item::with(&body[item.range.clone()], item.outline.as_ref()));
    list.metadata == metadata && format!("{two:?}") == format!("{:?}", one.collect::<Vec<_>>())
}

/// What is said of something that can't be understood; nothing of what can.
fn words(line: &Line) -> Option<&str> {
    match line {
        Line::Event(WatchEvent::Applied(decoded) | WatchEvent::Deleted(decoded), _) => match decoded {
            Decoded::Object { .. } => None,
            Decoded::Undecodable(undecodable) => Some(&undecodable.error),
        },
        Line::Bookmark { .. } => None,
        Line::Error(failure) | Line::Broken(failure) => Some(&failure.reason),
    }
}

fn config_map(name: &str) -> Value {
    json!({ "metadata": { "name": name, "namespace": "shop", "resourceVersion": "7" }, "data": { "a": "b" } })
}

/// JSON of any shape, each text in it the canary.
fn any_secret() -> impl Strategy<Value = Value> {
    fn with_canary(value: Value) -> Value {
        match value {
            Value::String(_) | Value::Bool(_) => CANARY.into(),
            Value::Array(items) => items.into_iter().map(with_canary).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, with_canary(value))).collect())
            }
            other => other,
        }
    }
    any_json().prop_map(with_canary)
}

const KINDS: [&str; 6] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", CANARY];

proptest! {
    #![proptest_config(crate::properties::daily())]

    #[test]
    fn any_bytes_are_a_line_or_none(text in any_bytes()) {
        let kind = ResourceType::of::<ConfigMap>();
        if let Line::Broken(failure) = understood::<ConfigMap>(&text, &kind) {
            let told = ["a line of the watch isn't an event", "the watch showed an unknown event"];
            prop_assert!(told.iter().any(|told| failure.reason.starts_with(told)), "{}", failure.reason);
        }
    }

    #[test]
    fn any_object_is_an_event_of_any_type(
        event in prop::sample::select(&KINDS[..]),
        item in any_json(),
    ) {
        let text = json!({ "type": event, "object": item }).to_string();
        let kind = ResourceType::of::<ConfigMap>();
        let line = understood::<ConfigMap>(text.as_bytes(), &kind);
        let is_as_said = match event {
            "BOOKMARK" => matches!(line, Line::Bookmark { .. }),
            "ERROR" => matches!(line, Line::Error(_)),
            "ADDED" | "MODIFIED" => matches!(line, Line::Event(WatchEvent::Applied(_), _)),
            "DELETED" => matches!(line, Line::Event(WatchEvent::Deleted(_), _)),
            _ => matches!(line, Line::Broken(_)),
        };
        prop_assert!(is_as_said, "{line:?}");
        // A type that is known at run time only takes more shapes.
        let _ = understood::<DynamicObject>(text.as_bytes(), &kind);
    }

    #[test]
    fn any_bytes_are_a_list_or_none(body in any_bytes()) {
        if let Err(failure) = listed(&body, &ResourceType::of::<ConfigMap>()) {
            prop_assert!(failure.reason.starts_with("the response isn't a list"), "{}", failure.reason);
        }
    }

    #[test]
    fn what_cannot_be_decoded_takes_no_other_item_of_the_list_along(
        items in prop::collection::vec(prop::option::of(any_json()), 0..6),
    ) {
        let named = |index: usize| format!("sound-{index}");
        let all: Vec<Value> = items.iter().enumerate()
            .map(|(index, item)| item.clone().unwrap_or_else(|| config_map(&named(index))))
            .collect();
        let body = json!({ "metadata": { "resourceVersion": "9" }, "items": all }).to_string();
        let decoded = listed(body.as_bytes(), &ResourceType::of::<ConfigMap>()).unwrap();
        prop_assert_eq!(decoded.len(), items.len(), "nothing is lost");
        for (index, decoded) in decoded.iter().enumerate().filter(|(index, _)| items[*index].is_none()) {
            let Decoded::Object { key, .. } = decoded else { panic!("{decoded:?}") };
            prop_assert_eq!(key.name(), named(index));
        }
    }

    #[test]
    fn what_cannot_be_decoded_keeps_its_identity(data in any_json()) {
        let mut item = config_map("odd");
        item["data"] = data;
        let item = item.to_string();
        let kind = ResourceType::of::<ConfigMap>();
        match view::<ConfigMap>(&kind).take(&Item::of(&item)) {
            Decoded::Object { key, .. } => prop_assert_eq!(key.name(), "odd"),
            Decoded::Undecodable(Undecodable { key, version, kept, .. }) => {
                prop_assert_eq!(kept.unwrap().version().map(str::to_owned), version.clone());
                prop_assert_eq!(key, Some(ObjectKey::namespaced("shop", "odd")));
                prop_assert_eq!(version.as_deref(), Some("7"));
            }
        }
        prop_assert!(Identity::of(&item).is_some());
    }

    #[test]
    fn what_is_understood_in_one_pass_is_the_same_in_two(
        objects in prop::collection::vec((any_json(), any_json(), any::<bool>()), 0..4),
        event in prop::sample::select(&KINDS[..]),
        damage in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let items: Vec<Value> = objects
            .into_iter()
            .map(|(data, metadata, odd)| {
                let mut item = config_map("odd");
                item["data"] = data;
                if odd {
                    item["metadata"] = metadata;
                }
                item
            })
            .collect();
        let damaged = |text: String| {
            let mut bytes = text.into_bytes();
            if let Some((at, with)) = damage {
                *at.get_mut(&mut bytes) = with;
            }
            String::from_utf8(bytes)
        };
        for item in &items {
            // In the order in which Go spells them.
            if let Ok(line) = damaged(format!(r#"{{"type":"{event}","object":{item}}}"#)) {
                prop_assert!(line_is_the_same(&line), "{line}");
            }
        }
        let (items, metadata) = (json!(items), json!({ "resourceVersion": "7" }));
        let typed = format!(r#"{{"kind":"L","metadata":{metadata},"items":{items}}}"#);
        let custom = format!(r#"{{"apiVersion":"v1","items":{items},"kind":"L","metadata":{metadata}}}"#);
        for body in [typed, custom] {
            if let Ok(body) = damaged(body) {
                prop_assert!(list_is_the_same(&body), "{body}");
            }
        }
    }

    #[test]
    fn no_value_of_a_secret_is_quoted(event in prop::sample::select(&KINDS[..]), item in any_secret()) {
        let kind = ResourceType::of::<Secret>();
        let whole = json!({ "type": event, "object": item });
        for text in [whole.to_string(), item.to_string(), json!({ "type": item, "object": 1 }).to_string()] {
            let line = understood::<Secret>(text.as_bytes(), &kind);
            let words = words(&line).unwrap_or_default();
            prop_assert!(!words.contains(CANARY), "{words}");
            if let Err(failure) = Page::parse(text, &kind) {
                prop_assert!(!failure.reason.contains(CANARY), "{}", failure.reason);
            }
        }
    }

    #[test]
    fn a_server_is_given_as_much_time_as_it_asks_for_within_bounds(
        header in prop_oneof!["[0-9]{0,25}", ".{0,12}"],
        status in prop::option::of(any::<u16>()),
        failures: u32,
    ) {
        // What can't be the value of a header isn't sent.
        let header = HeaderValue::from_bytes(header.as_bytes()).ok().map(|value| (RETRY_AFTER, value));
        let retry_after = retry_after(&header.into_iter().collect());
        let failure = Failure { status, retry_after, ..Failure::new("overloaded") };
        let wait = backoff::wait_after(&failure, failures);
        let longest = std::time::Duration::from_secs(300);
        prop_assert!(wait <= longest, "{wait:?}");
        prop_assert!(wait >= retry_after.unwrap_or_default().min(longest));
    }
}

#[test]
fn a_decoder_would_quote_a_value_and_is_not_repeated() {
    let secret = json!({ "metadata": { "name": "db" }, "type": "Opaque", "data": CANARY });
    let text = json!({ "type": "ADDED", "object": secret }).to_string();
    let kind = ResourceType::of::<Secret>();
    assert_eq!(words(&understood::<Secret>(text.as_bytes(), &kind)), Some(MASKED));
    // Of another type it is said what is expected, and where; its values are nobody's business either.
    let other = ResourceType::of::<ConfigMap>();
    let Line::Event(WatchEvent::Applied(Decoded::Undecodable(Undecodable { error, .. })), _) =
        understood::<ConfigMap>(text.as_bytes(), &other)
    else {
        panic!("a config map's data is a map")
    };
    assert!(!error.contains(CANARY) && error.starts_with("data: invalid type, expected "), "{error}");
    assert!(
        !json!(ByteString(CANARY.into())).to_string().contains(CANARY),
        "what is encoded would not be found"
    );
}

#[test]
fn the_server_is_quoted_about_a_request_for_secrets_and_not_about_its_own_trouble() {
    let said = |code| {
        let status = kube::core::Status::failure(CANARY, "InternalError").with_code(code);
        refusal(code, &status, &ResourceType::of::<Secret>()).reason
    };
    assert_eq!([said(403), said(410), said(504)], [CANARY; 3]);
    assert_eq!([said(500), said(502)], [MASKED; 2]);
}

#[test]
fn what_a_server_sends_is_understood_in_one_pass() {
    let item = config_map("a");
    let lists = [
        format!(r#"{{"kind":"L","metadata":{{"resourceVersion":"7"}},"items":[{item},{item}]}}"#),
        format!(r#"{{"items":[{item},{item}],"kind":"L","metadata":{{"resourceVersion":"7"}}}}"#) + "\n",
        r#"{"items":[],"metadata":{}}"#.to_owned(),
    ];
    let found = lists.map(|list| as_go_spells_it(&list).map(|(_, items)| items.len()));
    assert_eq!(found, [Some(2), Some(2), Some(0)]);
    // Those of something else, and what is none.
    for other in [
        format!(r#"{{"x":{{"items":[{item}]}},"metadata":{{}},"items":[]}}"#),
        format!(r#"{{"metadata":{{}},"items":[{item} {item}]}}"#),
        format!(r#"{{"metadata":{{}},"items":[{item},7]}}"#),
        r#"{"metadata":{},"items":null}"#.to_owned(),
    ] {
        assert!(as_go_spells_it(&other).is_none(), "{other}");
    }
    let line = format!("{{\"type\":\"MODIFIED\",\"object\":{item}}}\n");
    assert_eq!(
        shown(line.as_bytes()).map(|(kind, item)| (kind, item.text)),
        Some(("MODIFIED", &*item.to_string()))
    );
    assert!(shown(format!(r#"{{"type":"ADDED","object":{item}"#).as_bytes()).is_none(), "it is cut off");
}

#[test]
fn the_items_of_a_page_are_parts_of_its_text() {
    let items = [config_map("a"), config_map("b")];
    let body = json!({ "metadata": { "resourceVersion": "7" }, "items": items }).to_string();
    let text = body.as_bytes().as_ptr_range();
    let page = Page::parse(body, &ResourceType::of::<ConfigMap>()).unwrap();
    let found: Vec<&str> = page.items().map(|item| item.text).collect();
    assert_eq!(found, items.map(|item| item.to_string()));
    assert!(found.iter().all(|item| text.contains(&item.as_ptr())), "the text is held twice");
}
