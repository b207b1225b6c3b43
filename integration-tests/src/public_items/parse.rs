//! The modules of a crate and their items.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use syn::{Attribute, Item, ItemMod, UseTree, Visibility};

/// The modules by their paths; that of the root is empty.
pub(super) type Modules = BTreeMap<Vec<String>, Vec<Entry>>;

/// A name in a module.
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) is: Is,
    /// To everybody, not only to the crate.
    pub(super) public: bool,
    /// Not in the documentation.
    pub(super) hidden: bool,
}

pub(super) enum Is {
    /// Something that is defined here, with its keyword.
    Defined(&'static str),
    Module,
    /// Another name for what that path leads to.
    Use(Vec<String>),
    /// Everything in the module that the path leads to; the entry has no name.
    Glob(Vec<String>),
}

pub(super) fn modules(lib: &Path) -> Result<Modules> {
    let mut modules = Modules::new();
    let folder = lib.parent().context("a file lies in a folder")?;
    file(lib, folder, Vec::new(), &mut modules)?;
    Ok(modules)
}

fn file(file: &Path, folder: &Path, path: Vec<String>, modules: &mut Modules) -> Result<()> {
    let text = fs::read_to_string(file).with_context(|| format!("read {}", file.display()))?;
    let parsed = syn::parse_file(&text).with_context(|| format!("parse {}", file.display()))?;
    items(&parsed.items, folder, path, modules)
}

fn items(items: &[Item], folder: &Path, path: Vec<String>, modules: &mut Modules) -> Result<()> {
    let mut entries = Vec::new();
    for item in items {
        match item {
            Item::Mod(module) if !is_for_tests(&module.attrs) => {
                entries.push(entry(&module.ident, &module.vis, &module.attrs, Is::Module));
                let inside = [path.as_slice(), &[module.ident.to_string()]].concat();
                descend(module, folder, inside, modules)?;
            }
            Item::Use(item) if !is_for_tests(&item.attrs) => {
                let mut uses = Vec::new();
                flatten(&item.tree, &mut Vec::new(), &mut uses);
                for (name, is) in uses {
                    entries.push(Entry {
                        name,
                        is,
                        public: is_public(&item.vis),
                        hidden: is_hidden(&item.attrs),
                    });
                }
            }
            Item::Macro(item) if item.attrs.iter().any(|attr| attr.path().is_ident("macro_export")) => {
                let Some(ident) = &item.ident else { continue };
                let exported = Entry {
                    name: ident.to_string(),
                    is: Is::Defined("macro"),
                    public: true,
                    hidden: is_hidden(&item.attrs),
                };
                // It belongs to the root, wherever it stands.
                modules.entry(Vec::new()).or_default().push(exported);
            }
            _ => entries.extend(defined(item)),
        }
    }
    modules.entry(path).or_default().extend(entries);
    Ok(())
}

fn descend(module: &ItemMod, folder: &Path, path: Vec<String>, modules: &mut Modules) -> Result<()> {
    let name = module.ident.to_string();
    let inside = folder.join(&name);
    if let Some((_, content)) = &module.content {
        return items(content, &inside, path, modules);
    }
    let candidates: [PathBuf; 2] = [inside.join("mod.rs"), folder.join(format!("{name}.rs"))];
    match candidates.iter().find(|candidate| candidate.exists()) {
        Some(found) => file(found, &inside, path, modules),
        None => bail!("the module {} has no file in {}", path.join("::"), folder.display()),
    }
}

/// The entry of a definition that can be public.
fn defined(item: &Item) -> Option<Entry> {
    let (ident, vis, attrs, keyword) = match item {
        Item::Const(item) => (&item.ident, &item.vis, &item.attrs, "const"),
        Item::Enum(item) => (&item.ident, &item.vis, &item.attrs, "enum"),
        Item::Fn(item) => (&item.sig.ident, &item.vis, &item.attrs, "fn"),
        Item::Static(item) => (&item.ident, &item.vis, &item.attrs, "static"),
        Item::Struct(item) => (&item.ident, &item.vis, &item.attrs, "struct"),
        Item::Trait(item) => (&item.ident, &item.vis, &item.attrs, "trait"),
        Item::Type(item) => (&item.ident, &item.vis, &item.attrs, "type"),
        Item::Union(item) => (&item.ident, &item.vis, &item.attrs, "union"),
        _ => return None,
    };
    (!is_for_tests(attrs)).then(|| entry(ident, vis, attrs, Is::Defined(keyword)))
}

fn entry(ident: &syn::Ident, vis: &Visibility, attrs: &[Attribute], is: Is) -> Entry {
    Entry { name: ident.to_string(), is, public: is_public(vis), hidden: is_hidden(attrs) }
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

fn is_hidden(attrs: &[Attribute]) -> bool {
    attrs.iter().filter(|attr| attr.path().is_ident("doc")).any(|attr| has_word(attr, "hidden"))
}

fn is_for_tests(attrs: &[Attribute]) -> bool {
    attrs.iter().filter(|attr| attr.path().is_ident("cfg")).any(|attr| has_word(attr, "test"))
}

/// Whether the attribute's only argument is that word.
fn has_word(attr: &Attribute, word: &str) -> bool {
    attr.parse_args::<syn::Ident>().is_ok_and(|ident| ident == word)
}

/// The names that a `use` brings in.
fn flatten(tree: &UseTree, prefix: &mut Vec<String>, uses: &mut Vec<(String, Is)>) {
    match tree {
        UseTree::Path(path) => {
            prefix.push(path.ident.to_string());
            flatten(&path.tree, prefix, uses);
            prefix.pop();
        }
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, prefix, uses)),
        UseTree::Glob(_) => uses.push((String::new(), Is::Glob(prefix.clone()))),
        UseTree::Name(name) => {
            let target = to(prefix, &name.ident);
            uses.push((target.last().cloned().unwrap_or_default(), Is::Use(target)));
        }
        UseTree::Rename(rename) => {
            uses.push((rename.rename.to_string(), Is::Use(to(prefix, &rename.ident))));
        }
    }
}

/// The path to `ident` below `prefix`, where `self` is the prefix.
fn to(prefix: &[String], ident: &syn::Ident) -> Vec<String> {
    if ident == "self" { prefix.to_vec() } else { [prefix, &[ident.to_string()]].concat() }
}
