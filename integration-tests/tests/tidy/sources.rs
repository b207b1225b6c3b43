//! The files that are checked, and the code in them.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().expect("the package lies in the workspace").to_owned()
}

/// A text file.
pub(crate) struct Source {
    /// Its path below the folder that was asked for, with slashes.
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    /// The text without comments that fill a line; those behind code stay, which none of the checks minds.
    pub(crate) fn code(&self) -> String {
        self.text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
    }

    /// The same without the tests at the file's end.
    pub(crate) fn code_without_tests(&self) -> String {
        let code = self.code();
        code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned()
    }

    /// Whether the whole file is a test.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| matches!(part, "tests" | "tests.rs") || part.ends_with("_tests.rs"))
    }
}

/// All text files below `folder` of the workspace, sorted, without what is built and what git keeps.
pub(crate) fn all(folder: &str) -> Vec<Source> {
    let base = root().join(folder);
    let (mut sources, mut folders) = (Vec::new(), vec![base.clone()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder of the workspace can be read") {
            let entry = entry.expect("an entry of a folder can be read");
            let name = entry.file_name();
            if entry.file_type().expect("an entry has a type").is_dir() {
                if name != "target" && name != ".git" {
                    folders.push(entry.path());
                }
            } else if let Ok(text) = fs::read_to_string(entry.path()) {
                let path = entry.path();
                let path =
                    path.strip_prefix(&base).expect("it lies below").to_string_lossy().replace('\\', "/");
                sources.push(Source { path, text });
            }
        }
    }
    assert!(!sources.is_empty(), "nothing below {folder}");
    sources.sort_by(|left, right| left.path.cmp(&right.path));
    sources
}

/// The Rust files below `folder`.
pub(crate) fn rust(folder: &str) -> Vec<Source> {
    all(folder).into_iter().filter(|source| source.path.ends_with(".rs")).collect()
}
