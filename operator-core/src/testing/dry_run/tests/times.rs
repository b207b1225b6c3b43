//! The time of a run, and what a run says about what was never there.

use super::*;

/// Takes the time in the reconciler and in an Event.
struct Dates;

impl Reconciler for Dates {
    type Primary = Page;

    async fn reconcile(&self, _: &Page, cx: &mut Context<Page>) -> Result<UpdateControl<Page>, BoxError> {
        cx.events().normal("Runs", format!("at {}", cx.wall_clock().now()));
        Ok(UpdateControl::no_update())
    }
}

fn dated(_: &Page, cx: &Context<Page>) -> ConfigMap {
    let data = [("at".to_owned(), cx.wall_clock().now().to_string())];
    ConfigMap { data: Some(data.into()), ..ConfigMap::default() }
}

/// Wanted from a certain day on.
fn late(_: &Page, cx: &Context<Page>) -> Option<ConfigMap> {
    cx.wall_clock().now().to_string().starts_with("2031").then(ConfigMap::default)
}

/// Whatever asks for the time gets that of the run, in the first run and in the next one, which has another.
#[test]
fn everything_in_a_run_has_its_time() {
    let nodes = (dated, late);
    let controller = Controller::builder(Dates).records_events(true).workflow(nodes).status(status);
    let mut dry = controller.dry_run(&page());
    for (now, is_due) in [("2030-05-06T07:08:09Z", false), ("2031-01-01T00:00:00Z", true)] {
        let run = dry.now(now.parse().unwrap()).blocking();
        assert_eq!(run.body("apply ConfigMap/hello-dated")["data"]["at"], now);
        assert_eq!(run.get(late).is_some(), is_due, "{run}");
        // Once it is ready, that is no news.
        let ready = (!is_due).then(|| "Normal Succeeded: Ready is True".to_owned());
        let events: Vec<_> = [format!("Normal Runs: at {now}")].into_iter().chain(ready).collect();
        assert_eq!(run.events(), events);
        // What is created now has its time.
        let meta = match is_due {
            true => run.get(late).map(|map| map.metadata.clone()),
            false => run.get(dated).map(|map| map.metadata.clone()),
        };
        let created = meta.and_then(|meta| meta.creation_timestamp).expect("the server has dated it");
        assert_eq!(created.0.to_string(), now);
        dry = run.again();
    }
}

#[test]
fn what_never_existed_is_not_deleted() {
    let mut page = page();
    page.spec.published = false;
    let hidden = || Controller::of::<Page>().workflow((html, service.after(html)));
    let never = hidden().dry_run(&page).blocking();
    assert_eq!(never.states(), ["html: created", "service: inactive: it is not wanted"]);
    assert_eq!(never.state(service).to_string(), "inactive: it is not wanted");
    let there = hidden().dry_run(&page).made(service, &Service::default()).blocking();
    assert_eq!(there.states(), ["html: created", "service: deleted"]);
    assert_eq!(there.again().blocking().states(), ["html: matched", "service: inactive: it is not wanted"]);
}
