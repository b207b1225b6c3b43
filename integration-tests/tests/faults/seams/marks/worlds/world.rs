//! One world: a server, one operator or two of one name, and what happens to them.

use http::Method;
use integration_tests::prelude::*;
use k8s_openapi::{
    api::core::v1::Namespace, apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition,
};
use kube::api::PropagationPolicy;
use operator_core::{environment::Environment, testing::InProcessServer};

use super::{
    calm::Calm,
    judge::{Judge, Known, OPERATOR, Primary},
    log::Log,
    others,
    versions::{Kind, SHARED, Spec, Version},
};

/// Where each operator has its primaries.
pub(super) const HOMES: [&str; 2] = ["shop", "bank"];

/// What a world had in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) worlds: usize,
    pub(super) writes: usize,
    pub(super) removals: usize,
    pub(super) acts: usize,
    pub(super) blocked: usize,
    pub(super) left: usize,
}

impl Counts {
    pub(super) const fn add(&mut self, other: Self) {
        self.worlds += other.worlds;
        self.writes += other.writes;
        self.removals += other.removals;
        self.acts += other.acts;
        self.blocked += other.blocked;
        self.left += other.left;
    }

    /// Whether each thing has happened that is judged.
    pub(super) const fn is_rich(&self) -> bool {
        let worlds = self.worlds;
        self.writes > 5 * worlds
            && self.removals > worlds / 2
            && self.acts > 3 * worlds
            && self.blocked > 10
            && self.left > 2
    }
}

/// What is there, and what is known of it.
pub(super) struct World {
    pub(super) random: Random,
    pub(super) client: Client,
    pub(super) log: Log,
    pub(super) version: Version,
    pub(super) operators: Vec<Option<TestOperator>>,
    pub(super) known: Known,
    /// What primaries were like since all was judged last.
    lately: Vec<Primary>,
    pub(super) saved: Vec<(Kind, Value)>,
    pub(super) told: Vec<String>,
    pub(super) wrongs: Vec<String>,
    pub(super) counts: Counts,
    numbers: usize,
    was_blocked: bool,
}

impl World {
    pub(super) async fn new(seed: u64) -> Result<Self> {
        let mut random = Random::new(seed);
        let server = InProcessServer::new();
        let client = server.client();
        let new = PostParams::default();
        for name in [HOMES[0], HOMES[1], SHARED] {
            let mut namespace = Namespace::default();
            namespace.metadata.name = Some(name.to_owned());
            Api::all(client.clone()).create(&new, &namespace).await?;
        }
        Api::<CustomResourceDefinition>::all(client.clone()).create(&new, &TestResource::crd()).await?;
        let version = Version::random(&mut random);
        let operators = if random.chance(30) { vec![None, None] } else { vec![None] };
        Ok(Self {
            random,
            client,
            log: Log::new(&server),
            version,
            operators,
            known: Known::default(),
            lately: Vec::new(),
            saved: Vec::new(),
            told: Vec::new(),
            wrongs: Vec::new(),
            counts: Counts { worlds: 1, ..Counts::default() },
            numbers: 0,
            was_blocked: false,
        })
    }

    /// All that happens.
    pub(super) async fn live(&mut self) -> Result<()> {
        for home in self.homes() {
            let number = self.number();
            let spec = Spec::random(&mut self.random, number);
            self.specify(home, &spec).await?;
        }
        self.start().await?;
        self.pass(10).await;
        self.happens(3).await?;
        self.is_calm().await?;

        if self.random.chance(85) {
            self.stop().await;
            if self.random.chance(50) {
                self.happens(3).await?;
            }
            self.judge().await?;
            self.version = self.version.newer(&mut self.random);
            self.take_finalizers_off().await?;
            self.start().await?;
        }
        if self.random.chance(70) {
            self.is_calm().await?;
        }
        self.happens(5).await?;
        others::release(self).await?;
        self.is_calm().await?;
        if self.random.chance(60) {
            self.ends().await?;
        }
        self.stop().await;
        Ok(())
    }

