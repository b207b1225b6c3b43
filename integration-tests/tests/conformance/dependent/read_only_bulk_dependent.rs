//! A bulk dependent that only reads what others make: ready once there is enough of it.

use integration_tests::prelude::*;
use operator_core::{Context, Wire as _, dependent::Read};

/// Others make them.
fn maps(_: &TestResource) -> Read<Vec<ConfigMap>> {
    Read::all()
}

fn are_two(_: &TestResource, context: &Context<TestResource>) -> bool {
    context.secondaries().is_ok_and(|maps: Vec<Arc<ConfigMap>>| maps.len() >= 2)
}

#[operator_test]
async fn the_status_says_when_others_have_made_enough() -> Result<()> {
    let scene = Scene::new("read-only-bulk-dependent").await?;
    let script = Script::new(|_, _: Arc<TestResource>, context| {
        Box::pin(async {
            let ready = context.so_far()?.all_ready();
            Ok(Said::status(said(ready.to_string())))
        })
    });
    let workflow = Workflow::builder().nodes((maps.ready(are_two),)).build()?;
    let operator = scene.start(scene.managed(&script, &workflow).owns::<ConfigMap>()).await?;

    let one = scene.create("one", "value").await?;
    let said_so = |expected: &'static str| {
        move |one: &TestResource| {
            one.status.as_ref().and_then(|status| status.message.as_deref()) == Some(expected)
        }
    };
    scene.until("not to be ready", "one", said_so("false")).await?;
    operator.settled().await?;
    for suffix in ["a", "b"] {
        let mut map = map_of(&one, suffix, "others'");
        map.metadata.owner_references = one.controller_owner_ref(&()).map(|owner| vec![owner]);
        scene.api::<ConfigMap>().create(&PostParams::default(), &map).await?;
    }
    scene.until("to be ready", "one", said_so("true")).await?;
    let settled = operator.settled().await?;
    assert!(settled.written().iter().all(|write| write.contains("/status")), "{:?}", settled.written());
    scene.until_nothing_is_left_of("one").await
}
