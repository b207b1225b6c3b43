//! A port of our service gets another number: the number is the key of the list, so ours and theirs have one name.

use integration_tests::prelude::*;
use tracing::Level;

use super::{PUT_BACK, edit, operations, ports, requests, said, scene, service, started};

#[operator_test(real = "a control plane", flavor = "current_thread")]
async fn a_port_that_somebody_has_changed_is_put_back() -> Result<()> {
    let (log, _guard) = LogCapture::start();
    let scene = scene().await?;
    let (operator, made, script) = started(&scene, wanted("web", service), "http:80").await?;
    let before = scene.api::<Service>().get("one-web").await?;
    let port = json!([{ "op": "replace", "path": "/spec/ports/0/port", "value": 81 }]);
    edit::<Service>(&scene, port).await?;
    assert_eq!(requests(&operator, &made).await?, PUT_BACK);
    let patches: Vec<_> = made.bodies().iter().map(operations).collect();
    let bound = ["test /metadata/uid", "test /metadata/resourceVersion"];
    let put_back = ["replace /spec/ports"];
    let folded = ["replace /metadata/managedFields/0/fieldsV1", "remove /metadata/managedFields/1"];
    assert_eq!(patches, [[&bound[..], &put_back].concat(), [&bound[..], &folded].concat()]);
    assert_eq!(ports(&scene).await?, said("http:80"));
    assert_eq!(script.runs.of("one").len(), 2, "one run for the edit, and none for what it wrote");

    let after = scene.api::<Service>().get("one-web").await?;
    let managers = after.managed_fields().iter();
    let managers: Vec<_> = managers
        .map(|entry| (entry.operation.as_deref().unwrap_or_default(), entry.fields_v1.clone()))
        .collect();
    let before = before.managed_fields().first().context("an entry")?.fields_v1.clone();
    assert_eq!(managers, [("Apply", before)], "as after the first apply: folded, and nothing of others");

    let lines = log.lines(Level::WARN);
    let lines: Vec<_> = lines.iter().map(|line| (line.field("message"), line.field("theirs"))).collect();
    let said = "the apply was refused because of what others have written; it was put back";
    assert_eq!(lines, [(said, "spec.ports (kubectl-edit)")]);
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn what_was_put_back_goes_with_a_later_apply() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, _) = started(&scene, wanted("web", service), "http:80 admin:90").await?;
    let port = json!([{ "op": "replace", "path": "/spec/ports/0/port", "value": 81 }]);
    edit::<Service>(&scene, port).await?;
    assert_eq!(requests(&operator, &made).await?, PUT_BACK);
    for value in ["http:8080 admin:90", "web:8080 admin:90", "admin:90"] {
        scene.set("one", value).await?;
        assert_eq!(requests(&operator, &made).await?, ["apply 200"], "{value}");
        assert_eq!(ports(&scene).await?, said(value));
    }
    Ok(())
}

#[operator_test(real = "a control plane")]
async fn a_port_of_others_stays_until_the_list_is_refused() -> Result<()> {
    let scene = scene().await?;
    let (operator, made, script) = started(&scene, wanted("web", service), "http:80 admin:90").await?;
    let theirs = json!([{ "op": "add", "path": "/spec/ports/0", "value": { "name": "theirs", "port": 70 } }]);
    edit::<Service>(&scene, theirs).await?;
    assert_eq!(requests(&operator, &made).await?, Vec::<String>::new(), "an apply would change nothing");
    assert_eq!(script.runs.of("one").len(), 2);

    // Others are in the way, and the list is ours from then on.
    let both = json!([
        { "op": "replace", "path": "/spec/ports/1/port", "value": 81 },
        { "op": "replace", "path": "/spec/ports/2/port", "value": 91 },
        { "op": "add", "path": "/spec/ports/-", "value": { "name": "more", "port": 71 } },
    ]);
    edit::<Service>(&scene, both).await?;
    assert_eq!(requests(&operator, &made).await?, PUT_BACK);
    assert_eq!(ports(&scene).await?, said("http:80 admin:90"));
    Ok(())
}
