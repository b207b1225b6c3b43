//! CronJobs: a Job whenever their schedule says so.
//!
//! ```text
//!  finished Jobs: those beyond the limits go ─▶ ended ones leave status.active
//!     └─▶ is a time of the schedule due?  no ─▶ look again then
//!            │ yes; not too late, not forbidden by one that still runs
//!            ▼
//!         the Job named after the time ─▶ status.active, lastScheduleTime
//! ```

mod missed;
mod times;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::{
    Act, MANAGER, Next,
    events::Said,
    jobs::{end, jobs},
    times::parse,
    view::{Found, View, by_age, items, reference, stays, text},
};
use crate::in_process::{
    fields::Endpoint,
    store::{Path, Resource},
    values::workloads::schedule,
    write::{How, metadata::time},
};
use times::Timetable;

const SCHEDULED: &str = "batch.kubernetes.io/cronjob-scheduled-timestamp";

/// Where CronJobs are.
pub(super) fn cron_jobs() -> Resource {
    Resource::new("batch", "cronjobs")
}

/// What a CronJob follows: if this changes, only the next time of the new schedule counts.
pub(super) fn followed(job: &Value) -> String {
    format!("{} {}", text(&job["spec"]["timeZone"]), text(&job["spec"]["schedule"]))
}

/// How long it takes until the next time of a CronJob's schedule.
pub(super) fn wait(job: &Value, now: Timestamp) -> Option<std::time::Duration> {
    missed::wait(job, &timetable(job)?, now)
}

/// When a CronJob is due; `None` if its schedule or its time zone can't be read.
fn timetable(job: &Value) -> Option<Timetable> {
    let schedule = schedule::parse(text(&job["spec"]["schedule"])).ok()?;
    Timetable::new(schedule, job["spec"]["timeZone"].as_str())
}

/// A CronJob and its Jobs at one time.
struct CronJob<'s> {
    view: View<'s>,
    path: &'s Path,
    job: &'s Value,
    jobs: Vec<Found<'s>>,
    table: Option<Timetable>,
    status: Value,
    acts: Vec<Act>,
}

/// What a CronJob needs next.
pub(super) fn next<'s>(view: &View<'s>, path: &'s Path, job: &'s Arc<Value>) -> Next {
    let mut jobs = view.controlled(&jobs(), job);
    by_age(&mut jobs);
    let status = job["status"].clone();
    let mut of = CronJob { view: *view, path, job, jobs, table: timetable(job), status, acts: Vec::new() };
    of.clean_up();
    of.take_stock();
    let again = if stays(job) { of.follow() } else { None };
    if of.status["active"].as_array().is_some_and(Vec::is_empty) {
        of.status.as_object_mut().map(|status| status.remove("active"));
    }
    if of.status != job["status"] {
        let mut object = Value::clone(job);
        object["status"] = of.status;
        let (resource, path, endpoint) = (cron_jobs(), path.clone(), Endpoint::Status);
        of.acts.push(Act::Write { resource, path, endpoint, manager: MANAGER, object });
    }
    Next { acts: of.acts, again }
}

impl<'s> CronJob<'s> {
    /// Deletes the oldest of the Jobs that have ended, if there are more than are kept.
    fn clean_up(&mut self) {
        for (limit, kind) in
            [("successfulJobsHistoryLimit", "Complete"), ("failedJobsHistoryLimit", "Failed")]
        {
            let Some(kept) = self.job["spec"][limit].as_i64() else { continue };
            let has_ended = |(_, job): &&Found<'s>| end(job).is_some_and(|end| end["type"] == kind);
            let mut ended: Vec<Found<'s>> = self.jobs.iter().filter(has_ended).copied().collect();
            // One that was never started comes last.
            ended.sort_by_key(|(path, job)| {
                let start = job["status"]["startTime"].as_str();
                (start.is_none(), start.map(str::to_owned), *path)
            });
            let surplus = ended.len().saturating_sub(usize::try_from(kept).unwrap_or_default());
            for found in ended.into_iter().take(surplus).filter(|(_, job)| stays(job)) {
                self.delete(found);
            }
        }
    }

