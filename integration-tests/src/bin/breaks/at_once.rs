//! All breaks that can be switched at run time, in one copy of the tree.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{Write, stderr},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use integration_tests::{Place, Switched};

use crate::{
    cargo::{self, LONG, SWITCH, wait},
    errors::{self, At},
    patch::Patch,
    tree::{Changed, Tree},
};

/// Breaks behind switches, and the copy that has them all.
pub(crate) struct AtOnce {
    ids: BTreeSet<String>,
    sources: BTreeMap<PathBuf, Switched>,
    /// What differs from the tree.
    changed: Changed,
    /// What in the changed files is due to which breaks.
    places: BTreeMap<PathBuf, Vec<Place>>,
}

impl AtOnce {
    /// Builds the tests of those of `patches` that can be switched. The copy has to be what the tree is.
    pub(crate) async fn build(tree: &Tree, scratch: &Path, patches: &[Patch]) -> Result<Self> {
        let (changed, places) = (Changed::new(), BTreeMap::new());
        let mut at_once = Self { ids: BTreeSet::new(), sources: BTreeMap::new(), changed, places };
        for patch in patches {
            at_once.add(tree, patch).with_context(|| patch.id.clone())?;
        }
        let binaries: BTreeSet<&str> = patches.iter().map(|patch| &*patch.binary).collect();
        loop {
            at_once.write_sources(tree)?;
            at_once.prepare(tree)?;
            let mut build = cargo::test(tree, scratch, binaries.iter().copied());
            build.args(["--quiet", "--no-run", "--message-format", "json"]);
            let (built, text) = wait(build, scratch, LONG).await?;
            if built.is_some_and(|status| status.success()) {
                return Ok(at_once);
            }
            let mut blamed = BTreeMap::new();
            let errors = errors::read(&text);
            for error in &errors {
                let breaks = at_once.blamed(&error.at);
                blamed.extend(breaks.into_iter().map(|id| (id, error.first_line())));
            }
            for (id, error) in &blamed {
                writeln!(stderr(), "{id} can't be switched: {error}")?;
            }
            let told = errors.first().map_or(text.as_str(), |error| &error.text);
            ensure!(!blamed.is_empty(), "it's due to none of the breaks that this can't be built: {told}");
            at_once.remove(&blamed.into_keys().collect());
        }
    }

    /// Whether this break can be switched on.
    pub(crate) fn has(&self, patch: &Patch) -> bool {
        self.ids.contains(&patch.id)
    }

    /// Makes the copy what was built, should a test have left something there.
    pub(crate) fn prepare(&self, tree: &Tree) -> Result<()> {
        tree.restore_with(&self.changed)
    }

    /// The tests, with their binaries, that fail while no break is switched on.
    pub(crate) async fn fails_without<'p>(
        &self,
        tree: &Tree,
        scratch: &Path,
        patches: &'p [Patch],
    ) -> Result<BTreeSet<(&'p str, &'p str)>> {
        let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for patch in patches.iter().filter(|patch| self.has(patch)) {
            tests.entry(&patch.binary).or_default().insert(&patch.test);
        }
        let mut failing = BTreeSet::new();
        for (binary, names) in tests {
            let mut run = cargo::test(tree, scratch, [binary]);
            run.args(["--no-fail-fast", "--", "--exact"]).args(&names);
            let (ended, text) = wait(run, scratch, LONG).await?;
            if ended.is_none() || !text.contains("test result: ") {
                bail!("the tests in {binary} don't come to an end, though nothing is broken");
            }
            let failed =
                text.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
            let failed: BTreeSet<&str> =
                failed.map(|name| name.trim_end_matches(" - should panic")).collect();
            failing.extend(names.into_iter().filter(|name| failed.contains(name)).map(|name| (binary, name)));
        }
        Ok(failing)
    }

    /// Takes in a break, if it can be switched in all of its files.
    fn add(&mut self, tree: &Tree, patch: &Patch) -> Result<()> {
        if patch.files.iter().any(|file| root_of(tree, file).is_none()) {
            return Ok(());
        }
        for (file, broken) in patch.files.iter().zip(tree.broken(patch)?) {
            let source = match self.sources.remove(file) {
                Some(source) => source,
                None => Switched::new(tree.read(file)?),
            };
            let source = self.sources.entry(file.clone()).or_insert(source);
            if !source.add(&patch.id, &broken)? {
                self.remove(&BTreeSet::from([patch.id.clone()]));
                return Ok(());
            }
        }
        self.ids.insert(patch.id.clone());
        Ok(())
    }

    fn remove(&mut self, ids: &BTreeSet<String>) {
        for id in ids {
            self.ids.remove(id);
            self.sources.values_mut().for_each(|source| source.remove(id));
        }
    }

    fn write_sources(&mut self, tree: &Tree) -> Result<()> {
        (self.changed, self.places) = (Changed::new(), BTreeMap::new());
        for (file, source) in &self.sources {
            let (text, places) = source.text();
            if places.is_empty() {
                continue;
            }
            self.changed.insert(file.clone(), text);
            self.places.insert(file.clone(), places);
        }
        // After the sources, of which a root may be one.
        for file in self.places.keys() {
            let root = root_of(tree, file).context("a break that can be switched is in a crate")?;
            let module = root.with_file_name("broken.rs");
            if self.changed.contains_key(&module) {
                continue;
            }
            let code = match self.changed.remove(&root) {
                Some(code) => code,
                None => tree.sound(&root)?,
            };
            self.changed.insert(root, format!("{code}\nmod broken;\n"));
            self.changed.insert(module, include_str!("broken.rs.txt").replace("SWITCH", SWITCH));
        }
        Ok(())
    }

    /// The breaks that an error is due to: those of the place where it is told, else of any place that it shows, else all of
    /// the file.
    fn blamed(&self, at: &[At]) -> BTreeSet<String> {
        let places = |at: &At| {
            let places = self.places.get(&at.file)?;
            places.iter().find(|place| place.range.contains(&at.byte)).map(|place| place.breaks.clone())
        };
        let file = |at: &At| {
            let places = self.places.get(&at.file)?;
            Some(places.iter().flat_map(|place| place.breaks.clone()).collect())
        };
        let found = at.iter().find_map(places).or_else(|| at.iter().find_map(file));
        found.unwrap_or_default().into_iter().collect()
    }
}

/// The root of the crate that a source belongs to, if it is a library's that runs at run time.
fn root_of(tree: &Tree, file: &Path) -> Option<PathBuf> {
    let src = file.ancestors().find(|folder| folder.ends_with("src"))?;
    let manifest = tree.read(&src.with_file_name("Cargo.toml")).ok()?;
    if file.starts_with(src.join("bin")) || manifest.contains("proc-macro = true") {
        return None;
    }
    let root = src.join("lib.rs");
    tree.path().join(&root).exists().then_some(root)
}
