//! The crate below the library: it knows nothing of operators, and its modules use each other in one order.

use std::collections::{BTreeMap, BTreeSet};

use crate::{layers::modules_used, sources};

const FOLDER: &str = "operator-core/test-cluster";

/// Its modules and their floors. A module may use those on lower floors.
const FLOORS: &[(&str, u8)] = &[
    ("error", 1),
    ("seed", 1),
    ("audit", 2),
    ("files", 2),
    ("gate", 2),
    ("impersonation", 2),
    ("looks", 2),
    ("virtual_time", 2),
    ("certs", 3),
    ("crds", 3),
    ("kubeconfig", 4),
    ("control_plane", 5),
    ("in_process", 5),
    ("proxy", 6),
];

/// The folder of the in-process server's socket, which waits, and draws tokens and names by chance.
const SOCKET: &str = "in_process/listen/";

/// The files of the in-process server that are the transport of a client, and wait. All others decide.
const WAITING: &[&str] = &["in_process/mod.rs", "in_process/service.rs", "in_process/stream.rs"];

/// What a file that decides does not name: no runtime, no client, no clock, no chance, and no order that is another one
/// in each process.
const IMPURE: &[&str] = &[
    "tokio",
    "kube::Client",
    "kube::{Client",
    "kube::Api",
    "kube::client",
    "Instant",
    "SystemTime",
    "Timestamp::now",
    "async ",
    ".await",
    "rand::random",
    "rand::rng",
    "HashMap",
    "HashSet",
];

/// In how many files a type may have methods.
const MOST_FILES: usize = 3;

/// The type whose own methods a line begins.
fn type_of_methods(line: &str) -> Option<&str> {
    let line = line.strip_prefix("impl")?;
    let (_, of) = if line.starts_with('<') { line.split_once("> ")? } else { line.split_once(' ')? };
    let name = of.split(|letter: char| !letter.is_alphanumeric()).next()?;
    (!line.contains(" for ") && !name.is_empty()).then_some(name)
}

fn floor(module: &str) -> u8 {
    let found = FLOORS.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("`{module}` has no floor; give it one in this test")).1
}

#[test]
fn it_knows_nothing_of_the_library_above_it() {
    let mut wrong = Vec::new();
    for source in sources::all(FOLDER) {
        let is_manifest = source.path == "Cargo.toml";
        if (is_manifest || source.path.ends_with(".rs"))
            && ["operator_core", "operator-core.", "operator-macros"]
                .iter()
                .any(|name| source.code().contains(name))
        {
            wrong.push(source.path);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn its_modules_use_lower_ones_only() {
    let mut wrong = Vec::new();
    let mut edges = 0;
    for source in sources::rust(&format!("{FOLDER}/src")) {
        let Some((module, _)) = source.path.split_once(['/', '.']).filter(|(module, _)| *module != "lib")
        else {
            continue;
        };
        // Items of the crate's root are re-exports; the crate itself goes to the module.
        for used in modules_used(&source.code()).into_iter().filter(|used| used != module) {
            edges += 1;
            if floor(module) <= floor(&used) {
                wrong.push(format!("{}: {module} must not use {used}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(edges > 10, "the check finds what there is");
}

#[test]
fn a_type_has_its_methods_in_few_files() {
    assert_eq!(type_of_methods("impl<'s> Rollout<'s> {"), Some("Rollout"));
    assert_eq!(type_of_methods("impl Store {"), Some("Store"));
    assert_eq!(type_of_methods("impl Default for Store {"), None);
    let mut files = BTreeMap::<String, BTreeSet<String>>::new();
    for source in sources::rust(&format!("{FOLDER}/src")).iter().filter(|source| !source.is_test()) {
        for name in source.code_without_tests().lines().filter_map(type_of_methods) {
            files.entry(name.to_owned()).or_default().insert(source.path.clone());
        }
    }
    assert!(files.contains_key("ApiServer"), "the check finds what there is");
    files.retain(|_, files| files.len() > MOST_FILES);
    assert!(files.is_empty(), "at most {MOST_FILES}: {files:#?}");
}

#[test]
fn every_module_has_a_floor() {
    let sources = sources::rust(&format!("{FOLDER}/src"));
    let library = sources.iter().find(|source| source.path == "lib.rs").expect("the crate has a lib.rs");
    let code = library.code();
    let declared = code.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let mut declared: Vec<&str> = declared.collect();
    declared.sort_by_key(|module| (floor(module), *module));
    let floors: Vec<&str> = FLOORS.iter().map(|(module, _)| *module).collect();
    assert_eq!(declared, floors);
}

#[test]
fn the_server_inside_the_process_decides_without_runtime_clock_and_chance() {
    let mut wrong = Vec::new();
    let sources = sources::rust(&format!("{FOLDER}/src"));
    let decides =
        |path: &str| path.starts_with("in_process/") && !path.starts_with(SOCKET) && !WAITING.contains(&path);
    for source in sources.iter().filter(|source| decides(&source.path) && !source.is_test()) {
        let code = source.code_without_tests();
        for word in IMPURE.iter().filter(|word| code.contains(**word)) {
            wrong.push(format!("{} names `{word}`", source.path));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for waiting in WAITING {
        assert!(sources.iter().any(|source| source.path == *waiting), "{waiting} is gone; correct the list");
    }
}

#[test]
fn the_server_inside_the_process_reads_the_time_of_day_in_one_place() {
    let sources = sources::rust(&format!("{FOLDER}/src/in_process"));
    let reads = |source: &&sources::Source| source.code_without_tests().contains("Timestamp::now");
    let places: Vec<&str> = sources.iter().filter(reads).map(|source| source.path.as_str()).collect();
    assert_eq!(places, ["service.rs"]);
}
