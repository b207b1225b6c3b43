//! A ServiceAccount, which has no spec, as a dependent: fields outside a spec are compared and written, too.

use integration_tests::prelude::*;
use k8s_openapi::api::core::v1::ServiceAccount;

fn account(primary: &TestResource) -> ServiceAccount {
    ServiceAccount {
        metadata: meta_of(primary, "account"),
        automount_service_account_token: Some(primary.spec.value == "mounted"),
        ..ServiceAccount::default()
    }
}

async fn mounts(scene: &Scene, name: &str) -> Result<Option<bool>> {
    let account = scene.api::<ServiceAccount>().get(&format!("{name}-account")).await?;
    Ok(account.automount_service_account_token)
}

#[operator_test]
async fn a_service_account_comes_changes_and_goes() -> Result<()> {
    let scene = Scene::new("special-resources").await?;
    for (name, ssa, create, update) in [
        (
            "applied",
            true,
            "PATCH serviceaccounts/applied-account -> 201",
            "PATCH serviceaccounts/applied-account -> 200",
        ),
        (
            "replaced",
            false,
            "POST serviceaccounts/replaced-account -> 201",
            "PUT serviceaccounts/replaced-account -> 200",
        ),
    ] {
        let workflow = workflow_of_one(wanted("account", account).use_ssa(ssa))?;
        let operator = scene.start_managed(&Script::idle(), &workflow).await?;
        scene.create(name, "first").await?;
        assert_eq!(operator.settled().await?.written(), [create]);
        assert_eq!(mounts(&scene, name).await?, Some(false));
        scene.set(name, "mounted").await?;
        assert_eq!(operator.settled().await?.written(), [update]);
        assert_eq!(mounts(&scene, name).await?, Some(true));
        operator.stop().await;
        scene.delete(name).await?;
        eventually("the end of the account", async || {
            let left = scene.api::<ServiceAccount>().get_opt(&format!("{name}-account")).await?;
            Ok(left.is_none().then_some(()))
        })
        .await?;
    }
    Ok(())
}
