//! A second fault, while the operator finds out the effect of the first.

use integration_tests::prelude::*;
use operator_core::testing::faults::{Fault, LineFault};

use super::{
    erring, keeper,
    life::{life, writes},
    over, rest, scene, under,
};

/// The write of a status isn't answered, and the cache shows the former one, which is wanted again. Only a read shows
/// the truth, and the read also fails.
#[tokio::test(start_paused = true)]
async fn f15_a_status_that_was_written_unheard_is_corrected_though_the_look_fails_too() -> Result<()> {
    for second in [
        Fault::Status(StatusAnswer::internal()),
        Fault::Status(StatusAnswer::not_served()),
        Fault::AnswerLost,
        Fault::Refused,
        Fault::Hang,
    ] {
        let scene = scene().await?;
        let (script, errs) = erring();
        let lost = Rule::writes().resource("testresources").subresource("status").nth(1).answer_lost();
        let look = Rule::on(Verb::Get).resource("testresources").first(2).fault(second.clone());
        let further = Rule::on(Verb::Get).resource("testresources").meanwhile(|_| async {});
        let late = Rule::watch("testresources").event(LineFault::Delay(Duration::from_secs(600)));
        let faults = Faults::new([lost.clone(), further.clone(), look.clone(), late]);
        faults.off();
        let operator = under(&faults, &scene, keeper(&scene, &script)?).await?;
        scene.create("one", "first").await?;
        rest(&operator).await?;
        let runs = script.runs.count();
        faults.on();
        errs.store(true, Ordering::Relaxed);
        let edit = json!({ "data": { "value": "edited" } });
        scene.api::<ConfigMap>().patch("one-a", &PatchParams::default(), &Patch::Merge(edit)).await?;
        tokio::time::sleep(Duration::from_secs(240)).await;
        assert_eq!((lost.fired(), look.fired()), (1, 2), "{second:?}");
        assert_eq!(further.fired(), 3, "{second:?}: it looks again until a look succeeds, and then no more");
        let status = scene.resources.get("one").await?.status.and_then(|status| status.message);
        assert_eq!(status.as_deref(), Some("right"), "{second:?}");
        assert_eq!(script.runs.count(), runs + 2, "{second:?}: no run goes by what may be wrong");
        faults.off();
        over(&operator, &scene, &["one"]).await?;
    }
    Ok(())
}

/// The same for each write of a life: its answer is lost, and so is that of the next read.
#[tokio::test(start_paused = true)]
async fn f15_a_write_unheard_and_a_look_that_fails_come_to_the_same() -> Result<()> {
    let (calm, _) = life(&Faults::none()).await?;
    let mut looks = 0;
    for write in 1..=writes().await? {
        let unheard = Rule::writes().nth(write).answer_lost();
        let is_unheard = unheard.clone();
        let look = Rule::when("a read after it", move |request| {
            let is_list = request.uri.path().ends_with("s") || request.uri.query().is_some();
            request.method == http::Method::GET && !is_list && is_unheard.fired() > 0
        });
        let look = look.first(2).status(StatusAnswer::internal());
        let faults = Faults::new([unheard, look.clone()]);
        let (lived, _) = life(&faults).await?;
        assert_eq!(lived, calm, "write {write}, and {} looks that failed", look.fired());
        looks += look.fired();
    }
    // Not each of them is looked after: what is gone wakes its primary.
    assert!(looks >= 8, "{looks} looks failed");
    Ok(())
}
