//! The first pages for a visitor: the top of the README, the README of the crate, and the first page of its
//! documentation. All three have the same operator, and their numbers are those of the book.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, Result, ensure};

use crate::{block, repository};

const PROGRAM: &str = include_str!("programs/readme.rs");

fn text(path: &str) -> Result<String> {
    fs::read_to_string(repository().join(path)).with_context(|| path.to_owned())
}

/// The text before the quick start.
fn top(readme: &str) -> Result<&str> {
    Ok(readme.split_once("## Quick start").context("the README has a quick start")?.0)
}

/// The numbers of a row of the table in *Beside kube-rs*: ours, and those on kube-rs alone.
fn compared<'p>(page: &'p str, task: &str) -> Result<[&'p str; 2]> {
    let row = page.lines().find(|line| line.starts_with(&format!("| [{task}")));
    let cells: Vec<&str> = row.with_context(|| format!("no row for {task}"))?.split(" | ").collect();
    let [_, ours, theirs] = cells[..] else { panic!("{cells:?}") };
    Ok([ours, theirs.trim_end_matches(" |")])
}

#[test]
fn the_lines_at_the_top_are_lines_of_the_operator() -> Result<()> {
    let readme = text("README.md")?;
    let shown = block(top(&readme)?, "# operator-core", "rust,ignore")?;
    let program: Vec<&str> = PROGRAM.lines().map(str::trim).collect();
    let shown: Vec<&str> = shown.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    ensure!(shown.len() == 6, "{} lines", shown.len());
    let other: Vec<_> = shown.iter().filter(|line| !program.contains(line)).collect();
    ensure!(other.is_empty(), "the operator below doesn't have {other:?}");
    Ok(())
}

#[test]
fn the_crate_opens_with_the_operator_of_the_readme() -> Result<()> {
    let readme = text("operator-core/README.md")?;
    ensure!(block(&readme, "# operator-core", "rust")? == PROGRAM, "operator-core/README.md has another one");
    let source = text("operator-core/src/lib.rs")?;
    let documentation = source.lines().filter_map(|line| line.strip_prefix("//!"));
    let documentation: String =
        documentation.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect();
    ensure!(documentation.contains(PROGRAM), "operator-core/src/lib.rs has another one");
    Ok(())
}

#[test]
fn the_numbers_at_the_top_are_those_of_the_book() -> Result<()> {
    let (readme, page) = (text("README.md")?, text("docs/src/beside-kube-rs.md")?);
    let [ours, theirs] = compared(&page, "the README's operator")?;
    let tests = text("integration-tests/conformance.tsv")?.lines().count() - 1;
    let [three, three_theirs] = compared(&page, "three children")?;
    let top = top(&readme)?.replace('\n', " ");
    for words in [
        format!("takes {ours} lines, and {theirs} with kube-rs alone"),
        format!("take {three} lines instead of {three_theirs}"),
        format!("{tests} integration tests"),
    ] {
        ensure!(
            top.split_whitespace().collect::<Vec<_>>().join(" ").contains(&words),
            "the README doesn't say: {words}"
        );
    }
    Ok(())
}

/// The features of the crate, which its manifest declares.
fn features(manifest: &str) -> Vec<&str> {
    let section = manifest.split_once("[features]\n").map_or("", |(_, rest)| rest);
    let section = section.split_once("\n[").map_or(section, |(section, _)| section);
    let names = section.lines().filter_map(|line| Some(line.split_once(" = ")?.0));
    names.filter(|name| !name.starts_with('#') && *name != "default").collect()
}

#[test]
fn each_feature_of_the_crate_is_described() -> Result<()> {
    let manifest = text("operator-core/Cargo.toml")?;
    let features = features(&manifest);
    ensure!(features.contains(&"cli"), "{features:?}");
    for (path, before) in [("operator-core/src/lib.rs", "//! - `"), ("operator-core/README.md", "| `")] {
        let text = text(path)?;
        let missing = features.iter().find(|name| !text.contains(&format!("{before}{name}`")));
        ensure!(missing.is_none(), "{path} doesn't describe the feature {missing:?}");
    }
    Ok(())
}

/// The modules of the crate: its documentation has a line for each, except for what belongs to no step of an event's way.
#[test]
fn each_module_of_the_crate_is_described() -> Result<()> {
    let source = text("operator-core/src/lib.rs")?;
    let documentation: String = source.lines().filter(|line| line.starts_with("//!")).collect();
    let modules = source.lines().filter_map(|line| {
        let name = line.trim_start_matches("pub ").strip_prefix("mod ")?;
        name.strip_suffix(';')
    });
    let internal = ["error", "properties", "bench"];
    let modules: Vec<&str> = modules.filter(|name| !internal.contains(name)).collect();
    ensure!(modules.len() > 15, "{modules:?}");
    let missing = modules.iter().find(|name| !documentation.contains(&format!("`{name}`")));
    ensure!(missing.is_none(), "operator-core/src/lib.rs doesn't describe {missing:?}");
    Ok(())
}

/// What works is on the book's first page, with a link to each chapter for users.
#[test]
fn the_introduction_leads_to_each_chapter() -> Result<()> {
    let (introduction, summary) = (text("docs/src/introduction.md")?, text("docs/src/SUMMARY.md")?);
    let chapters = summary.split_once("# Using it").context("the book has a part for users")?.1;
    let chapters = chapters.split_once("# Working on it").context("and one for those who change it")?.0;
    let pages = chapters.lines().filter_map(|line| line.rsplit_once('(')?.1.strip_suffix(')'));
    let pages: Vec<&str> = pages.collect();
    ensure!(pages.len() > 20, "{pages:?}");
    let missing: Vec<_> = pages.iter().filter(|page| !introduction.contains(&format!("({page}"))).collect();
    ensure!(missing.is_empty(), "docs/src/introduction.md has no link to {missing:?}");
    Ok(())
}

/// The words of the code below a folder.
fn words_below(folder: &Path, words: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            words_below(&path, words)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path)?;
            words.extend(text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned));
        }
    }
    Ok(())
}

/// The page that says which API to use names only existing items.
#[test]
fn what_is_recommended_exists() -> Result<()> {
    let page = text("docs/src/which-api.md")?;
    let mut words = BTreeSet::new();
    for folder in ["operator-core/src", "operator-core/test-cluster/src", "operator-macros/src"] {
        words_below(&repository().join(folder), &mut words)?;
    }
    let code: Vec<&str> = page.split('`').skip(1).step_by(2).collect();
    ensure!(code.len() > 60, "{} pieces of code", code.len());
    let named = code.iter().flat_map(|code| code.split(|c: char| !c.is_alphanumeric() && c != '_'));
    let missing: BTreeSet<&str> = named.filter(|word| !word.is_empty() && !words.contains(*word)).collect();
    ensure!(missing.is_empty(), "docs/src/which-api.md names {missing:?}");
    Ok(())
}
