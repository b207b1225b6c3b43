//! `#[operator_test]`: one test for two API servers.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{ItemFn, LitStr, ReturnType, meta, parse::Parser, parse_quote};

use crate::errors::Errors;

const FLAVORS: &str = "there are `multi_thread`, which is the default, and `current_thread`";

/// The function with its two tests; or, with mistakes, the function and the errors.
pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let (expansion, errors) = generate(arguments, item);
    let errors = errors.into_compile_errors();
    quote!(#expansion #errors)
}

pub(crate) fn generate(arguments: TokenStream, item: TokenStream) -> (TokenStream, Errors) {
    let mut errors = Errors::default();
    let (mut real, mut library) = (None::<LitStr>, parse_quote!(::operator_core));
    let mut threads = quote!(true);
    let parser = meta::parser(|meta| {
        if meta.path.is_ident("real") {
            real = Some(meta.value()?.parse()?);
            Ok(())
        } else if meta.path.is_ident("crate") {
            library = meta.value()?.parse::<syn::Path>()?;
            Ok(())
        } else if meta.path.is_ident("flavor") {
            let flavor = meta.value()?.parse::<LitStr>()?;
            threads = match flavor.value().as_str() {
                "multi_thread" => quote!(true),
                "current_thread" => quote!(false),
                _ => return Err(syn::Error::new_spanned(flavor, FLAVORS)),
            };
            Ok(())
        } else {
            Err(meta.error("there are `real = \"what the in-process server lacks\"` and `flavor = \"…\"`"))
        }
    });
    if let Err(error) = parser.parse2(arguments) {
        errors.push(error);
    }
    let Some(function) = errors.ok(syn::parse2::<ItemFn>(item.clone())) else { return (item, errors) };
    let (name, output) = (&function.sig.ident, &function.sig.output);
    if function.sig.asyncness.is_none() {
        errors.at(function.sig.fn_token, "an operator test is an `async fn`");
    }
    if !function.sig.inputs.is_empty() || !function.sig.generics.params.is_empty() {
        errors
            .at(&function.sig, "an operator test takes no argument; `TestCluster::shared()` is its cluster");
    }
    if !errors.is_empty() {
        return (quote!(#function), errors);
    }
    let import = match output {
        ReturnType::Default => None,
        // The output's type is named where the function is.
        ReturnType::Type(..) => Some(quote!(
            use super::*;
        )),
    };
    let (in_process, result) = match &real {
        None => (quote!(#library::testing::__private::in_process(super::#name)), quote!(#output)),
        Some(lacking) => {
            (quote!(#library::testing::__private::lacking_in_process(#lacking, super::#name)), quote!())
        }
    };
    let expansion = quote! {
        #function

        mod #name {
            #import

            #[::core::prelude::v1::test]
            fn real() #output {
                #library::testing::__private::real(#threads, super::#name)
            }

            #[::core::prelude::v1::test]
            fn in_process() #result {
                #in_process
            }
        }
    };
    (expansion, errors)
}
