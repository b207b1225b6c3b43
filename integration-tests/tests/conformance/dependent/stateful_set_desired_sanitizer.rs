//! A StatefulSet with claim templates and quantities that the server spells differently: only real changes are ever
//! differences.

use integration_tests::prelude::*;
use k8s_openapi::api::apps::v1::StatefulSet;

fn stateful_set(primary: &TestResource) -> StatefulSet {
    let replicas: i32 = primary.spec.value.parse().expect("a number");
    let set = json!({
        "metadata": meta_of(primary, "db"),
        "spec": {
            "replicas": replicas,
            "serviceName": "db",
            "selector": { "matchLabels": { "app": "db" } },
            "template": {
                "metadata": { "labels": { "app": "db" } },
                "spec": { "containers": [{
                    "name": "db",
                    "image": "example.com/db:1",
                    "resources": { "limits": { "cpu": "1000m", "memory": "1024Mi" } },
                    "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
                }] },
            },
            "volumeClaimTemplates": [{
                "metadata": { "name": "data" },
                "spec": {
                    "accessModes": ["ReadWriteOnce"],
                    "resources": { "requests": { "storage": "1024Mi" } },
                },
            }],
        },
    });
    integration_tests::from_json(&set).expect("a stateful set")
}

#[operator_test]
async fn only_the_change_of_the_spec_is_written() -> Result<()> {
    let scene = Scene::new("stateful-set-sanitizer").await?;
    for (name, ssa) in [("applied", true), ("replaced", false)] {
        let workflow = workflow_of_one(wanted("db", stateful_set).use_ssa(ssa))?;
        let operator = scene.start_managed(&Script::idle(), &workflow).await?;
        scene.create(name, "1").await?;
        assert_eq!(accepted(&operator.settled().await?).len(), 1);
        for label in ["a", "b"] {
            // An event of the dependent makes a run, which looks at it once more.
            let touch = Patch::Merge(json!({ "metadata": { "annotations": { "touched": label } } }));
            let db = format!("{name}-db");
            scene.api::<StatefulSet>().patch(&db, &PatchParams::default(), &touch).await?;
            let settled = operator.settled().await?;
            assert!(settled.runs_of(&scene.key(name)) > 0);
            assert_eq!(settled.written(), [""; 0]);
        }
        scene.set(name, "2").await?;
        assert_eq!(accepted(&operator.settled().await?).len(), 1);
        operator.stop().await;
        scene.delete(name).await?;
        scene.until_gone(name).await?;
    }
    Ok(())
}
