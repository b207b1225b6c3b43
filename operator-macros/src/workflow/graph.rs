//! Checks the nodes together. The library checks the same when the workflow is built; here the mistake is shown at its
//! place, and before anything runs.

use std::collections::BTreeMap;

use proc_macro2::Span;

use crate::errors::{Errors, instead};

/// A name with the place where it is written.
#[derive(Clone, Debug)]
pub(super) struct Name {
    pub(super) text: String,
    pub(super) span: Span,
}

/// A node, as far as order is concerned.
#[derive(Debug)]
pub(super) struct Vertex {
    /// The name by which others refer to it.
    pub(super) name: Name,
    pub(super) after: Vec<Name>,
    /// The error if it isn't the only one with that name.
    pub(super) twice: String,
}

pub(super) fn check(nodes: &[Vertex], errors: &mut Errors) {
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let name = &node.name;
        if by_name.insert(&name.text, index).is_some() {
            errors.push(syn::Error::new(name.span, &node.twice));
        }
    }
    for node in nodes {
        for name in &node.after {
            if !by_name.contains_key(name.text.as_str()) {
                let instead = near(&name.text, by_name.keys().copied());
                let text = format!("`{}` isn't a node of this workflow{instead}", name.text);
                errors.push(syn::Error::new(name.span, text));
            }
        }
    }
    Search { nodes, by_name: &by_name, marks: vec![Mark::New; nodes.len()], path: Vec::new(), errors }.all();
}

/// A path that ends in the same word is meant, even if the rest differs a lot.
fn near<'k>(wrong: &str, known: impl Iterator<Item = &'k str> + Clone) -> String {
    let end = |path: &str| path.rsplit("::").next().map(str::to_owned);
    match known.clone().find(|path| end(path) == end(wrong)) {
        Some(path) => format!("; did you mean `{path}`?"),
        None => instead(wrong, known),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the path from the start of the search.
    Open,
    Done,
}

/// A depth-first search for nodes that depend on themselves.
struct Search<'n> {
    nodes: &'n [Vertex],
    by_name: &'n BTreeMap<&'n str, usize>,
    marks: Vec<Mark>,
    path: Vec<usize>,
    errors: &'n mut Errors,
}

impl Search<'_> {
    fn all(mut self) {
        for index in 0..self.nodes.len() {
            self.visit(index);
        }
    }

    fn visit(&mut self, index: usize) {
        if self.marks[index] != Mark::New {
            return;
        }
        self.marks[index] = Mark::Open;
        self.path.push(index);
        for name in &self.nodes[index].after {
            let Some(&next) = self.by_name.get(name.text.as_str()) else { continue };
            if self.marks[next] == Mark::Open {
                self.report(next, name);
            } else {
                self.visit(next);
            }
        }
        self.path.pop();
        self.marks[index] = Mark::Done;
    }

    /// The cycle begins and ends with `first`; `closing` is the name that closes it.
    fn report(&mut self, first: usize, closing: &Name) {
        let circle = self.path.iter().skip_while(|index| **index != first).chain([&first]);
        let names: Vec<&str> = circle.map(|index| self.nodes[*index].name.text.as_str()).collect();
        let text =
            format!("the nodes depend on each other in a cycle: {}; leave this one out", names.join(" -> "));
        self.errors.push(syn::Error::new(closing.span, text));
    }
}
