//! From the root to everything that is public.

use anyhow::{Context, Result};

use super::{
    PublicItem,
    parse::{Entry, Is, Modules},
};

/// More nested modules than any crate has: circular re-exports end here.
const DEEPEST: usize = 32;

/// The target of a path.
enum Target {
    Module(Vec<String>),
    Item { defined: String, kind: &'static str },
}

pub(super) fn walk(modules: &Modules) -> Result<Vec<PublicItem>> {
    let mut items = Vec::new();
    visit(modules, &[], &[], false, &mut items)?;
    Ok(items)
}

/// Lists what is public in `module`, which users know as `prefix`.
fn visit(
    modules: &Modules,
    module: &[String],
    prefix: &[String],
    hidden: bool,
    items: &mut Vec<PublicItem>,
) -> Result<()> {
    let entries = modules.get(module).with_context(|| format!("no module {}", module.join("::")))?;
    for entry in entries.iter().filter(|entry| entry.public && prefix.len() < DEEPEST) {
        let hidden = hidden || entry.hidden;
        if let Is::Glob(target) = &entry.is {
            for target in resolve(modules, module, target, 0)? {
                if let Target::Module(target) = target {
                    visit(modules, &target, prefix, hidden, items)?;
                }
            }
            continue;
        }
        let path = [prefix, std::slice::from_ref(&entry.name)].concat();
        for target in targets(modules, module, entry, 0)? {
            match target {
                Target::Module(target) => visit(modules, &target, &path, hidden, items)?,
                Target::Item { defined, kind } => {
                    items.push(PublicItem { path: path.join("::"), kind, defined, hidden });
                }
            }
        }
    }
    Ok(())
}

fn targets(modules: &Modules, module: &[String], entry: &Entry, depth: usize) -> Result<Vec<Target>> {
    let here = || [module, std::slice::from_ref(&entry.name)].concat();
    match &entry.is {
        Is::Defined(kind) => Ok(vec![Target::Item { defined: here().join("::"), kind }]),
        Is::Module => Ok(vec![Target::Module(here())]),
        Is::Use(target) => resolve(modules, module, target, depth + 1),
        Is::Glob(_) => Ok(Vec::new()),
    }
}

/// The target of `path`, as written in `module`. One name can mean a type and a macro.
fn resolve(modules: &Modules, module: &[String], path: &[String], depth: usize) -> Result<Vec<Target>> {
    let external = || Target::Item { defined: format!("::{}", path.join("::")), kind: "use" };
    let (mut at, mut rest) = (module.to_vec(), path);
    while let Some((first, more)) = rest.split_first() {
        match first.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            _ => break,
        }
        rest = more;
    }
    let is_relative = rest.len() < path.len();
    for (position, name) in rest.iter().enumerate() {
        let entries = modules.get(&at).with_context(|| format!("no module {}", at.join("::")))?;
        let mut found = Vec::new();
        for entry in
            entries.iter().filter(|entry| depth < DEEPEST && is_meant(entry, name, path, at == module))
        {
            match &entry.is {
                Is::Glob(inside) => {
                    let inside = [inside.as_slice(), std::slice::from_ref(name)].concat();
                    found.extend(resolve(modules, &at, &inside, depth + 1).unwrap_or_default());
                }
                _ => found.extend(targets(modules, &at, entry, depth)?),
            }
        }
        if found.is_empty() && position == 0 && !is_relative {
            return Ok(vec![external()]);
        }
        if position + 1 == rest.len() {
            if found.is_empty() {
                // The compiler has found it, so a macro has made it.
                let defined = [at.as_slice(), std::slice::from_ref(name)].concat().join("::");
                found.push(Target::Item { defined, kind: "made by a macro" });
            }
            return Ok(found);
        }
        let inner = found.into_iter().find_map(|target| match target {
            Target::Module(inner) => Some(Ok(inner)),
            // What stands below an item of another crate is that crate's.
            Target::Item { defined, kind: "use" } => Some(Err(defined)),
            Target::Item { .. } => None,
        });
        match inner
            .with_context(|| format!("`{}` leads nowhere from {}", path.join("::"), module.join("::")))?
        {
            Ok(inner) => at = inner,
            Err(outside) => {
                let defined = format!("{outside}::{}", rest[position + 1..].join("::"));
                return Ok(vec![Target::Item { defined, kind: "use" }]);
            }
        }
    }
    Ok(vec![Target::Module(at)])
}

/// Whether `entry` may be the target of `name`, the path's next word.
///
/// `use kube;` names another crate, not itself.
fn is_meant(entry: &Entry, name: &str, path: &[String], same_module: bool) -> bool {
    match &entry.is {
        Is::Use(target) if same_module && target == path => false,
        Is::Glob(_) => true,
        _ => entry.name == name,
    }
}
