//! The names that users can use are a committed list.

use std::{collections::BTreeSet, fs};

use integration_tests::{PublicItem, public_items, second_paths};

use crate::sources;

/// The crates whose users are other people, and the lists of what they can name.
const CRATES: &[&str] = &["operator-core", "operator-core/component"];

/// Names of a prelude that are items of another module don't count: a prelude names items a second time.
fn items(package: &str) -> Vec<PublicItem> {
    let root = sources::root().join(package).join("src/lib.rs");
    let mut items = public_items(&root).expect("the crate's source can be read");
    items.retain(|item| !item.path.starts_with("prelude::") || item.defined.contains("prelude::"));
    items
}

fn line(item: &PublicItem) -> String {
    let hidden = if item.hidden { " (hidden)" } else { "" };
    match item.kind {
        "use" => format!("{} = {}{hidden}", item.path, item.defined.trim_start_matches("::")),
        kind => format!("{} ({kind}){hidden}", item.path),
    }
}

#[test]
fn the_list_of_public_items_is_the_committed_one() {
    for package in CRATES {
        let list = items(package).iter().map(|item| line(item) + "\n").collect::<String>();
        let file = sources::root().join(package).join("public-items.txt");
        if std::env::var_os("UPDATE_PUBLIC_ITEMS").is_some() {
            fs::write(&file, &list).expect("the list can be written");
        }
        let committed = fs::read_to_string(&file).unwrap_or_default();
        let missing: Vec<_> =
            committed.lines().filter(|line| !list.lines().any(|now| now == *line)).collect();
        let new: Vec<_> = list.lines().filter(|line| !committed.lines().any(|was| was == *line)).collect();
        assert!(
            missing.is_empty() && new.is_empty(),
            "{package}/public-items.txt is not what is public.\nno longer public: {missing:#?}\nnew: {new:#?}\n\
             Make the new ones pub(crate), or, if users need them, run \
             `UPDATE_PUBLIC_ITEMS=1 cargo test -p integration-tests --test tidy public` and commit the list with a \
             line in CHANGELOG.md."
        );
    }
}

/// Each public name is one more for a reader to pass by, and a promise to keep. The page *Style* has these numbers.
const MOST_SHOWN: usize = 266;
const MOST_MODULES: usize = 29;
/// The names that an operator needs in every file: everything else is imported by name.
const MOST_IN_THE_PRELUDE: usize = 28;

#[test]
fn operator_core_shows_no_more_names_than_the_page_says() {
    let items = items("operator-core");
    let shown: Vec<_> = items.iter().filter(|item| !item.hidden).map(|item| &*item.path).collect();
    let modules: BTreeSet<_> = shown.iter().filter_map(|path| Some(path.rsplit_once("::")?.0)).collect();
    assert!(shown.len() <= MOST_SHOWN, "{} names", shown.len());
    assert!(modules.len() <= MOST_MODULES, "{} modules: {modules:?}", modules.len());
    let all = public_items(&sources::root().join("operator-core/src/lib.rs"));
    let all = all.expect("the crate's source can be read");
    let prelude: BTreeSet<_> = all.iter().filter_map(|item| item.path.strip_prefix("prelude::")).collect();
    assert!((10..=MOST_IN_THE_PRELUDE).contains(&prelude.len()), "{} names: {prelude:?}", prelude.len());
    let page = fs::read_to_string(sources::root().join("docs/src/style.md")).expect("the book has the page");
    let says = format!(
        "{MOST_SHOWN} names in {MOST_MODULES} modules are shown, and {MOST_IN_THE_PRELUDE} in the prelude"
    );
    assert!(page.contains(&says), "docs/src/style.md doesn't say: {says}");
}

#[test]
fn each_public_item_has_one_path() {
    for package in CRATES {
        let items = items(package);
        assert!(items.len() > 10, "{package}: {items:?}");
        let second = second_paths(&items);
        assert!(second.is_empty(), "{package}: keep one `pub use` of each: {second:#?}");
    }
}

fn of(files: &[(&str, &str)]) -> Vec<PublicItem> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().expect("it lies in the folder")).expect("a folder");
        fs::write(file, text).expect("a file");
    }
    public_items(&folder.path().join("lib.rs")).expect("the crate can be read")
}

#[test]
fn what_is_public_all_the_way_is_listed() {
    let items = of(&[
        (
            "lib.rs",
            "pub mod a; mod b; pub use b::{Shown, inner::deep as renamed}; pub use kube::Api; pub use kube;",
        ),
        ("a/mod.rs", "pub struct A; struct Hidden; pub(crate) fn no() {} #[cfg(test)] pub mod tests {}"),
        ("b.rs", "pub mod inner; pub enum Shown { One } pub struct NotShown;"),
        ("b/inner.rs", "#[macro_export] macro_rules! mine { () => {} } pub fn deep() {}"),
    ]);
    let lines: Vec<String> = items.iter().map(line).collect();
    assert_eq!(
        lines,
        ["Api = kube::Api", "Shown (enum)", "a::A (struct)", "kube = kube", "mine (macro)", "renamed (fn)"]
    );
    assert!(second_paths(&items).is_empty());
}

#[test]
fn a_second_path_is_found_through_modules_and_globs() {
    let items = of(&[
        (
            "lib.rs",
            "pub mod a; #[doc(hidden)] pub mod again { pub use crate::a::*; } pub use a::inner as other;",
        ),
        ("a.rs", "pub mod inner { pub struct Deep; } pub use self::inner::Deep; pub trait Once {}"),
    ]);
    let hidden: Vec<String> = items.iter().filter(|item| item.hidden).map(line).collect();
    assert_eq!(
        hidden,
        [
            "again::Deep (struct) (hidden)",
            "again::Once (trait) (hidden)",
            "again::inner::Deep (struct) (hidden)"
        ]
    );
    let second = second_paths(&items);
    assert_eq!(second[0], ["a::Once", "again::Once"]);
    assert_eq!(second[1], ["a::Deep", "a::inner::Deep", "again::Deep", "again::inner::Deep", "other::Deep"]);
}
