//! A break as it is in its file.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};

/// The most lines that a break may change.
const LONGEST: usize = 5;

/// A patch, and the test that finds it.
pub(crate) struct Patch {
    /// The name of its file.
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The test binary: `lib` for unit tests, else the name of an integration test.
    pub(crate) binary: String,
    /// The whole name of the test in it.
    pub(crate) test: String,
    /// What is broken.
    pub(crate) breaks: String,
    /// The sources that it changes, below the root of the workspace.
    pub(crate) files: Vec<PathBuf>,
}

/// All breaks, in the order of their names.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Patch>> {
    let entries = fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))?;
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "patch") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<Patch> {
    let text = fs::read_to_string(path)?;
    parse(path, &text).with_context(|| format!("{} is no break", path.display()))
}

fn parse(path: &Path, text: &str) -> Result<Patch> {
    let mut lines = text.lines();
    let test = lines.next().and_then(|line| line.strip_prefix("test: "));
    let (binary, test) =
        test.and_then(|test| test.split_once(' ')).context("its first line is `test: BINARY NAME`")?;
    let breaks = lines
        .next()
        .and_then(|line| line.strip_prefix("breaks: "))
        .context("its second line is `breaks: …`")?;
    let changed = |sign: char| {
        let head = if sign == '+' { "+++" } else { "---" };
        text.lines().filter(|line| line.starts_with(sign) && !line.starts_with(head)).count()
    };
    let most = changed('+').max(changed('-'));
    ensure!((1..=LONGEST).contains(&most), "it changes {most} lines; {LONGEST} at most");
    let files: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("+++ b/")).collect();
    for file in &files {
        let is_product = file.contains("/src/") && !file.contains("/tests") && !file.ends_with("tests.rs");
        ensure!(is_product, "{file} is not the product");
    }
    let id = path.file_stem().and_then(|stem| stem.to_str()).context("its name is no text")?.to_owned();
    Ok(Patch {
        id,
        binary: binary.to_owned(),
        test: test.to_owned(),
        breaks: breaks.to_owned(),
        path: path.to_owned(),
        files: files.into_iter().map(PathBuf::from).collect(),
    })
}
