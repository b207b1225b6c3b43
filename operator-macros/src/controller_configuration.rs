//! `#[derive(ControllerConfiguration)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Path, Type, parse_quote, parse_quote_spanned, spanned::Spanned};

use crate::{
    entries::{self, Entry, Value},
    errors::Errors,
    form::{self, Form, Keys, once},
    literals, policies, target, workflow,
};

/// The keys that are methods of the builder with one argument.
const SETTINGS: &Keys = &[
    ("name", Form::Text, "\"web-pages\""),
    ("finalizer", Form::Text, "\"webpages.example.com/finalizer\""),
    ("field_manager", Form::Text, "\"web-pages\""),
    ("formerly", Form::Texts, "[\"pages\"]"),
    ("retired_finalizers", Form::Texts, "[\"pages.example.com/finalizer\"]"),
    ("retired_field_managers", Form::Texts, "[\"pages\"]"),
    ("namespaces", Form::Texts, "[\"default\"]"),
    ("label_selector", Form::Text, "\"app=web\""),
    ("field_selector", Form::Text, "\"metadata.name=web\""),
    ("max_reconciliation_interval", Form::Time, "\"10h\""),
    ("max_concurrent_reconciles", Form::Count, "50"),
    ("reconcile_timeout", Form::Time, "\"30s\""),
    ("use_ssa_to_patch_primary", Form::Switch, "false"),
    ("generation_aware", Form::Switch, "false"),
    ("default_filters", Form::Switch, "false"),
    ("on_add", Form::Any, "|page| …"),
    ("on_update", Form::Any, "|new, old| …"),
    ("generic_filter", Form::Any, "|page| …"),
    ("status", Form::Any, "status"),
];

/// The keys with their own meaning.
const OTHERS: &[&str] = &[
    "primary",
    "crate",
    "cleaner",
    "retry",
    "no_retry",
    "rate_limit",
    "owns",
    "puts",
    "watches",
    "configure",
];

