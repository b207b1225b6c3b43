//! What the book names exists: options and commands of an operator's binary, methods, paths and types.

use std::{collections::BTreeSet, fs};

use clap::{Args as _, Command, Subcommand as _};
use operator_core::cli::{OperatorCommand, OutputStyle};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::sources;

/// What pages name that is of others, by page.
const OF_OTHERS: &[(&str, &[&str])] = &[
    // Of the Java Operator SDK.
    ("all-events.md", &["PeriodicCleanerExpectationManager"]),
    ("design/0003-dependents-and-workflows.md", &["Creator", "Updater", "Deleter"]),
    ("differences.md", &["DeleteControl", "ErrorStatusUpdateControl", "InformerStoppedHandler"]),
    (
        "architecture.md",
        &["AnyContext", "AnyDependent", "AnyNode", "AnyObject", "AnySecondary", "AnyWorkflow"],
    ),
    // Of the repository's own tests and tools.
    ("architecture.md", &["scope"]),
    ("style.md", &["ClusterTestResource", "LateTestResource", "TestResource", "--parts"]),
    // Of Rust, its crates and the servers.
    ("functions.md", &["Cargo"]),
    ("workflows.md", &["Cargo"]),
    ("design/0003-dependents-and-workflows.md", &["Fn"]),
    ("writing-an-operator.md", &["PartialEq", "reallocate_into_boxed_dyn_error_without_backtrace"]),
    ("in-process-server.md", &["clone", "into"]),
    ("tutorial.md", &["dockerignore"]),
    ("caches.md", &["--feature-gates"]),
    // Of the page's own operator, whose program is elsewhere.
    ("status.md", &["ErrorInHtml", "NoLicence"]),
    ("testing-your-operator.md", &["WebPages"]),
];

/// Their options are their own business.
const PROGRAMS: [&str; 8] = ["kubectl", "cargo", "docker", "git", "kind", "mdbook", "helm", "rustup"];

/// The operators of the book and of the samples.
const OPERATORS: [&str; 8] =
    ["operator", "<operator>", "greeter", "webpage", "tomcat", "store", "mysql-schema", "addon"];

type Words = BTreeSet<String>;

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

fn is_type(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase()) && word.contains(|c: char| c.is_ascii_lowercase())
}

/// What stands between the braces after each `start`.
fn bodies<'t>(code: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    code.split(start).skip(1).map(|rest| {
        let mut depth = 0;
        let end = rest.find(|c| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            c == '}' && depth == 0
        });
        rest.get(..end.unwrap_or(rest.len()))
            .and_then(|rest| rest.split_once('{'))
            .map_or("", |(_, body)| body)
    })
}

/// The names of functions after each `start`.
fn functions<'t>(code: &'t str, start: &'t str) -> impl Iterator<Item = String> + 't {
    code.split(start).skip(1).filter_map(|rest| words(rest).next()).map(str::to_owned)
}

/// All that can be named.
struct Known {
    functions: Words,
    /// Public types and modules.
    public: Words,
    /// Variants, and words in texts: reasons, kinds, lines of a log.
    others: Words,
    operator: Command,
}

impl Known {
    fn new() -> Self {
        let folders = [
            "operator-core/src",
            "operator-core/component/src",
            "operator-macros/src",
            "operator-core/test-cluster/src",
        ];
        let files = folders.into_iter().flat_map(sources::rust).filter(|file| !file.is_test());
        let code: String = files.map(|file| file.code_without_tests()).collect();
        let mut all: Words = ["pub fn ", "pub async fn ", "pub const fn ", "pub const "]
            .into_iter()
            .flat_map(|start| functions(&code, start).collect::<Vec<_>>())
            .collect();
        all.extend(bodies(&code, "pub trait ").flat_map(|body| functions(body, "fn ").collect::<Vec<_>>()));
        let variants = bodies(&code, "pub enum ").flat_map(str::lines).filter_map(|line| words(line).next());
        let texts = code.lines().flat_map(|line| line.split('"').skip(1).step_by(2)).flat_map(words);
        let others = variants.chain(texts).map(str::to_owned).collect();
        let lists = ["operator-core", "operator-core/component"].map(|package| {
            let list = fs::read_to_string(sources::root().join(package).join("public-items.txt"));
            list.expect("the list of public items")
        });
        let public = lists.iter().flat_map(|list| words(list)).map(str::to_owned).collect();
        let operator = OperatorCommand::augment_subcommands(Command::new("operator"));
        let mut operator = OutputStyle::augment_args(operator);
        operator.build();
        Self { functions: all, public, others, operator }
    }

