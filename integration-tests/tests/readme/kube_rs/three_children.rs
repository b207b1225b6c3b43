include!("page.rs");

async fn children(page: &Page, client: &Client) -> Result<(Option<String>, bool), Failure> {
    let services = Api::<Service>::namespaced(client.clone(), &page.namespace().unwrap_or_default());
    let service = address(page)?;
    if !page.spec.published && services.get_opt(&service.name_any()).await?.is_some() {
        services.delete(&service.name_any(), &DeleteParams::default()).await?;
    }
    if page.spec.html.contains("error") {
        return Err("the html contains the word `error`".into());
    }
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
    Ok(Action::await_change())
}
