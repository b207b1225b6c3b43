//! The changes of a controller by settings.

use std::time::Duration;

use super::*;
use crate::{
    cache::InitialList,
    controller::{ControllerBuilder, pods_for_tests::Pods},
    environment::Now,
};

fn pods() -> ControllerBuilder<Pods> {
    Controller::builder(Pods)
}

fn set<T>(value: T) -> Option<Setting<T>> {
    Some(Setting::new(value, "here"))
}

fn configured(builder: ControllerBuilder<Pods>, settings: &ControllerSettings) -> Controller {
    let mut controller = builder.build().expect("it is sound");
    let mut mistakes = Vec::new();
    controller.configure(settings, &mut mistakes);
    assert_eq!(mistakes, []);
    controller
}

#[test]
fn names_from_outside_replace_the_declared_ones() {
    let settings = ControllerSettings {
        finalizer: set("outside.example.com/pods".to_owned()),
        field_manager: set("outside".to_owned()),
        ..ControllerSettings::default()
    };
    let builder = pods().finalizer("code.example.com/pods").field_manager("code");
    let declaration = configured(builder, &settings);
    assert_eq!(declaration.finalizer.as_deref(), Some("outside.example.com/pods"));
    assert_eq!(&*declaration.field_manager, "outside");
}

#[test]
fn what_is_not_set_of_a_retry_stays_as_it_was_declared() {
    let settings = ControllerSettings {
        retry: RetrySettings { multiplier: set(3.0), ..RetrySettings::default() },
        ..ControllerSettings::default()
    };
    let declared = GenericRetry::exponential(Duration::from_secs(1), 2.0, 4).expect("it can be");
    for builder in [pods().retry(declared), pods().retry(Ok(declared))] {
        let retry = configured(builder, &settings).settings.machine.retry;
        let mut state = retry.begin();
        let delays = std::iter::from_fn(|| retry.next_delay(&mut state, Now::START));
        assert_eq!(delays.map(|delay| delay.as_secs()).collect::<Vec<_>>(), [1, 1, 3, 9]);
    }
}

#[test]
fn all_events_are_for_a_reconciler_without_a_cleaner() {
    let settings = ControllerSettings { all_events: set(true), ..ControllerSettings::default() };
    let declaration = configured(Controller::builder(Pods).cleaner(false), &settings);
    assert!(declaration.settings.all_events);
    let (mut cleaning, mut mistakes) = (pods().build().expect("it is sound"), Vec::new());
    cleaning.configure(&settings, &mut mistakes);
    assert_eq!(mistakes.len(), 1, "{mistakes:?}");
    assert!(!cleaning.settings.all_events);
    let declared = Controller::builder(Pods).cleaner(false).trigger_on_all_events(true);
    let settings = ControllerSettings { all_events: set(false), ..ControllerSettings::default() };
    let declaration = configured(declared, &settings);
    assert!(!declaration.settings.all_events);
}

#[test]
fn shards_are_followed_or_told_to_be_none() {
    let half = "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')";
    let of = |selector: &str| ControllerSettings {
        shard_selector: set(selector.to_owned()),
        page_size: set(7),
        ..ControllerSettings::default()
    };
    let primaries = configured(pods(), &of(half)).settings.primaries;
    assert!(primaries.shard().is_some());
    assert_eq!(primaries.settings.page_size, 7);
    for (builder, selector) in
        [(pods(), "the first half"), (pods().initial_list(InitialList::Streaming), half)]
    {
        let (mut controller, mut mistakes) = (builder.build().expect("it is sound"), Vec::new());
        controller.configure(&of(selector), &mut mistakes);
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert!(mistakes[0].what().starts_with("here: controller `pods`: it"), "{mistakes:?}");
    }
}

#[test]
fn the_rest_is_as_it_is_set() {
    let settings = ControllerSettings {
        generation_aware: set(false),
        label_selector: set("a=1".to_owned()),
        max_reconciliation_interval: set(Duration::from_secs(5)),
        rate_limiter: RateLimiterSettings { limit: set(2), period: set(Duration::from_secs(5)) },
        ..ControllerSettings::default()
    };
    let declaration = configured(pods().label_selector("b=1"), &settings);
    assert!(!declaration.settings.filters.generation_aware);
    assert_eq!(declaration.settings.primaries.settings.label_selector.as_deref(), Some("a=1"));
    let machine = declaration.settings.machine;
    assert_eq!(machine.max_reconciliation_interval, Some(Duration::from_secs(5)));
    assert!(format!("{machine:?}").contains("GovernorRateLimiter"), "{machine:?}");
}
