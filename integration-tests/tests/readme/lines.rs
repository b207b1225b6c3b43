//! How many lines an operator takes: after rustfmt with its own settings, without blank lines and comments, with the body of each child
//! as one line. What a child looks like is its user's matter, in any framework.

use std::{
    fs,
    io::Write,
    process::{Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use syn::{File, Item};

use crate::{block, repository};

/// As rustfmt writes it where nobody has set anything.
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

/// The lines that count, of which there are as many as that.
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
    let sample = repository().join("samples/webpage/src");
    let children = fs::read_to_string(sample.join("dependents.rs"))?;
    let style = fs::read_to_string(sample.join("styles/managed.rs"))?;
    let all = lines(&children, &["html", "web", "service", "ingress"])? + lines(&style, &[])?;
    check("the managed style", all, 40)
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
