//! Imports run from a higher floor to a lower one.

use std::collections::BTreeSet;

use crate::sources;

/// The modules of operator-core and their floors. A module may use those on lower floors.
const FLOORS: &[(&str, u8)] = &[
    // Of the tests alone.
    ("properties", 0),
    ("error", 1),
    ("resource", 1),
    ("environment", 1),
    ("observe", 1),
    ("metrics", 1),
    ("client", 1),
    ("cache", 2),
    ("status", 2),
    ("event_source", 3),
    ("processor", 3),
    ("operations", 3),
    ("reconciler", 4),
    ("results", 4),
    ("dispatcher", 5),
    ("dependent", 5),
    ("workflow", 6),
    ("controller", 7),
    ("configuration", 8),
    ("operator", 8),
    ("prelude", 9),
    ("cli", 9),
    ("testing", 9),
    // Re-exports for the benches.
    ("bench", 10),
];

/// The only edges within a floor.
const SAME_FLOOR: &[(&str, &str)] = &[
    // Observations are about objects.
    ("observe", "resource"),
    ("metrics", "resource"),
    // A panic of an observer is caught as any of user code.
    ("observe", "environment"),
    // The text of an error leaves out that it isn't retried.
    ("observe", "error"),
    // Metrics are made of observations.
    ("metrics", "observe"),
    // A write is remembered in, and its echo filtered by, the source that watches the object.
    ("operations", "event_source"),
    // A budget of requests is counted in the operator's own time.
    ("client", "environment"),
    // A run shows what its workflow has done.
    ("reconciler", "results"),
    // An operator takes over what was set from outside.
    ("operator", "configuration"),
    // Each request is told to the observers.
    ("client", "observe"),
    // The command `dev` starts a control plane.
    ("cli", "testing"),
];

fn floor(module: &str) -> u8 {
    let found = FLOORS.iter().find(|(name, _)| *name == module);
    found.unwrap_or_else(|| panic!("`{module}` has no floor; give it one in this test")).1
}

/// The first segments after `crate::`, also those of a group in braces.
pub(crate) fn modules_used(code: &str) -> BTreeSet<String> {
    let identifier = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let mut used = BTreeSet::new();
    for (position, matched) in code.match_indices("crate::") {
        // `$crate::` and names that end in `crate` are something else.
        if code[..position].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &code[position + matched.len()..];
        let Some(group) = rest.strip_prefix('{') else {
            used.insert(identifier(rest));
            continue;
        };
        let (mut depth, mut start) = (1, 0);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            if depth == 0 || (depth == 1 && c == ',') {
                used.insert(identifier(&group[start..at]));
                start = at + 1;
            }
            if depth == 0 {
                break;
            }
        }
    }
    used.remove("");
    used
}

#[test]
fn imports_are_read_with_and_without_braces() {
    let code = "use crate::{a::{B, C}, d,\n e::F};\nfn f() -> crate::g::H { $crate::i::J }";
    let used: Vec<_> = modules_used(code).into_iter().collect();
    assert_eq!(used, ["a", "d", "e", "g"]);
}

#[test]
fn imports_run_from_a_higher_floor_to_a_lower_one() {
    let (mut wrong, mut met) = (Vec::new(), BTreeSet::new());
    for source in sources::rust("operator-core/src") {
        let Some((module, _)) = source.path.split_once('/') else { continue };
        for used in modules_used(&source.code()) {
            // Items of the crate's root are re-exports; the library itself goes to the module.
            let edge = (module, used.as_str());
            if module == used || floor(module) > floor(&used) {
                continue;
            }
            if SAME_FLOOR.contains(&edge) && floor(module) == floor(&used) {
                met.insert((module.to_owned(), used));
            } else {
                wrong.push(format!("{}: {module} must not use {used}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let unused: Vec<_> = SAME_FLOOR
        .iter()
        .filter(|(from, to)| !met.contains(&((*from).to_owned(), (*to).to_owned())))
        .collect();
    assert!(unused.is_empty(), "not needed any more: {unused:?}");
}

#[test]
fn the_library_declares_its_modules_and_each_has_a_floor() {
    let library = sources::rust("operator-core/src").into_iter().find(|source| source.path == "lib.rs");
    let code = library.expect("the library has a lib.rs").code();
    let declared = code.lines().filter_map(|line| {
        let line = line.trim_start_matches("pub ");
        line.strip_prefix("mod ")?.strip_suffix(';')
    });
    let declared: Vec<&str> = declared.collect();
    assert!(declared.len() > 10, "{declared:?}");
    for module in declared {
        floor(module);
    }
}