    fn command(&self, name: &str) -> Option<&Command> {
        self.operator.find_subcommand(name)
    }

    /// The options of a command line that no command has, and the command if there is none of that name.
    fn of_a_command_line(&self, line: &str) -> Vec<String> {
        let is_variable = |part: &str| part.contains('=') && !part.starts_with('-');
        let line = line.trim_start();
        let variables = line.split_inclusive(' ').take_while(|part| is_variable(part)).map(str::len).sum();
        let line = line.get(variables..).unwrap_or_default();
        let line = match line.strip_prefix("cargo run").and_then(|rest| rest.split_once(" -- ")) {
            Some((_, line)) => line,
            None if PROGRAMS.iter().any(|program| line.starts_with(program)) => return Vec::new(),
            None => line,
        };
        let mut parts = line.split_whitespace().peekable();
        let mut wrong = Vec::new();
        let is_operator = parts.next_if(|first| OPERATORS.contains(first)).is_some();
        let command = parts.peek().and_then(|name| self.command(name));
        if let Some(name) =
            parts.peek().filter(|name| is_operator && command.is_none() && !name.contains('-'))
        {
            wrong.push(format!("{line}: no command `{name}`"));
        }
        let of_all = || self.operator.get_subcommands().collect::<Vec<_>>();
        let commands = command.map_or_else(of_all, |command| vec![command]);
        let has = |option: &str| {
            let of_commands = commands.iter().flat_map(|command| command.get_arguments());
            let mut arguments = of_commands.chain(self.operator.get_arguments());
            arguments.any(|argument| argument.get_long() == Some(option))
        };
        let options = parts.filter_map(|part| part.trim_start_matches(['[', '(']).strip_prefix("--"));
        let names = options.map(|option| option.split(|c: char| !c.is_alphanumeric() && c != '-').next());
        let missing = names.flatten().filter(|option| !option.is_empty() && !has(option));
        wrong.extend(missing.map(|option| format!("--{option}")));
        wrong
    }

    /// The names in a piece of code that nothing has. `own` are those of the page's programs.
    fn of_code(&self, code: &str, own: &Words) -> Vec<String> {
        let is_known = |name: &str| own.contains(name) || self.functions.contains(name);
        let mut wrong = Vec::new();
        let places = code.match_indices('.').map(|(at, _)| (at, code.get(at + 1..).unwrap_or_default()));
        for (at, rest) in places {
            let Some(name) = words(rest).next().filter(|name| rest.starts_with(name)) else { continue };
            let after = rest.get(name.len()..).unwrap_or_default();
            let is_called =
                after.starts_with('(') || after.starts_with("::<") || (at == 0 && after.is_empty());
            let is_number = name.starts_with(|c: char| c.is_ascii_digit());
            if is_called && !is_number && !is_known(name) {
                wrong.push(format!(".{name}"));
            }
        }
        let path =
            code.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').next().unwrap_or_default();
        let parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
        let Some(first) = parts.first() else { return wrong };
        let exists = |name: &str| is_known(name) || self.public.contains(name) || self.others.contains(name);
        if is_type(first) && !exists(first) {
            wrong.push((*first).to_owned());
        }
        if parts.len() > 1 && self.public.contains(*first) {
            let of_it = parts.iter().skip(1).filter(|part| !exists(part));
            wrong.extend(of_it.map(|part| format!("{first}::{part}")));
        }
        wrong
    }

