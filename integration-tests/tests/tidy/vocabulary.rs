//! Builder and derive have the same words, and the derive's page lists all of them.

use std::{collections::BTreeSet, fs};

use syn::{Expr, File, Item, Lit};

use crate::sources;

type Words = BTreeSet<String>;

fn text(path: &str) -> String {
    fs::read_to_string(sources::root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn words<const N: usize>(words: [&str; N]) -> Words {
    words.map(str::to_owned).into()
}

/// The names of the public functions in a file, from `start` on; also those that a macro writes.
fn methods(path: &str, start: &str) -> Words {
    let text = text(path);
    let (_, text) = text.split_once(start).unwrap_or_else(|| panic!("{path} has no `{start}`"));
    let functions = text.lines().filter_map(|line| line.trim_start().strip_prefix("pub fn "));
    functions.map(|function| function.split(['<', '(']).next().unwrap_or_default().to_owned()).collect()
}

/// The words of these tables of the derive: each row begins with one.
fn table(path: &str, tables: &[&str]) -> Words {
    let file = syn::parse_file(&text(path)).expect("the file can be parsed");
    let tables = tables.iter().flat_map(|name| rows(&file, constant(&file, name)));
    let words: Words = tables.collect();
    assert!(!words.is_empty(), "{path}");
    words
}

fn constant<'f>(file: &'f File, name: &str) -> &'f Expr {
    let found = file.items.iter().find_map(|item| match item {
        Item::Const(constant) if constant.ident == name => Some(&*constant.expr),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no constant `{name}`"))
}

fn rows(file: &File, expression: &Expr) -> Vec<String> {
    match expression {
        Expr::Reference(reference) => rows(file, &reference.expr),
        Expr::Array(array) => array.elems.iter().flat_map(|row| rows(file, row)).collect(),
        Expr::Tuple(tuple) => tuple.elems.first().map(|first| rows(file, first)).unwrap_or_default(),
        Expr::Path(path) => {
            let name = path.path.get_ident().expect("a constant of the same file").to_string();
            rows(file, constant(file, &name))
        }
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => vec![text.value()],
            _ => panic!("a word is text"),
        },
        _ => panic!("a table has words"),
    }
}

/// `builder` and `derive` are the same but for what only one of them needs.
fn are_alike(builder: &Words, only_builder: &Words, derive: &Words, only_derive: &Words) {
    let strange = |only: &Words, of: &Words| only.difference(of).cloned().collect::<Vec<_>>();
    assert!(
        strange(only_builder, builder).is_empty(),
        "the builder has no {:?}",
        strange(only_builder, builder)
    );
    assert!(strange(only_derive, derive).is_empty(), "the derive has no {:?}", strange(only_derive, derive));
    let builder: Words = builder.difference(only_builder).cloned().collect();
    let derive: Words = derive.difference(only_derive).cloned().collect();
    assert_eq!(builder, derive, "give both the word, or say here why only one needs it");
}

const CONTROLLER: &str = "operator-macros/src/controller_configuration.rs";
const POLICIES: &str = "operator-macros/src/policies.rs";
const WORKFLOW: &str = "operator-macros/src/workflow/mod.rs";
const NODE: &str = "operator-macros/src/workflow/wired.rs";

fn keys() -> Words {
    table(CONTROLLER, &["SETTINGS", "CALLS", "FLAGS", "OTHERS"])
}

fn of_a_node() -> Words {
    table(NODE, &["LISTS", "FLAGS", "NAMED", "CONFIGURE"])
}

fn of_a_workflow() -> Words {
    table(WORKFLOW, &["FLAGS", "RETIRED", "RETIRED_RECORDS"])
}

#[test]
fn a_controller_has_the_same_words_in_builder_and_derive() {
    let mut builder = methods("operator-core/src/controller/builder.rs", "");
    builder.extend(methods("operator-core/src/event_source/filter.rs", "macro_rules! filter_methods"));
    builder.extend(methods(
        "operator-core/src/event_source/informer_configuration.rs",
        "macro_rules! informer_methods",
    ));
    let only_builder = words([
        // The struct itself, and its attribute `workflow`.
        "reconciler",
        "workflow",
        // Of workflows and dependents that the reconciler calls by itself, and holds: `configure` reaches them.
        "event_sources_of",
        "dependent",
        // No method of this builder: primaries have no such filter.
        "on_delete",
        "build",
    ]);
    // The type is an argument of `Controller::of`.
    let only_derive = words(["primary", "crate", "configure"]);
    are_alike(&builder, &only_builder, &keys(), &only_derive);
}

#[test]
fn a_retry_has_the_same_words_in_builder_and_derive() {
    let builder = methods("operator-core/src/processor/retry.rs", "impl GenericRetry");
    let builder = builder.into_iter().filter(|method| method.starts_with("with"));
    let derive = table(POLICIES, &["RETRY"]).into_iter().map(|key| format!("with_{key}"));
    let derive = derive.chain(table(POLICIES, &["WITHOUT"]));
    are_alike(&builder.collect(), &words([]), &derive.collect(), &words([]));
}

#[test]
fn a_node_has_the_same_words_in_builder_and_derive() {
    let mut builder = methods("operator-core/src/workflow/declare/declared.rs", "");
    builder.extend(methods("operator-core/src/dependent/object/settings.rs", ""));
    builder.extend(methods("operator-core/src/workflow/declare/record.rs", ""));
    // In a workflow nothing stands alone, and every path is a node.
    are_alike(&builder, &words(["node", "standalone"]), &of_a_node(), &words(["configure"]));
}

#[test]
fn a_workflow_has_the_same_words_in_builder_and_derive() {
    let builder = methods("operator-core/src/workflow/declare/builder.rs", "pub struct WorkflowBuilder");
    // The nodes stand in the attribute as they are.
    let only_builder = words(["nodes", "wired", "retired_of_type", "build"]);
    are_alike(&builder, &only_builder, &of_a_workflow(), &words([]));
}

#[test]
fn the_derives_page_has_all_words() {
    let page = text("operator-core/src/docs/controller_configuration.md");
    let (controller, workflow) = page.split_once("# The workflow").expect("the page has two tables");
    let missing = |section: &str, words: Words| {
        let lines = section.lines().filter(|line| line.starts_with('|'));
        let text: Vec<&str> =
            lines.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_')).collect();
        words.into_iter().filter(|word| !text.contains(&&**word)).collect::<Vec<_>>()
    };
    let mut of_a_controller = keys();
    of_a_controller.extend(table(POLICIES, &["RETRY", "WITHOUT", "RATE_LIMIT"]));
    assert_eq!(missing(controller, of_a_controller), [""; 0]);
    assert_eq!(missing(workflow, of_a_node().into_iter().chain(of_a_workflow()).collect()), [""; 0]);
}