pub(crate) fn expand(item: TokenStream) -> TokenStream {
    let item: DeriveInput = match syn::parse2(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let mut errors = Errors::default();
    let code = generate(&item, &mut errors);
    target::output(&code, errors)
}

pub(crate) fn generate(item: &DeriveInput, errors: &mut Errors) -> TokenStream {
    let entries = once_but_watches(entries::of(item, "controller", errors), errors);
    let library = target::library(&entries, errors);
    let said = target::type_of(&entries, "primary", "WebPage", errors);
    let primary = said.clone().unwrap_or_else(|| {
        let place = item.ident.span();
        parse_quote_spanned!(place=> <Self as #library::Reconciler>::Primary)
    });
    // Where there is no reconciler that is told once, and not wherever its primary is named.
    let own: Type = parse_quote!(<Self as #library::ControllerConfiguration>::Primary);
    let calls: TokenStream = entries.iter().map(|entry| call(entry, &library, errors)).collect();
    let workflow = workflow::generate(item, said.as_ref().unwrap_or(&own), &library, errors);
    // Asked before the reconciler is given away.
    let (asked, taken) = match &workflow {
        Some(_) => (
            quote!(let workflow = #library::ControllerConfiguration::workflow(&self);),
            quote!(let builder = #library::__private::with_workflow(builder, workflow);),
        ),
        None => Default::default(),
    };
    let configured = target::configured(&entries, &library, errors)(quote!(builder #calls));
    let builder = builder(item, &entries, said.as_ref(), &own, &library, errors);
    let (name, (generics, arguments, bounds)) = (&item.ident, item.generics.split_for_impl());
    quote! {
        #[automatically_derived]
        impl #generics #library::ControllerConfiguration for #name #arguments #bounds {
            type Primary = #primary;

            #workflow

            fn controller(
                self,
            ) -> #library::ControllerBuilder<impl #library::Reconciler<Primary = Self::Primary>> {
                #asked
                #builder
                #taken
                #configured
            }
        }
    }
}

/// One entry as a call of the builder.
fn call(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let key = &entry.key;
    match entry.name().as_str() {
        // Read elsewhere.
        "primary" | "crate" | "cleaner" | "configure" => TokenStream::new(),
        "retry" => policies::retry(entry, library, errors),
        "no_retry" => policies::no_retry(entry, library, errors),
        "rate_limit" => policies::rate_limit(entry, library, errors),
        "owns" => types(entry, &quote!(owns), "`owns` takes types: `owns(ConfigMap, Secret)`", errors),
        "puts" => types(entry, &quote!(puts), "`puts` takes types: `puts(Quota)`", errors),
        "watches" => match &entry.value {
            Value::Is(source) => quote!(.watches(#source)),
            Value::Flag | Value::List(_) => {
                errors.at(
                    key,
                    "`watches` takes an event source: `watches = InformerEventSource::<Secret>::new()`",
                );
                TokenStream::new()
            }
        },
        name if SETTINGS.iter().any(|(key, ..)| *key == name) => {
            let value = form::read(entry, SETTINGS, errors);
            if value.is_some() {
                literals::check(name, entry, errors);
            }
            value.map(|value| quote_spanned!(key.span()=> .#key(#value))).unwrap_or_default()
        }
        _ => {
            let known = SETTINGS.iter().map(|(key, ..)| *key).chain(OTHERS.iter().copied());
            form::unknown_key(entry, known, errors);
            TokenStream::new()
        }
    }
}

/// A method of the builder that takes a type, once for each type of a list.
fn types(entry: &Entry, method: &TokenStream, usage: &str, errors: &mut Errors) -> TokenStream {
    let Value::List(types) = &entry.value else {
        errors.at(&entry.key, usage);
        return TokenStream::new();
    };
    let read = |input: syn::parse::ParseStream<'_>| Ok(entries::rest::<syn::Type>(input, errors));
    let types = syn::parse::Parser::parse2(read, types.clone()).unwrap_or_default();
    types.iter().map(|one| quote_spanned!(one.span()=> .#method::<#one>())).collect()
}

/// Starts the builder: with the reconciler, if the type is one, and with its cleaner, if it has one, unless they are
/// set explicitly.
fn builder(
    item: &DeriveInput,
    entries: &[Entry],
    primary: Option<&Type>,
    own: &Type,
    library: &Path,
    errors: &mut Errors,
) -> TokenStream {
    const CLEANER: &Keys = &[("cleaner", Form::Switch, "true")];
    let said = entries.iter().find(|entry| entry.name() == "cleaner");
    if said.is_none() && item.generics.params.is_empty() {
        // An answer other than the reconciler's own is shown at the type that was written.
        let place = primary.map_or_else(|| item.ident.span(), Spanned::span);
        let primary = primary.unwrap_or(own);
        let start = quote_spanned!(place=> .builder(self));
        return quote! {
            let builder = {
                #[allow(unused_imports)]
                use #library::__private::{Start as _, StartOther as _};
                const { &&&&#library::__private::Probe::<Self, #primary>::new() } #start
            };
            let builder = {
                #[allow(unused_imports)]
                use #library::__private::{Defined as _, Undefined as _};
                (&&#library::__private::Defines::<#primary>::new()).define(builder)
            };
        };
    }
    let checked = primary.map(
        |primary| quote_spanned!(primary.span()=> #library::__private::has_primary::<Self, #primary>();),
    );
    let builder = quote!(#checked let builder = #library::Controller::builder(self););
    let Some(said) = said else {
        errors.at(
            &item.generics,
            "whether a generic reconciler is a `Cleaner` can't be determined here: write `#[controller(cleaner = true)]` or `cleaner = false`",
        );
        return builder;
    };
    match form::read(said, CLEANER, errors).map(|value| value.to_string()).as_deref() {
        Some("true") => {
            let cleaner = quote_spanned!(said.key.span()=> let builder = builder.with_cleaner(););
            quote!(#builder #cleaner)
        }
        Some("false") | None => builder,
        Some(_) => {
            errors.at(&said.key, "`cleaner` takes `true` or `false`, as it decides what is compiled");
            builder
        }
    }
}

/// Reports keys that are given twice; event sources may be repeated.
fn once_but_watches(entries: Vec<Entry>, errors: &mut Errors) -> Vec<Entry> {
    let retries: Vec<&Entry> =
        entries.iter().filter(|entry| matches!(entry.name().as_str(), "retry" | "no_retry")).collect();
    if let [first, second] = retries.as_slice()
        && first.key != second.key
    {
        errors.at(&second.key, "`retry` and `no_retry` contradict one another; leave one of them out");
    }
    let (watches, single) = entries.into_iter().partition::<Vec<_>, _>(|entry| entry.key == "watches");
    let mut kept = once(single, errors);
    kept.extend(watches);
    kept
}
