//! Types of an expression's parts: what doesn't fit is reported in the words of Go's checker.
//!
//! ```text
//!  parsed tree ─▶ checked, part by part ─▶ tree with types
//! ```

use cel::common::ast::{self, EntryExpr, IdedExpr, LiteralValue, SourceInfo, operators};

use super::{
    overloads::{Overload, overloads, type_name},
    parse::{located, place},
    tree::{Expr, Fold, Literal, Node},
    types::Type,
    unify::{Mapping, most_general},
};

/// The variables that an expression may use.
#[derive(Clone, Debug)]
pub(super) struct Variables(pub(super) Vec<(&'static str, Type)>);

pub(super) struct Checker<'c> {
    source: &'c str,
    info: &'c SourceInfo,
    scopes: Vec<(String, Type)>,
    mapping: Mapping,
    variables: usize,
    /// Errors, by place.
    pub(super) errors: Vec<((usize, usize), String)>,
    /// The declared variables that are used.
    pub(super) used: Vec<String>,
}

impl<'c> Checker<'c> {
    pub(super) fn new(source: &'c str, info: &'c SourceInfo, variables: &Variables) -> Self {
        let scopes = variables.0.iter().map(|(name, of)| ((*name).to_owned(), of.clone())).collect();
        let mapping = Mapping::default();
        Self { source, info, scopes, mapping, variables: 0, errors: Vec::new(), used: Vec::new() }
    }

    /// Checks a whole expression.
    pub(super) fn root(&mut self, tree: IdedExpr) -> Expr {
        let mut checked = self.check(tree);
        self.settle(&mut checked);
        checked
    }

    /// What is left of type variables is dynamic.
    fn settle(&self, expr: &mut Expr) {
        expr.of = self.mapping.substitute(&expr.of, true);
        expr.children_mut(&mut |child| self.settle(child));
    }

    pub(super) fn report(&mut self, id: u64, message: String) {
        let offset = self.info.offset_for(id).map_or(0, |(start, _)| usize::try_from(start).unwrap_or(0));
        self.errors.push((place(self.source, offset), message));
    }

    /// The errors as one text.
    pub(super) fn text(&self) -> String {
        let mut errors = self.errors.clone();
        errors.sort_by_key(|(place, _)| *place);
        let all =
            errors.iter().map(|((line, column), message)| located(self.source, *line, *column, message));
        all.collect::<Vec<_>>().join("\n")
    }

    fn fresh(&mut self) -> Type {
        self.variables += 1;
        Type::Param(format!("_var{}", self.variables - 1).into())
    }

    fn known(&self, of: &Type) -> Type {
        self.mapping.substitute(of, false)
    }

    fn check(&mut self, IdedExpr { id, expr }: IdedExpr) -> Expr {
        let (node, of) = match expr {
            ast::Expr::Literal(literal) => literal_of(&literal),
            ast::Expr::Ident(name) => self.ident(id, name),
            ast::Expr::Select(select) => self.select(id, select),
            ast::Expr::Call(call) if call.func_name == operators::OPT_SELECT => {
                self.optional_select(id, call)
            }
            ast::Expr::Call(call) => self.call(id, call),
            ast::Expr::List(list) => self.list(list),
            ast::Expr::Map(map) => self.map(map),
            ast::Expr::Comprehension(fold) => self.fold(*fold),
            ast::Expr::Struct(of) => {
                self.report(id, format!("undeclared reference to '{}' (in container '')", of.type_name));
                (Node::Literal(Literal::Null), Type::Error)
            }
            ast::Expr::Unspecified => (Node::Literal(Literal::Null), Type::Error),
        };
        Expr { id, of, node }
    }

    fn lookup(&self, name: &str) -> Option<Type> {
        let local = self.scopes.iter().rev().find(|(known, _)| known == name).map(|(_, of)| of.clone());
        local.or_else(|| type_name(name).map(|of| Type::Meta(Some(Box::new(of)))))
    }

    fn ident(&mut self, id: u64, name: String) -> (Node, Type) {
        match self.lookup(&name) {
            Some(of) => {
                if !self.used.contains(&name) {
                    self.used.push(name.clone());
                }
                (Node::Ident(name), of)
            }
            None => {
                self.report(id, format!("undeclared reference to '{name}' (in container '')"));
                (Node::Ident(name), Type::Error)
            }
        }
    }

    fn select(&mut self, id: u64, select: ast::SelectExpr) -> (Node, Type) {
        if !select.test
            && let Some(name) =
                qualified(&select.operand).map(|operand| format!("{operand}.{}", select.field))
            && type_name(&name).is_some()
        {
            return self.ident(id, name);
        }
        let operand = self.check(*select.operand);
        let of = self.field(id, &operand.of, &select.field, false);
        let of = if select.test { Type::Bool } else { self.known(&of) };
        (Node::Select { operand: Box::new(operand), field: select.field, test: select.test }, of)
    }

    fn optional_select(&mut self, id: u64, mut call: ast::CallExpr) -> (Node, Type) {
        let field = call.args.pop();
        let operand = call.args.pop();
        let name = field.as_ref().and_then(|field| match &field.expr {
            ast::Expr::Literal(LiteralValue::String(text)) => Some(text.inner().to_owned()),
            _ => None,
        });
        let (Some(operand), Some(name)) = (operand, name) else {
            self.report(id, "unsupported optional field selection: a field".to_owned());
            return (Node::Literal(Literal::Null), Type::Error);
        };
        let operand = self.check(operand);
        let of = self.field(id, &operand.of, &name, true);
        let of = self.known(&of);
        (Node::OptionalSelect { operand: Box::new(operand), field: name }, of)
    }

    fn field(&mut self, id: u64, operand: &Type, field: &str, optional: bool) -> Type {
        let operand = self.known(operand);
        let target = operand.unwrapped().unwrap_or(&operand);
        let result = match target {
            Type::Map(of) => of.1.clone(),
            Type::Object(object) => match object.fields.get(field) {
                Some(declared) => declared.clone(),
                None => {
                    self.report(id, format!("undefined field '{field}'"));
                    Type::Error
                }
            },
            Type::Param(_) => {
                self.mapping.assign(&Type::Dyn, target);
                Type::Dyn
            }
            Type::Dyn | Type::Error => Type::Dyn,
            other => {
                self.report(id, format!("type '{other}' does not support field selection"));
                Type::Dyn
            }
        };
        if optional || operand.unwrapped().is_some() { Type::optional(result) } else { result }
    }

    fn call(&mut self, id: u64, call: ast::CallExpr) -> (Node, Type) {
        let ast::CallExpr { func_name, target, args } = call;
        let args: Vec<Expr> = args.into_iter().map(|arg| self.check(arg)).collect();
        let mut function = func_name;
        let mut on = None;
        if let Some(target) = target {
            let name = qualified(&target).map(|prefix| format!("{prefix}.{function}"));
            match name.filter(|name| overloads(name).is_some()) {
                Some(name) => function = name,
                None => on = Some(Box::new(self.check(*target))),
            }
        }
        let Some(forms) = overloads(&function) else {
            self.report(id, format!("undeclared reference to '{function}' (in container '')"));
            return (Node::Call { function, target: on, args }, Type::Error);
        };
        let types: Vec<Type> =
            on.iter().map(|on| on.of.clone()).chain(args.iter().map(|arg| arg.of.clone())).collect();
        let of = self.resolve(id, &function, forms, on.is_some(), &args, &types);
        (Node::Call { function, target: on, args }, of.unwrap_or(Type::Error))
    }

    fn resolve(
        &mut self,
        id: u64,
        function: &str,
        forms: &'static [Overload],
        is_member: bool,
        args: &[Expr],
        types: &[Type],
    ) -> Option<Type> {
        if matches!(function, operators::LOGICAL_AND | operators::LOGICAL_OR) {
            let mut fits = true;
            for arg in args {
                if !self.mapping.assign(&arg.of, &Type::Bool) {
                    let message = format!("expected type 'bool' but found '{}'", arg.of);
                    self.report(arg.id, message);
                    fits = false;
                }
            }
            return fits.then_some(Type::Bool);
        }
        let mut result: Option<Type> = None;
        for form in forms.iter().filter(|form| form.is_member == is_member) {
            let (arguments, of) = self.instance(form);
            if !self.mapping.assign_all(types, &arguments) {
                continue;
            }
            let of = self.known(&of);
            result = Some(match result {
                None => of,
                Some(before) if !before.is_dyn() && !of.is(&before) => Type::Dyn,
                Some(before) => before,
            });
        }
        if result.is_none() {
            let mut types: Vec<String> =
                types.iter().map(|of| self.mapping.substitute(of, true).to_string()).collect();
            let target = if is_member { format!("{}.", types.remove(0)) } else { String::new() };
            let signature = format!("{target}({})", types.join(", "));
            self.report(id, format!("found no matching overload for '{function}' applied to '{signature}'"));
        }
        result
    }

    /// A form with type variables of its own.
    fn instance(&mut self, form: &Overload) -> (Vec<Type>, Type) {
        if !form.has_params {
            return (form.arguments.clone(), form.result.clone());
        }
        let own = Mapping::of(["A", "B"].map(|name| (name, self.fresh())));
        let of = |of: &Type| own.substitute(of, false);
        (form.arguments.iter().map(of).collect(), of(&form.result))
    }

    fn list(&mut self, list: ast::ListExpr) -> (Node, Type) {
        let mut of: Option<Type> = None;
        let mut items = Vec::with_capacity(list.elements.len());
        for (at, element) in list.elements.into_iter().enumerate() {
            let item = self.check(element);
            let is_optional = list.optional_indices.contains(&at);
            let item_of = if is_optional { self.present(&item) } else { item.of.clone() };
            of = Some(self.join(item.id, of, &item_of));
            items.push((item, is_optional));
        }
        let of = of.unwrap_or_else(|| self.fresh());
        (Node::List(items), Type::list(of))
    }

    /// The type of what an optional entry adds.
    fn present(&mut self, value: &Expr) -> Type {
        match value.of.unwrapped() {
            Some(of) => of.clone(),
            None => {
                if !value.of.is_dyn() {
                    let wanted = Type::optional(value.of.clone());
                    self.report(value.id, format!("expected type '{wanted}' but found '{}'", value.of));
                }
                value.of.clone()
            }
        }
    }

    fn map(&mut self, map: ast::MapExpr) -> (Node, Type) {
        let (mut keys, mut values): (Option<Type>, Option<Type>) = (None, None);
        let mut entries = Vec::with_capacity(map.entries.len());
        for entry in map.entries {
            let EntryExpr::MapEntry(entry) = entry.expr else { continue };
            let key = self.check(entry.key);
            keys = Some(self.join(key.id, keys, &key.of));
            let value = self.check(entry.value);
            let of = if entry.optional { self.present(&value) } else { value.of.clone() };
            values = Some(self.join(value.id, values, &of));
            entries.push((key, value, entry.optional));
        }
        let keys = keys.unwrap_or_else(|| self.fresh());
        let values = values.unwrap_or_else(|| self.fresh());
        (Node::Map(entries), Type::map(keys, values))
    }

    /// All items of a literal have one type.
    fn join(&mut self, id: u64, before: Option<Type>, of: &Type) -> Type {
        let Some(before) = before else { return of.clone() };
        if self.mapping.assign(&before, of) {
            return most_general(&before, of);
        }
        self.report(id, format!("expected type '{before}' but found '{of}'"));
        Type::Error
    }

    fn fold(&mut self, fold: ast::ComprehensionExpr) -> (Node, Type) {
        let range = self.check(fold.iter_range);
        let init = self.check(fold.accu_init);
        let of = self.known(&range.of);
        self.scopes.push((fold.accu_var.clone(), init.of.clone()));
        let two = fold.iter_var2.is_some();
        let (first, second) = match &of {
            Type::List(of) if two => (Type::Int, (**of).clone()),
            Type::List(of) => ((**of).clone(), Type::Dyn),
            Type::Map(of) => (of.0.clone(), of.1.clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.mapping.assign(&Type::Dyn, &of);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let message = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.report(range.id, message);
                (Type::Error, Type::Error)
            }
        };
        self.scopes.push((fold.iter_var.clone(), first));
        if let Some(name) = &fold.iter_var2 {
            self.scopes.push((name.clone(), second));
        }
        let cond = self.check(fold.loop_cond);
        self.assert(&cond, &Type::Bool);
        let step = self.check(fold.loop_step);
        self.assert(&step, &init.of);
        let loops = 1 + usize::from(two);
        self.scopes.truncate(self.scopes.len() - loops);
        let result = self.check(fold.result);
        self.scopes.pop();
        let of = self.known(&result.of);
        let fold = Fold {
            range,
            variable: fold.iter_var,
            second: fold.iter_var2,
            accumulator: fold.accu_var,
            init,
            cond,
            step,
            result,
        };
        (Node::Fold(Box::new(fold)), of)
    }

    fn assert(&mut self, expr: &Expr, wanted: &Type) {
        if !self.mapping.assign(wanted, &expr.of) {
            self.report(expr.id, format!("expected type '{wanted}' but found '{}'", expr.of));
        }
    }
}

fn literal_of(literal: &LiteralValue) -> (Node, Type) {
    let (literal, of) = match literal {
        LiteralValue::Boolean(value) => (Literal::Bool(*value.inner()), Type::Bool),
        LiteralValue::Bytes(value) => (Literal::Bytes(value.inner().into()), Type::Bytes),
        LiteralValue::Double(value) => (Literal::Double(*value.inner()), Type::Double),
        LiteralValue::Int(value) => (Literal::Int(*value.inner()), Type::Int),
        LiteralValue::Null => (Literal::Null, Type::Null),
        LiteralValue::String(value) => (Literal::String(value.inner().to_owned()), Type::String),
        LiteralValue::UInt(value) => (Literal::Uint(*value.inner()), Type::Uint),
    };
    (Node::Literal(literal), of)
}

/// The dotted name that an expression is.
fn qualified(expr: &IdedExpr) -> Option<String> {
    match &expr.expr {
        ast::Expr::Ident(name) => Some(name.clone()),
        ast::Expr::Select(select) if !select.test => {
            Some(format!("{}.{}", qualified(&select.operand)?, select.field))
        }
        _ => None,
    }
}
