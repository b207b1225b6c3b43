//! The parts of the engine that its benches and tests use directly. Not for other use: they change with the engine,
//! without notice.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use crate::{
    cache::{
        AnyInformer, Change, ChangeHandler, Informer, InformerConfig, InformerPlan, Kept, View, kind_of,
    },
    client,
    environment::Environment,
    resource::KubeObject,
};

pub use crate::{
    operations::matcher::{matches_owned_fields, merged, still_owned},
    processor::machine::{Effect, Input, Machine, MachineConfig, Outcome, Run, RunId},
    resource::uid::Uid,
    workflow::{
        declare::graph::Graph,
        plan::{Checked, Fate, Plan, Reconciled, Removed, Step},
    },
};

/// How long a request may take.
pub const REQUEST_DEADLINE: Duration = client::REQUEST_DEADLINE;

/// An informer whose handler opens nothing, as that of an event source without filters and mappers of users.
#[must_use]
#[expect(clippy::needless_pass_by_value, reason = "informers are made of their configuration")]
pub fn unread_informer<K: KubeObject>(
    config: InformerConfig<K>,
    client: kube::Client,
    environment: Environment,
) -> Informer<K> {
    struct Nobody;
    impl ChangeHandler<Kept> for Nobody {
        fn on_change(&self, _: Change<Kept>) {}
    }
    let settings = config.settings();
    let view = Arc::new(View::of_kind(&settings, &config.own_managers, kind_of::<K>(), &environment));
    let handler = Arc::new(Nobody);
    let plan = InformerPlan { settings, bounds: None, share: None, view, client, environment };
    let informer = AnyInformer::of_kept(plan, handler, BTreeMap::new());
    Informer::of_any(informer)
}
