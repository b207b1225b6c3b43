//! Nodes of one type, of resources elsewhere, and of what is only read.

use super::*;
use crate::dependent::{Deletion, External, Read, Records, Token};

#[test]
fn several_nodes_of_one_type_are_told_apart_by_their_names() {
    let of_team = |team: &'static str| {
        node(move |_: &Pod| Some(ConfigMap::default()).filter(|_| !team.is_empty())).named(team)
    };
    let (red, blue) = (of_team("red"), of_team("blue"));
    let wired = workflow().nodes((web.after(&blue), service.after(&red), red, blue));
    assert_eq!(outline(wired)[..4], ["red [optional]", "  service", "blue [optional]", "  web"]);
    let (first, second) = (node(html).named("first"), node(html).named("second"));
    let [mistake] = &mistakes(workflow().nodes((web.after(html), first, second)))[..] else { panic!("one") };
    assert!(
        mistake
            .ends_with("which is several nodes: first, second; select one by a reference, `.after(&node)`")
    );
    // One that is named is found by its function all the same.
    assert_eq!(
        outline(workflow().nodes((web.after(html), node(html).named("page"))))[..2],
        ["page", "  web"]
    );
    let twice = (node(html).named("page"), node(html).named("page"));
    assert!(mistakes(workflow().nodes(twice))[0].ends_with("::html (`page`)` is two nodes of this workflow"));
}

/// A system with nothing in it.
macro_rules! empty {
    ($external:ident, $want:ty) => {
        struct $external;
        impl External<Pod> for $external {
            type Resource = u8;
            type Want = $want;
            fn want(&self, _: &Pod) -> $want {
                <$want>::default()
            }
            async fn observe(&self, _: &str) -> Result<Option<u8>> {
                Ok(None)
            }
            async fn create(&self, want: &u8, _: &Token) -> Result<(String, u8)> {
                Ok((String::new(), *want))
            }
            async fn update(&self, _: &str, _: &u8, want: &u8) -> Result<u8> {
                Ok(*want)
            }
            async fn delete(&self, _: &str) -> Result<Deletion> {
                Ok(Deletion::Gone)
            }
        }
    };
}

empty!(Dns, Option<u8>);
empty!(Hosts, Vec<(String, u8)>);

fn tls(_: &Pod) -> Read<Secret> {
    Read::named("tls")
}
fn others(_: &Pod) -> Result<Option<Read<Vec<Secret>>>> {
    Ok(None)
}

#[test]
fn what_is_elsewhere_and_what_is_only_read_stand_in_the_same_tuples() {
    let dns = || Records::<_, Pod>::new(Dns).id_in_config_map();
    let hosts = || Records::<_, Pod>::new(Hosts).id_in_config_map();
    let exposed = |_: &Pod| Want::hold("Closed", "it is night");
    let wired = workflow()
        .nodes((html, tls, dns().after(html).only_if(exposed), hosts().ready(|host: &u8| *host > 0)))
        .nodes((web.after(the::<Dns>()).after(the::<Hosts>()).after(tls), others.optional()));
    let expected = [
        "html",
        "  Dns [only if closure]",
        "    web (also after tls, Hosts)",
        "tls",
        "Hosts [ready when closure]",
        "others [optional]",
        "depth 3; deleted in reverse: web, Dns, Hosts; by the garbage collector, in any order: html; left as it is: others, tls",
    ];
    assert_eq!(outline(wired), expected);
    let (first, second) = (dns().named("first"), dns().named("second").after(html));
    let wired = workflow().nodes((web.after(&first), html, first, second));
    assert_eq!(outline(wired)[..4], ["html", "  second [optional]", "first [optional]", "  web"]);
}
