//! What has to be true of the nodes together. The library checks the same when the workflow is built; here the mistake is
//! shown at its place, and before anything runs.

use std::collections::BTreeMap;

use super::node::{Name, Node};
use crate::errors::{Errors, instead};

pub(super) fn check(nodes: &[Node], errors: &mut Errors) {
    let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        let name = &node.name;
        if by_name.insert(&name.text, index).is_some() {
            let text = format!(
                "two nodes are called `{}`; give one of them another name: `name = \"…\"`",
                name.text
            );
            errors.push(syn::Error::new(name.span, text));
        }
    }
    for node in nodes {
        for name in &node.depends_on {
            if !by_name.contains_key(name.text.as_str()) {
                let instead = instead(&name.text, by_name.keys().copied());
                let text = format!("`{}` is no node of this workflow{instead}", name.text);
                errors.push(syn::Error::new(name.span, text));
            }
        }
    }
    Search { nodes, by_name: &by_name, marks: vec![Mark::New; nodes.len()], path: Vec::new(), errors }.all();
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the path from where the search started.
    Open,
    Done,
}

/// A search in depth for nodes that depend on themselves.
struct Search<'n> {
    nodes: &'n [Node],
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
        for name in &self.nodes[index].depends_on {
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

    /// The circle begins and ends with `first`; `closing` is the name that closes it.
    fn report(&mut self, first: usize, closing: &Name) {
        let circle = self.path.iter().skip_while(|index| **index != first).chain([&first]);
        let names: Vec<&str> = circle.map(|index| self.nodes[*index].name.text.as_str()).collect();
        let text = format!(
            "the nodes depend on one another in a circle: {}; leave this one out",
            names.join(" -> ")
        );
        self.errors.push(syn::Error::new(closing.span, text));
    }
}
