//! No link of the documentation is dead, and the book's summary has all pages.

use std::{collections::BTreeSet, path::Path};

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::sources;

/// A page: where its links lead, and what can be linked to in it.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    anchors: BTreeSet<String>,
}

impl Page {
    fn parse(text: &str) -> Self {
        let (mut page, mut heading) = (Self::default(), None::<String>);
        for event in Parser::new(text) {
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    page.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    page.anchors.extend(heading.take().map(|words| anchor(&words)));
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(words) = &mut heading {
                        words.push_str(&text);
                    }
                }
                _ => {}
            }
        }
        page
    }
}

/// The anchor that mdBook and GitHub make of a heading.
fn anchor(words: &str) -> String {
    let kept = words.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Part of the documentation of code: rustdoc resolves its links, and makes a dead one an error.
fn is_for_rustdoc(path: &str) -> bool {
    path.contains("/src/docs/")
}

/// Why a link on the page `from` leads nowhere, if it does. Links to other sites aren't checked.
fn dead(root: &Path, from: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
    let page = root.join(from);
    let target = if path.is_empty() { page } else { page.parent()?.join(path) };
    if !target.exists() {
        return Some(format!("{from}: {link}: there is no such file"));
    }
    if fragment.is_empty() || target.extension()? != "md" {
        return None;
    }
    let text = std::fs::read_to_string(&target).ok()?;
    let is_there = Page::parse(&text).anchors.contains(fragment);
    (!is_there).then(|| format!("{from}: {link}: there is no such heading"))
}

#[test]
fn headings_and_links_are_read() {
    let page = Page::parse("# What `settled()` does, now\n[a](b.md#c) ![i](i.png)\n\n    [no](code.md)\n");
    assert_eq!(page.links, ["b.md#c", "i.png"]);
    assert!(page.anchors.contains("what-settled-does-now"), "{:?}", page.anchors);
    let root = sources::root();
    assert!(dead(&root, "README.md", "docs/src/no-such-page.md").is_some());
    assert!(dead(&root, "README.md", "docs/src/style.md#no-such-heading").is_some());
    assert!(dead(&root, "README.md", "docs/src/style.md#commits").is_none());
}

#[test]
fn no_link_is_dead() {
    let root = sources::root();
    let pages = sources::all("")
        .into_iter()
        .filter(|source| source.path.ends_with(".md") && !is_for_rustdoc(&source.path));
    let mut wrong = Vec::new();
    for source in pages {
        let page = Page::parse(&source.text);
        wrong.extend(page.links.iter().filter_map(|link| dead(&root, &source.path, link)));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_book_has_all_pages() {
    let pages = sources::all("docs/src");
    let summary = pages.iter().find(|page| page.path == "SUMMARY.md").expect("the book has a summary");
    let listed: BTreeSet<String> = Page::parse(&summary.text).links.into_iter().collect();
    let missing: Vec<&str> = pages
        .iter()
        .map(|page| page.path.as_str())
        .filter(|path| path.ends_with(".md") && *path != "SUMMARY.md" && !listed.contains(*path))
        .collect();
    assert!(missing.is_empty(), "name them in docs/src/SUMMARY.md: {missing:?}");
}
