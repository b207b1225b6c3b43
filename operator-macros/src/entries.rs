//! The content of an attribute: `key`, `key = expression` and `key(…)`, separated by commas.

use proc_macro2::TokenStream;
use syn::{
    AngleBracketedGenericArguments, Attribute, DeriveInput, Expr, Ident, Meta, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream, Parser},
    token,
};

use crate::errors::Errors;

/// One entry.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) key: Ident,
    pub(crate) value: Value,
}

/// The value of a key.
#[derive(Debug)]
pub(crate) enum Value {
    /// No value: the key itself is the value.
    Flag,
    Is(Expr),
    List(TokenStream),
    /// A list after types.
    Of(AngleBracketedGenericArguments, TokenStream),
}

impl Entry {
    pub(crate) fn name(&self) -> String {
        self.key.unraw().to_string()
    }
}

impl Parse for Entry {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        // `crate` is a keyword, and a key.
        let key = input.call(Ident::parse_any)?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Value::Is(input.parse()?)
        } else if input.peek(Token![::]) {
            let of = AngleBracketedGenericArguments::parse_turbofish(input)?;
            let mut list = TokenStream::new();
            if input.peek(token::Paren) {
                let content;
                syn::parenthesized!(content in input);
                list = content.parse()?;
            }
            Value::Of(of, list)
        } else if input.peek(token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            Value::List(content.parse()?)
        } else {
            Value::Flag
        };
        Ok(Self { key, value })
    }
}

/// The entries of all attributes of that name.
pub(crate) fn of(item: &DeriveInput, attribute: &str, errors: &mut Errors) -> Vec<Entry> {
    items(item, attribute, errors)
}

/// The same for entries of another form.
pub(crate) fn items<T: Parse>(item: &DeriveInput, attribute: &str, errors: &mut Errors) -> Vec<T> {
    let mut entries: Vec<T> = Vec::new();
    for found in attributes(item, attribute) {
        match &found.meta {
            Meta::List(list) => {
                let read = |input: ParseStream<'_>| Ok(rest(input, errors));
                entries.extend(read.parse2(list.tokens.clone()).unwrap_or_default());
            }
            Meta::Path(_) => {}
            Meta::NameValue(_) => {
                errors.at(found, format!("write `#[{attribute}(…)]`, with the keys between the parentheses"));
            }
        }
    }
    entries
}

pub(crate) fn attributes<'i>(item: &'i DeriveInput, name: &str) -> impl Iterator<Item = &'i Attribute> {
    item.attrs.iter().filter(move |attribute| attribute.path().is_ident(name))
}

/// All entries that can be parsed; the others are reported.
pub(crate) fn parse(tokens: TokenStream, errors: &mut Errors) -> Vec<Entry> {
    let read = |input: ParseStream<'_>| Ok(rest(input, errors));
    read.parse2(tokens).unwrap_or_default()
}

/// The same for the rest of `input`.
pub(crate) fn rest<T: Parse>(input: ParseStream<'_>, errors: &mut Errors) -> Vec<T> {
    let mut read = Vec::new();
    while !input.is_empty() {
        if let Some(entry) = errors.ok(input.parse()) {
            read.push(entry);
            expect_comma(input, errors);
        }
        skip_to_comma(input);
    }
    read
}

/// If a valid entry is followed by anything other than a comma, that is the mistake.
pub(crate) fn expect_comma(input: ParseStream<'_>, errors: &mut Errors) {
    if !input.is_empty() && !input.peek(Token![,]) {
        errors.push(input.error("expected `,` before the next entry"));
    }
}

/// Skips to the next entry.
pub(crate) fn skip_to_comma(input: ParseStream<'_>) {
    while !input.is_empty() && !input.peek(Token![,]) {
        let _ = input.parse::<proc_macro2::TokenTree>();
    }
    let _ = input.parse::<Option<Token![,]>>();
}
