//! Plays with the programs of README and book, on a server in the process: each program does what the text beside it says.

use integration_tests::prelude::*;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Namespace, ResourceQuota},
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{
    api::{ApiResource, DynamicObject, ObjectMeta},
    core::GroupVersionKind,
};
use operator_core::testing::ClusterController;

/// The custom resources of a program.
fn of_example(client: &Client, namespace: &str, kind: &str) -> Api<DynamicObject> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", kind));
    Api::namespaced_with(client.clone(), namespace, &resource)
}

async fn change(objects: &Api<DynamicObject>, name: &str, spec: Value) -> Result<()> {
    let change = Patch::Merge(json!({ "spec": spec }));
    objects.patch(name, &PatchParams::default(), &change).await?;
    Ok(())
}

/// Waits for a map that holds this.
async fn until_holds(maps: &Api<ConfigMap>, name: &str, key: &str, value: &str) -> Result<ConfigMap> {
    eventually(&format!("{value} in {name}"), async || {
        let map = maps.get_opt(name).await?;
        Ok(map
            .filter(|map| map.data.as_ref().and_then(|data| data.get(key)).is_some_and(|held| held == value)))
    })
    .await
}

async fn until_gone<K>(objects: &Api<K>, name: &str) -> Result<()>
where
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    eventually(&format!("the end of {name}"), async || {
        Ok(objects.get_opt(name).await?.is_none().then_some(()))
    })
    .await
}

pub(crate) async fn a_greeting_keeps_its_map(cluster: &TestCluster, client: Client) -> Result<()> {
    let namespace = cluster.namespace("readme").await?;
    let greeting =
        "apiVersion: example.com/v1\nkind: Greeting\nmetadata: { name: hello }\nspec: { text: hello }";
    cluster.apply_yaml(&namespace, greeting).await?;
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    let first = until_holds(&maps, "hello-map", "text", "hello").await?;

    let by_hand = Patch::Merge(json!({ "data": { "text": "by hand" } }));
    maps.patch("hello-map", &PatchParams::default(), &by_hand).await?;
    let repaired = until_holds(&maps, "hello-map", "text", "hello").await?;
    ensure!(repaired.uid() == first.uid(), "what was changed by hand is changed back");
    maps.delete("hello-map", &DeleteParams::default()).await?;
    let anew = until_holds(&maps, "hello-map", "text", "hello").await?;
    ensure!(anew.uid() != first.uid(), "what was deleted by hand is made again");

    let greetings = of_example(&client, &namespace, "Greeting");
    change(&greetings, "hello", json!({ "text": "goodbye" })).await?;
    until_holds(&maps, "hello-map", "text", "goodbye").await?;
    greetings.delete("hello", &DeleteParams::default()).await?;
    until_gone(&maps, "hello-map").await
}

/// The objects that were created by an apply, in the order of the server.
fn created(cluster: &TestCluster, namespace: &str) -> Result<Vec<String>> {
    let audit = cluster.audit()?.into_iter();
    let created =
        audit.filter(|event| event.namespace == namespace && event.verb == "patch" && event.code == 201);
    Ok(created.map(|event| event.resource).filter(|resource| resource != "pages").collect())
}

/// The address in the status, and the reason of each condition.
fn told(page: &DynamicObject) -> (Value, Vec<String>) {
    let status = &page.data["status"];
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let told = conditions.map(|of| {
        [&of["type"], &of["status"], &of["reason"]].map(|part| part.as_str().unwrap_or("?")).join(" ")
    });
    (status["address"].clone(), told.collect())
}

