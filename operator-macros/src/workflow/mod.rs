//! `#[workflow(…)]`: the nodes, their order and their conditions.
//!
//! ```text
//! item: path, path(words), name = value ──┬──▶ wired: a function or a value ───▶ graph: what is wrong with all of them together
//!                                         └──▶ flags, `retired`
//! ```

mod graph;
mod item;
mod wired;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{DeriveInput, Expr, Path, PathArguments, Type, parse::ParseStream, parse::Parser};

use crate::{
    entries::{self, Entry, Value},
    errors::{Errors, instead},
    form,
};
use item::Item;
use wired::Wired;

/// The flags, which are methods of the builder without arguments.
const FLAGS: &[&str] = &["explicit_invocation", "handle_errors_in_reconciler", "prune_data"];
const RETIRED: &str = "retired";
const RETIRED_RECORDS: &str = "retired_records";

/// The content of one attribute.
#[derive(Default)]
struct Said {
    wired: Vec<Wired>,
    calls: TokenStream,
    flags: Vec<Entry>,
}

/// `fn workflow`, if there is a `#[workflow]`.
pub(crate) fn generate(
    item: &DeriveInput,
    primary: &Type,
    library: &Path,
    errors: &mut Errors,
) -> Option<TokenStream> {
    entries::attributes(item, "workflow").next()?;
    let mut said = Said::default();
    for item in entries::items::<Item>(item, "workflow", errors) {
        said.take(item, errors);
    }
    let Said { wired, calls, flags } = said;
    let flags = form::once(flags, errors);
    let flags = flags.iter().map(|flag| &flag.key);
    let vertices: Vec<_> = wired.iter().map(Wired::vertex).collect();
    graph::check(&vertices, errors);
    wired::check_names(&wired, errors);
    let (statements, wired) = wired::generate(&wired, primary, library);
    Some(quote! {
        fn workflow(
            &self,
        ) -> ::core::result::Result<
            ::core::option::Option<#library::Workflow<#primary>>,
            #library::workflow::BuildError,
        > {
            #statements
            #library::Workflow::<#primary>::builder()
                #(.#flags())*
                #calls
                #wired
                .build()
                .map(::core::option::Option::Some)
        }
    })
}

impl Said {
    fn take(&mut self, item: Item, errors: &mut Errors) {
        let word = item.path.path.segments.last().map(|segment| segment.ident.clone());
        let Some(word) = word.filter(|_| item.path.path.segments.len() == 1 && item.path.qself.is_none())
        else {
            self.wired.extend(Wired::parse(item, errors));
            return;
        };
        let name = word.to_string();
        if name == RETIRED && item.value.is_none() {
            self.retired(&item, errors);
        } else if name == RETIRED_RECORDS && item.value.is_none() {
            let words = item.words.unwrap_or_default();
            self.calls.extend(quote!(.#word(#words)));
        } else if item.word().is_none() {
            self.wired.extend(Wired::parse(item, errors));
        } else if FLAGS.contains(&name.as_str()) {
            let value = match (item.words, item.value) {
                (_, Some(value)) => Value::Is(value),
                (words, None) => words.map_or(Value::Flag, Value::List),
            };
            let flag = Entry { key: word, value };
            form::flag(&flag, errors);
            self.flags.push(flag);
        } else if item.value.is_none() && is_mistyped(&name) {
            // A name of this length isn't a function's by chance.
            errors.at(word, format!("unknown key `{name}`{}", instead(&name, FLAGS.iter().copied())));
        } else {
            self.wired.extend(Wired::parse(item, errors));
        }
    }

    /// `retired::<Secret>("keys")`.
    fn retired(&mut self, item: &Item, errors: &mut Errors) {
        let kind = item.path.path.segments.last().map(|segment| &segment.arguments);
        let read = |input: ParseStream<'_>| Ok(entries::rest::<Expr>(input, errors));
        let names = read.parse2(item.words.clone().unwrap_or_default()).unwrap_or_default();
        match kind {
            Some(PathArguments::AngleBracketed(kind)) if !names.is_empty() => {
                let word = item.path.path.segments.last().map(|segment| &segment.ident);
                for name in names {
                    self.calls.extend(quote!(.#word #kind(#name)));
                }
            }
            _ => errors.at(
                &item.path,
                "`retired` takes the kind of the objects, and the name that the node had: `retired::<Secret>(\"keys\")`",
            ),
        }
    }
}

/// Whether it is similar to a key, and can't have another meaning.
fn is_mistyped(name: &str) -> bool {
    instead(name, FLAGS.iter().copied()).contains("did you mean")
}

/// Tokens in readable form: with spaces only between words.
fn text(tokens: &impl ToTokens) -> String {
    let spaced = tokens.to_token_stream().to_string();
    let mut text = String::new();
    let mut rest = spaced.chars().peekable();
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    while let Some(c) = rest.next() {
        let between = text.chars().last().is_some_and(in_word) && rest.peek().copied().is_some_and(in_word);
        if c != ' ' || between {
            text.push(c);
        }
    }
    text
}