    /// All that a page names and that doesn't exist.
    fn on_page(&self, text: &str) -> Vec<String> {
        let (mut inline, mut blocks, mut lines) = (Vec::new(), String::new(), Vec::new());
        let (mut block, mut before) = (None::<bool>, String::new());
        let mut commands = Vec::new();
        for event in Parser::new(text) {
            match event {
                Event::Start(Tag::CodeBlock(kind)) => {
                    block = Some(matches!(kind, CodeBlockKind::Fenced(language) if &*language == "sh"));
                }
                Event::End(TagEnd::CodeBlock) => block = None,
                Event::Text(text) => match block {
                    Some(is_shell) => {
                        blocks += &text;
                        lines.extend(text.lines().filter(|_| is_shell).map(str::to_owned));
                    }
                    None => before = text.into_string(),
                },
                Event::Code(code) => {
                    if before.ends_with("command ") {
                        commands.extend(code.split_whitespace().next().map(str::to_owned));
                    }
                    before.clear();
                    inline.push(code.into_string());
                }
                _ => {}
            }
        }
        let own: Words = words(&blocks).map(str::to_owned).collect();
        let is_command = |name: &String| self.command(name).is_some() || PROGRAMS.contains(&name.as_str());
        let commands = commands.into_iter().filter(|name| !is_command(name));
        let mut wrong: Vec<String> = commands.map(|name| format!("no command `{name}`")).collect();
        wrong.extend(lines.iter().chain(&inline).flat_map(|line| self.of_a_command_line(line)));
        wrong.extend(inline.iter().flat_map(|code| self.of_code(code, &own)));
        wrong
    }
}

#[test]
fn what_a_page_names_exists() {
    let known = Known::new();
    let mut pages = sources::all("docs/src");
    pages.retain(|page| page.path.ends_with(".md"));
    let readme = fs::read_to_string(sources::root().join("README.md")).expect("the README");
    pages.push(sources::Source { path: "README.md".to_owned(), text: readme });
    // The first column of its tables has that SDK's names.
    let page = pages.iter_mut().find(|page| page.path == "from-josdk.md").expect("the book has the page");
    let without_first = |line: &str| match line.strip_prefix("| ").and_then(|row| row.split_once(" | ")) {
        Some((_, ours)) => format!("| {ours}\n"),
        None => format!("{line}\n"),
    };
    page.text = page.text.lines().map(without_first).collect();
    let allowed = OF_OTHERS.iter().flat_map(|(page, names)| names.iter().map(|name| (*page, *name)));
    let allowed: Vec<(&str, &str)> = allowed.collect();
    let (mut wrong, mut unused) = (Vec::new(), allowed.clone());
    for page in &pages {
        for name in known.on_page(&page.text) {
            let is_this =
                |(of, other): &(&str, &str)| *of == page.path && *other == name.trim_start_matches('.');
            unused.retain(|entry| !is_this(entry));
            if !allowed.iter().any(is_this) {
                wrong.push(format!("{}: {name}", page.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(unused.is_empty(), "no page needs {unused:?}");
}

#[test]
fn what_does_not_exist_is_found() {
    let known = Known::new();
    for (text, found) in [
        ("`.foo_bar()`", ".foo_bar"),
        ("`web.foo_bar::<K>(html)`", ".foo_bar"),
        ("`.foo_bar`", ".foo_bar"),
        ("`Run::foo_bar`", "Run::foo_bar"),
        ("`FooBar`", "FooBar"),
        ("`run --nope`", "--nope"),
        ("`--nope FILE`", "--nope"),
        ("`crd --once`", "--once"),
        ("`RUST_LOG=debug run --nope`", "--nope"),
        ("`operator crds`", "operator crds: no command `crds`"),
        ("the command `rights` prints it", "no command `rights`"),
        ("```sh\ncargo run -p webpage -- dev --nope\n```", "--nope"),
    ] {
        assert_eq!(known.on_page(text), [found], "{text}");
    }
    let sound = "`.after(html)`, `cx.run()`, `Run::nodes`, `run --http 0.0.0.0:8080`, `kubectl get --all`, `web.mine()`, the command \
                 `graph --removes NODE`\n\n```rust\nfn mine() {}\n```\n\n```sh\ncargo run -p webpage -- dev --once\n```";
    assert_eq!(known.on_page(sound), [""; 0]);
}