pub(crate) async fn a_page_has_three_children(cluster: &TestCluster, client: Client) -> Result<()> {
    let namespace = cluster.namespace("three-children").await?;
    let page = "apiVersion: example.com/v1\nkind: Page\nmetadata: { name: one }\nspec: { html: hello, published: true }";
    cluster.apply_yaml(&namespace, page).await?;
    let pages = of_example(&client, &namespace, "Page");
    let until_told = async |address: Value, ready: &str| {
        let mut last = None;
        let is_told = eventually("the status", async || {
            let now = told(&pages.get("one").await?);
            let is_so = now.0 == address && now.1.first().is_some_and(|first| first == ready);
            last = Some(now);
            Ok(is_so.then_some(()))
        })
        .await;
        is_told.with_context(|| format!("it says {last:?}"))
    };
    until_told(json!("one-address"), "Ready True Succeeded").await?;
    let made = created(cluster, &namespace)?;
    ensure!(made == ["configmaps", "deployments", "services"], "each after what it comes after: {made:?}");
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    until_holds(&maps, "one-html", "index.html", "hello").await?;

    change(&pages, "one", json!({ "html": "an error" })).await?;
    until_told(json!("one-address"), "Ready False ErrorInHtml").await?;
    until_holds(&maps, "one-html", "index.html", "hello").await?;
    let services = Api::<Service>::namespaced(client.clone(), &namespace);
    ensure!(services.get_opt("one-address").await?.is_some(), "what comes after what is held stays");
    change(&pages, "one", json!({ "published": false })).await?;
    until_gone(&services, "one-address").await?;

    change(&pages, "one", json!({ "html": "well" })).await?;
    until_told(Value::Null, "Ready True Succeeded").await?;
    until_holds(&maps, "one-html", "index.html", "well").await?;
    let webs = Api::<Deployment>::namespaced(client, &namespace);
    ensure!(webs.get_opt("one-web").await?.is_some(), "the server stays");
    Ok(())
}

/// The objects of cert-manager, as far as they matter here.
fn certificates() -> Result<CustomResourceDefinition> {
    let schema = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    Ok(serde_json::from_value(json!({
        "metadata": { "name": "certificates.cert-manager.io" },
        "spec": {
            "group": "cert-manager.io",
            "names": { "kind": "Certificate", "listKind": "CertificateList", "plural": "certificates", "singular": "certificate" },
            "scope": "Namespaced",
            "versions": [{ "name": "v1", "served": true, "storage": true, "schema": { "openAPIV3Schema": schema } }],
        },
    }))?)
}

pub(crate) async fn a_page_is_published(cluster: &TestCluster, client: Client) -> Result<()> {
    let namespace = cluster.namespace("optional-child").await?;
    let page = "apiVersion: example.com/v1\nkind: Page\nmetadata: { name: one }\nspec: { html: hello, published: true }";
    cluster.apply_yaml(&namespace, page).await?;
    let maps = Api::<ConfigMap>::namespaced(client.clone(), &namespace);
    eventually("the page", async || Ok(maps.get_opt("one-html").await?)).await?;
    let services = Api::<Service>::namespaced(client.clone(), &namespace);
    eventually("its address", async || Ok(services.get_opt("one-address").await?)).await?;
    let pages = of_example(&client, &namespace, "Page");
    let ready = eventually("a page that is ready", async || {
        let (address, conditions) = told(&pages.get("one").await?);
        let is_told = address == json!("one-address");
        Ok(is_told.then_some(conditions).filter(|told| told.contains(&"Ready True Succeeded".to_owned())))
    });
    let ready = ready.await.context("without cert-manager nothing is missing")?;
    ensure!(ready.contains(&"Stalled False Succeeded".to_owned()), "nothing has failed: {ready:?}");

    // The operator goes on running while the definition is installed.
    cluster.install_crds([certificates()?]).await?;
    let of_cert_manager = GroupVersionKind::gvk("cert-manager.io", "v1", "Certificate");
    let of_cert_manager = ApiResource::from_gvk(&of_cert_manager);
    let certificates = Api::<DynamicObject>::namespaced_with(client, &namespace, &of_cert_manager);
    let certificate =
        eventually("its certificate", async || Ok(certificates.get_opt("one-certificate").await?)).await?;
    ensure!(certificate.data["spec"]["dnsNames"] == json!(["one.example.com"]), "{:?}", certificate.data);

    change(&pages, "one", json!({ "published": false })).await?;
    until_gone(&certificates, "one-certificate").await?;
    until_gone(&services, "one-address").await?;
    ensure!(maps.get_opt("one-html").await?.is_some(), "the page stays");
    Ok(())
}

