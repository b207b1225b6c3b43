//! How many assertions the tests in a source have.

use std::{ops::AddAssign, str::FromStr};

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The assertions in a source. A loop around an assertion, and a call of a function that has one, don't increase the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Assertions {
    /// Calls of `assert!` and its kin, of `prop_assert!` and its kin, and of `ensure!`, anywhere.
    pub asserted: usize,
    /// Calls of the fixtures that fail a test unless something comes true: `eventually`, all whose names begin with `until`,
    /// and the announcement of a failed run.
    pub awaited: usize,
}

impl AddAssign for Assertions {
    fn add_assign(&mut self, other: Self) {
        self.asserted += other.asserted;
        self.awaited += other.awaited;
    }
}

/// Counts the assertions in a Rust source: by its tokens, so comments and texts don't count, and the content of macros does.
///
/// # Errors
/// When it has tokens that Rust doesn't know.
pub fn assertions(source: &str) -> Result<Assertions> {
    let tokens = TokenStream::from_str(source).map_err(|error| anyhow!("{error}"))?;
    let mut found = Assertions::default();
    count(tokens, &mut found);
    Ok(found)
}

fn count(tokens: TokenStream, found: &mut Assertions) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in tokens.iter().enumerate() {
        let (before, after) = tokens.split_at(at);
        match token {
            TokenTree::Group(group) => count(group.stream(), found),
            TokenTree::Ident(name) => {
                let name = name.to_string();
                found.asserted += usize::from(asserts(&name) && is_macro(&after[1..]));
                found.awaited += usize::from(waits(&name, before) && is_call(&after[1..]));
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

fn asserts(name: &str) -> bool {
    let name = name.trim_start_matches("prop_").trim_start_matches("debug_");
    name == "ensure" || name == "assert" || name.starts_with("assert_")
}

fn waits(name: &str, before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(word)] if word == "fn" => false,
        [.., TokenTree::Ident(of), TokenTree::Punct(dot)] if of == "failures" && dot.as_char() == '.' => {
            name == "expect"
        }
        _ => name == "eventually" || name == "until" || name.starts_with("until_"),
    }
}

fn is_macro(after: &[TokenTree]) -> bool {
    matches!(after, [TokenTree::Punct(mark), TokenTree::Group(_), ..] if mark.as_char() == '!')
}

/// With its arguments, or with those of its type before them.
fn is_call(after: &[TokenTree]) -> bool {
    match after {
        [TokenTree::Group(arguments), ..] => arguments.delimiter() == Delimiter::Parenthesis,
        [TokenTree::Punct(first), TokenTree::Punct(second), TokenTree::Punct(third), ..] => {
            [first, second, third].map(proc_macro2::Punct::as_char) == [':', ':', '<']
        }
        _ => false,
    }
}
