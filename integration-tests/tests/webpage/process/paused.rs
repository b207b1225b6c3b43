//! F33: the process is paused by SIGSTOP.

use integration_tests::prelude::*;
use webpage::WebPage;

use super::Scene;
use crate::support::{Running, until, webpage};

#[tokio::test]
async fn f33_a_process_that_was_paused_catches_up() -> anyhow::Result<()> {
    let scene = Scene::new().await?;
    let mut run = scene.operator().await?;
    for name in ["edited", "deleted"] {
        scene.create(name, "<p>first</p>").await?;
        scene.is_complete(name, "<p>first</p>").await?;
    }
    // A run that is paused half-way may go on making what is deleted meanwhile.
    scene.is_calm().await?;
    let before = scene.uids().await?;
    let writes = scene.gateway.writes().len();
    run.pause().await?;
    for number in 0..20 {
        scene.edit("edited", &format!("<p>{number}</p>")).await?;
    }
    scene.create("born-meanwhile", "<p>new</p>").await?;
    scene.api::<WebPage>().delete("deleted", &Default::default()).await?;
    scene.is_gone::<ConfigMap>("deleted-html").await?;
    assert_eq!(scene.gateway.writes().len(), writes, "it is paused");
    run.signal("CONT").await?;
    scene.is_complete("edited", "<p>19</p>").await?;
    scene.is_complete("born-meanwhile", "<p>new</p>").await?;
    run.signal("TERM").await?;
    assert_eq!(run.ended().await?.code(), Some(0), "{:#?}", run.said);

    let now = until("the end of all that is nobody's", async || {
        let now = scene.uids().await.ok()?;
        (now.len() == 6).then_some(now)
    })
    .await?;
    let kept = before.iter().filter(|child| now.contains(child)).count();
    assert_eq!(kept, 3, "{before:?} {now:?}");
    let created = scene.created();
    let once = created.windows(2).all(|pair| pair[0] != pair[1]);
    assert!(created.len() == 9 && once, "{created:#?} {:#?}", run.said);
    // Where it has caught up is what counts, and not each step of the way.
    let writes = scene.gateway.writes();
    let maps = writes.iter().filter(|write| write.path.ends_with("configmaps/edited-html")).count();
    assert!(maps <= 4, "{maps} writes for twenty edits that nobody saw: {writes:#?}");
    Ok(())
}

impl Scene {
    /// Starts a replica of that name, which takes part in the election of this namespace.
    fn replica(&self, name: &str) -> anyhow::Result<Running> {
        let lease = format!("{}/webpage-operator", self.namespace);
        let mut command = self.command(webpage, &["--leader-election", &lease]);
        command.env("HOSTNAME", name);
        Running::start(command)
    }
}

#[tokio::test]
async fn f33_a_leader_that_was_paused_writes_nothing_when_another_leads() -> anyhow::Result<()> {
    let one = Scene::new().await?;
    let (two, three) = (one.beside().await?, one.beside().await?);
    let mut first = one.replica("first")?;
    first.says("elector: this replica leads").await?;
    let mut second = two.replica("second")?;
    second.says("a new leader").await?;
    one.create("led", "<p>first</p>").await?;
    one.is_complete("led", "<p>first</p>").await?;
    assert!(two.gateway.writes().iter().all(|write| write.path.contains("selfsubject")), "it doesn't lead");

    first.pause().await?;
    one.edit("led", "<p>second</p>").await?;
    second.says("elector: this replica leads").await?;
    one.is_complete("led", "<p>second</p>").await?;
    // The one who leads is paused as well, so that there is something to do that nobody does.
    second.pause().await?;
    one.patch("led", json!({ "html": "<p>third</p>", "exposed": true })).await?;
    let before = one.gateway.writes().len();
    first.signal("CONT").await?;
    assert_eq!(first.ended().await?.code(), Some(75), "{:#?}", first.said);
    let writes = one.gateway.writes();
    assert_eq!(writes.len(), before, "its term was over before it went on: {:#?}", &writes[before..]);
    // On a busy machine the pause of the second may have been longer than its term, too: then the third leads.
    let _third = three.replica("third")?;
    second.signal("CONT").await?;
    one.is_complete("led", "<p>third</p>").await?;
    Ok(())
}

#[tokio::test]
async fn f33_a_lease_that_is_given_back_is_taken_at_once() -> anyhow::Result<()> {
    let one = Scene::new().await?;
    let two = one.beside().await?;
    let mut first = one.replica("first")?;
    first.says("elector: this replica leads").await?;
    let mut second = two.replica("second")?;
    second.says("a new leader").await?;
    first.signal("TERM").await?;
    assert_eq!(first.ended().await?.code(), Some(0), "{:#?}", first.said);
    let before = tokio::time::Instant::now();
    second.says("elector: this replica leads").await?;
    assert!(before.elapsed().as_secs() < 8, "{:?}", before.elapsed());
    one.create("led", "<p>first</p>").await?;
    one.is_complete("led", "<p>first</p>").await?;
    second.signal("TERM").await?;
    assert_eq!(second.ended().await?.code(), Some(0), "{:#?}", second.said);
    Ok(())
}
