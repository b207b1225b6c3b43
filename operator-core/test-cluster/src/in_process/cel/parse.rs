//! The text of an expression as a tree, with the macros of Kubernetes expanded.
//!
//! The parser is that of the crate `cel`, made from the same grammar as Go's. Its interpreter isn't used: it knows no
//! types, and goes through maps in no order.

use std::sync::LazyLock;

use cel::{
    Env,
    common::ast::{
        CallExpr, ComprehensionExpr, Expr, IdedExpr, ListExpr, LiteralValue, MapExpr, SourceInfo, operators,
    },
    parser::{Macro, MacroExprHelper, ParseError},
};

/// The variable in which a comprehension collects its result.
pub(super) const ACCUMULATOR: &str = "@result";
/// The variable of a loop that isn't one, but binds a name.
pub(super) const UNUSED: &str = "#unused";

static ENV: LazyLock<Env> = LazyLock::new(|| {
    let mut env = Env::stdlib().with_optional_support(true);
    let all = [
        Macro::receiver("all", 3, |help, target, args| quantifier(help, target, args, Quantifier::All)),
        Macro::receiver("exists", 3, |help, target, args| quantifier(help, target, args, Quantifier::Exists)),
        Macro::receiver("exists_one", 3, |help, target, args| {
            quantifier(help, target, args, Quantifier::One)
        }),
        Macro::receiver("existsOne", 3, |help, target, args| quantifier(help, target, args, Quantifier::One)),
        Macro::receiver("transformList", 3, |help, target, args| transform(help, target, args, Into::List)),
        Macro::receiver("transformList", 4, |help, target, args| transform(help, target, args, Into::List)),
        Macro::receiver("transformMap", 3, |help, target, args| transform(help, target, args, Into::Map)),
        Macro::receiver("transformMap", 4, |help, target, args| transform(help, target, args, Into::Map)),
        Macro::receiver("transformMapEntry", 3, |help, target, args| {
            transform(help, target, args, Into::Entries)
        }),
        Macro::receiver("transformMapEntry", 4, |help, target, args| {
            transform(help, target, args, Into::Entries)
        }),
        Macro::receiver("optMap", 2, |help, target, args| optional(help, target, args, true)),
        Macro::receiver("optFlatMap", 2, |help, target, args| optional(help, target, args, false)),
        Macro::receiver("sortBy", 2, sort_by),
    ];
    for one in all {
        // No name is there twice.
        let _added = env.add_macro(one);
    }
    env
});

/// Parses a text; the error is that of the whole, in Go's form.
pub(super) fn parse(source: &str) -> Result<(IdedExpr, SourceInfo), String> {
    ENV.parser().parse_with_source_info(source).map_err(|errors| {
        let errors = errors.errors.iter().map(|error| {
            let line = usize::try_from(error.pos.0).unwrap_or(1).max(1);
            let column = usize::try_from(error.pos.1).unwrap_or(1).saturating_sub(1);
            let is_own = error.msg.starts_with("Syntax error");
            let grammar = if error.source.is_some() && !is_own { "Syntax error: " } else { "" };
            located(source, line, column, &format!("{grammar}{}", error.msg))
        });
        errors.collect::<Vec<_>>().join("\n")
    })
}

/// An error with the place that it is about: a line from 1, a column from 0.
pub(super) fn located(source: &str, line: usize, column: usize, message: &str) -> String {
    let snippet = source.split('\n').nth(line - 1).unwrap_or_default().replace('\t', " ");
    let dots: String =
        snippet.chars().take(column).map(|letter| if letter.len_utf8() > 1 { '．' } else { '.' }).collect();
    let mark =
        snippet.chars().nth(column).map_or('^', |letter| if letter.len_utf8() > 1 { '＾' } else { '^' });
    format!("ERROR: <input>:{line}:{}: {message}\n | {snippet}\n | {dots}{mark}", column + 1)
}

/// Line and column of an offset.
pub(super) fn place(source: &str, offset: usize) -> (usize, usize) {
    let before = source.get(..offset).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().unwrap_or_default().chars().count())
}

type Help<'h, 'm> = &'h mut MacroExprHelper<'m>;
type Expanded = Result<Option<IdedExpr>, ParseError>;

