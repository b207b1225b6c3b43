//! Records outlive the names of their nodes, and their nodes.

use integration_tests::prelude::*;
use operator_core::{
    dependent::Records,
    testing::OtherSystem,
    workflow::{RecordNode, declare::OneOf},
};

use super::{Builder, Upgrade};
use crate::simulated::pass;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Status,
    Map,
    Secret,
}

const PLACES: [Place; 3] = [Place::Status, Place::Map, Place::Secret];

fn record(word: &Word, place: Place, name: &str) -> RecordNode<TestResource, OneOf<String>> {
    let record = Records::new(word.clone());
    let record = match place {
        Place::Status => record.id_in_status("recordId"),
        Place::Map => record.id_in_config_map(),
        Place::Secret => record.id_in_secret(),
    };
    record.named(name.to_owned())
}

/// The number of records that were ever made.
fn made(system: &Words) -> usize {
    system.records().len()
}

fn word(system: &Words, searchable: bool) -> Word {
    Word { system: system.clone(), searchable }
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_renamed_and_renamed_back_keeps_its_record() -> Result<()> {
    for place in PLACES {
        for (searchable, beside) in [(true, false), (false, false), (true, true), (false, true)] {
            let (upgrade, system) = (Upgrade::new().await?, OtherSystem::new());
            let told = format!("{place:?}, searchable: {searchable}, beside a node with maps: {beside}");
            let nodes = |name: &'static str| {
                let record = record(&word(&system, searchable), place, name);
                move |of: Builder| {
                    if beside { of.nodes((wanted_map("settings"), record)) } else { of.nodes((record,)) }
                }
            };
            for name in ["account", "user", "account", "client"] {
                upgrade.live(nodes(name)).await?;
                assert_eq!(made(&system), 1, "{told}, as {name}: {:?}", system.records());
            }
            let _operator = upgrade.start(nodes("last")).await?;
            assert!(!upgrade.stays_when_deleted().await?, "{told}");
            assert!(words_in(&system).is_empty(), "{told}: {:?}", system.records());
        }
    }
    Ok(())
}

/// Of a create without an answer under an earlier name only the note, or the search by the earlier token, knows.
#[tokio::test(start_paused = true)]
async fn a_create_without_an_answer_is_remembered_under_another_name() -> Result<()> {
    for place in PLACES {
        let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
        let nodes = |name: &'static str| {
            let record = record(&word(&system, false), place, name);
            move |of: Builder| of.nodes((record,))
        };
        system.never_answer(1, "create");
        drop(upgrade.start(nodes("account")).await?);
        let operator = upgrade.start(nodes("user")).await?;
        assert_eq!(made(&system), 1, "{place:?}: {:?}", system.records());
        let stalled = upgrade.condition("Stalled").await?;
        assert!(stalled.contains("/account`, started at"), "{place:?}: {stalled}");
        assert!(upgrade.stays_when_deleted().await?, "{place:?}");
        operator.stop().await;
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn several_records_are_searched_by_the_tokens_of_former_names() -> Result<()> {
    let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
    let nodes = |name: &'static str| {
        let records = Records::new(EachWord(Word::new(&system))).id_in_config_map().named(name);
        move |of: Builder| of.nodes((records,))
    };
    upgrade.0.create("one", "a=1").await?;
    upgrade.live(nodes("older")).await?;
    system.never_answer(1, "create");
    upgrade.0.set("one", "a=1 b=2").await?;
    drop(upgrade.start(nodes("older")).await?);
    assert_eq!(made(&system), 2);
    let _operator = upgrade.start(nodes("newer")).await?;
    assert_eq!((made(&system), words_in(&system).len()), (2, 2), "{:?}", system.records());
    assert!(!upgrade.stays_when_deleted().await?);
    assert!(words_in(&system).is_empty(), "{:?}", system.records());
    Ok(())
}

/// Two nodes of one type, of which either could be the renamed one: nothing is made, and the error says what to write.
#[tokio::test(start_paused = true)]
async fn what_could_be_of_either_of_two_nodes_waits() -> Result<()> {
    let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
    let of_map = |name: &str| record(&Word::new(&system), Place::Map, name);
    upgrade.live(|of| of.nodes((of_map("account"),))).await?;
    upgrade.live(|of| of.nodes((of_map("user"), of_map("client")))).await?;
    assert_eq!(made(&system), 1, "{:?}", system.records());
    let stalled = upgrade.condition("Stalled").await?;
    assert!(stalled.contains("account") && stalled.contains("`.named("), "{stalled}");
    upgrade.live(|of| of.nodes((of_map("account"), of_map("client")))).await?;
    assert_eq!(made(&system), 2, "{:?}", system.records());
    Ok(())
}

/// A node of another type, in another system, is not the renamed one.
#[tokio::test(start_paused = true)]
async fn a_node_of_another_system_takes_nothing_over() -> Result<()> {
    let (upgrade, [system, other]): (_, [Words; 2]) =
        (Upgrade::new().await?, [OtherSystem::new(), OtherSystem::new()]);
    upgrade.live(|of| of.nodes((record(&Word::new(&system), Place::Map, "account"),))).await?;
    let records = EachWord(Word::new(&other));
    upgrade.0.set("one", "").await?;
    let nodes = |of: Builder| of.nodes((Records::new(records).id_in_config_map().named("dns"),));
    let operator = upgrade.start(nodes).await?;
    upgrade.0.set("one", "a=1").await?;
    pass(600).await;
    assert_eq!((words_in(&system), words_in(&other)), (vec!["first".to_owned()], vec!["1".to_owned()]));
    assert!(upgrade.stays_when_deleted().await?, "nobody would delete the record of `account`");
    assert!(upgrade.condition("Stalled").await?.contains("node `account`"));
    operator.stop().await;
    Ok(())
}

