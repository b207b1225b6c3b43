//! Owner references and marks follow the words of a node, however it writes, and what one node gives up another may have.

use integration_tests::prelude::*;
use operator_core::{Node, One, dependent::Adoption, resource::MarkNames};

use super::{Builder, Upgrade};
use crate::simulated::pass;

type MapNode = Node<TestResource, One<ConfigMap>>;

/// A node with a Secret.
pub(super) fn secret(name: &'static str) -> Node<TestResource, One<Secret>> {
    wanted(name, move |primary: &TestResource| Secret {
        metadata: map_of(primary, name, "").metadata,
        ..Secret::default()
    })
}

fn data() -> MapNode {
    wanted_map("data")
}

/// The owners of the map, and the node that it is marked with.
async fn owners_and_node(upgrade: &Upgrade, name: &str) -> Result<(usize, String)> {
    let map = upgrade.0.api::<ConfigMap>().get(name).await?;
    let node = map.labels().get(MarkNames::default().node()).cloned().unwrap_or_default();
    Ok((map.owner_references().len(), node))
}

/// Each way to write × each change of the owner.
#[tokio::test(start_paused = true)]
async fn owners_follow_the_words_of_a_node() -> Result<()> {
    type Word = fn(MapNode) -> MapNode;
    let ways: [(&str, Word); 4] = [
        ("applied", |node| node),
        ("created once", MapNode::create_only),
        ("replaced", |node| node.use_ssa(false)),
        ("created once, not applied", |node| node.create_only().use_ssa(false)),
    ];
    let owns: [(&str, Word, usize); 3] = [
        ("owned", |node| node, 1),
        ("without an owner", MapNode::without_owner, 0),
        ("retained", MapNode::retained, 0),
    ];
    for (way, write) in ways {
        for (before, first, _) in owns {
            for (after, second, owners) in owns {
                let upgrade = Upgrade::new().await?;
                upgrade.live(|of| of.nodes((first(write(data())),))).await?;
                let operator = upgrade.start(|of| of.nodes((second(write(data())),))).await?;
                let told = format!("{way}, {before}, then {after}");
                let map = upgrade.0.api::<ConfigMap>().get("one-data").await?;
                assert_eq!(map.owner_references().len(), owners, "{told}: {:?}", map.metadata);
                let is_mapped = map.annotations().keys().any(|key| key.contains("primary"));
                assert_eq!(is_mapped, owners == 0, "{told}: {:?}", map.annotations());
                operator.settled().await?;
                upgrade.0.set("one", "second").await?;
                pass(60).await;
                let written = operator.settled().await?.written();
                let number = written.iter().filter(|write| write.contains("one-data")).count();
                assert_eq!(number, usize::from(!way.contains("once")), "{told}: {written:?}");
                assert!(!upgrade.stays_when_deleted().await?, "{told}");
                assert_eq!(upgrade.maps().await?.len(), usize::from(after == "retained"), "{told}");
            }
        }
    }
    Ok(())
}

/// With another field manager, an apply doesn't take the owner away that the former one has set.
#[tokio::test(start_paused = true)]
async fn what_is_retained_later_by_another_field_manager_stays() -> Result<()> {
    let upgrade = Upgrade::new().await?;
    upgrade.live(|of| of.nodes((data(),))).await?;
    let workflow = Workflow::builder().nodes((data().retained(),)).build()?;
    let controller = upgrade.controller(&workflow).field_manager("another");
    let _operator = crate::simulated::under(&Faults::none(), &upgrade.0, controller).await?;
    pass(600).await;
    assert_eq!(owners_and_node(&upgrade, "one-data").await?.0, 0);
    assert!(!upgrade.stays_when_deleted().await?);
    assert_eq!(upgrade.maps().await?, ["one-data"]);
    Ok(())
}

/// An object that is created once and whose node is renamed is the same object afterwards.
#[tokio::test(start_paused = true)]
async fn what_is_created_once_is_kept_when_its_node_is_renamed() -> Result<()> {
    let upgrade = Upgrade::new().await?;
    let node =
        |name: &'static str| move |of: Builder| of.nodes((data().create_only().named(name), wanted_map("b")));
    upgrade.live(node("older")).await?;
    let before = upgrade.0.api::<ConfigMap>().get("one-data").await?.uid();
    upgrade.live(node("newer")).await?;
    assert_eq!(upgrade.0.api::<ConfigMap>().get("one-data").await?.uid(), before, "it was made again");
    assert_eq!(owners_and_node(&upgrade, "one-data").await?, (1, "newer".to_owned()));
    Ok(())
}

/// What is adopted gets owner and marks, even if it is not changed otherwise; then nothing is asked or written any more.
#[tokio::test(start_paused = true)]
async fn what_is_adopted_is_marked_once() -> Result<()> {
    let upgrade = Upgrade::new().await?;
    let mut theirs = ConfigMap::default();
    theirs.metadata.name = Some("one-data".to_owned());
    upgrade.0.api::<ConfigMap>().create(&PostParams::default(), &theirs).await?;
    let node = data().create_only().adopt(Adoption::IfUnowned);
    let operator = upgrade.start(|of| of.nodes((node,))).await?;
    assert_eq!(owners_and_node(&upgrade, "one-data").await?, (1, "data".to_owned()));
    operator.settled().await?;
    upgrade.0.set("one", "second").await?;
    pass(60).await;
    let written = operator.settled().await?.written();
    assert!(written.iter().all(|write| !write.contains("configmaps")), "{written:?}");
    Ok(())
}

/// A node of this name, with an object of this one.
fn map(node: &str, object: &'static str) -> MapNode {
    wanted_map(object).named(node.to_owned())
}

/// Objects keep their uids whatever the nodes are called that want them, in each order of the declaration.
#[tokio::test(start_paused = true)]
async fn names_of_nodes_may_go_round() -> Result<()> {
    let first: &[(&str, &'static str)] = &[("web", "w"), ("api", "a")];
    let seconds: [&[(&str, &'static str)]; 5] = [
        &[("front", "w"), ("web", "a")],
        &[("web", "a"), ("front", "w")],
        &[("web", "a"), ("api", "w")],
        &[("api", "w"), ("web", "a")],
        &[("front", "a"), ("web", "x"), ("api", "w")],
    ];
    for second in seconds {
        let upgrade = Upgrade::new().await?;
        let nodes = |all: &'static [(&str, &'static str)]| {
            move |of: Builder| all.iter().fold(of, |of, (node, object)| of.nodes((map(node, object),)))
        };
        let uids = async || -> Result<BTreeMap<String, Option<String>>> {
            let maps = upgrade.0.api::<ConfigMap>().list(&ListParams::default()).await?;
            Ok(maps.items.iter().map(|map| (map.name_any(), map.uid())).collect())
        };
        upgrade.live(nodes(first)).await?;
        let before = uids().await?;
        let told = format!("{second:?}");
        upgrade.live(nodes(Box::leak(second.to_vec().into_boxed_slice()))).await?;
        let after = uids().await?;
        for (node, object) in second {
            let name = format!("one-{object}");
            assert_eq!(owners_and_node(&upgrade, &name).await?, (1, (*node).to_owned()), "{told}: {name}");
            assert!(
                before.get(&name).is_none_or(|uid| Some(uid) == after.get(&name)),
                "{told}: {name} was made again"
            );
        }
        assert_eq!(after.len(), second.len(), "{told}: {after:?}");
    }
    Ok(())
}