    fn delete(&mut self, (path, job): Found<'_>) {
        let how = How::Background;
        self.acts.push(Act::Delete { resource: jobs(), path: path.clone(), how });
        self.say(Said::normal("SuccessfulDelete", format!("Deleted job {}", path.name())));
        self.no_longer_active(&job["metadata"]["uid"]);
    }

    fn say(&mut self, said: Said) {
        self.acts.push(Act::Say(said));
    }

    fn is_active(&self, uid: &Value) -> bool {
        items(&self.status["active"]).iter().any(|job| job["uid"] == *uid)
    }

    fn no_longer_active(&mut self, uid: &Value) {
        if let Some(active) = self.status["active"].as_array_mut() {
            active.retain(|job| job["uid"] != *uid);
        }
    }

    /// Which Jobs still run, and which have ended.
    fn take_stock(&mut self) {
        let due_name = self.due_name();
        for (path, job) in self.jobs.clone() {
            let uid = &job["metadata"]["uid"];
            let Some(end) = end(job) else {
                // One that was made in this minute is noted below.
                if !self.is_active(uid) && due_name.as_deref() != Some(path.name()) {
                    let said = "Saw a job that the controller did not create or forgot";
                    self.say(Said::warning("UnexpectedJob", format!("{said}: {}", path.name())));
                }
                continue;
            };
            if self.is_active(uid) {
                self.no_longer_active(uid);
                let said = format!("Saw completed job: {}, condition: {}", path.name(), text(&end["type"]));
                self.say(Said::normal("SawCompletedJob", said));
            }
            let done = &job["status"]["completionTime"];
            let last = &self.status["lastSuccessfulTime"];
            if end["type"] == "Complete" && (last.is_null() || parse(done) > parse(last)) && !done.is_null() {
                self.status["lastSuccessfulTime"] = done.clone();
            }
        }
        let gone: Vec<Value> = items(&self.status["active"])
            .iter()
            .filter(|active| {
                let path = Path::new(self.path.namespace(), text(&active["name"]));
                let job = self.view.store.get(&jobs(), &path);
                job.is_none_or(|job| job["metadata"]["uid"] != active["uid"])
            })
            .cloned()
            .collect();
        for job in gone {
            let said = format!("Active job went missing: {}", text(&job["name"]));
            self.say(Said::normal("MissingJob", said));
            self.no_longer_active(&job["uid"]);
        }
    }

    /// The name of the Job that is due now.
    fn due_name(&self) -> Option<String> {
        let (due, _) = missed::due(self.job, self.table.as_ref()?, self.view.now).ok()??;
        Some(self.name_of(due))
    }

    fn name_of(&self, due: Timestamp) -> String {
        format!("{}-{}", self.path.name(), due.as_second() / 60)
    }

    fn place_of(&self, due: Timestamp) -> Path {
        Path::new(self.path.namespace(), &self.name_of(due))
    }

    /// Starts a Job if it is time; returns how long to wait for the next one.
    fn follow(&mut self) -> Option<std::time::Duration> {
        let (spec, now) = (&self.job["spec"], self.view.now);
        if spec["suspend"] == true {
            return None;
        }
        let schedule = text(&spec["schedule"]);
        if schedule.contains("TZ") {
            let why = "is not officially supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details";
            let said = format!("CRON_TZ or TZ used in schedule {schedule:?} {why}");
            self.say(Said::warning("UnsupportedSchedule", said));
        }
        let table = self.table.take()?;
        let due = match missed::due(self.job, &table, now) {
            Ok(due) => due,
            Err(missed::Senseless) => {
                let why = "time difference between two schedules is less than 1 second";
                self.say(Said::warning("InvalidSchedule", format!("invalid schedule: {schedule} : {why}")));
                return None;
            }
        };
        let Some((due, too_many)) = due else { return missed::wait(self.job, &table, now) };
        if too_many && self.view.store.get(&jobs(), &self.place_of(due)).is_none() {
            let said = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew";
            self.say(Said::warning("TooManyMissedTimes", said.to_owned()));
        }
        let mut shown = self.job.clone();
        if self.start(due) {
            shown["status"] = self.status.clone();
        }
        missed::wait(&shown, &table, now)
    }

