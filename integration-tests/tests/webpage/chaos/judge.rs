//! The conditions that the cluster must meet when nobody acts any more.

use std::fmt;

use integration_tests::prelude::*;
use kube::api::DynamicObject;
use webpage::WebPage;

use super::{
    kinds::{Child, made_of_deployments},
    wanted::{difference, wanted},
    world::World,
};

/// The problems, by the pages that they concern.
#[derive(Debug)]
pub(super) struct Wrong(BTreeSet<(String, String)>);

impl Wrong {
    /// The pages with problems.
    pub(super) fn pages(&self) -> Vec<String> {
        let pages: BTreeSet<_> = self.0.iter().map(|(page, _)| page.clone()).collect();
        pages.into_iter().collect()
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} things are wrong:", self.0.len())?;
        self.0.iter().try_for_each(|(page, what)| write!(f, "\n  {page}: {what}"))
    }
}

impl std::error::Error for Wrong {}

/// The existing objects.
struct Found {
    pages: BTreeMap<String, WebPage>,
    children: BTreeMap<(Child, String), DynamicObject>,
    /// The objects that the cluster has made of Deployments.
    further: Vec<DynamicObject>,
}

/// The current problem, if there is one.
pub(super) async fn wrong(world: &World<'_>) -> Result<Option<Wrong>> {
    let found = look(world).await?;
    let mut wrong = Wrong(BTreeSet::new());
    for (name, page) in &found.pages {
        let said = of_page(world, name, page, &found)?;
        wrong.0.extend(said.into_iter().map(|what| (name.clone(), what)));
    }
    wrong.0.extend(left_over(world, &found));
    wrong.0.extend(sidecars_gone(world, &found));
    wrong.0.extend(labels_gone(world, &found));
    Ok(if wrong.0.is_empty() { None } else { Some(wrong) })
}

async fn look(world: &World<'_>) -> Result<Found> {
    let pages = world.pages().list(&Default::default()).await?.items;
    let mut children = BTreeMap::new();
    for child in Child::ALL {
        let objects = world.objects(&child.resource()).list(&Default::default()).await?.items;
        // Each namespace has a config map of the cluster's own.
        let objects = objects.into_iter().filter(|object| object.name_any() != "kube-root-ca.crt");
        children.extend(objects.map(|object| ((child, object.name_any()), object)));
    }
    let mut further = Vec::new();
    for kind in made_of_deployments() {
        further.extend(world.objects(&kind).list(&Default::default()).await?.items);
    }
    let pages = pages.into_iter().map(|page| (page.name_any(), page)).collect();
    Ok(Found { pages, children, further })
}

/// How many unwanted objects had lost the signs of their owner before.
pub(super) async fn left_behind(world: &World<'_>) -> Result<usize> {
    let found = look(world).await?;
    let is_wanted = |child: Child, name: &str| {
        let page = name.strip_suffix("-html").unwrap_or(name);
        found.pages.get(page).is_some_and(|of| wanted(child, page, of).is_some())
    };
    Ok(found.children.keys().filter(|(child, name)| !is_wanted(*child, name)).count())
}

fn of_page(world: &World<'_>, name: &str, page: &WebPage, found: &Found) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    if page.metadata.deletion_timestamp.is_some() || !page.finalizers().is_empty() {
        return Ok(vec![format!("it is still going: {:?}", page.finalizers())]);
    }
    let status = page.status.clone().unwrap_or_default();
    let is_broken = page.spec.html.contains("error");
    let says_so = status.error_message.as_ref().is_some_and(|message| message.contains("the word \"error\""));
    let is_right = match is_broken {
        true => says_so && !status.ready,
        false => {
            let map = status.html_config_map.as_deref() == Some(&*Child::ConfigMap.of(name));
            map && status.ready && status.error_message.is_none()
        }
    };
    if !is_right || status.observed_generation != page.metadata.generation {
        let generation = page.metadata.generation;
        wrong.push(format!("html {}, generation {generation:?}, but {status:?}", page.spec.html));
    }
    if is_broken {
        // What is there stays as it was.
        return Ok(wrong);
    }
    for child in Child::ALL {
        match (wanted(child, name, page), found.children.get(&(child, child.of(name)))) {
            (None, None) => {}
            (Some(_), None) => wrong.push(format!("it has no {child:?}")),
            // What has lost its mark before it was wanted no more is nobody's to remove.
            (None, Some(object)) if world.was_stripped(object) => {}
            (None, Some(_)) => wrong.push(format!("it has a {child:?}")),
            (Some(wanted), Some(object)) => {
                let object = serde_json::to_value(object)?;
                wrong.extend(difference(&wanted, &object, &format!("{child:?}")));
                if child == Child::Deployment {
                    wrong.extend(is_rolled_out(&object));
                }
            }
        }
    }
    Ok(wrong)
}

