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
    ("namespaces", Form::Texts, "[\"default\"]"),
    ("label_selector", Form::Text, "\"app=web\""),
    ("field_selector", Form::Text, "\"metadata.name=web\""),
    (
        "shard_selector",
        Form::Text,
        "\"shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')\"",
    ),
    ("bounded", Form::Any, "Bounds::new(1_000)"),
    ("transform", Form::Any, "shorter"),
    ("initial_list", Form::Any, "InitialList::Streaming"),
    ("page_size", Form::Count, "500"),
    ("max_reconciliation_interval", Form::Time, "\"10h\""),
    ("jitter", Form::Factor, "0.1"),
    ("max_concurrent_reconciles", Form::Count, "50"),
    ("reconcile_timeout", Form::Time, "\"30s\""),
    ("use_ssa_to_patch_primary", Form::Switch, "false"),
    ("generation_aware", Form::Switch, "false"),
    ("default_filters", Form::Switch, "false"),
    ("trigger_on_all_events", Form::Switch, "true"),
    ("records_events", Form::Switch, "true"),
    ("cleaner", Form::Switch, "false"),
    ("on_add", Form::Any, "|page| …"),
    ("on_update", Form::Any, "|new, old| …"),
    ("generic_filter", Form::Any, "|page| …"),
    ("status", Form::Any, "status"),
    ("paused_when", Form::Any, "is_paused"),
];

/// The keys that are calls of a method with several arguments, or with a type: their number and meaning. There may be
/// several of each.
const CALLS: &[(&str, usize, &str)] = &[
    ("index", 2, "a name and a function of the primary: `index(\"team\", by_team)`"),
    (
        REFERS_TO,
        1,
        "the kind of the objects, and a function that returns their keys: `refers_to::<Secret>(secrets)`",
    ),
    (
        "watches_referenced",
        2,
        "an informer, and a function that returns keys: `watches_referenced(InformerEventSource::<Secret>::new(), secrets)`",
    ),
];
const REFERS_TO: &str = "refers_to";

/// The keys that are methods of the builder without an argument.
const FLAGS: &[&str] = &["metadata_only", "unshared"];