fn call(help: Help<'_, '_>, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    help.next_expr(Expr::Call(CallExpr { func_name: name.to_owned(), target: None, args }))
}

fn member(help: Help<'_, '_>, target: IdedExpr, name: &str, args: Vec<IdedExpr>) -> IdedExpr {
    let target = Some(Box::new(target));
    help.next_expr(Expr::Call(CallExpr { func_name: name.to_owned(), target, args }))
}

fn ident(help: Help<'_, '_>, name: &str) -> IdedExpr {
    help.next_expr(Expr::Ident(name.to_owned()))
}

fn accumulator(help: Help<'_, '_>) -> IdedExpr {
    ident(help, ACCUMULATOR)
}

fn boolean(help: Help<'_, '_>, value: bool) -> IdedExpr {
    help.next_expr(Expr::Literal(LiteralValue::Boolean(value.into())))
}

fn number(help: Help<'_, '_>, value: i64) -> IdedExpr {
    help.next_expr(Expr::Literal(LiteralValue::Int(value.into())))
}

/// The names of two loop variables.
fn variables(help: &MacroExprHelper<'_>, args: &[IdedExpr]) -> Result<(String, String), ParseError> {
    let name = |arg: &IdedExpr| match &arg.expr {
        Expr::Ident(name) if name == ACCUMULATOR || name == "__result__" => {
            Err(help.new_error(arg.id, "iteration variable overwrites accumulator variable"))
        }
        Expr::Ident(name) => Ok(name.clone()),
        _ => Err(help.new_error(arg.id, "argument must be a simple name")),
    };
    let (first, second) = (name(&args[0])?, name(&args[1])?);
    if first == second {
        return Err(help.new_error(args[1].id, format!("duplicate variable name: {first}")));
    }
    Ok((first, second))
}

#[derive(Clone, Copy)]
enum Quantifier {
    All,
    Exists,
    One,
}

fn quantifier(
    help: Help<'_, '_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
    which: Quantifier,
) -> Expanded {
    let (first, second) = variables(help, args)?;
    let (Some(range), Some(condition)) = (target.take(), args.pop()) else { return Ok(None) };
    let (init, loop_cond, step, result);
    match which {
        Quantifier::All => {
            init = boolean(help, true);
            let so_far = accumulator(help);
            loop_cond = call(help, operators::NOT_STRICTLY_FALSE, vec![so_far]);
            let so_far = accumulator(help);
            step = call(help, operators::LOGICAL_AND, vec![so_far, condition]);
            result = accumulator(help);
        }
        Quantifier::Exists => {
            init = boolean(help, false);
            let so_far = accumulator(help);
            let not = call(help, operators::LOGICAL_NOT, vec![so_far]);
            loop_cond = call(help, operators::NOT_STRICTLY_FALSE, vec![not]);
            let so_far = accumulator(help);
            step = call(help, operators::LOGICAL_OR, vec![so_far, condition]);
            result = accumulator(help);
        }
        Quantifier::One => {
            init = number(help, 0);
            loop_cond = boolean(help, true);
            let (so_far, one) = (accumulator(help), number(help, 1));
            let more = call(help, operators::ADD, vec![so_far, one]);
            let so_far = accumulator(help);
            step = call(help, operators::CONDITIONAL, vec![condition, more, so_far]);
            let (so_far, one) = (accumulator(help), number(help, 1));
            result = call(help, operators::EQUALS, vec![so_far, one]);
        }
    }
    Ok(Some(comprehension(help, range, (first, Some(second)), ACCUMULATOR, [init, loop_cond, step, result])))
}

fn comprehension(
    help: Help<'_, '_>,
    iter_range: IdedExpr,
    (iter_var, iter_var2): (String, Option<String>),
    accu_var: &str,
    [accu_init, loop_cond, loop_step, result]: [IdedExpr; 4],
) -> IdedExpr {
    let accu_var = accu_var.to_owned();
    help.next_expr(Expr::Comprehension(Box::new(ComprehensionExpr {
        iter_range,
        iter_var,
        iter_var2,
        accu_var,
        accu_init,
        loop_cond,
        loop_step,
        result,
    })))
}

#[derive(Clone, Copy)]
enum Into {
    List,
    Map,
    Entries,
}

