//! Types have distinct names.

use std::collections::BTreeMap;

use syn::Item;

use crate::sources;

/// How many types may have the same name.
const MOST: usize = 3;

/// There is one in each top-level folder.
const ERROR: &str = "Error";

/// The structs, enums and traits among these items, also those in modules that aren't tests.
fn collect(items: &[Item], names: &mut Vec<String>) {
    for item in items {
        match item {
            Item::Struct(item) => names.push(item.ident.to_string()),
            Item::Enum(item) => names.push(item.ident.to_string()),
            Item::Trait(item) => names.push(item.ident.to_string()),
            Item::Mod(module) if !module.attrs.iter().any(|attribute| attribute.path().is_ident("cfg")) => {
                collect(module.content.as_ref().map_or(&[], |(_, items)| items), names);
            }
            _ => {}
        }
    }
}

#[test]
fn no_name_is_that_of_more_than_three_types() {
    let mut names = Vec::new();
    for source in sources::rust("operator-core/src").iter().filter(|source| !source.is_test()) {
        collect(&syn::parse_file(&source.text).expect("a source file is Rust").items, &mut names);
    }
    let mut times = BTreeMap::<String, usize>::new();
    for name in names.into_iter().filter(|name| name != ERROR) {
        *times.entry(name).or_default() += 1;
    }
    assert!(times.len() > 500, "only {} names", times.len());
    let wrong: Vec<_> = times.iter().filter(|(_, times)| **times > MOST).collect();
    assert!(wrong.is_empty(), "call them after what they are: {wrong:?}");
}
