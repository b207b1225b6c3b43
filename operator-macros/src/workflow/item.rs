//! The items between the commas of `#[workflow(…)]`.

use proc_macro2::TokenStream;
use syn::{
    Expr, ExprPath, Lit, Token,
    ext::IdentExt,
    parse::{Parse, ParseStream},
    spanned::Spanned,
    token,
};

/// `path`, `path(words)`, `name = value` or `name(words) = value`.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) path: ExprPath,
    pub(super) words: Option<TokenStream>,
    pub(super) value: Option<Expr>,
}

impl Item {
    /// The path, if it is one word.
    pub(super) fn word(&self) -> Option<String> {
        let ident = self.path.path.get_ident().filter(|_| self.path.qself.is_none())?;
        Some(ident.unraw().to_string())
    }
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(Lit) {
            let text: Lit = input.parse()?;
            return Err(syn::Error::new(
                text.span(),
                "a node is a function, given by its path: `web`, or `children::web`",
            ));
        }
        if is_closure(input) {
            let closure: Expr = input.parse()?;
            return Err(syn::Error::new(
                closure.span(),
                "a closure has no name: give it one, `map = |page: &WebPage| …`",
            ));
        }
        let path: ExprPath = input.parse()?;
        if input.peek(token::Brace) {
            let text = value_needs_name(&path);
            input.parse::<proc_macro2::TokenTree>()?;
            return Err(syn::Error::new(path.span(), text));
        }
        let words = match input.peek(token::Paren) {
            true => {
                let content;
                syn::parenthesized!(content in input);
                Some(content.parse()?)
            }
            false => None,
        };
        let value = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { path, words, value })
    }
}

pub(super) fn value_needs_name(path: &ExprPath) -> String {
    let value = super::text(path);
    format!(
        "a value with state has no name: give it one, `records = {value} …`, the name that `after(records)` uses"
    )
}

fn is_closure(input: ParseStream<'_>) -> bool {
    input.peek(Token![|])
        || input.peek(Token![||])
        || input.peek(Token![move])
        || input.peek(Token![async])
        || input.peek(Token![static])
}