fn transform(
    help: Help<'_, '_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
    into: Into,
) -> Expanded {
    let (first, second) = variables(help, args)?;
    let (Some(range), Some(transform)) = (target.take(), args.pop()) else { return Ok(None) };
    let filter = if args.len() == 3 { args.pop() } else { None };
    let init = match into {
        Into::List => Expr::List(ListExpr::new(Vec::new())),
        Into::Map | Into::Entries => Expr::Map(MapExpr { entries: Vec::new() }),
    };
    let init = help.next_expr(init);
    let so_far = accumulator(help);
    let mut step = match into {
        Into::List => {
            let item = help.next_expr(Expr::List(ListExpr::new(vec![transform])));
            call(help, operators::ADD, vec![so_far, item])
        }
        Into::Map => {
            let key = ident(help, &first);
            call(help, "cel.@mapInsert", vec![so_far, key, transform])
        }
        Into::Entries => call(help, "cel.@mapInsert", vec![so_far, transform]),
    };
    if let Some(filter) = filter {
        let so_far = accumulator(help);
        step = call(help, operators::CONDITIONAL, vec![filter, step, so_far]);
    }
    let (loop_cond, result) = (boolean(help, true), accumulator(help));
    Ok(Some(comprehension(help, range, (first, Some(second)), ACCUMULATOR, [init, loop_cond, step, result])))
}

/// A name for a value, in the form of a loop that never runs.
fn bind(help: Help<'_, '_>, name: &str, value: IdedExpr, result: IdedExpr) -> IdedExpr {
    let range = help.next_expr(Expr::List(ListExpr::new(Vec::new())));
    let (loop_cond, step) = (boolean(help, false), ident(help, name));
    comprehension(help, range, (UNUSED.to_owned(), None), name, [value, loop_cond, step, result])
}

fn optional(
    help: Help<'_, '_>,
    target: &mut Option<IdedExpr>,
    args: &mut Vec<IdedExpr>,
    wraps: bool,
) -> Expanded {
    let macro_name = if wraps { "optMap" } else { "optFlatMap" };
    let Expr::Ident(name) = &args[0].expr else {
        return Err(
            help.new_error(args[0].id, format!("{macro_name}() variable name must be a simple identifier"))
        );
    };
    let name = name.clone();
    let (Some(target), Some(result)) = (target.take(), args.pop()) else { return Ok(None) };
    let has_value = member(help, target.clone(), "hasValue", Vec::new());
    let value = member(help, target, "value", Vec::new());
    let mut bound = bind(help, &name, value, result);
    let namespace = |help: Help<'_, '_>| ident(help, "optional");
    if wraps {
        let space = namespace(help);
        bound = member(help, space, "of", vec![bound]);
    }
    let space = namespace(help);
    let none = member(help, space, "none", Vec::new());
    Ok(Some(call(help, operators::CONDITIONAL, vec![has_value, bound, none])))
}

/// Sorts a list by what an expression makes of its items.
fn sort_by(help: Help<'_, '_>, target: &mut Option<IdedExpr>, args: &mut Vec<IdedExpr>) -> Expanded {
    const INPUT: &str = "@__sortBy_input__";
    let Some(list) = target.take() else { return Ok(None) };
    if matches!(list.expr, Expr::Literal(_) | Expr::Map(_) | Expr::Struct(_)) {
        let why =
            "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return Err(help.new_error(list.id, why));
    }
    let Expr::Ident(variable) = &args[0].expr else {
        return Err(help.new_error(args[0].id, "argument is not an identifier"));
    };
    let variable = variable.clone();
    let Some(key) = args.pop() else { return Ok(None) };
    let range = ident(help, INPUT);
    let init = help.next_expr(Expr::List(ListExpr::new(Vec::new())));
    let loop_cond = boolean(help, true);
    let (so_far, item) = (accumulator(help), help.next_expr(Expr::List(ListExpr::new(vec![key]))));
    let step = call(help, operators::ADD, vec![so_far, item]);
    let result = accumulator(help);
    let keys = comprehension(help, range, (variable, None), ACCUMULATOR, [init, loop_cond, step, result]);
    let input = ident(help, INPUT);
    let sorted = member(help, input, "@sortByAssociatedKeys", vec![keys]);
    Ok(Some(bind(help, INPUT, list, sorted)))
}