    /// Starts the Job of a time, or says why not. Returns whether the time is served.
    fn start(&mut self, due: Timestamp) -> bool {
        let spec = &self.job["spec"];
        let latest = spec["startingDeadlineSeconds"].as_i64();
        let latest =
            latest.and_then(|seconds| due.checked_add(jiff::SignedDuration::from_secs(seconds)).ok());
        if latest.is_some_and(|latest| latest < self.view.now) {
            let when = due.strftime("%a, %d %b %Y %H:%M:%S UTC");
            self.say(Said::warning("MissSchedule", format!("Missed scheduled time to start a job: {when}")));
            return false;
        }
        let name = self.name_of(due);
        let is_listed = items(&self.status["active"]).iter().any(|job| job["name"] == *name);
        if is_listed || parse(&self.status["lastScheduleTime"]) == Some(due) {
            return false;
        }
        if let Some(made) = self.view.store.get(&jobs(), &self.place_of(due)) {
            if super::view::controller(made).is_some_and(|owner| owner["uid"] == self.job["metadata"]["uid"])
            {
                self.note(made, due);
                return true;
            }
            return false;
        }
        let active = items(&self.status["active"]).to_vec();
        if spec["concurrencyPolicy"] == "Forbid" && !active.is_empty() {
            let said = "Not starting job because prior execution is running and concurrency policy is Forbid";
            self.say(Said::normal("JobAlreadyActive", said.to_owned()));
            return false;
        }
        if spec["concurrencyPolicy"] == "Replace" {
            let runs = |(_, job): &&Found<'s>| active.iter().any(|of| of["uid"] == job["metadata"]["uid"]);
            let replaced: Vec<Found<'s>> = self.jobs.iter().filter(runs).copied().collect();
            replaced.into_iter().for_each(|found| self.delete(found));
        }
        if self.view.failed.is_none() {
            let object = self.made(&name, due);
            self.acts.push(Act::Create { resource: jobs(), manager: MANAGER, object });
        }
        false
    }

    /// The Job that was made for a time is one of those that run.
    fn note(&mut self, made: &Value, due: Timestamp) {
        let metadata = &made["metadata"];
        let noted = json!({
            "apiVersion": "batch/v1", "kind": "Job", "namespace": self.path.namespace(),
            "name": metadata["name"], "uid": metadata["uid"], "resourceVersion": metadata["resourceVersion"],
        });
        match self.status["active"].as_array_mut() {
            Some(active) => active.push(noted),
            None => self.status["active"] = json!([noted]),
        }
        self.status["lastScheduleTime"] = time(due).into();
    }

    fn made(&self, name: &str, due: Timestamp) -> Value {
        let template = &self.job["spec"]["jobTemplate"];
        let zone = times::zone(self.job["spec"]["timeZone"].as_str().unwrap_or_default());
        let zone = zone.unwrap_or(jiff::tz::TimeZone::UTC);
        let local = due.to_zoned(zone.clone());
        let scheduled = match zone == jiff::tz::TimeZone::UTC || local.offset().seconds() == 0 {
            true => time(due),
            false => local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string(),
        };
        let mut annotations = template["metadata"]["annotations"].clone();
        annotations[SCHEDULED] = scheduled.into();
        let mut metadata = json!({
            "name": name, "namespace": self.path.namespace(), "annotations": annotations,
            "ownerReferences": [reference(self.job)],
        });
        if !template["metadata"]["labels"].is_null() {
            metadata["labels"] = template["metadata"]["labels"].clone();
        }
        json!({ "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": template["spec"] })
    }
}
