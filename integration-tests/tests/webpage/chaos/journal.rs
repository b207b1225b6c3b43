//! The actions, and their times.

use std::{
    fmt::Write as _,
    io::{Write as _, stderr},
    path::PathBuf,
};

use integration_tests::prelude::*;

/// The actions so far.
pub(super) struct Journal {
    seed: u64,
    start: Instant,
    lines: Mutex<Vec<(Option<String>, String)>>,
}

impl Journal {
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, start: Instant::now(), lines: Mutex::default() }
    }

    /// Notes something that concerns everybody, and prints it.
    pub(super) fn note(&self, what: &str) {
        // Nobody may be there to read it.
        let _ = writeln!(stderr(), "chaos: {what}");
        self.add(None, what);
    }

    /// Notes something that concerns everybody.
    pub(super) fn add_for_all(&self, what: &str) {
        self.add(None, what);
    }

    /// Notes something that concerns a page.
    pub(super) fn add_for(&self, page: &str, what: &str) {
        self.add(Some(page.to_owned()), what);
    }

    fn add(&self, page: Option<String>, what: &str) {
        let line = format!("{:9.3} {what}", self.start.elapsed().as_secs_f64());
        self.lines.lock().push((page, line));
    }

    /// The actions on these pages, and everything that concerns everybody.
    pub(super) fn about(&self, pages: &[String]) -> String {
        self.text(|page| page.is_none_or(|page| pages.iter().any(|wanted| wanted == page)))
    }

    /// Writes everything to a file below the target folder.
    pub(super) fn save(&self) -> Result<PathBuf> {
        let path = file(self.seed, "acts");
        std::fs::write(&path, self.text(|_| true))?;
        Ok(path)
    }

    fn text(&self, is_wanted: impl Fn(Option<&str>) -> bool) -> String {
        let lines = self.lines.lock();
        let wanted = lines.iter().filter(|(page, _)| is_wanted(page.as_deref()));
        wanted.fold(String::new(), |mut text, (_, line)| {
            // Writing to a string can't fail.
            let _ = writeln!(text, "{line}");
            text
        })
    }

    /// The place of the operator's log.
    pub(super) fn operators(&self) -> PathBuf {
        file(self.seed, "operator")
    }
}

fn file(seed: u64, what: &str) -> PathBuf {
    [env!("CARGO_TARGET_TMPDIR"), &format!("chaos-{seed}-{what}.log")].iter().collect()
}
