//! Random versions of an operator, one after the other: the result is that of the second one alone.
//!
//! ```text
//! seed ─▶ first, second ─┬─ first, second ─▶ there ─▶ the primary goes ─▶ left ┐
//!                        └─ second alone ──▶ there ─▶ the primary goes ─▶ left ┴─▶ the same
//! ```
//!
//! `UPGRADES` is the number of pairs, `UPGRADES_SEED` the first one.

use integration_tests::prelude::*;
use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use operator_core::{
    dependent::Records,
    resource::{KubeObject, MarkNames},
    testing::{OtherSystem, seed_of_the_day},
};

use super::{Builder, Upgrade};

/// As many as a few seconds allow.
const UPGRADES: u64 = 60;
const OF_A_DAY: u64 = 10_000;
const KINDS: [&str; 2] = ["ConfigMap", "Secret"];
const NAMES: [&str; 5] = ["alpha", "beta", "gamma", "delta", "omega"];
const PARTS: [&str; 5] = ["v", "w", "x", "y", "z"];

/// A node of objects.
#[derive(Clone, Debug)]
struct Objects {
    name: &'static str,
    kind: &'static str,
    part: &'static str,
    creates_only: bool,
    replaces: bool,
    ends: End,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Collected,
    WithoutOwner,
    Retained,
}

/// A node of records, in a system of its own.
#[derive(Clone, Debug)]
struct Kept {
    name: &'static str,
    place: usize,
    several: bool,
    searchable: bool,
}

#[derive(Clone, Debug)]
struct Version {
    objects: Vec<Objects>,
    records: Option<Kept>,
    /// The former node of records that is declared to be retired.
    retires: Option<&'static str>,
}

fn resource(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("", "v1", kind))
}

