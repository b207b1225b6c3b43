//! The functions of a source and where their bodies stand.

use std::ops::Range;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A function that has a body.
pub(super) struct Function {
    /// What stands between its braces, in bytes.
    pub(super) body: Range<usize>,
    /// Whether it also runs in the compiler, which has no environment.
    pub(super) is_const: bool,
    /// The functions that are declared in the body, in their order.
    pub(super) inner: Vec<Self>,
}

/// The functions of a file, those of `impl`s and of traits too, in their order.
pub(super) fn functions(source: &str) -> Result<Vec<Function>> {
    let tokens: TokenStream = source.parse().map_err(|error| anyhow!("it is not Rust: {error}"))?;
    Ok(functions_in(tokens))
}

fn functions_in(tokens: TokenStream) -> Vec<Function> {
    let mut found = Vec::new();
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            // What a macro makes of its arguments nobody knows: a function there is none of the file's own.
            TokenTree::Punct(punct) if punct.as_char() == '!' => at += arguments(&tokens[at..]),
            TokenTree::Group(group) => found.extend(functions_in(group.stream())),
            TokenTree::Ident(keyword) if keyword == "fn" => {
                // A type such as `fn(usize)` has no name, and no body either.
                let Some(TokenTree::Ident(_)) = tokens.get(at) else { continue };
                let Some(length) = tokens[at..].iter().position(is_end) else { continue };
                let start = at;
                at += length + 1;
                let TokenTree::Group(group) = &tokens[at - 1] else { continue };
                found.push(Function {
                    body: group.span_open().byte_range().end..group.span_close().byte_range().start,
                    is_const: is_const(&tokens[..start - 1]),
                    inner: functions_in(group.stream()),
                });
            }
            _ => {}
        }
    }
    found
}

/// How many tokens behind a macro's `!` are its own: its arguments, and the name of one that is declared. None, where the `!`
/// is a negation.
fn arguments(tokens: &[TokenTree]) -> usize {
    match tokens {
        [TokenTree::Group(_), ..] => 1,
        [TokenTree::Ident(_), TokenTree::Group(group), ..] if group.delimiter() == Delimiter::Brace => 2,
        _ => 0,
    }
}

/// Whether a signature ends here: with the body, or without one.
fn is_end(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(punct) => punct.as_char() == ';',
        _ => false,
    }
}

/// Whether a `const` stands before a `fn`, perhaps with other words in between, such as `unsafe`.
fn is_const(before: &[TokenTree]) -> bool {
    let words = before.iter().rev().map_while(|token| match token {
        TokenTree::Ident(word) => Some(word),
        _ => None,
    });
    words.take(3).any(|word| word == "const")
}
