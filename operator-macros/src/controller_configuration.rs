//! `#[derive(ControllerConfiguration)]`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{DeriveInput, Path, spanned::Spanned};

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

/// The keys with a meaning of their own.
const OTHERS: &[&str] =
    &["primary", "crate", "cleaner", "retry", "no_retry", "rate_limit", "owns", "watches", "configure"];

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
    let primary = target::type_of(&entries, "primary", "WebPage", errors).map(|primary| {
        // An answer other than the reconciler's own is shown at the type that was written.
        quote_spanned!(primary.span()=> #library::__private::has_primary::<Self, #primary>();)
    });
    let calls: TokenStream = entries.iter().map(|entry| call(entry, &library, errors)).collect();
    let workflow = workflow::generate(item, &library, errors);
    let with_workflow =
        workflow.as_ref().map(|_| quote!(let builder = #library::__private::with_workflow(self);));
    let start = with_workflow.unwrap_or_else(|| quote!(let builder = #library::Controller::builder(self);));
    let configured = target::configured(&entries, &library, errors)(quote!(builder #calls));
    let cleaner = cleaner(item, &entries, &library, errors);
    let (name, (generics, arguments, bounds)) = (&item.ident, item.generics.split_for_impl());
    quote! {
        #[automatically_derived]
        impl #generics #library::ControllerConfiguration for #name #arguments #bounds {
            #workflow

            fn controller(self) -> #library::ControllerBuilder<Self> {
                #primary
                #start
                #cleaner
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
        "owns" => owns(entry, errors),
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

/// `owns(ConfigMap, Secret)`.
fn owns(entry: &Entry, errors: &mut Errors) -> TokenStream {
    let Value::List(types) = &entry.value else {
        errors.at(&entry.key, "`owns` takes types: `owns(ConfigMap, Secret)`");
        return TokenStream::new();
    };
    let read = |input: syn::parse::ParseStream<'_>| Ok(entries::rest::<syn::Type>(input, errors));
    let types = syn::parse::Parser::parse2(read, types.clone()).unwrap_or_default();
    types.iter().map(|owned| quote_spanned!(owned.span()=> .owns::<#owned>())).collect()
}

/// Declares the cleaner: where the type has one, unless it is said by hand.
fn cleaner(item: &DeriveInput, entries: &[Entry], library: &Path, errors: &mut Errors) -> TokenStream {
    const CLEANER: &Keys = &[("cleaner", Form::Switch, "true")];
    let said = entries.iter().find(|entry| entry.name() == "cleaner");
    let Some(said) = said else {
        if item.generics.params.is_empty() {
            return quote! {
                let builder = {
                    #[allow(unused_imports)]
                    use #library::__private::{MaybeCleaner as _, NoCleaner as _};
                    (&#library::__private::Probe::<Self>::new()).with_cleaner(builder)
                };
            };
        }
        errors.at(
            &item.generics,
            "whether a generic reconciler is a `Cleaner` can't be found out here: say `#[controller(cleaner = true)]` or `cleaner = false`",
        );
        return TokenStream::new();
    };
    match form::read(said, CLEANER, errors).map(|value| value.to_string()).as_deref() {
        Some("true") => quote_spanned!(said.key.span()=> let builder = builder.with_cleaner();),
        Some("false") | None => TokenStream::new(),
        Some(_) => {
            errors.at(&said.key, "`cleaner` takes `true` or `false`, as it decides what is compiled");
            TokenStream::new()
        }
    }
}

/// Reports keys that are said twice; of event sources there may be several.
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
