//! `#[workflow(…)]`: the nodes, their order and their conditions.

mod graph;
mod node;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Path};

use crate::{
    entries::{self, Entry, Value},
    errors::Errors,
    form,
};
use node::Node;

/// The flags, which are methods of the builder without arguments.
const FLAGS: &[&str] = &["explicit_invocation", "handle_errors_in_reconciler"];
const DEPENDENT: &str = "dependent";

/// `fn workflow`, where there is a `#[workflow]`.
pub(crate) fn generate(item: &DeriveInput, library: &Path, errors: &mut Errors) -> Option<TokenStream> {
    entries::attributes(item, "workflow").next()?;
    let mut nodes = Vec::new();
    let mut calls = TokenStream::new();
    for entry in entries::of(item, "workflow", errors) {
        let key = &entry.key;
        match entry.name().as_str() {
            DEPENDENT => nodes.extend(dependent(&entry, errors)),
            name if FLAGS.contains(&name) => {
                form::flag(&entry, errors);
                calls.extend(quote!(.#key()));
            }
            _ => form::unknown_key(&entry, FLAGS.iter().copied().chain([DEPENDENT]), errors),
        }
    }
    graph::check(&nodes, errors);
    let nodes = nodes.iter().map(|node| node.generate(library));
    Some(quote! {
        fn workflow(
            &self,
        ) -> ::core::result::Result<
            ::core::option::Option<#library::Workflow<<Self as #library::Reconciler>::Primary>>,
            #library::workflow::Error,
        > {
            #library::Workflow::<<Self as #library::Reconciler>::Primary>::builder()
                #calls
                #(.node(#nodes))*
                .build()
                .map(::core::option::Option::Some)
        }
    })
}

fn dependent(entry: &Entry, errors: &mut Errors) -> Option<Node> {
    let Value::List(tokens) = &entry.value else {
        errors.at(&entry.key, "`dependent` takes a type: `dependent(HtmlConfigMap)`");
        return None;
    };
    Node::parse(entry, tokens.clone(), errors)
}
