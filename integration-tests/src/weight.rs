//! The size of a part of the library, and the imports between the files in a folder.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// All Rust files below `folder`.
///
/// # Errors
/// When a folder can't be read.
pub fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let (mut files, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension() == Some(OsStr::new("rs")) {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Whether a file contains only tests: it is in a folder `tests`, or has such a name.
fn is_test(path: &Path) -> bool {
    let name = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
    let is_called_so = name.split('_').any(|word| word == "tests");
    is_called_so || path.parent().is_some_and(|folder| folder.iter().any(|part| part == "tests"))
}

/// The part of a source before its tests, which are a module at its end.
fn product(text: &str) -> &str {
    let is_tests = |at: usize| {
        let module = text[at..].strip_prefix("#[cfg(test)]\n").and_then(|rest| rest.lines().next());
        let is_module = |line: &str| line.starts_with("mod ") && line.ends_with('{');
        (at == 0 || text[..at].ends_with('\n')) && module.is_some_and(is_module)
    };
    let end = text.match_indices("#[cfg(test)]\n").map(|(at, _)| at).find(|at| is_tests(*at));
    &text[..end.unwrap_or(text.len())]
}

/// The lines of all Rust files below `folder` without tests, and without the parts (files or folders) with these names.
///
/// # Errors
/// When a file can't be read.
pub fn product_lines(folder: &Path, without: &[&str]) -> Result<usize> {
    let mut lines = 0;
    for file in rust_files(folder)? {
        let inside = file.strip_prefix(folder)?;
        let part = inside.iter().next().and_then(OsStr::to_str).unwrap_or_default();
        if !is_test(inside) && !without.contains(&part.trim_end_matches(".rs")) {
            lines += product(&fs::read_to_string(&file)?).lines().count();
        }
    }
    Ok(lines)
}

/// The rooms of a folder, which are the files and the folders directly in it, and the imports between them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rooms {
    /// Their names, without `.rs`.
    pub rooms: BTreeSet<String>,
    /// From the importing room to the imported one.
    pub arrows: BTreeSet<(String, String)>,
}

/// The rooms of a folder below `src`, the folder of a crate's sources, and the arrows between them.
///
/// # Errors
/// When a file can't be read or isn't Rust.
pub fn rooms(src: &Path, folder: &Path) -> Result<Rooms> {
    let inside = |path: &Path| -> Result<Vec<String>> {
        let parts = path.strip_prefix(src)?.with_extension("");
        Ok(parts.iter().map(|part| part.to_string_lossy().into_owned()).collect())
    };
    let hall = inside(folder)?;
    let files: Vec<PathBuf> = rust_files(folder)?;
    let mut found = Rooms::default();
    let mut read = Vec::new();
    for file in files.iter().filter(|file| file.strip_prefix(folder).is_ok_and(|path| !is_test(path))) {
        let module = inside(file)?;
        found.rooms.insert(module[hall.len()].clone());
        read.push((file, module));
    }
    for (file, module) in read {
        let room = &module[hall.len()];
        let is_hall = module.last().is_some_and(|name| name == "mod");
        let here = &module[..module.len() - usize::from(is_hall)];
        let tokens = TokenStream::from_str(product(&fs::read_to_string(file)?));
        let tokens = tokens.map_err(|error| anyhow!("{}: {error}", file.display()))?;
        let mut paths = Vec::new();
        collect(tokens, here, &mut paths);
        for path in paths.iter().filter(|path| path.starts_with(&hall)) {
            let first = path.get(hall.len()).filter(|name| found.rooms.contains(*name));
            let to = first.map_or("mod", String::as_str);
            if to != room && (to != "mod" || path.len() > hall.len()) {
                found.arrows.insert((room.clone(), to.to_owned()));
            }
        }
    }
    Ok(found)
}

/// The paths, from the crate's root on, that a module names from `crate`, `super` or `self`, or imports from its children.
fn collect(tokens: TokenStream, here: &[String], paths: &mut Vec<Vec<String>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| tokens[at].to_string());
        match token {
            TokenTree::Group(group) => collect(group.stream(), here, paths),
            TokenTree::Ident(name) if is_path(&tokens[at..]) => {
                let base = match name.to_string().as_str() {
                    // `$crate::` is for others, and `pub(in crate::…)` imports nothing.
                    "crate" if !matches!(before.as_deref(), Some("$" | "in")) => Some(Vec::new()),
                    "super" => here.split_last().map(|(_, above)| above.to_vec()),
                    "self" => Some(here.to_vec()),
                    child if before.as_deref() == Some("use") => Some([here, &[child.to_owned()]].concat()),
                    _ => None,
                };
                let base = base.filter(|_| before.as_deref() != Some(":"));
                if let Some(base) = base {
                    tree(&tokens[at + 1..], base, paths);
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Whether `::` follows.
fn is_path(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [_, TokenTree::Punct(first), TokenTree::Punct(second), ..]
        if first.as_char() == ':' && second.as_char() == ':')
}

/// Follows a path behind `base`, and all paths of a group in braces.
fn tree(mut tokens: &[TokenTree], mut base: Vec<String>, paths: &mut Vec<Vec<String>>) {
    while let [TokenTree::Punct(colon), TokenTree::Punct(_), next, rest @ ..] = tokens
        && colon.as_char() == ':'
    {
        match next {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                let is_comma =
                    |token: &TokenTree| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
                for item in inner.split(is_comma) {
                    if let [TokenTree::Ident(name), rest @ ..] = item {
                        let name = name.to_string();
                        let inside = if name == "self" { base.clone() } else { step(base.clone(), name) };
                        tree(rest, inside, paths);
                    }
                }
                return;
            }
            TokenTree::Ident(name) => base = step(base, name.to_string()),
            _ => break,
        }
        tokens = rest;
    }
    paths.push(base);
}

fn step(mut base: Vec<String>, name: String) -> Vec<String> {
    if name == "super" {
        base.pop();
    } else {
        base.push(name);
    }
    base
}