/// The keys with their own meaning.
const OTHERS: &[&str] =
    &["primary", "crate", "retry", "rate_limiter", "owns", "puts", "watches", "configure"];

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
    let entries = once_but_sources(entries::of(item, "controller", errors), errors);
    let library = target::library(&entries, errors);
    let said = target::type_of(&entries, "primary", "WebPage", errors);
    let primary = said.clone().unwrap_or_else(|| {
        let place = item.ident.span();
        parse_quote_spanned!(place=> <Self as #library::Reconciler>::Primary)
    });
    // A missing reconciler is reported once, and not wherever its primary is named.
    let own: Type = parse_quote!(<Self as #library::ControllerConfiguration>::Primary);
    let of = said.as_ref().unwrap_or(&own);
    let calls: TokenStream = entries.iter().map(|entry| call(entry, &library, errors)).collect();
    let workflow = workflow::generate(item, of, &library, errors);
    let takes_workflow = workflow.as_ref().map(|_| {
        quote! {
            let builder = #library::__private::with_workflow(
                builder,
                #library::ControllerConfiguration::workflow(&self),
            );
        }
    });
    let set = (!calls.is_empty()).then(|| quote!(builder #calls));
    let set = target::configured(&entries, &quote!(builder #calls), &library, errors).or(set);
    let set = set.map(|set| quote!(let builder = #set;));
    // The value is moved last: the earlier expressions may use it.
    let given = given(item, said.as_ref(), &own, &library);
    let (name, (generics, arguments, bounds)) = (&item.ident, item.generics.split_for_impl());
    quote! {
        #[automatically_derived]
        impl #generics #library::ControllerConfiguration for #name #arguments #bounds {
            type Primary = #primary;

            #workflow

            fn controller(
                self,
            ) -> #library::ControllerBuilder<impl #library::Reconciler<Primary = Self::Primary>> {
                let builder = #library::Controller::of_existing::<#of>();
                let builder = {
                    #[allow(unused_imports)]
                    use #library::__private::{Defined as _, Undefined as _};
                    (&&#library::__private::Defines::<#of>::new()).define(builder)
                };
                #takes_workflow
                #set
                #given
            }
        }
    }
}

/// One entry as a call of the builder.
fn call(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let key = &entry.key;
    match entry.name().as_str() {
        // Read elsewhere.
        "primary" | "crate" | "configure" => TokenStream::new(),
        "retry" => policies::retry(entry, library, errors),
        "rate_limiter" => policies::rate_limiter(entry, library, errors),
        "owns" => types(entry, &quote!(owns), "`owns` takes types: `owns(ConfigMap, Secret)`", errors),
        "puts" => types(entry, &quote!(puts), "`puts` takes types: `puts(Quota)`", errors),
        "watches" => match &entry.value {
            Value::Is(source) => quote!(.watches(#source)),
            Value::Flag | Value::List(_) | Value::Of(..) => {
                errors.at(
                    key,
                    "`watches` takes an event source: `watches = InformerEventSource::<Secret>::new()`",
                );
                TokenStream::new()
            }
        },
        name if CALLS.iter().any(|(key, ..)| *key == name) => many(entry, errors),
        name if FLAGS.contains(&name) => {
            form::flag(entry, errors);
            quote_spanned!(key.span()=> .#key())
        }
        name if SETTINGS.iter().any(|(key, ..)| *key == name) => {
            let value = form::read(entry, SETTINGS, errors);
            if value.is_some() {
                literals::check(name, entry, errors);
            }
            value.map(|value| quote_spanned!(key.span()=> .#key(#value))).unwrap_or_default()
        }
        _ => {
            let calls = CALLS.iter().map(|(key, ..)| *key);
            let known = SETTINGS.iter().map(|(key, ..)| *key).chain(FLAGS.iter().copied());
            let known = known.chain(OTHERS.iter().copied()).chain(calls);
            form::unknown_key(entry, known, errors);
            TokenStream::new()
        }
    }
}

/// A method of the builder with several arguments, or with a type.
fn many(entry: &Entry, errors: &mut Errors) -> TokenStream {
    let (key, name) = (&entry.key, entry.name());
    let (of, list) = match &entry.value {
        Value::List(list) => (None, list.clone()),
        Value::Of(of, list) => (Some(of), list.clone()),
        Value::Flag | Value::Is(_) => (None, TokenStream::new()),
    };
    let read = |input: syn::parse::ParseStream<'_>| Ok(entries::rest::<syn::Expr>(input, errors));
    let list = syn::parse::Parser::parse2(read, list).unwrap_or_default();
    for (_, arguments, usage) in CALLS.iter().filter(|(key, ..)| *key == name) {
        if list.len() != *arguments || of.is_some() != (name == REFERS_TO) {
            errors.at(key, format!("`{name}` takes {usage}"));
            return TokenStream::new();
        }
    }
    quote_spanned!(key.span()=> .#key #of(#(#list),*))
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

/// The builder with its reconciler, if the type is one. A generic type has to be: the question can't be asked there.
fn given(item: &DeriveInput, primary: Option<&Type>, own: &Type, library: &Path) -> TokenStream {
    // An error about the type of the primaries is shown where that type is written.
    let place = primary.map_or_else(|| item.ident.span(), Spanned::span);
    let primary = primary.unwrap_or(own);
    if !item.generics.params.is_empty() {
        return quote_spanned!(place=> #library::__private::reconciled::<#primary, Self>(builder, self));
    }
    let give = quote_spanned!(place=> .give(builder, self));
    quote! {{
        #[allow(unused_imports)]
        use #library::__private::{Given as _, GivenOther as _};
        const { &&&#library::__private::Probe::<Self, #primary>::new() } #give
    }}
}

/// Reports keys that are given twice; sources and indexes may be repeated.
fn once_but_sources(entries: Vec<Entry>, errors: &mut Errors) -> Vec<Entry> {
    let is_many = |entry: &Entry| {
        let name = entry.name();
        name == "watches" || CALLS.iter().any(|(key, ..)| *key == name)
    };
    let (many, single) = entries.into_iter().partition::<Vec<_>, _>(is_many);
    let mut kept = once(single, errors);
    kept.extend(many);
    kept
}
