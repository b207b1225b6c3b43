//! Lets the controllers do what is due.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::{
    Act, ClusterController as Controller, Next, cron_jobs, daemon_sets, deployments, endpoints,
    furnish::publish_root,
    jobs,
    manager::{ControllerManager, Failed},
    node,
    perform::{perform, perform_and_tell},
    queue::Look,
    replica_sets, stateful_sets,
    view::View,
    volumes,
};
use crate::in_process::{
    admission::sync_quotas,
    api::ApiServer,
    budgets::sync_budgets,
    controllers::{Change, MANAGER},
    definitions::{definition_of, definitions, sync_definition},
    namespaces::sync_namespace,
    rights::sync_roles,
    store::{Path, Resource},
    write::{create_own, is_deleting},
};

/// How many steps may be done before a request is answered. Controllers that disagree with each other without an end go
/// on after it.
const MOST_STEPS: u32 = 100_000;

impl ControllerManager {
    /// Lets the controllers do what the last request has caused, as far as it is due.
    pub(in crate::in_process) fn settle(&mut self, api: &mut ApiServer) {
        self.run_until(api, self.queue.moment, api.now);
    }

    /// What has become due in the meantime, until `moment`, which is `now`.
    pub(in crate::in_process) fn advance(&mut self, api: &mut ApiServer, now: Timestamp, moment: Duration) {
        let moment = moment.max(self.queue.moment);
        if self.queue.next_due().is_some_and(|due| due <= moment) {
            self.run_until(api, moment, now);
        }
        self.queue.moment = moment;
        api.now = now;
    }

    /// Lets the controllers take one step, if they take steps one at a time; returns whether there was one.
    pub(in crate::in_process) fn step(&mut self, api: &mut ApiServer) -> bool {
        if !self.is_stepwise() {
            return false;
        }
        let Some((_, look)) = self.queue.pop(self.queue.moment) else { return false };
        self.take_step(api, &look);
        self.take_changes(api);
        true
    }

    fn run_until(&mut self, api: &mut ApiServer, until: Duration, now: Timestamp) {
        self.take_changes(api);
        if !self.works_alone() {
            return;
        }
        for _ in 0..MOST_STEPS {
            let Some((due, look)) = self.queue.pop(until) else { return };
            self.queue.moment = self.queue.moment.max(due);
            // What is done late has the time at which it was due.
            let since = SignedDuration::try_from(until - self.queue.moment).unwrap_or_default();
            api.now = now.checked_sub(since).unwrap_or(now).max(api.now.min(now));
            self.take_step(api, &look);
            self.take_changes(api);
        }
    }

    /// What the server itself does when something has changed, and what the controllers have to look at then.
    fn take_changes(&mut self, api: &mut ApiServer) {
        while let Some(change) = api.changed.pop() {
            react_in_server(api, &change);
            if self.is_on() {
                self.route(api, &change);
                sync_roles(api, &change.resource);
                sync_budgets(api, &change.resource, &change.path, change.gone.as_deref());
                sync_quotas(api, &change.resource, &change.path, change.gone.is_some());
            }
        }
    }

    fn take_step(&mut self, api: &mut ApiServer, look: &Look) {
        let Look { controller, resource, path } = look;
        let Some(object) = api.store.get(resource, path).cloned() else {
            self.failed.remove(look);
            if *controller == Controller::Endpoints {
                perform(api, endpoints::leftovers(path)).ok();
            }
            return;
        };
        match controller {
            Controller::GarbageCollector => {
                let next = self.graph.collect(api, resource, path, &object);
                self.look_at_garbage(next);
            }
            Controller::Namespaces => sync_namespace(api, path),
            Controller::ServiceAccounts => make_account(api, path),
            Controller::RootCertificates => publish_root(api, &self.authority, path),
            _ => {
                let Next { acts, again } = self.next_of(api, look, &object);
                if let Some(again) = again {
                    self.queue.look_again(look.clone(), again);
                }
                self.perform_all(api, look, &object, acts);
            }
        }
    }

    /// What a controller does with an object. Nothing is changed yet.
    fn next_of(&self, api: &ApiServer, look: &Look, object: &Arc<Value>) -> Next {
        let failed = self.failed.get(look).filter(|failed| failed.until > self.queue.moment);
        let view = View {
            store: &api.store,
            now: api.now,
            fates: &self.fates,
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

    fn perform_all(&mut self, api: &mut ApiServer, look: &Look, object: &Value, acts: Vec<Act>) {
        let creates = acts.iter().any(|act| !matches!(act, Act::Write { .. } | Act::Say(_)));
        for act in acts {
            if let Err(why) = perform_and_tell(&mut self.events, api, look, object, act) {
                let moment = self.queue.moment;
                let known = self.failed.get(look).cloned().unwrap_or_default();
                let after = Duration::from_secs(1 << known.times.min(10));
                let failed = Failed { why, times: known.times + 1, until: moment + after };
                self.failed.insert(look.clone(), failed);
                // It says so at once, but not again and again.
                if known.until <= moment {
                    self.queue.look_at(look.clone());
                }
                return self.queue.look_again(look.clone(), after);
            }
        }
        if creates {
            self.failed.remove(look);
        }
    }
}

fn react_in_server(api: &mut ApiServer, Change { resource, path, gone, .. }: &Change) {
    if *resource == definitions() {
        return sync_definition(api, path);
    }
    let definition = definition_of(resource);
    if gone.is_some()
        && api.store.get(&definitions(), &definition).is_some_and(|definition| is_deleting(definition))
    {
        let as_it_is = api.store.get(&definitions(), &definition).cloned();
        api.changed.look_at(definitions(), definition, as_it_is);
    }
}

/// Each namespace has a service account called `default`.
fn make_account(api: &mut ApiServer, namespace: &Path) {
    let accounts = Resource::new("", "serviceaccounts");
    let path = Path::new(Some(namespace.name()), "default");
    if api.store.get(&accounts, &path).is_none()
        && let Some(kind) = api.discovery.of_resource(&accounts).cloned()
    {
        let account =
            json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": { "name": "default" } });
        create_own(api, &kind, &path, MANAGER, account).ok();
    }
}
