//! The clients that act.

use fastrand::Rng;
use integration_tests::prelude::*;
use kube::{Error, api::PropagationPolicy, core::Status};
use webpage::{WebPage, WebPageSpec};

use super::{
    CLIENTS, PAGES,
    acts::{self, Act, Change, Deletion},
    kinds::Child,
    world::World,
};

/// The longest wait between two acts of a client, in milliseconds.
const LONGEST_WAIT: u64 = 250;
/// How much longer than planned the clients may continue.
const LONGER: Duration = Duration::from_secs(60);
/// The pause between two attempts to create a page whose predecessor is still being deleted.
const AGAIN: Duration = Duration::from_millis(100);
/// How often that is tried.
const ATTEMPTS: usize = 30;

/// Makes this client's share of the pages, and then does one thing after the other: until then, and a little longer where the
/// API server was so slow that something has nothing to happen to. It makes Services one at a time, each in up to 100 ms on a
/// busy machine, and forgets those whose creator was killed.
pub(super) async fn run(world: &World<'_>, number: usize, mut rng: Rng, deadline: Instant) {
    for page in (0..PAGES).filter(|page| page % CLIENTS == number) {
        let act = Act::create(&mut rng, acts::page(page));
        perform(world, number, &act).await;
    }
    let goes_on =
        || Instant::now() < deadline || !world.missing().is_empty() && Instant::now() < deadline + LONGER;
    while goes_on() {
        let act = Act::draw(&mut rng, number, world.on_dependents);
        let wait = Duration::from_millis(rng.u64(..LONGEST_WAIT));
        perform(world, number, &act).await;
        tokio::time::sleep(wait).await;
    }
}

async fn perform(world: &World<'_>, number: usize, act: &Act) {
    let outcome = match done(world, act).await {
        Ok(()) => {
            world.taken(act);
            "done".to_owned()
        }
        Err(Error::Api(status)) => status.code.to_string(),
        Err(error) => error.to_string(),
    };
    world.journal.add_for(act.page(), &format!("client {number}: {act}: {outcome}"));
}

async fn done(world: &World<'_>, act: &Act) -> Result<(), Error> {
    match act {
        Act::Create { page, html, exposed } => create(world, page, html, *exposed).await,
        Act::Edit { page, html } | Act::Break { page, html } => {
            edit(world, page, json!({ "html": html })).await
        }
        Act::Expose { page, exposed } => edit(world, page, json!({ "exposed": exposed })).await,
        Act::Delete { page, deletion } => delete(world, page, *deletion).await,
        Act::Replace { page, html, deletion } => {
            delete(world, page, *deletion).await?;
            for _ in 1..ATTEMPTS {
                match create(world, page, html, true).await {
                    // The predecessor is still going, or another client was quicker.
                    Err(Error::Api(status)) if is_there(&status) => tokio::time::sleep(AGAIN).await,
                    other => return other,
                }
            }
            create(world, page, html, true).await
        }
        Act::Drift { page, child, change } => {
            change_child(world, *child, page, &change.patch()).await.map(drop)
        }
        Act::TakeAway { page, child } => {
            let objects = world.objects(&child.resource());
            objects.delete(&child.of(page), &DeleteParams::background()).await.map(drop)
        }
        Act::Strip { page, child, what } => {
            let object = world.objects(&child.resource()).get(&child.of(page)).await?;
            let uid = object.metadata.uid.unwrap_or_default();
            if world.may_strip(&uid, *what) {
                change_child(world, *child, page, &what.patch(&uid)).await?;
            }
            Ok(())
        }
        Act::MovePort { page, port } => {
            let change = Change::Value("/spec/ports/0/port", json!(port));
            change_child(world, Child::Service, page, &change.patch()).await.map(drop)
        }
        Act::AddSidecar { page } => {
            let sidecar = json!({ "name": "sidecar", "image": "example.com/sidecar" });
            let patch = json!({ "spec": { "template": { "spec": { "containers": [sidecar] } } } });
            let object = change_child(world, Child::Deployment, page, &Patch::Strategic(patch)).await?;
            world.sidecar(&object);
            Ok(())
        }
        Act::Label { page, child, key, value } => {
            let patch = Patch::Merge(json!({ "metadata": { "labels": { key: value } } }));
            let object = change_child(world, *child, page, &patch).await?;
            world.labelled(&object, key, value);
            Ok(())
        }
    }
}

fn is_there(status: &Status) -> bool {
    status.code == 409
}

async fn create(world: &World<'_>, page: &str, html: &str, exposed: bool) -> Result<(), Error> {
    let page = WebPage::new(page, WebPageSpec { html: html.to_owned(), exposed });
    world.pages().create(&PostParams::default(), &page).await.map(drop)
}

async fn edit(world: &World<'_>, page: &str, spec: Value) -> Result<(), Error> {
    let patch = Patch::Merge(json!({ "spec": spec }));
    world.pages().patch(page, &PatchParams::default(), &patch).await.map(drop)
}

async fn delete(world: &World<'_>, page: &str, deletion: Deletion) -> Result<(), Error> {
    let policy = match deletion {
        Deletion::Background => PropagationPolicy::Background,
        Deletion::Foreground => PropagationPolicy::Foreground,
    };
    let params = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
    world.pages().delete(page, &params).await.map(drop)
}

async fn change_child(
    world: &World<'_>,
    child: Child,
    page: &str,
    patch: &Patch<Value>,
) -> Result<kube::api::DynamicObject, Error> {
    let params = PatchParams { field_manager: Some("chaos".to_owned()), ..PatchParams::default() };
    world.objects(&child.resource()).patch(&child.of(page), &params, patch).await
}
