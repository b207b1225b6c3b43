//! The end of a term: a replica learns of it before its time is over.

use integration_tests::prelude::*;
use k8s_openapi::api::coordination::v1::Lease;
use operator_core::operator::{LostLeadership, Stopped};

use super::{pass, scene};
use crate::replica::{LEASE, declared, election, lease, until_leading};

/// A task of the user's own that nothing drops and that writes all the time; and how many of its writes have succeeded.
fn restless(written: &Arc<AtomicUsize>) -> Script {
    let written = Arc::clone(written);
    Script::new(move |_, primary: Arc<TestResource>, context| {
        let map = config_map(&*primary, context, "first");
        let namespace = primary.namespace().unwrap_or_default();
        let maps = Api::<ConfigMap>::namespaced(context.client().clone(), &namespace);
        let written = Arc::clone(&written);
        Box::pin(async move {
            tokio::spawn(async move {
                let params = PatchParams::apply("restless").force();
                for number in 0..10_000 {
                    let mut map = map.clone();
                    map.data = Some([("number".to_owned(), number.to_string())].into());
                    if maps.patch("one", &params, &Patch::Apply(&map)).await.is_ok() {
                        written.fetch_add(1, Ordering::SeqCst);
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
                }
            });
            // Its run is under way as long as the operator lets it be.
            std::future::pending::<Result<UpdateControl<_>>>().await
        })
    })
}

/// Writes another name into the lease.
async fn take(scene: &Scene) -> Result<()> {
    let taken = json!({ "spec": { "holderIdentity": "somebody", "renewTime": null } });
    scene.api::<Lease>().patch(LEASE, &PatchParams::default(), &Patch::Merge(taken)).await?;
    Ok(())
}

async fn leader(scene: &Scene, script: &Script) -> Result<TestOperator> {
    let controller = script.controller().name("restless").namespaces([&scene.namespace]);
    let builder = declared(scene, "first", election(scene, "first"))?.register(controller);
    let operator = TestOperator::start(builder).await?;
    until_leading(operator.operator()).await?;
    Ok(operator)
}

/// Its term would continue for ten seconds; another replica may lead long before that.
#[tokio::test(start_paused = true)]
async fn whoever_sees_another_name_in_the_lease_writes_nothing_more_and_drops_its_runs() -> Result<()> {
    let (scene, written) = (scene().await?, Arc::new(AtomicUsize::new(0)));
    let script = restless(&written);
    let operator = leader(&scene, &script).await?;
    scene.create("one", "value").await?;
    pass(20).await;
    assert!(written.load(Ordering::SeqCst) > 100 && script.runs.under_way() == 1, "it works");
    take(&scene).await?;
    let begin = Instant::now();
    let lost = operator.operator().leadership_lost().await;
    assert_eq!(lost, LostLeadership::Taken { by: Some("somebody".to_owned()) });
    assert!(begin.elapsed().as_secs() <= 3, "noticed after {:?}", begin.elapsed());
    let (before, under_way) = (written.load(Ordering::SeqCst), script.runs.under_way());
    assert_eq!(under_way, 0, "runs under way when the loss is told");
    pass(60).await;
    assert_eq!(written.load(Ordering::SeqCst), before, "writes after the loss");
    assert_eq!(lease(&scene).await?.0, "somebody");
    operator.stop().await;
    Ok(())
}

/// Another replica has taken the lease just before, which this replica hasn't noticed yet.
#[tokio::test(start_paused = true)]
async fn a_replica_that_stops_does_not_give_away_what_is_somebody_elses() -> Result<()> {
    let (scene, script) =
        (scene().await?, Script::new(|_, _, _| Box::pin(async { Ok(UpdateControl::no_update()) })));
    let operator = leader(&scene, &script).await?;
    take(&scene).await?;
    assert_eq!(operator.stop().await, Stopped::Drained);
    let spec = scene.api::<Lease>().get(LEASE).await?.spec.context("a spec")?;
    assert_eq!(spec.holder_identity.as_deref(), Some("somebody"), "{spec:?}");
    Ok(())
}
