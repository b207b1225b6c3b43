//! A node that is a function, or a value, with its settings.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Expr, ExprPath, Ident, Lit, Path, Type,
    parse::{ParseStream, Parser},
    spanned::Spanned,
};

use super::{
    graph::{Name, Vertex},
    item::{Item, value_needs_name},
    text,
};
use crate::{
    entries::{self, Entry, Value},
    errors::{Errors, instead},
    form,
};

/// The settings that accept paths or expressions, each of which is a call, with an example.
const LISTS: &[(&str, &str, &str)] = &[
    ("after", "nodes", "after(html)"),
    ("requires", "nodes", "requires(html)"),
    ("starts_after", "nodes", "starts_after(database)"),
    ("starts_when", "a function of the primary", "starts_when(is_licensed)"),
    ("kind", "the kind of a `DynamicObject`", "kind(resource())"),
    ("kinds", "the kinds of `Objects`", "kinds([(\"v1\", \"ConfigMap\")])"),
    ("ready", "conditions", "ready(rolled_out)"),
    ("also_ready", "conditions", "also_ready(has_members)"),
    ("needs", "what the cluster must have", "needs(served::<Route>())"),
    ("gone", "conditions", "gone(drained)"),
    ("only_if", "a function of the primary", "only_if(is_exposed)"),
    ("change", "functions that change what it wants", "change(with_sidecar)"),
    ("once_per", "a function of the primary that returns the key", "once_per(version)"),
    ("adopt", "whose objects may be taken over", "adopt(Adoption::IfUnowned)"),
    ("event_source", "a name", "event_source(\"config-maps\")"),
    (
        "informer",
        "an informer of its own",
        "informer(InformerEventSource::new().label_selector(\"app=web\"))",
    ),
    ("mapping_annotations", "keys", "mapping_annotations(MappingAnnotations::new(…))"),
    ("matcher", "a matcher", "matcher(Matcher::Generic(…))"),
    (
        "matches",
        "a function of the actual object, the desired one, the primary and the context",
        "matches(is_as_desired)",
    ),
    (
        "managed_types",
        "a function of the primary that returns groups and kinds",
        "managed_types(of_the_operator)",
    ),
    ("propagation", "what becomes of what an object owns", "propagation(PropagationPolicy::Foreground)"),
    ("use_ssa", "`true` or `false`", "use_ssa(false)"),
];
/// The settings without arguments.
const FLAGS: &[&str] = &[
    "delete_first",
    "ready_when_applied",
    "when_served",
    "create_only",
    "without_owner",
    "retained",
    "optional",
    "cluster_scoped",
    "prune_data",
    "recreate_when_immutable",
    "detect_api_version_change",
    "may_be_empty",
];
const NAMED: &str = "named";
const CONFIGURE: &str = "configure";

/// A node.
#[derive(Debug)]
pub(super) struct Wired {
    /// The path as it is written, or the name of the value.
    path: ExprPath,
    value: Option<Expr>,
    /// The nodes that it comes after, each with its word.
    after: Vec<(Ident, ExprPath)>,
    calls: TokenStream,
    /// Its name in the cluster, if it is known here.
    called: Option<Name>,
    configure: Option<Expr>,
}

