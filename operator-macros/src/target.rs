//! The target of the output: the library's path, and the keys about types.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{Expr, Path, Type, parse_quote, spanned::Spanned};

use crate::{
    entries::{Entry, Value},
    errors::Errors,
};

/// The path of the library: `::operator_core`, or the value of `crate = …`. A macro's output must not depend on
/// its user's imports, or on the crates that a workspace renames.
pub(crate) fn library(entries: &[Entry], errors: &mut Errors) -> Path {
    path_of(entries, "crate", errors).unwrap_or_else(|| parse_quote!(::operator_core))
}

fn path_of(entries: &[Entry], key: &str, errors: &mut Errors) -> Option<Path> {
    let entry = entries.iter().find(|entry| entry.name() == key)?;
    match &entry.value {
        Value::Is(Expr::Path(path)) => Some(path.path.clone()),
        _ => {
            errors.at(&entry.key, format!("`{key}` takes a path: `{key} = ::operator_core`"));
            None
        }
    }
}

/// The type that a key names.
pub(crate) fn type_of(entries: &[Entry], key: &str, example: &str, errors: &mut Errors) -> Option<Type> {
    let entry = entries.iter().find(|entry| entry.name() == key)?;
    let found = match &entry.value {
        Value::Is(Expr::Path(path)) => Some(Type::Path(syn::TypePath {
            attrs: Vec::new(),
            qself: path.qself.clone(),
            path: path.path.clone(),
        })),
        _ => None,
    };
    if found.is_none() {
        let place = match &entry.value {
            Value::Is(value) => value.to_token_stream(),
            Value::Flag | Value::List(_) | Value::Of(..) => entry.key.to_token_stream(),
        };
        errors.at(place, format!("`{key}` takes a type: `{key} = {example}`"));
    }
    found
}

/// `configure = |builder| …`: the user's own changes, for settings without a key.
pub(crate) fn configured(
    entries: &[Entry],
    builder: &TokenStream,
    library: &Path,
    errors: &mut Errors,
) -> Option<TokenStream> {
    let entry = entries.iter().find(|entry| entry.name() == "configure")?;
    let Value::Is(change) = &entry.value else {
        errors.at(&entry.key, "`configure` takes a function: `configure = |builder| builder.…`");
        return None;
    };
    let function = quote_spanned!(change.span()=> #library::__private::configured);
    Some(quote!(#function(#builder, #change)))
}

/// The output, followed by the errors in the input.
pub(crate) fn output(code: &TokenStream, errors: Errors) -> TokenStream {
    let errors = errors.into_compile_errors();
    quote!(#code #errors)
}