    fn homes(&self) -> Vec<&'static str> {
        HOMES.into_iter().take(self.operators.len()).collect()
    }

    /// A namespace in which something could happen.
    pub(super) fn home(&mut self) -> &'static str {
        let mut all = self.homes();
        all.push(SHARED);
        self.random.pick(&all)
    }

    pub(super) fn number(&mut self) -> usize {
        self.numbers += 1;
        self.numbers
    }

    async fn start(&mut self) -> Result<()> {
        self.told.push(format!("operators start with {:?}", self.version));
        for (at, home) in self.homes().into_iter().enumerate() {
            let controller = Script::<TestResource>::idle()
                .controller()
                .name(OPERATOR)
                .namespaces([home])
                .workflow(&self.version.build()?);
            let server = &self.log.server;
            let operator = Operator::builder()
                .config(server.config())
                .transport(server.clone().into())
                .environment(|| Environment::real().with_seed(1))
                .transport(self.log.hook(at))
                .register(controller);
            self.operators[at] = Some(TestOperator::start(operator).await?);
        }
        Ok(())
    }

    async fn stop(&mut self) {
        for operator in self.operators.iter_mut().filter_map(Option::take) {
            operator.stop().await;
        }
    }

    /// A version that has nothing to clean up leaves the finalizer of an earlier one, until somebody takes it off.
    async fn take_finalizers_off(&self) -> Result<()> {
        if self.version.build()?.has_deletable() {
            return Ok(());
        }
        let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
        for home in self.homes() {
            if self.primaries(home).get_opt("one").await?.is_some() {
                self.primaries(home).patch("one", &PatchParams::default(), &patch).await?;
            }
        }
        Ok(())
    }

    /// Some acts, which may follow upon one another at once.
    async fn happens(&mut self, most: usize) -> Result<()> {
        for _ in 0..self.random.below(most + 1) {
            self.counts.acts += 1;
            self.look().await?;
            others::act(self).await?;
            self.look().await?;
            if self.random.chance(60) {
                let seconds = self.random.below(20) as u64;
                self.pass(seconds).await;
            }
        }
        Ok(())
    }

    pub(super) async fn pass(&mut self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
    }

    /// Waits until nothing more happens, judges what has happened, and looks at what there is.
    async fn is_calm(&mut self) -> Result<()> {
        // Who deletes a primary makes it again.
        for _ in 0..2 {
            self.pass(150).await;
            for home in self.homes() {
                if self.primary(home).await?.is_none() {
                    let number = self.number();
                    let spec = Spec::random(&mut self.random, number);
                    self.specify(home, &spec).await?;
                }
            }
        }
        self.judge().await?;
        let mut calm = self.look().await?;
        if !calm.wrongs.is_empty() && self.was_blocked {
            // What isn't ours wakes nobody: whoever has taken it away has to say so, by a change of the primary.
            for home in self.homes() {
                let Some(Primary { spec: Some(spec), .. }) = self.primary(home).await? else { continue };
                let text = format!("text{:04}", self.number());
                self.specify(home, &Spec { text, ..spec }).await?;
            }
            self.pass(150).await;
            self.judge().await?;
            calm = self.look().await?;
        }
        self.counts.blocked += calm.blocked.len();
        self.counts.left += calm.left;
        self.wrongs.extend(calm.wrongs);
        Ok(())
    }

    async fn look(&mut self) -> Result<Calm> {
        let (all, primaries) = (self.objects().await?, self.lately.clone());
        let calm = Calm::of(&self.version, &primaries, &self.known, &self.log, &all);
        self.was_blocked |= !calm.blocked.is_empty();
        Ok(calm)
    }

    /// The primaries go.
    async fn ends(&mut self) -> Result<()> {
        for home in self.homes() {
            let Some(primary) = self.primary(home).await? else { continue };
            self.delete_primary(home, false).await?;
            self.pass(150).await;
            self.judge().await?;
            if self.primary(home).await?.is_some() {
                self.wrongs.push(format!("the primary in {home} doesn't go"));
            }
            let all = self.objects().await?;
            let left = Calm::after(&primary, &self.version, &self.known, &all, self.was_blocked);
            self.wrongs.extend(left);
        }
        Ok(())
    }

    /// Judges what was done since the last time.
    async fn judge(&mut self) -> Result<()> {
        let deeds = self.log.take();
        let by_us = || deeds.iter().filter(|deed| deed.by.is_some() && (200..300).contains(&deed.code));
        self.counts.writes += by_us().count();
        self.counts.removals += by_us().filter(|deed| deed.method == Method::DELETE).count();
        let mut now = Vec::new();
        for home in self.homes() {
            now.extend(self.primary(home).await?);
        }
        self.lately.extend(now.iter().cloned());
        let mut judge = Judge { version: &self.version, lately: &self.lately, known: &mut self.known };
        self.wrongs.extend(judge.judge(&deeds));
        for deed in deeds.iter().filter(|deed| deed.by.is_some()) {
            self.told.push(format!(
                "{:?} {} {}/{} -> {}",
                deed.by, deed.method, deed.namespace, deed.name, deed.code
            ));
        }
        self.lately = now;
        Ok(())
    }

    fn primaries(&self, home: &str) -> Api<TestResource> {
        Api::namespaced(self.client.clone(), home)
    }

    /// A primary as it is.
    async fn primary(&self, home: &str) -> Result<Option<Primary>> {
        let found = self.primaries(home).get_opt("one").await?;
        Ok(found.map(|one| Primary {
            of: HOMES.iter().position(|of| *of == home).unwrap_or_default(),
            namespace: home.to_owned(),
            name: one.name_any(),
            uid: one.uid().unwrap_or_default(),
            spec: one.metadata.deletion_timestamp.is_none().then(|| Spec::of(&one)),
        }))
    }

    /// Makes a primary, or gives it another spec.
    pub(super) async fn specify(&mut self, home: &str, spec: &Spec) -> Result<()> {
        self.told.push(format!("the primary in {home} says {:?}", spec.value()));
        let primaries = self.primaries(home);
        if self.primary(home).await?.is_some() {
            let patch = Patch::Merge(json!({ "spec": { "value": spec.value() } }));
            primaries.patch("one", &PatchParams::default(), &patch).await?;
        } else {
            primaries.create(&PostParams::default(), &TestResource::named("one", &spec.value())).await?;
        }
        let now = self.primary(home).await?;
        self.lately.extend(now);
        Ok(())
    }

    pub(super) async fn delete_primary(&mut self, home: &str, orphans: bool) -> Result<()> {
        let Some(before) = self.primary(home).await? else { return Ok(()) };
        self.told.push(format!("the primary in {home} is deleted, leaving orphans: {orphans}"));
        let policy = if orphans { PropagationPolicy::Orphan } else { PropagationPolicy::Background };
        let how = DeleteParams { propagation_policy: Some(policy), ..DeleteParams::default() };
        self.lately.push(Primary { spec: None, ..before });
        self.primaries(home).delete("one", &how).await?;
        Ok(())
    }
}