/// A version without the node, and then one that says that it is retired.
#[tokio::test(start_paused = true)]
async fn records_of_a_node_that_a_version_lacks_hold_the_primary_until_they_are_retired() -> Result<()> {
    for place in [Place::Status, Place::Map] {
        for (searchable, beside) in [(true, true), (false, true), (true, false), (false, false)] {
            let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
            let (word, told) =
                (word(&system, searchable), format!("{place:?}, searchable: {searchable}, {beside}"));
            upgrade.live(|of| of.nodes((record(&word, place, "account"),))).await?;
            let other = |of: Builder| {
                if beside {
                    of.nodes((wanted_map("other"),))
                } else {
                    of.nodes((super::owners::secret("secret"),))
                }
            };
            let operator = upgrade.start(other).await?;
            if !beside && place == Place::Map && searchable {
                // Nothing that this version watches shows the ids.
                continue;
            }
            assert!(upgrade.stays_when_deleted().await?, "{told}");
            assert_eq!(words_in(&system), ["first"], "{told}");
            let stalled = upgrade.condition("Stalled").await?;
            assert!(stalled.starts_with("True") && stalled.contains("retired_records"), "{told}: {stalled}");
            operator.stop().await;
            let retiring = |of: Builder| other(of).retired_records("account", word.clone());
            upgrade.live(retiring).await?;
            assert!(words_in(&system).is_empty(), "{told}: {:?}", system.records());
            let left = upgrade.0.resources.get_opt("one").await?;
            assert!(left.is_none(), "{told}: {:?}", left.map(|one| (one.metadata, one.status)));
        }
    }
    Ok(())
}

/// Retired records go while their primary lives, and a new one has nothing to do with them.
#[tokio::test(start_paused = true)]
async fn retired_records_go_at_once() -> Result<()> {
    for place in [Place::Status, Place::Map] {
        for searchable in [true, false] {
            let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
            let word = word(&system, searchable);
            upgrade.live(|of| of.nodes((record(&word, place, "account"),))).await?;
            let retiring =
                |of: Builder| of.nodes((wanted_map("other"),)).retired_records("account", word.clone());
            let operator = upgrade.start(retiring).await?;
            assert!(words_in(&system).is_empty(), "{place:?}: {:?}", system.records());
            upgrade.0.create("two", "second").await?;
            pass(60).await;
            assert_eq!(made(&system), 1);
            assert!(
                !upgrade.stays_when_deleted().await?,
                "{place:?}: {}",
                upgrade.condition("Stalled").await?
            );
            operator.stop().await;
        }
    }
    Ok(())
}

/// The name of the object for the id belongs to somebody else: nothing is created before that is known.
#[tokio::test(start_paused = true)]
async fn no_record_is_made_whose_id_finds_no_place() -> Result<()> {
    for searchable in [true, false] {
        let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
        let mut theirs = ConfigMap::default();
        theirs.metadata.name = Some("one-account".to_owned());
        upgrade.0.api::<ConfigMap>().create(&PostParams::default(), &theirs).await?;
        let node = record(&word(&system, searchable), Place::Map, "account");
        let _operator = upgrade.start(|of| of.nodes((node,))).await?;
        assert_eq!(made(&system), 0, "{:?}", system.records());
        assert!(upgrade.condition("Stalled").await?.contains("exists already"));
        upgrade.0.api::<ConfigMap>().delete("one-account", &DeleteParams::default()).await?;
        pass(600).await;
        assert_eq!(words_in(&system), ["first"]);
        assert!(!upgrade.stays_when_deleted().await?);
        assert!(words_in(&system).is_empty());
    }
    Ok(())
}

/// An object with ids is neither removed nor taken over by a node of objects, even one of the same name.
#[tokio::test(start_paused = true)]
async fn an_object_with_ids_is_nothing_for_other_nodes() -> Result<()> {
    let (upgrade, system): (_, Words) = (Upgrade::new().await?, OtherSystem::new());
    upgrade.live(|of| of.nodes((record(&Word::new(&system), Place::Map, "account"),))).await?;
    let id = |map: ConfigMap| map.data.unwrap_or_default().remove("id");
    let map = async || -> Result<_> { Ok(upgrade.0.api::<ConfigMap>().get("one-account").await?) };
    let before = id(map().await?);
    for name in ["account", "other"] {
        let nodes =
            |of: Builder| of.nodes((wanted_map("account").named(name.to_owned()), wanted_map("more")));
        upgrade.live(nodes).await?;
        assert_eq!(id(map().await?), before, "as {name}");
        assert!(upgrade.condition("Stalled").await?.contains("exists already"), "as {name}");
    }
    assert!(before.is_some());
    assert_eq!(made(&system), 1);
    Ok(())
}
