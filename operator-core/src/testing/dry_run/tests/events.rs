//! Reconcilers that are triggered on all events, that expect something, and that apply a part of their primary.

use jiff::SignedDuration;

use super::*;
use crate::{reconciler::Expectation, testing::dry_run::Planned};

const FINALIZER: &str = "example.com/sees";
const WITHIN: Duration = Duration::from_secs(60);

/// Says on its primary how its expectation stands.
struct Sees {
    met: bool,
}

impl Reconciler for Sees {
    type Primary = Page;

    async fn reconcile(&self, page: &Page, cx: &mut Context<Page>) -> Result<UpdateControl<Page>, BoxError> {
        if cx.primary_is_deleted() {
            return match page.spec.published {
                true => Err("still published".into()),
                false => Ok(UpdateControl::no_update().reschedule()),
            };
        }
        if page.metadata.deletion_timestamp.is_some() {
            cx.resource_operations().remove_finalizer(FINALIZER).await?;
            return Ok(UpdateControl::no_update());
        }
        cx.resource_operations().add_finalizer(FINALIZER).await?;
        let met = self.met;
        let state = match cx.expectation("shown") {
            Expectation::None => {
                if cx.expect("shown", WITHIN, move |_, _| met)? {
                    "expected"
                } else {
                    "met already"
                }
            }
            Expectation::Waiting { .. } => "waiting",
            Expectation::Fulfilled => "met",
            Expectation::TimedOut => "late",
        };
        Ok(UpdateControl::apply(json!({
            "metadata": { "name": page.metadata.name, "annotations": { "state": state } },
        })))
    }
}

fn seen(met: bool) -> ControllerBuilder<Sees> {
    Controller::builder(Sees { met }).trigger_on_all_events(true)
}

fn state(run: &Planned<Page>) -> &str {
    run.body("apply Page/hello")["metadata"]["annotations"]["state"].as_str().unwrap_or_default()
}

#[test]
fn the_reconciler_handles_finalizers_and_sees_the_mark() {
    let run = seen(true).dry_run(&page()).blocking();
    assert_eq!(run.writes(), ["patch Page/hello", "apply Page/hello"]);
    assert_eq!(state(&run), "met already");
    let body = run.body("apply Page/hello");
    assert!(body["spec"].is_null() && body["metadata"]["finalizers"].is_null(), "just what it names: {body}");
    let kept = run.primary().expect("it is there");
    assert_eq!(kept.metadata.finalizers, Some(vec![FINALIZER.to_owned()]));

    let end = seen(true).dry_run(&kept).deleting().blocking();
    assert_eq!(end.writes(), ["patch Page/hello"]);
    assert!(end.primary().is_none(), "the finalizer was the last one");
}

#[test]
fn an_end_is_a_run_in_which_nothing_is_written() {
    let mut page = page();
    page.spec.published = false;
    let run = seen(true).dry_run(&page).deleted().blocking();
    assert_eq!((run.writes().len(), run.error(), run.next_run()), (0, None, None));
    assert!(run.primary().is_none());

    page.spec.published = true;
    let run = seen(true).dry_run(&page).deleted().blocking();
    assert_eq!((run.error(), run.next_run()), (Some("still published"), Some(Duration::from_secs(2))));
}

#[test]
#[should_panic(expected = "isn't triggered on all events")]
fn an_end_is_none_of_other_controllers() {
    let _ = controller().dry_run(&page()).deleted().blocking();
}

#[test]
fn what_is_expected_is_carried_along_and_its_time_passes() {
    let start = Timestamp::UNIX_EPOCH;
    let later = |seconds| start + SignedDuration::from_secs(seconds);
    let first = seen(false).dry_run(&page()).now(start).blocking();
    assert_eq!((state(&first), first.next_run()), ("expected", Some(WITHIN)));
    let second = first.again().now(later(20)).blocking();
    assert_eq!((state(&second), second.next_run()), ("waiting", Some(Duration::from_secs(40))));
    let third = second.again().now(later(60)).blocking();
    assert_eq!(state(&third), "late");
    assert!(third.next_run() > Some(WITHIN), "once is enough: {:?}", third.next_run());
}
