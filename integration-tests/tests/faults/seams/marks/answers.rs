//! What becomes of the leftover of a former node, whatever a node that may want it answers.

use integration_tests::prelude::*;
use operator_core::{
    Want,
    workflow::{WorkflowBuilder, conditions::CrdPresent},
};

use super::{pass, scene, under};

/// The six answers of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Answer {
    Run,
    Inactive,
    Hold,
    Remove,
    Waiting,
    Failed,
}

const ANSWERS: [Answer; 6] =
    [Answer::Run, Answer::Inactive, Answer::Hold, Answer::Remove, Answer::Waiting, Answer::Failed];

/// A workflow with a node that answers like this until `runs` is true.
fn answering(answer: Answer, runs: &Arc<AtomicBool>, able: &Switch) -> WorkflowBuilder<TestResource> {
    let runs = Arc::clone(runs);
    let now = move || runs.load(Ordering::SeqCst);
    let beside = wanted_map("beside");
    let workflow = Workflow::builder().nodes((beside,));
    match answer {
        Answer::Run => workflow.nodes((wanted_map("a"),)),
        Answer::Inactive => workflow.nodes((wanted_map("a").needs(able.clone()),)),
        Answer::Hold => {
            let wants =
                move |_: &TestResource| if now() { Want::Is(()) } else { Want::hold("NotNow", "not now") };
            workflow.nodes((Child("a").wants(wants),))
        }
        Answer::Remove => workflow.nodes((Child("a").only_if(move |_| now()),)),
        Answer::Waiting => {
            let late = |one: &TestResource| LateTestResource {
                metadata: meta_of(one, "a"),
                ..LateTestResource::named("", one.value())
            };
            workflow.nodes((wanted("a", late).needs(CrdPresent::<LateTestResource>::new()),))
        }
        Answer::Failed => {
            let fails = move |one: &TestResource| -> Result<ConfigMap> {
                ensure!(now(), "it can't say");
                Ok(map_of(one, "a", one.value()))
            };
            workflow.nodes((node(fails).named("a"),))
        }
    }
}

/// Whether the leftover is there with the answer, and after it.
async fn left(answer: Answer, name: &'static str) -> Result<(bool, bool)> {
    let scene = scene().await?;
    scene.cluster.install_crds([LateTestResource::crd()]).await?;
    let former = wanted("former", move |one: &TestResource| map_of(one, name, one.value()));
    let workflow = Workflow::builder().nodes((wanted_map("beside"), former)).build()?;
    let operator = under(&Faults::none(), &scene, scene.managed(&Script::idle(), &workflow)).await?;
    scene.create("one", "first").await?;
    pass(10).await;
    operator.stop().await;
    let (runs, able) = (Arc::new(AtomicBool::new(false)), Switch::off());
    let workflow = answering(answer, &runs, &able).build()?;
    let unlisted =
        Rule::on(Verb::List).resource("latetestresources").status(StatusAnswer::new(503, "", "not now"));
    let faults = Faults::new([unlisted]);
    let controller = scene.managed(&Script::idle(), &workflow).generation_aware(false);
    let _operator = under(&faults, &scene, controller).await?;
    pass(60).await;
    let leftover = format!("one-{name}");
    let exists = async || anyhow::Ok(scene.values().await?.contains_key(&leftover));
    let during = exists().await?;
    faults.off();
    runs.store(true, Ordering::SeqCst);
    able.turn(true);
    scene.patch("one", json!({ "metadata": { "labels": { "is": "touched" } } })).await?;
    pass(400).await;
    let after = exists().await?;
    if answer != Answer::Waiting {
        ensure!(scene.values().await?.contains_key("one-a"), "the node runs at last");
    }
    Ok((during, after))
}

#[tokio::test(start_paused = true)]
async fn a_leftover_goes_unless_a_node_failed_or_is_held() -> Result<()> {
    for answer in ANSWERS {
        // The one that waits makes objects of another kind.
        let stays = matches!(answer, Answer::Hold | Answer::Failed);
        assert_eq!(left(answer, "leftover").await?, (stays, false), "{answer:?}");
    }
    Ok(())
}

/// The node wants an object of the leftover's name: it takes it over, or leaves it alone until it knows what it wants.
#[tokio::test(start_paused = true)]
async fn a_leftover_with_the_name_of_what_is_wanted_is_there_whenever_it_is_wanted() -> Result<()> {
    for answer in ANSWERS.into_iter().filter(|answer| *answer != Answer::Waiting) {
        let stays = matches!(answer, Answer::Run | Answer::Hold | Answer::Failed);
        assert_eq!(left(answer, "a").await?, (stays, true), "{answer:?}");
    }
    Ok(())
}
