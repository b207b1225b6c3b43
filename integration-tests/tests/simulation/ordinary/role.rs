//! The book's table of an operator's rights is made from its `access()`.

use std::fs;

use integration_tests::prelude::*;
use operator_core::controller::IntoController;

use super::{faults::Fault, operator::controller};

#[test]
fn the_rights_of_an_ordinary_operator_are_in_the_book() -> Result<()> {
    let controller = controller(Fault::Nothing).into_controller()?;
    let mut rights: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
    for right in controller.access() {
        let kind = &right.resource_type;
        let below = right.subresource.map(|below| format!("/{below}")).unwrap_or_default();
        let of = (kind.group().to_owned(), format!("{}{below}", kind.plural()));
        rights.entry(of).or_default().extend(right.verbs);
    }
    let mut table = "| API group | resources | verbs |\n|---|---|---|\n".to_owned();
    for ((group, plural), verbs) in rights {
        let verbs: Vec<&str> = verbs.into_iter().collect();
        let group = if group.is_empty() { "the core".to_owned() } else { format!("`{group}`") };
        table += &format!("| {group} | `{plural}` | {} |\n", verbs.join(", "));
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/role.md");
    let page = fs::read_to_string(path)?;
    let (before, rest) = page.split_once("| API group |").context("the page has the table")?;
    let after = rest.find("\n\n").map_or("", |end| &rest[end + 1..]);
    let wanted = format!("{before}{table}{after}");
    if std::env::var_os("UPDATE_BOOK").is_some() {
        fs::write(path, wanted)?;
    } else {
        ensure!(page == wanted, "docs/src/role.md isn't made from `access()` any more: set UPDATE_BOOK=1");
    }
    Ok(())
}
