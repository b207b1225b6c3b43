//! Lists: their options, selectors and pages, as the fuzz of many objects has found them.

use serde_json::{Value, json};

use super::{MAPS, Scene, said};

async fn three_maps() -> Scene {
    let scene = Scene::new();
    for (name, label) in [("a", "1"), ("b", "2"), ("c", "2")] {
        scene.post(MAPS, json!({ "metadata": { "name": name, "labels": { "l": label } } })).await;
    }
    scene
}

fn names(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().into_iter().flatten();
    items.filter_map(|item| item["metadata"]["name"].as_str()).collect()
}

#[tokio::test]
async fn a_page_says_that_there_is_more_whether_it_is_selected_or_not() {
    let scene = three_maps().await;
    let page = format!("{MAPS}?limit=1&labelSelector=l%3D1");
    let (_, first) = scene.get(&page).await;
    assert_eq!((names(&first), &first["metadata"]["remainingItemCount"]), (vec!["a"], &Value::Null));
    let token = first["metadata"]["continue"].as_str().expect("there are others");
    let (_, second) = scene.get(&format!("{page}&continue={token}")).await;
    assert_eq!((names(&second), &second["metadata"]["continue"]), (vec![], &Value::Null));
    // One object by its name has no pages.
    let (_, one) = scene.get(&format!("{MAPS}?limit=1&fieldSelector=metadata.name%3Da")).await;
    assert_eq!((names(&one), &one["metadata"]["continue"]), (vec!["a"], &Value::Null));
}

#[tokio::test]
async fn a_collection_is_deleted_in_pages_too() {
    let scene = three_maps().await;
    let (_, gone) = scene.delete(&format!("{MAPS}?limit=2"), Value::Null).await;
    assert_eq!(names(&gone), ["a", "b"]);
    assert_eq!(names(&scene.get(MAPS).await.1), ["c"]);
}

#[tokio::test]
async fn the_options_of_a_list_are_refused_with_all_complaints_in_the_order_of_the_real_server() {
    let scene = three_maps().await;
    let why = async |query: &str| said(scene.get(&format!("{MAPS}?{query}")).await);
    assert_eq!(
        why("resourceVersionMatch=x").await,
        "422 Invalid ListOptions.meta.k8s.io \"\" is invalid: [resourceVersionMatch: Forbidden: resourceVersionMatch is \
         forbidden unless resourceVersion is provided, resourceVersionMatch: Unsupported value: \"x\": supported values: \
         \"Exact\", \"NotOlderThan\", \"\"]"
    );
    assert_eq!(why("limit=").await, "400 BadRequest strconv.ParseInt: parsing \"\": invalid syntax");
    // A number comes before a selector, and this before what contradicts itself.
    assert!(why("labelSelector=%3D&limit=x").await.contains("ParseInt"));
    assert!(why("labelSelector=%3D&resourceVersionMatch=x").await.starts_with("400 BadRequest found"));
    assert!(why("fieldSelector=x%3D1&resourceVersionMatch=x").await.starts_with("422"));
}

#[tokio::test]
async fn the_options_of_a_deletion_are_those_of_its_body_if_it_has_one() {
    let scene = three_maps().await;
    let one = format!("{MAPS}/a");
    let both = json!({ "propagationPolicy": "x", "orphanDependents": true, "dryRun": ["x"] });
    let refused = said(scene.delete(&one, both).await);
    assert!(refused.contains("cannot be both set") && refused.contains("[\"x\"]: supported"), "{refused}");
    // The query of a deletion with a body is not read.
    scene.delete(&format!("{one}?dryRun=All"), json!({ "gracePeriodSeconds": 0 })).await;
    assert_eq!(scene.get(&one).await.0, 404);
    scene.delete(&format!("{MAPS}/b?dryRun=All"), Value::Null).await;
    assert_eq!(scene.get(&format!("{MAPS}/b")).await.0, 200);
}