/// In a random order.
fn mixed(random: &mut Random, all: [&'static str; 5]) -> Vec<&'static str> {
    let mut left = all.to_vec();
    std::iter::from_fn(|| (!left.is_empty()).then(|| left.remove(random.below(left.len())))).collect()
}

impl Version {
    fn random(random: &mut Random, before: Option<&Kept>, is_first: bool) -> Self {
        let (names, parts) = (mixed(random, NAMES), mixed(random, PARTS));
        let objects = (0..1 + random.below(3)).map(|at| Objects {
            name: names[at],
            kind: random.pick(&KINDS),
            part: parts[at],
            creates_only: random.chance(30),
            replaces: random.chance(30),
            ends: random.pick(&[End::Collected, End::Collected, End::WithoutOwner, End::Retained]),
        });
        let objects = objects.collect();
        let fresh = Kept {
            name: names[4],
            place: random.below(3),
            several: random.chance(50),
            searchable: random.chance(50),
        };
        // A name and a place may change, but not both at a time.
        let records = match before {
            None => random.chance(if is_first { 70 } else { 30 }).then_some(fresh),
            Some(kept) => random.chance(70).then(|| Kept { name: names[4], ..kept.clone() }),
        };
        // A bare declaration finds ids in the status and in a ConfigMap.
        let retires = before.filter(|_| records.is_none()).map(|kept| kept.name);
        Self { objects, records, retires }
    }

    fn add_to(&self, of: Builder, system: &Words) -> Builder {
        // These write both kinds and may delete, so leftovers of all nodes are seen.
        let of = KINDS.iter().fold(of, |of, kind| Objects::plain(kind).add_to(of));
        let of = self.objects.iter().fold(of, |of, node| node.add_to(of));
        let word = |kept: &Kept| Word { system: system.clone(), searchable: kept.searchable };
        match &self.records {
            Some(kept) if kept.several => {
                let records = Records::new(EachWord(word(kept)));
                let records = match kept.place {
                    0 => records.id_in_status("recordIds"),
                    1 => records.id_in_config_map(),
                    _ => records.id_in_secret(),
                };
                of.nodes((records.named(kept.name),))
            }
            Some(kept) => {
                let record = Records::new(word(kept));
                let record = match kept.place {
                    0 => record.id_in_status("recordId"),
                    1 => record.id_in_config_map(),
                    _ => record.id_in_secret(),
                };
                of.nodes((record.named(kept.name),))
            }
            None => of,
        }
    }
}

impl Objects {
    fn plain(kind: &'static str) -> Self {
        let (creates_only, replaces, ends) = (false, false, End::Collected);
        Self { name: kind, kind, part: kind, creates_only, replaces, ends }
    }

    fn add_to(&self, of: Builder) -> Builder {
        let text = || ("value".to_owned(), "text".to_owned());
        match self.kind {
            "Secret" => self.add(of, move |metadata| Secret {
                metadata,
                data: Some([text()].map(|(key, text)| (key, ByteString(text.into_bytes()))).into()),
                ..Secret::default()
            }),
            _ => self.add(of, move |metadata| ConfigMap {
                metadata,
                data: Some([text()].into()),
                ..ConfigMap::default()
            }),
        }
    }

    fn add<K: KubeObject<DynamicType: Default>>(
        &self,
        of: Builder,
        make: impl Fn(ObjectMeta) -> K + Send + Sync + 'static,
    ) -> Builder {
        let part = self.part.to_lowercase();
        let node = wanted(self.name, move |primary: &TestResource| make(map_of(primary, &part, "").metadata));
        let node = node.use_ssa(!self.replaces);
        let node = if self.creates_only { node.create_only() } else { node };
        of.nodes((match self.ends {
            End::Collected => node,
            End::WithoutOwner => node.without_owner(),
            End::Retained => node.retained(),
        },))
    }
}

/// What there is: each object with its node, its owners' names, the annotations that map it, and what it holds; and the records.
async fn there(upgrade: &Upgrade, system: &Words) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for kind in KINDS {
        let api = Api::<DynamicObject>::namespaced_with(
            upgrade.0.client.clone(),
            &upgrade.0.namespace,
            &resource(kind),
        );
        for object in api.list(&ListParams::default()).await?.items {
            let node = object.labels().get(MarkNames::default().node()).cloned().unwrap_or_default();
            let owners: Vec<_> = object.owner_references().iter().map(|owner| owner.name.clone()).collect();
            let mapping = object.annotations().iter().filter(|(key, _)| key.contains("primary")).count();
            // The number of an id, and the name of the object that keeps it, depend on what was before.
            let is_ids = !object.data["data"].as_object().is_some_and(|data| data.contains_key("value"));
            let name = if is_ids { "ids".to_owned() } else { object.name_any() };
            let data = if is_ids { Value::Null } else { object.data["data"].clone() };
            all.insert(format!("{kind} {name}"), format!("{node} {owners:?} {mapping} {data}"));
        }
    }
    all.insert("records".to_owned(), format!("{:?}", words_in(system)));
    Ok(all)
}

/// What is there, and left in the end, after these versions.
async fn lived(versions: &[&Version]) -> Result<[BTreeMap<String, String>; 2]> {
    let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
    upgrade.0.create("one", "k=word").await?;
    let Some((last, former)) = versions.split_last() else { bail!("no version") };
    for version in former {
        upgrade.live(|of| version.add_to(of, &system)).await?;
    }
    let made = system.records().len();
    let operator = upgrade
        .start(|of| {
            let of = last.add_to(of, &system);
            let word = || Word { system: system.clone(), searchable: true };
            match (last.retires, former.first().and_then(|first| first.records.as_ref())) {
                (Some(name), Some(kept)) if kept.several => of.retired_records(name, EachWord(word())),
                (Some(name), Some(_)) => of.retired_records(name, word()),
                _ => of,
            }
        })
        .await?;
    if made > 0 {
        ensure!(system.records().len() == made, "a second record was made: {:?}", system.records());
    }
    let now = there(&upgrade, &system).await?;
    let ready = upgrade.condition("Ready").await?;
    ensure!(ready.starts_with("True"), "it isn't ready: {ready}");
    ensure!(!upgrade.stays_when_deleted().await?, "it stays: {}", upgrade.condition("Stalled").await?);
    let left = there(&upgrade, &system).await?;
    operator.stop().await;
    Ok([now, left])
}

async fn upgraded(seed: u64) -> Result<()> {
    let mut random = Random::new(seed);
    let first = Version::random(&mut random, None, true);
    let mut second = Version::random(&mut random, first.records.as_ref(), false);
    if first.records.as_ref().is_some_and(|kept| kept.place == 2) && second.records.is_none() {
        // Ids in a Secret need the node itself.
        let is_free = |name: &&&'static str| second.objects.iter().all(|node| node.name != **name);
        let name = NAMES.iter().find(is_free).copied().unwrap_or("more");
        second.records = first.records.clone().map(|kept| Kept { name, ..kept });
        second.retires = None;
    }
    let told = format!("first {first:#?}\nsecond {second:#?}");
    let both = lived(&[&first, &second]).await.with_context(|| told.clone())?;
    let alone = lived(&[&second]).await.with_context(|| told.clone())?;
    for (upgraded, alone, when) in [(&both[0], &alone[0], "settled"), (&both[1], &alone[1], "gone")] {
        let differs = |what: &&String| upgraded.get(*what) != alone.get(*what);
        // A node that is retained never removes what it has made under another name.
        let is_left = |what: &&String| {
            let made = first.objects.iter().find(|node| **what == format!("{} one-{}", node.kind, node.part));
            let now = made.and_then(|made| {
                second.objects.iter().find(|node| node.name == made.name && node.kind == made.kind)
            });
            alone.get(*what).is_none() && now.is_some_and(|node| node.ends == End::Retained)
        };
        let all: BTreeSet<_> = upgraded.keys().chain(alone.keys()).collect();
        let wrong: Vec<_> = all.into_iter().filter(differs).filter(|what| !is_left(what)).collect();
        let show =
            |what: &String| format!("{what}: {:?} instead of {:?}", upgraded.get(what), alone.get(what));
        let wrong: Vec<_> = wrong.into_iter().map(show).collect();
        ensure!(wrong.is_empty(), "{when}: {}\n{told}", wrong.join("\n"));
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
#[expect(clippy::print_stderr, reason = "a seed that nobody knows repeats nothing")]
async fn a_second_version_comes_to_what_it_would_have_made_alone() -> Result<()> {
    let setting = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = setting("UPGRADES_SEED").unwrap_or_else(|| seed_of_the_day() * OF_A_DAY);
    let number = setting("UPGRADES").unwrap_or(UPGRADES);
    eprintln!("UPGRADES_SEED={first} UPGRADES={number}");
    for seed in first..first + number {
        upgraded(seed).await.with_context(|| format!("UPGRADES_SEED={seed} UPGRADES=1"))?;
    }
    Ok(())
}
