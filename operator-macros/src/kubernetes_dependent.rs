//! `#[derive(KubernetesDependent)]`.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::{DeriveInput, Expr, Ident, Path, spanned::Spanned};

use crate::{
    entries::{self, Entry, Value},
    errors::{Errors, instead},
    form::{self, Form, Keys, once},
    target,
};

/// The keys that are methods of `KubernetesDependent` with one argument.
const SETTINGS: &Keys = &[
    ("name", Form::Text, "\"html\""),
    ("event_source", Form::Text, "\"config-maps\""),
    ("use_ssa", Form::Switch, "false"),
    ("adopt", Form::Any, "Adoption::IfUnowned"),
    ("matcher", Form::Any, "Matcher::Generic"),
    ("mapping_annotations", Form::Any, "MappingAnnotations::new(…)"),
    ("target", Form::Any, "|page, _| ObjectKey::of(page)"),
    ("informer", Form::Any, "InformerEventSource::new().label_selector(\"app=web\")"),
];

/// The keys that are methods without an argument.
const FLAGS: &[&str] = &["recreate_when_immutable"];

/// The keys with a meaning of their own.
const OTHERS: &[&str] = &["primary", "resource", "capabilities", "crate", "configure"];

/// The constants of `Capabilities`, as they are written here.
const CAPABILITIES: &[&str] = &["crud", "crud_no_gc", "create_only", "read_only"];

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
    let entries = once(entries::of(item, "dependent", errors), errors);
    let library = target::library(&entries, errors);
    let calls: TokenStream = entries.iter().map(|entry| call(entry, &library, errors)).collect();
    let resource = target::type_of(&entries, "resource", "ConfigMap", errors);
    let primary = target::type_of(&entries, "primary", "WebPage", errors);
    let Some(primary) = primary else {
        // Without a primary there is nothing to implement the trait for.
        if !entries.iter().any(|entry| entry.name() == "primary") {
            errors.at(
                &item.ident,
                "say for which primaries this is a dependent: `#[dependent(primary = WebPage)]`",
            );
        }
        return TokenStream::new();
    };
    let checked = resource.map(|resource| {
        // An answer other than that of `Desired` is shown at the type that was written.
        quote_spanned!(resource.span()=> #library::__private::has_resource::<Self, #primary, #resource>();)
    });
    let (name, (generics, arguments, bounds)) = (&item.ident, item.generics.split_for_impl());
    // A missing `Desired` is shown at the type's name.
    let declared = quote_spanned!(name.span()=> #library::KubernetesDependent::<Self, #primary>::new(self));
    let declared = target::configured(&entries, &library, errors)(quote!(#declared #calls));
    quote! {
        #[automatically_derived]
        impl #generics #library::dependent::IntoDependent<#primary> for #name #arguments #bounds {
            fn into_dependent(self) -> #library::dependent::Dependent<#primary> {
                #checked
                #library::dependent::IntoDependent::into_dependent(#declared)
            }
        }
    }
}

/// One entry as a call of the builder.
fn call(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let key = &entry.key;
    match entry.name().as_str() {
        // Read elsewhere.
        "primary" | "resource" | "crate" | "configure" => TokenStream::new(),
        "capabilities" => capabilities(entry, library, errors),
        name if FLAGS.contains(&name) => {
            if !matches!(entry.value, Value::Flag) {
                errors.at(key, format!("`{name}` takes no value: leave it out where it isn't meant"));
            }
            quote_spanned!(key.span()=> .#key())
        }
        name if SETTINGS.iter().any(|(key, ..)| *key == name) => {
            let value = form::read(entry, SETTINGS, errors);
            value.map(|value| quote_spanned!(key.span()=> .#key(#value))).unwrap_or_default()
        }
        _ => {
            let known = SETTINGS.iter().map(|(key, ..)| *key);
            let known = known.chain(FLAGS.iter().copied()).chain(OTHERS.iter().copied());
            form::unknown_key(entry, known, errors);
            TokenStream::new()
        }
    }
}

/// `.capabilities(…)`, by a name of the library's or an expression.
fn capabilities(entry: &Entry, library: &Path, errors: &mut Errors) -> TokenStream {
    let Value::Is(value) = &entry.value else {
        errors.at(&entry.key, "`capabilities` takes what the dependent may do: `capabilities = crud_no_gc`");
        return TokenStream::new();
    };
    let word = match value {
        Expr::Path(path) => path.path.get_ident().filter(|word| is_lower_case(word)),
        _ => None,
    };
    let Some(word) = word else { return quote!(.capabilities(#value)) };
    let name = word.to_string();
    if !CAPABILITIES.contains(&name.as_str()) {
        let instead = instead(&name, CAPABILITIES.iter().copied());
        errors.at(word, format!("unknown capabilities `{name}`{instead}"));
        return TokenStream::new();
    }
    let constant = Ident::new(&name.to_uppercase(), word.span()).into_token_stream();
    quote!(.capabilities(#library::dependent::Capabilities::#constant))
}

/// Whether it looks like one of our words and not like a constant of the user's.
fn is_lower_case(word: &Ident) -> bool {
    word.to_string().chars().all(|c| !c.is_uppercase())
}
