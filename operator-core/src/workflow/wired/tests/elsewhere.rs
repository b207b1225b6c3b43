//! Nodes of one type, of resources elsewhere, and of what is only read.

use super::*;
use crate::dependent::{
    CustomDependent, DependentResource, Read,
    bulk::{BulkCustomDependent, BulkDependentResource},
};

#[test]
fn several_nodes_of_one_type_are_told_apart_by_their_names() {
    let of_team = |team: &'static str| {
        node(move |_: &Pod| Some(ConfigMap::default()).filter(|_| !team.is_empty())).named(team)
    };
    let (red, blue) = (of_team("red"), of_team("blue"));
    let wired = workflow().nodes((web.after(&blue), service.after(&red), red, blue));
    assert_eq!(outline(wired)[..4], ["red", "  service", "blue", "  web"]);
    let (first, second) = (node(html).named("first"), node(html).named("second"));
    let [mistake] = &mistakes(workflow().nodes((web.after(html), first, second)))[..] else { panic!("one") };
    assert!(
        mistake.ends_with("which is several nodes: first, second; say which by a reference, `.after(&node)`")
    );
    // One that is named is found by its function all the same.
    assert_eq!(
        outline(workflow().nodes((web.after(html), node(html).named("page"))))[..2],
        ["page", "  web"]
    );
    let twice = (node(html).named("page"), node(html).named("page"));
    assert!(mistakes(workflow().nodes(twice))[0].ends_with("::html (`page`)` is two nodes of this workflow"));
}

struct Dns;
impl DependentResource<Pod> for Dns {
    type Resource = u8;
    async fn secondary(&self, _: &Arc<Pod>, _: &Context<Pod>) -> Result<Option<Arc<u8>>> {
        Ok(None)
    }
}
struct Hosts;
impl BulkDependentResource<Pod> for Hosts {
    type Resource = u8;
    type Key = u8;
    async fn secondaries(
        &self,
        _: &Arc<Pod>,
        _: &Context<Pod>,
    ) -> Result<std::collections::BTreeMap<u8, Arc<u8>>> {
        Ok(std::collections::BTreeMap::new())
    }
}
fn tls(_: &Pod) -> Read<Secret> {
    Read::named("tls")
}
fn others(_: &Pod) -> Result<Option<Read<Vec<Secret>>>> {
    Ok(None)
}

#[test]
fn what_is_elsewhere_and_what_is_only_read_stand_in_the_same_tuples() {
    let dns = || CustomDependent::<_, Pod>::new(Dns);
    let hosts = || BulkCustomDependent::<_, Pod>::new(Hosts);
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
        "others",
        "depth 3; by the garbage collector, in any order: web, html; left as it is: Dns, others, Hosts, tls",
    ];
    assert_eq!(outline(wired), expected);
    let (first, second) = (dns().named("first"), dns().named("second").after(html));
    let wired = workflow().nodes((web.after(&first), html, first, second));
    assert_eq!(outline(wired)[..4], ["html", "  second", "first", "  web"]);
}