impl Wired {
    pub(super) fn parse(item: Item, errors: &mut Errors) -> Option<Self> {
        let Item { path, words, value } = item;
        if value.is_some() && path.path.get_ident().is_none() {
            errors.at(
                &path,
                format!("the name of a value is one word: `records = …`, not `{} = …`", text(&path)),
            );
            return None;
        }
        if value.is_none()
            && let Some(words) = &words
            && is_value(&path, words)
        {
            errors.at(&path, value_needs_name(&path));
            return None;
        }
        let called = path
            .path
            .segments
            .last()
            .map(|segment| Name { text: segment.ident.to_string(), span: segment.ident.span() });
        let mut node =
            Self { path, value, after: Vec::new(), calls: TokenStream::new(), called, configure: None };
        let words = form::once(entries::parse(words.unwrap_or_default(), errors), errors);
        if node.value.is_some() && !words.iter().any(|word| word.name() == NAMED) {
            let name = node.called.as_ref().map(|name| &name.text);
            node.calls.extend(quote!(.named(#name)));
        }
        for word in &words {
            node.say(word, errors);
        }
        Some(node)
    }

    fn say(&mut self, word: &Entry, errors: &mut Errors) {
        let key = &word.key;
        let name = word.name();
        if FLAGS.contains(&name.as_str()) {
            form::flag(word, errors);
            self.calls.extend(quote!(.#key()));
        } else if let Some((_, what, example)) = LISTS.iter().find(|(known, ..)| *known == name) {
            let list = match &word.value {
                Value::List(list) if !list.is_empty() => list.clone(),
                _ => return errors.at(key, format!("`{name}` takes {what}, in parentheses: `{example}`")),
            };
            let read = |input: ParseStream<'_>| Ok(entries::rest::<Expr>(input, errors));
            let list = read.parse2(list).unwrap_or_default();
            for argument in list {
                self.take(key, argument, errors);
            }
        } else if name == NAMED {
            match &word.value {
                Value::Is(name) => {
                    self.called = match form::literal(name) {
                        Some(Lit::Str(text)) => Some(Name { text: text.value(), span: text.span() }),
                        Some(other) => return errors.at(other, "`named` takes a string: `named = \"web\"`"),
                        None => None,
                    };
                    self.calls.extend(quote!(.#key(#name)));
                }
                _ => errors.at(key, "`named` takes a string: `named = \"web\"`"),
            }
        } else if name == CONFIGURE {
            match &word.value {
                Value::Is(change) => self.configure = Some(change.clone()),
                _ => errors.at(key, "`configure` takes a function: `configure = |node| node.…`"),
            }
        } else {
            let known = LISTS.iter().map(|(key, ..)| *key);
            form::unknown_key(word, known.chain(FLAGS.iter().copied()).chain([NAMED, CONFIGURE]), errors);
        }
    }

    fn take(&mut self, key: &Ident, argument: Expr, errors: &mut Errors) {
        match argument {
            Expr::Path(path) if names_nodes(key) => self.after.push((key.clone(), path)),
            other if names_nodes(key) => errors.at(
                &other,
                format!(
                    "`{key}` takes nodes as they are written in this attribute: the path of a function, `{key}(html)`, or the name of a value, `{key}(records)`"
                ),
            ),
            Expr::Closure(closure)
                if key != "needs" && closure.inputs.iter().any(|input| !matches!(input, syn::Pat::Type(_))) =>
            {
                errors.at(
                    &closure,
                    format!("a closure needs the types of its arguments: `{key}(|web: &Deployment| …)`"),
                );
            }
            other => self.calls.extend(quote!(.#key(#other))),
        }
    }

    pub(super) fn vertex(&self) -> Vertex {
        let name = |path: &ExprPath| Name { text: text(path), span: path.span() };
        let twice = format!("`{}` is two nodes of this workflow; leave one of them out", text(&self.path));
        Vertex {
            name: name(&self.path),
            after: self.after.iter().map(|(_, path)| name(path)).collect(),
            twice,
        }
    }

    /// The variable that contains it.
    fn variable(position: usize) -> Ident {
        // Hidden from the user's expressions.
        Ident::new(&format!("node_{position}"), Span::mixed_site())
    }

    /// It has no settings, so it is passed as it is.
    fn is_bare(&self) -> bool {
        self.after.is_empty() && self.calls.is_empty() && self.configure.is_none()
    }

    /// The node without its settings.
    fn made(&self, position: usize, primary: &Type, library: &Path) -> Option<TokenStream> {
        let variable = Self::variable(position);
        let made = match &self.value {
            Some(value) => value.to_token_stream(),
            None => self.path.to_token_stream(),
        };
        // Its mistakes are shown where it is written.
        let node = match &self.value {
            Some(_) => quote_spanned!(made.span()=> #library::__private::wired::<#primary, _, _>(#made)),
            None => quote_spanned!(made.span()=> #library::node::<#primary, _, _>(#made)),
        };
        (!self.is_bare()).then(|| quote!(let #variable = #node;))
    }

    /// The settings, when all nodes exist.
    fn said(&self, position: usize, all: &[Self], library: &Path) -> Option<TokenStream> {
        let Self { after, calls, configure, .. } = self;
        let after: TokenStream = after.iter().map(|(key, path)| after_call(key, path, all)).collect();
        let variable = Self::variable(position);
        let said = quote!(#variable #after #calls);
        let said = match configure {
            Some(change) => quote!(#library::__private::configured(#said, #change)),
            None => said,
        };
        (!self.is_bare()).then(|| quote!(let #variable = #said;))
    }

    /// The call that adds it.
    fn taken(&self, position: usize) -> TokenStream {
        let (path, variable) = (&self.path, Self::variable(position));
        match self.is_bare() {
            true => quote_spanned!(path.span()=> .wired(#path)),
            // An editor that looks for the user's code finds this at the user's place.
            false => quote!(.nodes((#variable,))),
        }
    }
}

/// Whether the word takes nodes.
fn names_nodes(word: &Ident) -> bool {
    word == "after" || word == "requires" || word == "starts_after"
}

/// `.after(…)`, or nothing if there is no such node, which has been reported.
fn after_call(key: &Ident, path: &ExprPath, all: &[Wired]) -> TokenStream {
    let written = text(path);
    match all.iter().position(|node| text(&node.path) == written) {
        Some(position) if all[position].value.is_some() => {
            let variable = Wired::variable(position);
            quote!(.#key(&#variable))
        }
        Some(_) => quote!(.#key(#path)),
        None => TokenStream::new(),
    }
}

/// Reports nodes that would have the same name in the cluster.
pub(super) fn check_names(nodes: &[Wired], errors: &mut Errors) {
    for (position, node) in nodes.iter().enumerate() {
        let Some(name) = &node.called else { continue };
        let same = |other: &&Wired| {
            other.called.as_ref().is_some_and(|called| called.text == name.text)
                && text(&other.path) != text(&node.path)
        };
        if let Some(other) = nodes[..position].iter().find(same) {
            let (this, other) = (text(&node.path), text(&other.path));
            let message = format!(
                "`{other}` and `{this}` are both called `{}`; give one of them a name of its own: `named = \"…\"`",
                name.text
            );
            errors.push(syn::Error::new(name.span, message));
        }
    }
}

/// The statements that make the nodes, and the calls of the builder that add them.
pub(super) fn generate(nodes: &[Wired], primary: &Type, library: &Path) -> (TokenStream, TokenStream) {
    let made = nodes.iter().enumerate().filter_map(|(position, node)| node.made(position, primary, library));
    let said = nodes.iter().enumerate().filter_map(|(position, node)| node.said(position, nodes, library));
    let statements = quote!(#(#made)* #(#said)*);
    let taken = nodes.iter().enumerate().map(|(position, node)| node.taken(position)).collect();
    (statements, taken)
}

/// Whether it looks like a call that makes a value, and not like a function followed by settings.
fn is_value(path: &ExprPath, words: &TokenStream) -> bool {
    let is_type = |text: &str| text.starts_with(char::is_uppercase);
    let of_type = path.path.segments.iter().any(|segment| is_type(&segment.ident.to_string()));
    let first = words.clone().into_iter().next().map(|token| token.to_string()).unwrap_or_default();
    let known = LISTS.iter().map(|(key, ..)| *key).chain(FLAGS.iter().copied()).chain([NAMED, CONFIGURE]);
    let is_word = known.clone().any(|word| word == first) || instead(&first, known).contains("did you mean");
    of_type && !is_word
}
