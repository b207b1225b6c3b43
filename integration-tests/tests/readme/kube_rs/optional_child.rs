include!("page.rs");

use kube::core::{ApiResource, DynamicObject, GroupVersionKind};

fn certificate(page: &Page) -> DynamicObject {
    let host = format!("{}.example.com", page.name_any());
    let issuer = json!({ "kind": "ClusterIssuer", "name": "default" });
    let spec = json!({ "dnsNames": [host], "secretName": page.name_any(), "issuerRef": issuer });
    let metadata = child(page, "certificate");
    DynamicObject { types: None, metadata, data: json!({ "spec": spec }) }
}

/// The kind of certificates, where the cluster has it. It is asked in each run, as a watch can't be added later.
async fn certificates(client: &Client) -> kube::Result<Option<ApiResource>> {
    let kind = GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate");
    match kube::discovery::oneshot::pinned_kind(client, &kind).await {
        Ok((resource, _)) => Ok(Some(resource)),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        Err(kube::Error::Discovery(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

async fn certify(page: &Page, client: &Client) -> kube::Result<()> {
    let Some(kind) = certificates(client).await? else { return Ok(()) };
    let namespace = page.namespace().unwrap_or_default();
    let api = Api::<DynamicObject>::namespaced_with(client.clone(), &namespace, &kind);
    let mut wanted = certificate(page);
    let name = wanted.name_any();
    if !page.spec.published {
        if api.get_opt(&name).await?.is_some() {
            api.delete(&name, &DeleteParams::default()).await?;
        }
        return Ok(());
    }
    wanted.types = Some(kube::core::TypeMeta { api_version: kind.api_version, kind: kind.kind });
    api.patch(&name, &PatchParams::apply(MANAGER).force(), &Patch::Apply(&wanted)).await?;
    Ok(())
}

async fn children(page: &Page, client: &Client) -> Result<(Option<String>, bool), Failure> {
    let services = Api::<Service>::namespaced(client.clone(), &page.namespace().unwrap_or_default());
    let service = address(page)?;
    if !page.spec.published && services.get_opt(&service.name_any()).await?.is_some() {
        services.delete(&service.name_any(), &DeleteParams::default()).await?;
    }
    if page.spec.html.contains("error") {
        return Err("the html contains the word `error`".into());
    }
    certify(page, client).await?;
    apply(client, &html(page)).await?;
    if !is_rolled_out(&apply(client, &web(page)?).await?) {
        return Ok((None, false));
    }
    if !page.spec.published {
        return Ok((None, true));
    }
    Ok((Some(apply(client, &service).await?.name_any()), true))
}

async fn reconcile(page: Arc<Page>, client: Arc<Client>) -> Result<Action, Failed> {
    let outcome = children(&page, &client).await;
    let (address, ready) = outcome.as_ref().map_or((None, false), Clone::clone);
    let error = outcome.as_ref().err().map(ToString::to_string).unwrap_or_default();
    let reason = if ready { "Ready" } else { "NotReady" };
    let conditions = vec![
        condition(&page, "Ready", ready, reason, &error),
        condition(&page, "Reconciling", !ready && error.is_empty(), reason, ""),
        condition(&page, "Stalled", !error.is_empty(), if error.is_empty() { "Going" } else { "Failed" }, &error),
    ];
    let same = page.status.as_ref().is_some_and(|status| {
        status.address == address && status.conditions == conditions
    });
    if !same {
        let pages = Api::<Page>::namespaced(Client::clone(&client), &page.namespace().unwrap_or_default());
        let status = json!({ "status": PageStatus { address, conditions } });
        let ours = PatchParams::default();
        pages.patch_status(&page.name_any(), &ours, &Patch::Merge(status)).await.map_err(Failure::from)?;
    }
    outcome?;
    // Nothing tells when the kind of certificates appears, or somebody changes one.
    Ok(Action::requeue(Duration::from_secs(300)))
}
