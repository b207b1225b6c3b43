//! Operators that are declared by the derive.

use anyhow::Result;
use integration_tests::prelude::*;
use operator_core::{Cleaner, Dependent, One, prelude::*};

use super::{a_map, a_secret, says};

mod children {
    use super::*;

    pub(super) fn html(primary: &TestResource) -> Want<ConfigMap> {
        match says(primary, "wrong") {
            true => Want::hold("ErrorInHtml", "the html is wrong"),
            false => a_map(primary).into(),
        }
    }

    /// There is one for each team.
    pub(super) fn of_team<T: Default + Into<String>>(_: &TestResource) -> ConfigMap {
        let data = [("team".to_owned(), T::default().into())];
        ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
    }
}

fn web(primary: &TestResource) -> Result<ConfigMap> {
    Ok(a_map(primary))
}

fn entrance(primary: &TestResource) -> Option<Secret> {
    says(primary, "exposed").then(a_secret)
}

fn is_filled(web: &ConfigMap) -> Verdict {
    let value = web.data.as_ref().and_then(|data| data.get("value"));
    Verdict::when(value.is_some_and(|value| !value.is_empty()), "there is no value")
}

/// A dependent with state of its own.
struct Records {
    domain: String,
}

impl Dependent<TestResource> for Records {
    type Shape = One<ConfigMap>;

    async fn want(
        &self,
        primary: &Arc<TestResource>,
        _: &Context<TestResource>,
    ) -> Result<Want<ConfigMap>, BoxError> {
        let mut map = a_map(primary);
        map.data.get_or_insert_default().insert("domain".to_owned(), self.domain.clone());
        Ok(Want::of(map))
    }
}

#[derive(Default)]
struct Red;

impl From<Red> for String {
    fn from(_: Red) -> Self {
        "red".to_owned()
    }
}

#[derive(ControllerConfiguration)]
#[controller(primary = TestResource, name = "derived-pages")]
#[workflow(
    entrance(after(records), delete_first),
    records(after(web)) = Records { domain: self.domain.clone() },
    web(after(children::html), ready(is_filled), needs(served::<Secret>())),
    children::html,
    children::of_team::<Red>(after(web), named = "red"),
)]
struct Pages {
    domain: String,
}

#[operator_test]
async fn a_derived_controller_needs_no_reconciler() -> Result<()> {
    let scene = Scene::new("derived-functions").await?;
    let pages = Pages { domain: "example.com".to_owned() };
    let operator = scene.start(pages.controller().namespaces([&scene.namespace])).await?;

    scene.create("one", "exposed").await?;
    let mut created = operator.settled().await?.written();
    // What depends on the same node runs at the same time.
    created[3..].sort_unstable();
    let expected = [
        "PATCH testresources/one -> 200",
        "PATCH configmaps/one-html -> 201",
        "PATCH configmaps/one-web -> 201",
        "PATCH configmaps/one-records -> 201",
        "PATCH configmaps/one-red -> 201",
        "PATCH secrets/one-entrance -> 201",
    ];
    assert_eq!(created, expected, "with the finalizer, since the entrance is deleted first");
    let data = async |name| anyhow::Ok(scene.api::<ConfigMap>().get(name).await?.data.unwrap_or_default());
    assert_eq!(data("one-records").await?["domain"], "example.com");
    assert_eq!(data("one-red").await?["team"], "red");

    scene.patch("one", json!({ "spec": { "value": "wrong exposed" } })).await?;
    assert_eq!(operator.settled().await?.written(), [""; 0], "what comes after the one that is held waits");

    scene.patch("one", json!({ "spec": { "value": "wrong" } })).await?;
    let expected = ["DELETE secrets/one-entrance -> 200"];
    assert_eq!(operator.settled().await?.written(), expected, "what isn't wanted goes all the same");
    Ok(())
}

struct Quota(usize);

/// As many as there is quota for.
fn granted(primary: &TestResource, quota: Data<Quota>) -> Option<ConfigMap> {
    Some(quota).filter(|quota| quota.0 > 0).map(|_| a_map(primary))
}

fn keys(_: &TestResource) -> Secret {
    a_secret()
}

#[derive(ControllerConfiguration)]
#[controller(primary = TestResource, name = "derived-quotas", puts(Quota))]
#[workflow(explicit_invocation, granted, keys(requires(granted)))]
struct Quotas;

impl Cleaner for Quotas {
    type Primary = TestResource;

    async fn reconcile(
        &self,
        primary: &TestResource,
        cx: &mut Context<TestResource>,
    ) -> Result<UpdateControl<TestResource>, BoxError> {
        if says(primary, "paused") {
            return Ok(UpdateControl::no_update());
        }
        cx.put(Quota(primary.spec.value.len()));
        cx.run().await?;
        Ok(UpdateControl::no_update())
    }

    async fn cleanup(&self, _: &TestResource, _: &mut Context<TestResource>) -> Result<Removal, BoxError> {
        Ok(Removal::Done)
    }
}

#[operator_test]
async fn a_reconciler_invokes_its_derived_workflow_and_its_cleaner_is_found() -> Result<()> {
    let scene = Scene::new("derived-explicit").await?;
    let operator = scene.start(Quotas.controller().namespaces([&scene.namespace])).await?;

    scene.create("one", "paused").await?;
    let expected = ["PATCH testresources/one -> 200"];
    assert_eq!(operator.settled().await?.written(), expected, "the finalizer of the cleaner, and no child");

    scene.patch("one", json!({ "spec": { "value": "now" } })).await?;
    let expected = ["PATCH configmaps/one-granted -> 201", "PATCH secrets/one-keys -> 201"];
    assert_eq!(operator.settled().await?.written(), expected);

    scene.patch("one", json!({ "spec": { "value": "" } })).await?;
    let expected = ["DELETE secrets/one-keys -> 200", "DELETE configmaps/one-granted -> 200"];
    assert_eq!(operator.settled().await?.written(), expected, "data of the run says what should be");
    Ok(())
}
