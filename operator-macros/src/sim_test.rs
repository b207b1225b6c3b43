//! `#[sim_test]`: a function that describes a simulation becomes a test that runs many schedules of it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Error, ItemFn, LitInt, parse::Parser, spanned::Spanned};

/// The default number of schedules of a test.
const DEFAULT: u64 = 100;

pub(crate) fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let function: ItemFn = match syn::parse2(item) {
        Ok(function) => function,
        Err(error) => return error.into_compile_error(),
    };
    let (schedules, mut errors) = match schedules(attribute) {
        Ok(schedules) => (schedules, None),
        Err(error) => (DEFAULT, Some(error)),
    };
    let signature = &function.sig;
    let mut wrong = |span: &dyn ToTokens, message: &str| {
        let error = Error::new(span.span(), message);
        match &mut errors {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    };
    if signature.asyncness.is_none() {
        wrong(&signature.fn_token, "a simulation waits in virtual time: write `async fn`");
    }
    if signature.inputs.len() != 1 {
        wrong(&signature.ident, "a simulation takes one argument: `sim: Sim`");
    }
    if !matches!(signature.output, syn::ReturnType::Default) {
        wrong(
            &signature.output,
            "a simulation returns nothing: report what is wrong by a panic or by `sim.fail(…)`",
        );
    }
    if let Some(errors) = errors {
        return errors.into_compile_error();
    }
    let name = &signature.ident;
    let attributes = &function.attrs;
    let body = ItemFn { attrs: Vec::new(), vis: syn::Visibility::Inherited, ..function.clone() };
    quote! {
        #(#attributes)*
        #[test]
        fn #name() {
            #body
            ::operator_core::testing::simulation::check(
                concat!(module_path!(), "::", stringify!(#name)),
                #schedules,
                #name,
            );
        }
    }
}

fn schedules(attribute: TokenStream) -> Result<u64, Error> {
    let mut schedules = DEFAULT;
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("schedules") {
            schedules = meta.value()?.parse::<LitInt>()?.base10_parse()?;
            return Ok(());
        }
        Err(meta.error("unknown; a simulation takes `schedules = 500`"))
    });
    parser.parse2(attribute)?;
    Ok(schedules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(attribute: TokenStream, item: TokenStream) -> String {
        expand(attribute, item).to_string()
    }

    #[test]
    fn a_function_becomes_a_test_of_so_many_schedules() {
        let code = expanded(
            quote!(schedules = 7),
            quote!(
                async fn converges(sim: Sim) {
                    sim.settle().await;
                }
            ),
        );
        for part in ["# [test] fn converges ()", "async fn converges (sim : Sim)", ", 7u64 , converges"] {
            assert!(code.contains(part), "{part} is not in {code}");
        }
        let code = expanded(
            quote!(),
            quote!(
                async fn converges(sim: Sim) {}
            ),
        );
        assert!(code.contains("100u64"), "{code}");
    }

    #[test]
    fn all_mistakes_are_told_at_once() {
        let code = expanded(
            quote!(times = 7),
            quote!(
                fn converges() -> u8 {
                    0
                }
            ),
        );
        for part in ["`schedules = 500`", "async fn", "`sim: Sim`", "returns nothing"] {
            assert!(code.contains(part), "{part} is not in {code}");
        }
    }
}
