//! The additions of others to a workload stay as long as the server accepts the list that they are in.

use integration_tests::prelude::*;

use super::{PUT_BACK, edit, requests, scene, started};

/// A deployment with one of each of the fields that exclude others.
fn deployment(primary: &TestResource) -> Deployment {
    let deployment = json!({
        "metadata": meta_of(primary, "web"),
        "spec": {
            "replicas": 0,
            "strategy": { "type": "Recreate" },
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": {
                    "containers": [{
                        "name": "app",
                        "image": "app",
                        "ports": [{ "name": "http", "containerPort": 80 }],
                        "env": [{ "name": "NAME", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } }],
                        "livenessProbe": { "httpGet": { "port": 80 } },
                    }],
                    "volumes": [{ "name": "files", "emptyDir": {} }],
                },
            },
        },
    });
    from_json(&deployment).expect("a deployment")
}

const POD: &str = "/spec/template/spec";

fn replace(path: &str, value: &Value) -> Value {
    json!({ "op": "replace", "path": path, "value": value })
}

#[operator_test(real = "a control plane")]
async fn a_sidecar_of_somebody_stays_when_a_port_of_ours_is_put_back() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, _) = started(&scene, wanted("web", deployment), "").await?;
    // It has a port of the same name, which only within one container is too much.
    let sidecar =
        json!({ "name": "sidecar", "image": "proxy", "ports": [{ "name": "http", "containerPort": 90 }] });
    let port = replace(&format!("{POD}/containers/0/ports/0/containerPort"), &json!(81));
    let first = json!({ "op": "add", "path": format!("{POD}/containers/0"), "value": sidecar });
    edit::<Deployment>(&scene, json!([port, first])).await?;
    assert_eq!(requests(&operator, &made).await?, PUT_BACK);
    let pod = pod(&scene.api::<Deployment>().get("one-web").await?)?;
    let containers: Vec<_> = pod["containers"].as_array().into_iter().flatten().collect();
    let ports: Vec<_> =
        containers.iter().map(|one| (&one["name"], &one["ports"][0]["containerPort"])).collect();
    assert_eq!(ports, [(&json!("sidecar"), &json!(90)), (&json!("app"), &json!(80))]);
    assert_eq!(containers[1]["ports"].as_array().map(Vec::len), Some(1));
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn what_somebody_has_put_in_place_of_ours_gives_way() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, _) = started(&scene, wanted("web", deployment), "").await?;
    let before = scene.api::<Deployment>().get("one-web").await?.spec;
    for theirs in [
        replace(&format!("{POD}/containers/0/env/0"), &json!({ "name": "NAME", "value": "theirs" })),
        replace(&format!("{POD}/containers/0/livenessProbe"), &json!({ "tcpSocket": { "port": 80 } })),
        replace(&format!("{POD}/volumes/0"), &json!({ "name": "files", "configMap": { "name": "theirs" } })),
        replace("/spec/strategy", &json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1 } })),
        replace(&format!("{POD}/containers/0/name"), &json!("renamed")),
    ] {
        edit::<Deployment>(&scene, json!([theirs])).await?;
        let made = requests(&operator, &made).await?;
        if theirs["path"] == "/spec/template/spec/containers/0/name" {
            // Two containers with one name of a port are fine: nothing is refused, and what is theirs stays.
            assert_eq!(made, ["apply 200"]);
        } else {
            assert_eq!(made, PUT_BACK, "{theirs}");
            assert_eq!(scene.api::<Deployment>().get("one-web").await?.spec, before, "{theirs}");
        }
    }
    Ok(())
}

fn pod(deployment: &Deployment) -> Result<Value> {
    Ok(serde_json::to_value(deployment)?.pointer_mut(POD).map(Value::take).unwrap_or_default())
}
