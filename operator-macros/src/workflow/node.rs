//! One `dependent(…)`.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::{
    Expr, ExprLit, Ident, Lit, LitStr, Path, Token, Type,
    parse::{Parse, ParseStream, Parser},
    spanned::Spanned,
};

use super::graph::{Name, Vertex};
use crate::{
    entries::{self, Entry, Value},
    errors::Errors,
    form,
};

/// The conditions: the method for a value, and the one for a closure, where there is one.
const CONDITIONS: &[(&str, Option<&str>)] = &[
    ("activation_condition", None),
    ("reconcile_precondition", Some("reconcile_when")),
    ("hold_unless", None),
    ("gate", None),
    ("ready_postcondition", Some("ready_when")),
    ("delete_postcondition", Some("deleted_when")),
];
/// Those of which a node has one at the most.
const GATES: &[&str] = &["reconcile_precondition", "hold_unless", "gate"];

/// A node as it is declared.
#[derive(Debug)]
pub(super) struct Node {
    name: Name,
    depends_on: Vec<Name>,
    dependent: Type,
    /// Builds the dependent; without it it is the type's default.
    built_by: Option<Expr>,
    calls: TokenStream,
}

impl Node {
    pub(super) fn parse(entry: &Entry, tokens: TokenStream, errors: &mut Errors) -> Option<Self> {
        let read = |input: ParseStream<'_>| {
            if input.is_empty() {
                errors.at(&entry.key, "`dependent` takes a type: `dependent(HtmlConfigMap)`");
                return Ok((None, Vec::new()));
            }
            let head: Option<Head> = errors.ok(input.parse());
            if head.is_some() {
                entries::expect_comma(input, errors);
            }
            entries::skip_to_comma(input);
            Ok((head, entries::rest::<Entry>(input, errors)))
        };
        let (head, settings) = read.parse2(tokens).ok()?;
        let settings = form::once(settings, errors);
        let Head { dependent, built_by } = head?;
        let span = dependent.span();
        let mut node = Self {
            name: Name { text: last_segment(&dependent), span },
            depends_on: Vec::new(),
            dependent,
            built_by,
            calls: TokenStream::new(),
        };
        for setting in &settings {
            node.set(setting, errors);
        }
        let gates: Vec<&Entry> =
            settings.iter().filter(|setting| GATES.contains(&setting.name().as_str())).collect();
        if let [first, second, ..] = gates.as_slice() {
            let (first, second_name) = (first.name(), second.name());
            errors.at(
                &second.key,
                format!("`{second_name}` would replace `{first}`: a node has one gate; leave one of them out, or say both in one `gate`"),
            );
        }
        Some(node)
    }

    fn set(&mut self, entry: &Entry, errors: &mut Errors) {
        let name = entry.name();
        match name.as_str() {
            "name" => match &entry.value {
                Value::Is(Expr::Lit(ExprLit { lit: Lit::Str(text), .. })) => {
                    self.name = Name { text: text.value(), span: text.span() };
                }
                // An expression's value isn't known here, and `depends_on` has to be checked.
                _ => errors.at(&entry.key, "a node's `name` takes a string: `name = \"web\"`"),
            },
            "depends_on" => match &entry.value {
                Value::List(names) => {
                    let read = |input: ParseStream<'_>| Ok(entries::rest::<Name>(input, errors));
                    self.depends_on = read.parse2(names.clone()).unwrap_or_default();
                }
                Value::Flag | Value::Is(_) => {
                    errors.at(&entry.key, "`depends_on` takes nodes: `depends_on(HtmlConfigMap, \"web\")`");
                }
            },
            "optional" => {
                form::flag(entry, errors);
                self.calls.extend(quote_spanned!(entry.key.span()=> .optional()));
            }
            _ => match CONDITIONS.iter().find(|(key, _)| *key == name) {
                Some((_, for_closures)) => self.condition(entry, *for_closures, errors),
                None => {
                    let known =
                        CONDITIONS.iter().map(|(key, _)| *key).chain(["name", "depends_on", "optional"]);
                    form::unknown_key(entry, known, errors);
                }
            },
        }
    }

    fn condition(&mut self, entry: &Entry, for_closures: Option<&str>, errors: &mut Errors) {
        let key = &entry.key;
        match (&entry.value, for_closures) {
            // Through the method with a direct `Fn` bound the closure's arguments need no types.
            (Value::Is(closure @ Expr::Closure(_)), Some(method)) => {
                let method = Ident::new(method, key.span());
                self.calls.extend(quote_spanned!(key.span()=> .#method(#closure)));
            }
            (Value::Is(Expr::Closure(closure)), None) if key == "activation_condition" => errors.at(
                closure,
                "`activation_condition` takes no closure, since it asks the cluster, never the primary: take `KindServed` or `CrdPresent`, or implement `Activation`; whether the node is to exist for a primary is said by `reconcile_precondition`",
            ),
            (Value::Is(Expr::Closure(closure)), None) => errors.at(
                closure,
                format!("`{key}` takes no closure, since it has to give a reason: implement `Condition`, or `ReconcilePrecondition` for a `gate`"),
            ),
            (Value::Is(condition), _) => {
                self.calls.extend(quote_spanned!(condition.span()=> .#key(#condition)));
            }
            (Value::Flag | Value::List(_), _) => {
                errors.at(key, format!("`{key}` takes a condition: `{key} = Ready`"));
            }
        }
    }

    pub(super) fn vertex(&self) -> Vertex {
        let twice = format!(
            "two nodes are called `{}`; give one of them another name: `name = \"…\"`",
            self.name.text
        );
        Vertex { name: self.name.clone(), after: self.depends_on.clone(), twice }
    }

    /// The node as an expression.
    pub(super) fn generate(&self, primary: &Type, library: &Path) -> TokenStream {
        let Self { name, depends_on, dependent, built_by, calls } = self;
        let built = match built_by {
            Some(closure @ Expr::Closure(_)) => quote!(#library::__private::built(self, #closure)),
            Some(expression) => quote_spanned!(expression.span()=> #expression),
            None => quote_spanned!(dependent.span()=> <#dependent as ::core::default::Default>::default()),
        };
        let node = quote_spanned!(dependent.span()=> #library::workflow::Node::<#primary>::new(#built));
        let name = &name.text;
        let depends_on = depends_on.iter().map(|name| &name.text);
        quote!(#node.named(#name) #(.depends_on(#depends_on))* #calls)
    }
}

/// `Type` or `Type = expression`.
struct Head {
    dependent: Type,
    built_by: Option<Expr>,
}

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let dependent = input.parse()?;
        let built_by = match input.parse::<Option<Token![=]>>()? {
            Some(_) => Some(input.parse()?),
            None => None,
        };
        Ok(Self { dependent, built_by })
    }
}

/// An identifier, or a string where a node is called by something that isn't one.
impl Parse for Name {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(LitStr) {
            let text: LitStr = input.parse()?;
            return Ok(Self { text: text.value(), span: text.span() });
        }
        let dependent: Path = input.parse()?;
        let span = dependent.span();
        let text = dependent.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        Ok(Self { text, span })
    }
}

fn last_segment(dependent: &Type) -> String {
    match dependent {
        Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
    .unwrap_or_else(|| quote!(#dependent).to_string())
}
