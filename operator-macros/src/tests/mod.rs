//! The output of the derives, and their messages about mistakes. `INSTA_UPDATE=always cargo test -p operator-macros`
//! writes the snapshots anew; read what has changed in them.

mod errors;
mod expansions;

use std::str::FromStr;

use proc_macro2::TokenStream;
use syn::DeriveInput;

use crate::{errors::Errors, operator_test};

type Generate = fn(&DeriveInput, &mut Errors) -> TokenStream;

fn generated(generate: Generate, item: &str) -> (TokenStream, Vec<syn::Error>) {
    let item = TokenStream::from_str(item).expect("the item can be cut into tokens");
    let item = syn::parse2(item).expect("it is an item");
    let mut errors = Errors::default();
    let code = generate(&item, &mut errors);
    (code, errors.into_vec())
}

/// The output for an item without mistakes, formatted.
fn expansion(generate: Generate, item: &str) -> String {
    let (code, errors) = generated(generate, item);
    assert!(errors.is_empty(), "{errors:?}");
    prettyplease::unparse(&syn::parse2(code).expect("the output can be parsed"))
}

/// The output of `#[operator_test]`, and its mistakes.
fn both(arguments: &str, item: &str) -> (String, String) {
    let [arguments, item] =
        [arguments, item].map(|text| TokenStream::from_str(text).expect("it can be cut into tokens"));
    let (code, errors) = operator_test::generate(arguments, item);
    let code = prettyplease::unparse(&syn::parse2(code).expect("the output can be parsed"));
    (code, errors.into_vec().iter().map(line).collect())
}

/// Each mistake, with the piece of the item that it points to.
fn mistakes(generate: Generate, item: &str) -> String {
    let (code, errors) = generated(generate, item);
    syn::parse2::<syn::File>(code).expect("the output can be parsed in spite of the mistakes");
    errors.iter().map(line).collect()
}

fn line(error: &syn::Error) -> String {
    let place = error.span().source_text().unwrap_or_default();
    format!("{place}\n    {error}\n")
}

/// Compares with the snapshot of that name.
fn is_as_before(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_omit_expression(true);
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!(name, text));
}
