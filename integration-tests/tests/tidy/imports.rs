//! Whole programs need the prelude and at most two more names of the library.

use crate::sources;

/// Those of its tools, which an operator itself doesn't use.
const TOOLS: &[&str] = &["testing::", "cli::"];
const MOST_BESIDE_THE_PRELUDE: usize = 2;

/// The names that a tree of imports names, each with its path.
pub(crate) fn flat(prefix: &str, tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((path, rest)) = tree.split_once('{') else {
        return if tree.is_empty() { Vec::new() } else { vec![format!("{prefix}{tree}")] };
    };
    let (prefix, inner) = (format!("{prefix}{}", path.trim()), rest.trim_end().trim_end_matches('}'));
    let (mut depth, mut begin, mut all) = (0_i32, 0, Vec::new());
    for (at, sign) in inner.char_indices().chain([(inner.len(), ',')]) {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                all.extend(flat(&prefix, inner.get(begin..at).unwrap_or_default()));
                begin = at + 1;
            }
            _ => {}
        }
    }
    all
}

/// The names of the library that a program imports beside the prelude, without those of the tools.
fn imported(code: &str) -> Vec<String> {
    let trees = code.split("use operator_core::").skip(1).filter_map(|rest| rest.split(';').next());
    let all = trees.flat_map(|tree| flat("", tree));
    all.filter(|name| name != "prelude::*" && TOOLS.iter().all(|tool| !name.starts_with(tool))).collect()
}

#[test]
fn programs_import_at_most_two_names_beside_the_prelude() {
    let mut programs = sources::rust("integration-tests/tests/readme/programs");
    for sample in ["addon", "mysql-schema", "store", "tomcat", "webpage"] {
        programs.extend(sources::rust(&format!("samples/{sample}/src")));
    }
    assert!(programs.len() > 20, "{} programs", programs.len());
    let wrong: Vec<_> = programs
        .iter()
        .map(|program| (&program.path, imported(&program.text)))
        .filter(|(_, names)| names.len() > MOST_BESIDE_THE_PRELUDE)
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(programs.iter().any(|program| !imported(&program.text).is_empty()), "none is seen");
}

#[test]
fn a_tree_of_imports_is_read() {
    let code = "use operator_core::{BoxError, dependent::{Found, Token}, prelude::*};\nuse operator_core::the;\nuse operator_core::cli::CommandLine;";
    assert_eq!(imported(code), ["BoxError", "dependent::Found", "dependent::Token", "the"]);
}
