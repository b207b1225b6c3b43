//! Whole operators under bad luck: thousands of schedules, each in virtual time, each of them repeatable.
//!
//! ```text
//!              seed or tape
//!                   │
//!                choices ──────────────┬──────────────────────┬───────────────┐
//!                   │                  │                      │               │
//!   users ──▶ in-process server ◀── faults, crashes ◀── operator's tasks, in ever new orders
//!                   │                                         │
//!                   └────────────▶ oracles ◀──────────────────┘
//!                                     │ violated
//!                                     ▼
//!                      shrink ──▶ a short story, and a tape to replay it
//! ```
//!
//! A simulation is a test with [`sim_test`](crate::sim_test): a function that declares which operator runs, what users
//! do and what goes wrong. It is run once without any bad luck, then many times with different bad luck, and each time
//! it has to reach the same end state. The page "Simulation" of the documentation shows how.
//!
//! # Guarantees
//! - The same seed, or the same tape, gives the same calls at the same moments, in this process and in another.
//! - A crashed operator can't write any more: its tasks are dropped at once, and nothing that is left of it reaches the
//!   server.
//! - What is checked for every schedule by default is listed in [`Oracle`].
//!
//! # Assumptions
//! - The operator takes time from tokio, starts tasks that matter through the library, and uses neither threads nor
//!   sockets. A schedule that is not repeatable is named in the report.

mod calm;
mod canary;
mod check;
mod checkpoint;
mod choice;
mod cluster;
mod forbidden;
mod forms;
mod leases;
mod life;
mod listener;
mod load;
mod made_up;
mod objects;
mod observer;
mod oracles;
mod order;
mod outside;
mod overlap;
mod pages;
mod plan;
mod progress;
mod quiet;
mod record;
mod report;
mod schedule;
mod settle;
mod shown;
mod shrink;
mod stable;
mod state;
mod storm;
mod sweep;
mod teardown;
#[cfg(test)]
mod tests;
mod user;
mod world;

use std::{fmt, rc::Rc, time::Duration};

use kube::Client;

use super::TestCluster;
use crate::operator::OperatorBuilder;

pub use check::{Settings, check, explore, trace};
pub use choice::{Choices, Tape};
pub use objects::Objects;
pub use oracles::Oracle;
pub use plan::FaultPlan;
pub use record::Violation;
pub use report::{Failure, Report};
pub use stable::assert_eventually_stable;
pub use user::User;

use oracles::CalmRun;
use world::World;

/// One schedule of a simulation, as the test sees it. Clones are the same schedule.
///
/// ```
/// use operator_core::testing::simulation::{FaultPlan, Sim};
///
/// async fn converges(sim: Sim) {
///     # let operator = operator_core::Operator::builder;
///     sim.operator(operator);
///     sim.faults(FaultPlan::storm().crash_at_every_write());
///     sim.user(async |user| user.delete::<k8s_openapi::api::core::v1::ConfigMap>("a").await);
///     sim.settle().await;
///     sim.assert_same_as_calm_run();
/// }
/// ```
#[derive(Clone)]
pub struct Sim {
    world: Rc<World>,
}

impl Sim {
    /// Runs an operator from here on; `declare` is called again after each crash, and has to return the same
    /// declaration each time. What it shares with its predecessor survives the crash, as a database would. The
    /// definitions in the declaration are installed first.
    pub fn operator(&self, declare: impl Fn() -> OperatorBuilder + 'static) {
        self.world.supervise(Rc::new(declare));
    }

    /// The operator takes part in the election that it declares; call this before [`Sim::operator`]. Otherwise there is
    /// no election, because it is the only replica. An operator that has lost the lease is restarted, as a process
    /// would be.
    pub fn elects_leader(&self) {
        self.world.record.leases.elect();
    }

    /// Adds a user who acts during the simulation. Several users act at the same time.
    pub fn user(&self, script: impl AsyncFnOnce(User) + 'static) {
        let user = User::new(&self.world);
        self.world.run_script(Box::pin(async move { script(user).await }));
    }

