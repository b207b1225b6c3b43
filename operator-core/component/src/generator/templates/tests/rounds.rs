//! Rendering stops where an object isn't known, and goes on when it is.

use std::collections::BTreeSet;

use proptest::{prelude::*, test_runner::Config};

use super::{render::MOST_ROUNDS, *};

#[test]
fn a_round_asks_for_one_object_of_each_file() {
    let primary = primary();
    let cx = RenderContext::of(&primary);
    let one = "{% set a = lookup('v1', 'ConfigMap', namespace, 'a') %}{% if a %}{% set b = lookup('v1', 'ConfigMap', namespace, a.data.next) %}{% endif %}";
    let other = "{% set c = lookup('v1', 'ConfigMap', namespace, 'c') %}";
    let templates = templates(&[("a.yaml", one), ("b.yaml", other), ("c.yaml", "")]);
    let mut rendering = templates.rendering(&cx);
    let unknown = |round| match round {
        Ok(Round::Unknown(unknown)) => unknown,
        other => panic!("{other:?}"),
    };
    let keys = |names: &[&str]| names.iter().map(|name| key("ConfigMap", name)).collect::<BTreeSet<_>>();
    assert_eq!(unknown(rendering.round()), keys(&["a", "c"]));
    assert_eq!(unknown(rendering.round()), keys(&["a", "c"]), "nothing was learned");
    rendering.learn(key("ConfigMap", "a"), Some(&json!({ "data": { "next": "b" } })));
    rendering.learn(key("ConfigMap", "c"), None);
    assert_eq!(unknown(rendering.round()), keys(&["b"]));
    rendering.learn(key("ConfigMap", "b"), None);
    assert!(matches!(rendering.round(), Ok(Round::Rendered(objects)) if objects.is_empty()));
}

#[tokio::test]
async fn as_many_objects_as_there_are_rounds_can_be_looked_up_and_no_more() {
    let primary = primary();
    for (count, is_sound) in [(MOST_ROUNDS, true), (MOST_ROUNDS + 1, false)] {
        let text = format!(
            "{{% for i in range({count}) %}}{{% set a = lookup('v1', 'ConfigMap', namespace, i) %}}{{% endfor %}}"
        );
        let cluster = Counted::of("");
        let cx = RenderContext::of(&primary).with_lookup(&cluster);
        let result = templates(&[("a.yaml", &text)]).generate(&cx).await;
        match result {
            Ok(_) => assert!(is_sound),
            Err(error) => {
                assert!(!is_sound, "{error}");
                assert_eq!(
                    error.to_string(),
                    format!("a.yaml: more than {MOST_ROUNDS} objects are looked up")
                );
                assert!(is_permanent(&*error));
            }
        }
        assert_eq!(cluster.reads(), MOST_ROUNDS);
    }
}

proptest! {
    #![proptest_config(Config { cases: 500, ..crate::properties::daily() })]

    /// Lookups that depend on one another, in several files: as if everything had been known beforehand.
    #[test]
    fn what_comes_out_is_as_if_all_had_been_known(
        nexts in prop::collection::vec(prop::option::of(0_usize..8), 8),
        starts in prop::collection::vec((0_usize..8, 1_usize..6), 1..4),
    ) {
        let mut known: Vec<(LookupKey, Option<Value>)> = Vec::new();
        for (at, next) in nexts.iter().enumerate() {
            let object = next.map(|next| json!({ "data": { "next": format!("m{next}") } }));
            known.push((key("ConfigMap", &format!("m{at}")), object));
        }
        let files = ["a.yaml", "b.yaml", "c.yaml"];
        let texts: Vec<(&'static str, String)> = starts.iter().zip(files).map(|((start, steps), file)| {
            let text = format!(
                "{{% set at = scope(name='m{start}', path='') %}}\
                 {{% for step in range({steps}) %}}\
                 {{% set object = lookup('v1', 'ConfigMap', 'shop', at.name) %}}\
                 {{% if object %}}{{% set at.path = at.path ~ at.name %}}{{% set at.name = object.data.next %}}\
                 {{% else %}}{{% set at.path = at.path ~ '!' %}}{{% endif %}}\
                 {{% endfor %}}{{apiVersion: v1, kind: A, path: \"{{{{ at.path }}}}\"}}"
            );
            (file, text)
        }).collect();
        let files: Vec<_> = texts.iter().map(|(file, text)| (*file, text.as_str())).collect();
        let templates = templates(&files);
        let primary = primary();
        let cx = RenderContext::of(&primary);

        let mut all = templates.rendering(&cx);
        for (key, object) in &known {
            all.learn(key.clone(), object.as_ref());
        }
        let Ok(Round::Rendered(expected)) = all.round() else { panic!("all is known") };

        let mut rendering = templates.rendering(&cx);
        let mut asked = BTreeSet::new();
        let objects = loop {
            match rendering.round() {
                Ok(Round::Rendered(objects)) => break objects,
                Ok(Round::Unknown(unknown)) => for key in unknown {
                    prop_assert!(asked.insert(key.clone()), "{} is asked for twice", key);
                    let object = known.iter().find(|(of, _)| *of == key).and_then(|(_, object)| object.as_ref());
                    rendering.learn(key, object);
                },
                Err(error) => panic!("{error}"),
            }
        };
        prop_assert_eq!(json_of(&objects), json_of(&expected));
    }
}
