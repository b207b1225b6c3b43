//! Everything that `dev` sets up, and what happens on it.

use std::{path::PathBuf, sync::Arc};

use kube::{Client, api::DynamicObject};
use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use super::{
    Error, ExitStatus, Workbench,
    actor::apply,
    failed,
    feed::{Feed, human},
    lines::LineObserver,
    objects::{FollowedObjects, Narrator},
    once,
    ready::Judge,
    rights,
    server::Server,
};
use crate::{
    cli::{DevArgs, output::Output, run},
    controller::Controller,
    environment::Environment,
    observe::Observer,
    operator::{Operator, OperatorBuilder},
    testing::TestCluster,
};

/// A running operator with everything around it.
pub(super) struct Stage {
    pub(super) operator: Operator,
    pub(super) feed: Feed,
    pub(super) lines: Arc<LineObserver>,
    pub(super) objects: Vec<FollowedObjects>,
    pub(super) activity: Arc<Notify>,
    pub(super) output: Output,
    pub(super) args: DevArgs,
    pub(super) judge: Judge,
    pub(super) cluster: TestCluster,
    kubeconfig: Option<PathBuf>,
    kubectl: String,
    pub(super) client: Client,
    pub(super) environment: Environment,
}

impl Stage {
    /// Installs what the operator needs and starts it.
    pub(super) async fn set(
        builder: OperatorBuilder,
        workbench: &Workbench,
        server: &Server,
        args: &DevArgs,
        output: Output,
        environment: Environment,
    ) -> Result<Self, Error> {
        let banner = |name: &str, text: &str| banner(output, name, text);
        let cluster = &server.cluster;
        let client = cluster.client().map_err(failed("connect to the control plane"))?;

        let started = environment.now().since_start();
        let mut manifests: Vec<DynamicObject> = Vec::new();
        for fixture in &workbench.manifests {
            let objects = apply(cluster, &args.namespace, fixture).await;
            manifests.extend(objects.map_err(failed("apply the operator's manifests"))?);
        }
        let account = rights::account(&manifests);
        let config = account.as_ref().map_or_else(|| cluster.config(), |user| cluster.config_as(user, &[]));
        let mut shown = config.clone();
        shown.cluster_url = server.url().parse().unwrap_or(shown.cluster_url);
        let target = run::Target { name: server.name.clone(), user: Some("admin".to_owned()), config: shown };
        output.note(&target.to_string());
        banner("server", server.why);
        banner("cluster", &format!("started in {}; it ends with this command", human(started)));
        for crd in builder.crds() {
            banner("crd", &format!("{} installed", crd.metadata.name.as_deref().unwrap_or_default()));
        }
        match &account {
            Some(user) => {
                let client = cluster.client_as(user).map_err(failed("connect as the operator's account"))?;
                let count = rights::check(client, user, builder.controllers()).await?;
                banner("rights", &format!("{count} of {count} are there for {user}"));
            }
            None => banner("rights", "all: no manifests with a service account were given"),
        }

        let (feed, activity) = (Feed::start(output, &environment), Arc::new(Notify::new()));
        let lines = Arc::new(LineObserver::new(feed.clone(), Arc::clone(&activity)));
        let observer = Arc::clone(&lines) as Arc<dyn Observer>;
        let operator =
            cluster.connect(builder).without_leader_election().config(config).observer(observer).build()?;
        let objects = operator.controllers().iter().map(|controller| {
            let narrator = Narrator {
                controller: controller.name().to_owned(),
                lines: Arc::clone(&lines),
                feed: feed.clone(),
                clock: *environment.clock(),
                judge: workbench.judge.clone(),
                activity: Arc::clone(&activity),
                unready: Mutex::default(),
            };
            let (name, kind) = (controller.name(), controller.resource_type());
            FollowedObjects::follow(name, kind, client.clone(), &environment, narrator)
        });
        let objects = objects.collect();
        operator.start().await?;
        Ok(Self {
            operator,
            feed,
            lines,
            objects,
            activity,
            output,
            args: args.clone(),
            judge: workbench.judge.clone(),
            cluster: cluster.clone(),
            kubeconfig: server.kubeconfig(),
            kubectl: server.kubectl(),
            client,
            environment,
        })
    }

    /// Lets things happen, until they have settled or forever.
    pub(super) async fn play(&self, workbench: &Workbench) -> Result<ExitStatus, Error> {
        let deadline = Instant::now() + self.args.timeout;
        if !self.args.once {
            self.operator.synced().await;
        } else if tokio::time::timeout_at(deadline, self.operator.synced()).await.is_err() {
            return Ok(ExitStatus::TimedOut);
        }
        self.ready(workbench);
        if let (true, Some((_, scenario))) = (self.args.once, workbench.scenarios.first()) {
            scenario.play(self, deadline).await?;
        } else {
            for fixture in &workbench.examples {
                let applied = apply(&self.cluster, &self.args.namespace, fixture).await;
                applied.map_err(failed("apply the examples"))?;
            }
        }
        if self.args.once { once::settle(self, deadline).await } else { std::future::pending().await }
    }

    /// The rest of the banner: what can be done now.
    fn ready(&self, workbench: &Workbench) {
        let banner = |name: &str, text: &str| banner(self.output, name, text);
        let access = self.operator.controllers().iter().flat_map(Controller::access);
        let mut kinds: Vec<String> = Vec::new();
        for kind in access.map(|access| access.resource_type.kind().to_owned()) {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        banner("watching", &kinds.join(", "));
        if let Some(kubeconfig) = &self.kubeconfig {
            let (kubeconfig, kubectl) = (kubeconfig.display(), &self.kubectl);
            banner("config", &format!("KUBECONFIG={kubeconfig}"));
            let plurals = self.objects.iter().map(|objects| objects.kind.full_name());
            let look = plurals.map(|plural| format!("get {plural} -A"));
            for hint in look.chain(workbench.hints.iter().cloned()) {
                banner("try", &format!("KUBECONFIG={kubeconfig} {kubectl} {hint}"));
            }
        }
        let end = if self.args.once { "" } else { "; Ctrl-C ends it" };
        banner("ready", &format!("in {}{end}", human(self.environment.now().since_start())));
    }
}

/// A line before the changes.
fn banner(output: Output, name: &str, text: &str) {
    output.note(&format!("  {} {text}", output.dim(&format!("{name:<9}"))));
}
