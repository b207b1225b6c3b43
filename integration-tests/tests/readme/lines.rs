//! The number of lines of an operator: after rustfmt with its own settings, without blank lines and comments, with the
//! body of each child as one line. The content of a child is the user's, in any framework.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use integration_tests::prelude::*;
use syn::{File, Item, Type, spanned::Spanned as _};

use crate::{block, programs, repository};

/// The format of rustfmt without settings.
fn formatted(source: &str) -> Result<String> {
    // Settings are looked for from the folder upwards: here are none.
    let folder = tempfile::tempdir()?;
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("rustfmt can't be started")?;
    rustfmt.stdin.take().context("it has an input")?.write_all(source.as_bytes())?;
    let output = rustfmt.wait_with_output()?;
    ensure!(output.status.success(), "rustfmt: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// The lines that count.
fn counted<'t>(lines: impl Iterator<Item = &'t str>) -> usize {
    lines.map(str::trim_start).filter(|line| !line.is_empty() && !line.starts_with("//")).count()
}

/// The lines of an operator whose children are these functions.
pub(crate) fn lines(source: &str, children: &[&str]) -> Result<usize> {
    let text = formatted(source)?;
    let File { items, .. } = syn::parse_file(&text)?;
    let mut all = counted(text.lines());
    for child in children {
        let function = items.iter().find_map(|item| match item {
            Item::Fn(function) if function.sig.ident == child => Some(function),
            _ => None,
        });
        let braces = function.with_context(|| format!("no function `{child}`"))?.block.brace_token.span;
        let (from, to) = (braces.open().start().line, braces.close().start().line);
        let body = counted(text.lines().take(to - 1).skip(from));
        all -= body.saturating_sub(1);
    }
    Ok(all)
}

/// The lines of that type's declaration, with its attributes, and of all that is implemented for it.
pub(crate) fn lines_of(source: &str, name: &str) -> Result<usize> {
    let text = formatted(source)?;
    let File { items, .. } = syn::parse_file(&text)?;
    let of_it = items.iter().filter(|item| match item {
        Item::Struct(declared) => declared.ident == name,
        Item::Impl(block) => matches!(&*block.self_ty, Type::Path(path) if path.path.is_ident(name)),
        _ => false,
    });
    let of_each = of_it.map(|item| {
        let (from, to) = (item.span().start().line, item.span().end().line);
        counted(text.lines().take(to).skip(from - 1))
    });
    let all = of_each.sum();
    ensure!(all > 0, "no type `{name}`");
    Ok(all)
}

/// The lines of the sample in its managed style: children and style. Its types and what its children look like are left out.
pub(crate) fn managed_style() -> Result<usize> {
    let sample = repository().join("samples/webpage/src");
    let children = fs::read_to_string(sample.join("dependents.rs"))?;
    let style = fs::read_to_string(sample.join("styles/managed.rs"))?;
    Ok(lines(&children, &["html", "web", "service", "ingress"])? + lines(&style, &[])?)
}

/// The lines of the sample for production without its types, the contents of its children, and what is outside the cluster.
pub(crate) fn store() -> Result<usize> {
    lines(&fs::read_to_string(repository().join("samples/store/src/controller.rs"))?, &[])
}

/// The lines of the sample of components: components and steps, and its binary. As for the store, its types, the contents of its
/// children and what is outside the cluster are left out; so is the stand-in for a user in `dev`.
fn shop() -> Result<usize> {
    let folder = repository().join("samples/shop/src");
    let counted = ["components.rs", "controller.rs", "lib.rs", "main.rs"];
    let each = counted.map(|file| lines(&fs::read_to_string(folder.join(file))?, &[]));
    each.into_iter().sum()
}

/// The lines of the sample of bundles and of its binary, without its types.
fn addon() -> Result<usize> {
    let folder = repository().join("samples/addon/src");
    let source = fs::read_to_string(folder.join("lib.rs"))?;
    let types = lines_of(&source, "AddOnSpec")? + lines_of(&source, "AddOnStatus")?;
    Ok(lines(&source, &[])? - types + lines(&fs::read_to_string(folder.join("main.rs"))?, &[])?)
}

fn check(what: &str, lines: usize, at_most: usize) -> Result<()> {
    ensure!(lines <= at_most, "{what} takes {lines} lines, and may take {at_most}");
    Ok(())
}

#[test]
fn the_operator_of_the_readme_takes_18_lines() -> Result<()> {
    let readme = fs::read_to_string(repository().join("README.md"))?;
    check("README.md", lines(block(&readme, "## An operator", "rust")?, &["map"])?, 18)
}

#[test]
fn three_children_in_order_take_45_lines() -> Result<()> {
    let page = fs::read_to_string(repository().join("docs/src/functions.md"))?;
    let program = block(&page, "## The program", "rust")?;
    check("docs/src/functions.md", lines(program, &["html", "web", "address"])?, 45)
}

#[test]
fn the_managed_style_of_the_sample_takes_40_lines() -> Result<()> {
    check("the managed style", managed_style()?, 40)
}

#[test]
fn the_sample_of_components_takes_at_most_220_lines_and_the_page_says_how_many() -> Result<()> {
    let lines = shop()?;
    check("the shop", lines, 220)?;
    let page = fs::read_to_string(repository().join("docs/src/components.md"))?;
    let says = format!("takes {lines} lines");
    ensure!(page.contains(&says), "docs/src/components.md doesn't say: {says}");
    Ok(())
}

#[test]
fn the_sample_of_bundles_takes_at_most_60_lines_and_its_readme_says_how_many() -> Result<()> {
    let lines = addon()?;
    check("the add-on", lines, 60)?;
    let page = fs::read_to_string(repository().join("samples/addon/README.md"))?;
    let says = format!("takes {lines} lines");
    ensure!(page.contains(&says), "samples/addon/README.md doesn't say: {says}");
    let chapter = fs::read_to_string(repository().join("docs/src/bundles.md"))?;
    let operator = block(&chapter, "This is the whole operator of the sample", "rust")?;
    check("the operator in the chapter", counted(operator.lines()), 40)
}

/// Names in a program that its reader would have to look up: names beyond the prelude, crates that the README doesn't
/// ask for, macros of its own.
fn beyond(source: &str, crates: &[String]) -> Vec<String> {
    let imports = source.lines().filter_map(|line| line.trim_start().strip_prefix("use "));
    let own = ["crate", "std"];
    let is_known = |import: &&str| {
        let root = import.split([':', ';', ' ']).next().unwrap_or_default();
        own.contains(&root) || crates.iter().any(|known| known == root)
    };
    let mut beyond: Vec<String> = imports.filter(|import| !is_known(import)).map(str::to_owned).collect();
    let places = source.match_indices("operator_core::").map(|(at, _)| &source[at..]);
    let outside = places.filter(|place| !place.starts_with("operator_core::prelude::*;"));
    beyond.extend(outside.map(|place| place.lines().next().unwrap_or_default().to_owned()));
    beyond.extend(source.contains("macro_rules!").then(|| "macro_rules!".to_owned()));
    beyond
}

/// The crates that the README requires, as code names them.
fn crates() -> Result<Vec<String>> {
    let readme = fs::read_to_string(repository().join("README.md"))?;
    let lines = block(&readme, "## An operator", "toml")?.lines();
    let names = lines.filter_map(|line| Some(line.split_once(" = ")?.0.replace('-', "_")));
    Ok(names.collect())
}

#[test]
fn what_is_counted_uses_the_prelude_and_the_crates_of_the_readme() -> Result<()> {
    let crates = crates()?;
    let sample = ["dependents.rs", "styles/managed.rs"].map(|file| format!("samples/webpage/src/{file}"));
    for (path, has_records) in programs::paths().chain(sample.map(|path| (path, false))) {
        let source = fs::read_to_string(repository().join(&path)).with_context(|| path.clone())?;
        let mut beyond = beyond(&source, &crates);
        beyond.retain(|what| !has_records || !what.starts_with("operator_core::dependent::"));
        ensure!(beyond.is_empty(), "{path} uses {beyond:?}");
    }
    Ok(())
}

#[test]
fn what_is_beyond_the_prelude_is_found() {
    let crates = ["operator_core", "kube"].map(str::to_owned);
    let sound = "use std::fs;\nuse kube::{Api, Client};\nuse operator_core::prelude::*;\nuse crate::Page;\n";
    assert_eq!(beyond(sound, &crates), [""; 0]);
    for line in [
        "use operator_core::{controller::IntoController, prelude::*};",
        "use futures::FutureExt;",
        "fn a() -> operator_core::BoxError {}",
        "macro_rules! child { () => {} }",
    ] {
        assert_eq!(beyond(&format!("{sound}{line}"), &crates).len(), 1, "{line}");
    }
}

#[test]
fn what_is_explicit_in_part_and_with_data_takes_14_lines() -> Result<()> {
    let page = fs::read_to_string(repository().join("docs/src/beside-kube-rs.md"))?;
    let program = block(&page, "## Explicit, in part, with data", "rust")?;
    check("what the reconciler says", lines_of(program, "Sites")?, 14)
}

#[test]
fn a_type_counts_with_its_attributes_and_what_is_implemented_for_it() -> Result<()> {
    let source = "
/// A comment.
#[derive(Clone)]
#[non_exhaustive]
struct One;

impl Default for One { fn default() -> Self { One } }
struct Other(One);
impl Other { }";
    assert_eq!(lines_of(source, "One")?, 3 + 5);
    assert_eq!(lines_of(source, "Other")?, 1 + 1);
    assert!(lines_of(source, "Missing").is_err());
    Ok(())
}

#[test]
fn only_the_bodies_of_children_are_cut() -> Result<()> {
    let source = "
/// A comment.
fn child() -> u8 { let one = 1; /* inside */
    // Another one.
    one }

fn other() -> u8 { let one = 1; one }
const SHORT: u8 = 1;
fn empty() {}";
    assert_eq!(lines(source, &["child", "empty"])?, 3 + 4 + 1 + 1);
    assert_eq!(lines(source, &[])?, 4 + 4 + 1 + 1);
    assert!(lines(source, &["missing"]).is_err());
    Ok(())
}