/// The cluster's remaining work, on which the page's status depends.
fn is_rolled_out(deployment: &Value) -> Option<String> {
    let status = &deployment["status"];
    let is_new = status["observedGeneration"] == deployment["metadata"]["generation"];
    let counts = ["replicas", "updatedReplicas", "readyReplicas"].map(|count| status[count].as_u64());
    (!is_new || counts != [Some(1); 3]).then(|| format!("its Deployment is not rolled out: {status}"))
}

/// Children without their page, and objects that never end.
fn left_over(world: &World<'_>, found: &Found) -> Vec<(String, String)> {
    let uids: BTreeSet<_> = found.pages.values().filter_map(ResourceExt::uid).collect();
    let children = found.children.iter().map(|((child, name), object)| {
        let page = name.strip_suffix("-html").unwrap_or(name);
        (page.to_owned(), format!("{child:?} {name}"), object, &uids)
    });
    let owners: BTreeSet<_> =
        found.children.values().chain(&found.further).filter_map(ResourceExt::uid).collect();
    let further = found.further.iter().map(|object| {
        let kind = object.types.as_ref().map_or("an object", |types| &types.kind);
        let page = object.labels().get("app.kubernetes.io/instance").cloned().unwrap_or_default();
        (page, format!("{kind} {}", object.name_any()), object, &owners)
    });
    let mut wrong = Vec::new();
    for (page, what, object, owners) in children.chain(further) {
        let owned: Vec<_> = object.owner_references().iter().map(|owner| &owner.uid).collect();
        if owned.is_empty() && world.was_stripped(object) {
            continue;
        }
        if owned.is_empty() || owned.iter().any(|owner| !owners.contains(*owner)) {
            wrong.push((page.clone(), format!("{what} is left over, as its owner is gone: {owned:?}")));
        }
        if object.metadata.deletion_timestamp.is_some() || !object.finalizers().is_empty() {
            wrong.push((page, format!("{what} is still going: {:?}", object.finalizers())));
        }
    }
    wrong
}

/// Containers that others have added to a Deployment that still exists.
fn sidecars_gone(world: &World<'_>, found: &Found) -> Vec<(String, String)> {
    let sidecars = world.sidecars.lock();
    let deployments = found.children.iter().filter(|((child, _), object)| {
        *child == Child::Deployment && object.uid().is_some_and(|uid| sidecars.contains(&uid))
    });
    let lost = deployments.filter_map(|((_, name), object)| {
        let containers = object.data.pointer("/spec/template/spec/containers")?.as_array()?;
        let is_there = containers.iter().any(|container| container["name"] == "sidecar");
        (!is_there).then(|| (name.clone(), "its Deployment has lost somebody's container".to_owned()))
    });
    lost.collect()
}

/// Labels of others on an object that still exists.
fn labels_gone(world: &World<'_>, found: &Found) -> Vec<(String, String)> {
    let by_uid: BTreeMap<_, _> =
        found.children.values().filter_map(|object| Some((object.uid()?, object))).collect();
    let labels = world.labels.lock();
    let lost = labels.iter().filter_map(|(labelled, value)| {
        let object = by_uid.get(&labelled.uid)?;
        let there = object.labels().get(&labelled.key);
        let name = object.name_any();
        let page = name.strip_suffix("-html").unwrap_or(&name).to_owned();
        (there != Some(value))
            .then(|| (page, format!("{name} has lost the label {}={value}: {there:?}", labelled.key)))
    });
    lost.collect()
}