    /// From now on bad luck follows `plan`, until [`Sim::settle`]. Without a plan nothing goes wrong.
    pub fn faults(&self, plan: FaultPlan) {
        self.world.follow(plan);
    }

    /// Waits until all users are done, ends all bad luck, and waits until the operator has nothing more to do.
    ///
    /// That is so when its caches have seen everything, nothing is queued and no retry is pending. An operator whose
    /// retries are used up, and whose cluster is not in the state it should be in, gets its maximum interval.
    pub async fn settle(&self) {
        self.world.settle().await;
    }

    /// [`Oracle::SameState`]: what exists now is what existed at the same place of the calm run. Every schedule is also
    /// compared with the calm run at its end.
    pub fn assert_same_as_calm_run(&self) {
        self.world.compare_last_state();
    }

    /// A condition that holds whenever the schedule settles, in the calm run as well; otherwise the error says what is
    /// wrong. Its argument is what exists then.
    pub fn invariant(&self, holds: impl Fn(&Objects) -> Result<(), String> + 'static) {
        self.world.invariants.borrow_mut().push(Box::new(holds));
    }

    /// A warning, a failed run or a refused request with this text is expected in the calm run, in which nothing else
    /// of that kind may happen; and this one has to. See [`Oracle::CalmRun`].
    pub fn expected_in_calm_run(&self, text: &str) {
        self.world.record.complaints.expect(text);
    }

    /// The value at this place in the objects of a type is made up, such as a time or an id, and not part of the state:
    /// for example `("webpages", "status/backups/[]/at")`.
    pub fn made_up(&self, plural: &str, place: &str) {
        self.world.made_up.borrow_mut().push((plural.to_owned(), place.to_owned()));
    }

    /// From now on `secret` must appear in no log, at any level, in no metric, and in no object except Secrets; see
    /// [`Oracle::NoSecret`]. The values of Secrets need not be named: they are known when the server stores them.
    pub fn secret(&self, secret: &str) {
        self.world.record.canaries.watch_for(secret.as_bytes());
    }

    /// This text is part of a Secret, but not secret: a user's name, or the name of a database. Call this before the
    /// Secret is stored. Certificates, and values shorter than six bytes, are public anyway.
    pub fn not_secret(&self, text: &str) {
        self.world.record.canaries.is_public(text);
    }

    /// Doesn't check this; for an operator that is meant to behave otherwise. Give the reason in the test.
    pub fn without(&self, oracle: Oracle) {
        self.world.without.borrow_mut().insert(oracle);
    }

    /// Reports that something is wrong.
    pub fn fail(&self, message: impl Into<String>) {
        self.world.cluster.is_unfit.set(true);
        self.world.violated(Oracle::Test, message);
    }

    /// The cluster of this schedule, for what is there before the operator starts: definitions and objects from files or
    /// from YAML, namespaces, clients of other users. Its requests meet no faults. Use it before [`Sim::operator`] and
    /// [`Sim::user`]; the same happens in the calm run, and what is made so is not deleted at the end.
    ///
    /// ```
    /// use operator_core::testing::simulation::Sim;
    ///
    /// async fn with_a_shop(sim: Sim) -> anyhow::Result<()> {
    ///     sim.cluster().apply_files("default", ["tests/shop.yaml"]).await?;
    ///     # let operator = operator_core::Operator::builder;
    ///     sim.operator(operator);
    ///     Ok(())
    /// }
    /// ```
    #[must_use]
    pub fn cluster(&self) -> TestCluster {
        TestCluster::of_server(self.world.server.clone())
    }

    /// A client that meets no faults.
    #[must_use]
    pub fn client(&self) -> Client {
        self.world.client.clone()
    }

    /// Decisions for what the test itself simulates, such as an external service that fails at times. They are on the
    /// tape.
    #[must_use]
    pub fn choices(&self) -> &Choices {
        &self.world.choices
    }

    /// How often the operator has been started.
    #[must_use]
    pub fn starts(&self) -> u32 {
        self.world.incarnations()
    }

    /// Virtual time since the schedule's start.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.world.record.now()
    }
}

impl fmt::Debug for Sim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sim").field("starts", &self.starts()).finish_non_exhaustive()
    }
}
