//! The controller: the children in their order, the drain, the clean-up and the status.

use std::{sync::Arc, time::Duration};

use k8s_openapi::api::{apps::v1::StatefulSet, batch::v1::CronJob, core::v1::Secret};
use kube::ResourceExt;
use operator_core::{
    prelude::*,
    status::conditions::{self, ConditionUpdate},
};

use crate::children::{self, address, budget, monitor, password, peers, settings};
use crate::outside::Outside;
use crate::types::{Store, StoreStatus};

// ANCHOR: secrets
/// The Secret that is used, generated or the user's.
fn credentials(store: &Store) -> Read<Secret> {
    Read::named(children::secret_name(store))
}

/// Without this key no member could start.
fn has_password(secret: &Secret) -> Verdict {
    let has_it = secret.data.as_ref().is_some_and(|data| data.contains_key("password"));
    Verdict::when(has_it, format!("the Secret {} has no key `password`", secret.name_any()))
}
// ANCHOR_END: secrets

// ANCHOR: members
/// How many members there are to be now: more than wanted, while some of them are drained.
#[derive(Debug)]
pub struct Members(i32);

/// The members.
///
/// # Errors
/// If the template doesn't fit its type.
#[expect(clippy::needless_pass_by_value, reason = "a dependent takes its data by value")]
pub fn members(store: &Store, now: Data<Members>) -> Result<StatefulSet> {
    Ok(children::stateful_set(store, now.0)?)
}
// ANCHOR_END: members

// ANCHOR: backups
/// Backups, if the user wants them. A schedule that can't be one leaves those that there are.
fn backups(store: &Store) -> Result<Want<CronJob>> {
    let Some(schedule) = &store.spec.backups else { return Ok(Want::none("no backups are wanted")) };
    if schedule.split_whitespace().count() != 5 {
        return Ok(Want::hold(
            "InvalidSchedule",
            format!("spec.backups: `{schedule}` doesn't have five fields"),
        ));
    }
    Ok(Want::of(children::cron_job(store, schedule)?))
}
// ANCHOR_END: backups

// ANCHOR: controller
#[derive(ControllerConfiguration)]
#[controller(name = "store-operator", status = status, puts(Members), records_events = true)]
#[workflow(
    password(create_only),
    credentials(after(password), ready(has_password)),
    settings,
    peers,
    members(after(credentials, settings, peers)),
    address(after(members)),
    budget,
    backups(after(members), delete_first),
    monitor(kind(("monitoring.coreos.com/v1", "ServiceMonitor")), when_served),
    explicit_invocation
)]
struct Stores {
    outside: Arc<dyn Outside>,
}

/// The controller, with what is outside the cluster.
pub fn controller(outside: Arc<dyn Outside>) -> ControllerBuilder<impl Reconciler<Primary = Store>> {
    Stores { outside }.controller()
}

/// The operator.
pub fn operator(outside: Arc<dyn Outside>) -> OperatorBuilder {
    Operator::builder().register(controller(outside))
}
// ANCHOR_END: controller

// ANCHOR: drain
/// Members that leave, and the keys that they still have.
struct Draining {
    from: i32,
    keys: u64,
}

impl Stores {
    /// How many members there are to be now. Members that leave stay until they have no keys.
    async fn members(&self, store: &Store, cx: &Context<Store>) -> Result<Members> {
        let wanted = store.spec.members;
        let current = cx.secondary::<StatefulSet>()?.and_then(|set| set.spec.as_ref()?.replicas);
        let Some(from) = current.filter(|current| *current > wanted) else { return Ok(Members(wanted)) };
        let keys = self.outside.drain(&cx.primary_key().to_string(), wanted).await?;
        if keys > 0 {
            cx.put(Draining { from, keys });
            return Ok(Members(from));
        }
        cx.events().normal("Drained", format!("{} members have no keys any more", from - wanted));
        Ok(Members(wanted))
    }
}

impl Cleaner for Stores {
    type Primary = Store;

    async fn reconcile(&self, store: &Store, cx: &mut Context<Store>) -> Result<UpdateControl<Store>> {
        cx.put(self.members(store, cx).await?);
        let run = cx.run().await?;
        Ok(match run.data::<Draining>() {
            Some(_) => UpdateControl::no_update().reschedule_after(Duration::from_secs(5)),
            None => UpdateControl::no_update(),
        })
    }
    // ANCHOR_END: drain

    // ANCHOR: cleanup
    async fn cleanup(&self, _: &Store, cx: &mut Context<Store>) -> Result<Removal> {
        // First the CronJob goes, so that no backup is begun that nobody would delete.
        if !cx.clean_up().await?.all_deleted() {
            return Ok(Removal::keep());
        }
        self.outside.delete_backups(&cx.primary_key().to_string()).await?;
        cx.events().normal("BackupsDeleted", "the store has no backups any more");
        Ok(Removal::Done)
    }
    // ANCHOR_END: cleanup
}

// ANCHOR: status
fn status(store: &Store, run: &Run<Store>) -> StoreStatus {
    let set = run.get(members).and_then(|set| set.status.clone()).unwrap_or_default();
    let draining = run.data::<Draining>();
    let words = draining.as_ref().map(|drain| {
        format!("from {} members to {}: {} keys are left", drain.from, store.spec.members, drain.keys)
    });
    let mut all = run.conditions(store);
    let condition = ConditionUpdate {
        r#type: "Draining",
        status: draining.is_some().into(),
        reason: if draining.is_some() { "KeysAreMoved" } else { "NothingToMove" },
        message: &words.unwrap_or_default(),
        observed_generation: store.metadata.generation,
    };
    conditions::set(&mut all, &condition, run.now());
    StoreStatus {
        members: set.replicas,
        ready_members: set.ready_replicas.unwrap_or(0),
        selector: Some(children::selector(store)),
        observed_generation: store.metadata.generation,
        conditions: all,
    }
}
// ANCHOR_END: status