pub(crate) async fn a_site_is_migrated(cluster: &TestCluster, client: Client) -> Result<()> {
    // When the migration is done, this play says.
    cluster.in_process_server()?.hold(ClusterController::Jobs);
    let namespace = cluster.namespace("explicit-part").await?;
    let site = "apiVersion: example.com/v1\nkind: Site\nmetadata: { name: one }\nspec: { image: site, frozen: true }";
    cluster.apply_yaml(&namespace, site).await?;
    let sites = of_example(&client, &namespace, "Site");
    let is_told = async || Ok(sites.get("one").await?.data.get("status").cloned());
    let told = eventually("the status", is_told).await?;
    ensure!(told == json!({ "ready": false }), "without a quota nothing is ready: {told}");
    let jobs = Api::<Job>::namespaced(client.clone(), &namespace);
    ensure!(jobs.get_opt("one-migration").await?.is_none(), "without a quota nothing is migrated");

    let quota = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: quota }\ndata: { pods: \"2\" }";
    cluster.apply_yaml(&namespace, quota).await?;
    let job = eventually("the migration", async || Ok(jobs.get_opt("one-migration").await?)).await?;
    ensure!(job.spec.and_then(|spec| spec.parallelism) == Some(2), "the data of the run is in the job");
    let at = "2026-01-01T00:01:00Z";
    let condition = |of: &str| json!({ "type": of, "status": "True", "lastTransitionTime": at });
    let conditions = [condition("SuccessCriteriaMet"), condition("Complete")];
    let done = json!({ "startTime": at, "completionTime": at, "succeeded": 1, "conditions": conditions });
    let done = Patch::Merge(json!({ "status": done }));
    jobs.patch_status("one-migration", &PatchParams::default(), &done).await?;
    eventually("what is remembered", async || {
        let remembers = |site: DynamicObject| site.annotations().contains_key("operator-core.io/done-jobs");
        Ok(remembers(sites.get("one").await?).then_some(()))
    })
    .await?;
    let webs = Api::<Deployment>::namespaced(client, &namespace);
    ensure!(webs.get_opt("one-web").await?.is_none(), "a frozen site is left as it is");

    change(&sites, "one", json!({ "frozen": false })).await?;
    eventually("the server", async || Ok(webs.get_opt("one-web").await?)).await?;
    Ok(())
}

pub(crate) async fn settings_are_copied(cluster: &TestCluster, client: Client) -> Result<()> {
    let namespace = cluster.namespace("two-controllers").await?;
    let teams = Namespace {
        metadata: ObjectMeta { name: Some("teams".to_owned()), ..ObjectMeta::default() },
        ..Namespace::default()
    };
    Api::all(client.clone()).create(&PostParams::default(), &teams).await?;
    let service = "apiVersion: v1\nkind: Service\nmetadata: { name: shop, labels: { team: red } }\nspec: { ports: [{ port: 80 }] }";
    cluster.apply_yaml(&namespace, service).await?;
    let quotas = Api::<ResourceQuota>::namespaced(client.clone(), &namespace);
    eventually("the quota", async || Ok(quotas.get_opt(&format!("{namespace}-quota")).await?)).await?;
    let copies = Api::<ConfigMap>::namespaced(client, &namespace);
    for value in ["first", "second"] {
        let set =
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{ name: red }}\ndata: {{ color: {value} }}");
        cluster.apply_yaml("teams", &set).await?;
        eventually("the copy", async || {
            let copy = copies.get_opt("shop-settings").await?;
            let color = copy.and_then(|copy| copy.data?.remove("color"));
            Ok((color.as_deref() == Some(value)).then_some(()))
        })
        .await?;
    }
    Ok(())
}

