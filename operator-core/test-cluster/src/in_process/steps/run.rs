//! Lets the controllers do what is due.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    Act, ClusterController as Controller, Next, cron_jobs, daemon_sets, deployments, endpoints, jobs, node,
    queue::{Failed, Look},
    replica_sets, stateful_sets,
    view::View,
    volumes,
};
use crate::in_process::{
    controllers::{Change, Controllers, MANAGER},
    definitions::definitions,
    state::State,
    store::{Path, Resource},
    write::is_deleting,
};

/// How many steps may be done before a request is answered. Controllers that disagree with each other without an end go
/// on after it.
const MOST_STEPS: u32 = 100_000;

impl State {
    /// Lets the controllers do what the last request has caused, as far as it is due.
    pub(in crate::in_process) fn settle(&mut self) {
        self.run_until(self.steps.moment, self.now);
    }

    /// What has become due in the meantime, until `moment`, which is `now`.
    pub(in crate::in_process) fn advance(&mut self, now: Timestamp, moment: Duration) {
        let moment = moment.max(self.steps.moment);
        if self.steps.next_due().is_some_and(|due| due <= moment) {
            self.run_until(moment, now);
        }
        self.steps.moment = moment;
        self.now = now;
    }

    /// Lets the controllers take one step; returns whether there was one.
    pub(in crate::in_process) fn step(&mut self) -> bool {
        let Some((_, look)) = self.steps.pop(self.steps.moment) else { return false };
        self.take_step(&look);
        self.take_changes();
        true
    }

    fn run_until(&mut self, until: Duration, now: Timestamp) {
        self.take_changes();
        if matches!(self.controllers, Controllers::Off | Controllers::Stepwise) {
            return;
        }
        for _ in 0..MOST_STEPS {
            let Some((due, look)) = self.steps.pop(until) else { return };
            self.steps.moment = self.steps.moment.max(due);
            // What is done late has the time at which it was due.
            let since = SignedDuration::try_from(until - self.steps.moment).unwrap_or_default();
            self.now = now.checked_sub(since).unwrap_or(now).max(self.now.min(now));
            self.take_step(&look);
            self.take_changes();
        }
    }

    /// What the server itself does when something has changed, and what the controllers have to look at then.
    fn take_changes(&mut self) {
        while let Some(change) = self.changed.pop() {
            self.react_in_server(&change);
            if self.controllers != Controllers::Off {
                self.route(&change);
                self.sync_roles(&change.resource);
                self.sync_budgets(&change.resource, &change.path, change.gone.as_deref());
                self.sync_quotas(&change.resource, &change.path, change.gone.is_some());
            }
        }
    }

    fn react_in_server(&mut self, Change { resource, path, gone }: &Change) {
        if *resource == definitions() {
            return self.sync_definition(path);
        }
        let definition = Self::definition_of(resource);
        if gone.is_some()
            && self.store.get(&definitions(), &definition).is_some_and(|definition| is_deleting(definition))
        {
            self.changed.look_at(definitions(), definition);
        }
    }

    fn take_step(&mut self, look: &Look) {
        let Look { controller, resource, path } = look;
        let Some(object) = self.store.get(resource, path).cloned() else {
            self.steps.failed.remove(look);
            if *controller == Controller::Endpoints {
                self.perform(endpoints::leftovers(path)).ok();
            }
            return;
        };
        match controller {
            Controller::GarbageCollector => self.collect(resource, path, &object),
            Controller::Namespaces => self.sync_namespace(path),
            Controller::ServiceAccounts => self.make_account(path),
            Controller::RootCertificates => self.publish_root(path),
            _ => {
                let Next { acts, again } = self.next_of(look, &object);
                if let Some(again) = again {
                    self.steps.look_again(look.clone(), again);
                }
                self.perform_all(look, &object, acts);
            }
        }
    }

    /// What a controller does with an object. Nothing is changed yet.
    fn next_of(&self, look: &Look, object: &Arc<Value>) -> Next {
        let failed = self.steps.failed.get(look).filter(|failed| failed.until > self.steps.moment);
        let view = View {
            store: &self.store,
            now: self.now,
            fates: &self.steps.fates,
            failed: failed.map(|failed| &*failed.why),
        };
        let path = &look.path;
        match look.controller {
            Controller::Deployments => deployments::next(&view, path, object),
            Controller::ReplicaSets => replica_sets::next(&view, path, object),
            Controller::StatefulSets => stateful_sets::next(&view, path, object),
            Controller::DaemonSets => daemon_sets::next(&view, path, object),
            Controller::Jobs => jobs::next(&view, path, object),
            Controller::CronJobs => cron_jobs::next(&view, path, object),
            Controller::Volumes if look.resource == volumes::claims() => volumes::next(&view, path, object),
            Controller::Volumes => volumes::next_of_volume(&view, path, object),
            Controller::Endpoints => endpoints::next(&view, path, object),
            Controller::Scheduler => node::schedule(&view, path, object),
            Controller::Node => node::next(&view, path, object),
            _ => Next::nothing(),
        }
    }

    fn perform_all(&mut self, look: &Look, object: &Value, acts: Vec<Act>) {
        let creates = acts.iter().any(|act| !matches!(act, Act::Write { .. } | Act::Say(_)));
        for act in acts {
            if let Err(why) = self.perform_and_tell(look, object, act) {
                let moment = self.steps.moment;
                let known = self.steps.failed.get(look).cloned().unwrap_or_default();
                let after = Duration::from_secs(1 << known.times.min(10));
                let failed = Failed { why, times: known.times + 1, until: moment + after };
                self.steps.failed.insert(look.clone(), failed);
                // It says so at once, but not again and again.
                if known.until <= moment {
                    self.steps.look_at(look.clone());
                }
                return self.steps.look_again(look.clone(), after);
            }
        }
        if creates {
            self.steps.failed.remove(look);
        }
    }

    /// Each namespace has a service account called `default`.
    fn make_account(&mut self, namespace: &Path) {
        let accounts = Resource { group: String::new(), plural: "serviceaccounts".to_owned() };
        let path = Path::new(Some(namespace.name()), "default");
        if self.store.get(&accounts, &path).is_none()
            && let Some(kind) = self.kinds.of_resource(&accounts).cloned()
        {
            let account =
                json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "default" } });
            self.create_own(&kind, &path, MANAGER, account).ok();
        }
    }
}