/// The DNS provider as a play sees it, and the manual changes there.
pub(crate) struct Provider {
    /// Its records: the id of each, and its name and address.
    pub(crate) shown: fn() -> Vec<(String, String)>,
    /// Gives the record with this id another address. Returns whether there is one.
    pub(crate) change_by_hand: fn(&str, &str) -> bool,
}

impl Provider {
    /// Waits until it has these records and no others. Returns their ids in the same order.
    async fn until_it_has(&self, records: &[&str]) -> Result<Vec<String>> {
        let mut last = Vec::new();
        let found = eventually("the records of the provider", async || {
            last = (self.shown)();
            let id = |record: &&str| last.iter().find(|(_, shown)| shown == record).map(|(id, _)| id.clone());
            let ids: Option<Vec<String>> = records.iter().map(id).collect();
            Ok(ids.filter(|ids| ids.len() == last.len()))
        })
        .await;
        found.with_context(|| format!("it has {last:?} and not {records:?}"))
    }
}

pub(crate) async fn a_host_has_a_record(
    cluster: &TestCluster,
    client: Client,
    provider: Provider,
) -> Result<()> {
    let namespace = cluster.namespace("external-record").await?;
    let host = "apiVersion: example.com/v1\nkind: Host\nmetadata: { name: www }\nspec: { address: 10.0.0.1 }";
    cluster.apply_yaml(&namespace, host).await?;
    let made = provider.until_it_has(&["www 10.0.0.1"]).await?;
    let hosts = of_example(&client, &namespace, "Host");
    eventually("its id in the status", async || {
        let kept = hosts.get("www").await?.data["status"]["record"].clone();
        Ok((kept == json!(made[0])).then_some(()))
    })
    .await?;

    change(&hosts, "www", json!({ "address": "10.0.0.2" })).await?;
    let changed = provider.until_it_has(&["www 10.0.0.2"]).await?;
    ensure!(changed == made, "it is the same record");
    ensure!((provider.change_by_hand)(&made[0], "10.9.9.9"), "the record is there");
    let repaired = provider.until_it_has(&["www 10.0.0.2"]).await.context("a poll finds what was changed")?;
    ensure!(repaired == made, "it is still the same record");

    hosts.delete("www", &DeleteParams::default()).await?;
    until_gone(&hosts, "www").await?;
    ensure!((provider.shown)().is_empty(), "the record goes before its host");
    Ok(())
}

pub(crate) async fn a_zone_has_a_record_for_each_host(
    cluster: &TestCluster,
    client: Client,
    provider: Provider,
) -> Result<()> {
    let namespace = cluster.namespace("external-records").await?;
    let zone = "apiVersion: example.com/v1\nkind: Zone\nmetadata: { name: shop }\nspec: { hosts: { mail: 10.0.0.1, www: 10.0.0.2 } }";
    cluster.apply_yaml(&namespace, zone).await?;
    let zones = of_example(&client, &namespace, "Zone");
    let until_kept = async |ids: Value| {
        eventually("the ids in the status", async || {
            let kept = zones.get("shop").await?.data["status"]["records"].clone();
            Ok((kept == ids).then_some(()))
        })
        .await
    };
    let made = provider.until_it_has(&["mail 10.0.0.1", "www 10.0.0.2"]).await?;
    until_kept(json!({ "mail": made[0], "www": made[1] })).await?;

    // One is changed, one is made, and one is not wanted any more.
    change(&zones, "shop", json!({ "hosts": { "mail": null, "www": "10.0.0.3", "api": "10.0.0.4" } }))
        .await?;
    let changed = provider.until_it_has(&["www 10.0.0.3", "api 10.0.0.4"]).await?;
    ensure!(changed[0] == made[1], "what is changed is the same record");
    until_kept(json!({ "www": changed[0], "api": changed[1] })).await?;

    zones.delete("shop", &DeleteParams::default()).await?;
    until_gone(&zones, "shop").await?;
    ensure!((provider.shown)().is_empty(), "the records go before their zone");
    Ok(())
}
