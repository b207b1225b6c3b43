//! What calls cost at the most.

use super::{
    super::{
        parse::ACCUMULATOR,
        tree::{Expr, Literal, Node},
        types::{CIDR, FORMAT, IP, QUANTITY, SEMVER, Type, URL},
    },
    Coster, Entries, PATTERN, Range, TEXT,
};

/// A cost without that of the arguments, and the size of the result where it is known.
type Estimate = (Range, Option<Range>);

impl Coster<'_> {
    pub(super) fn call(&mut self, expr: &Expr) -> Range {
        let Node::Call { function, target, args, forms } = &expr.node else { return Range::default() };
        if function == "dyn" {
            let Some(arg) = args.first() else { return Range::default() };
            let cost = self.cost(arg);
            let size = self.size(arg);
            self.set_size(expr, size);
            if let Some(entries) = self.entries_of(arg) {
                self.entries.insert(expr.id, entries);
            }
            return cost.plus(Range::fixed(1));
        }
        let costs: Vec<Range> = args.iter().map(|arg| self.cost(arg)).collect();
        if forms.is_empty() {
            return Range::default();
        }
        let on = target.as_deref();
        let sum = on.map(|on| self.cost(on)).unwrap_or_default();
        let mut cost = Range::new(u64::MAX, 0);
        let mut result: Option<Range> = None;
        for form in forms {
            let (own, size) = self.form(expr, function, form, on, args, &costs);
            cost = cost.or(own);
            if let Some(size) = size {
                result = Some(result.map_or(size, |before| before.or(size)));
            }
            let part = match *form {
                "index_list" => Some("@items"),
                "index_map" => Some("@values"),
                _ => None,
            };
            if let (Some(part), Some(arg)) = (part, args.first()) {
                result = self.entries_of(arg).map(|entries| entries.value);
                let mut path = self.path(arg);
                path.push(part.to_owned());
                self.paths.insert(expr.id, path);
            }
            if result.is_none() {
                result = self.size(expr);
            }
        }
        self.set_size(expr, result);
        sum.plus(cost)
    }

    fn form(
        &mut self,
        expr: &Expr,
        function: &str,
        form: &str,
        target: Option<&Expr>,
        args: &[Expr],
        costs: &[Range],
    ) -> Estimate {
        let all = costs.iter().fold(Range::default(), |sum, cost| sum.plus(*cost));
        if let Some((cost, size)) = self.of_library(function, form, target, args) {
            return (cost.plus(all), size);
        }
        match (form, args) {
            ("logical_or" | "logical_and", [_, _]) => {
                let most = costs[0].plus(costs[1]).max;
                (Range::new(costs[0].min, most), None)
            }
            ("conditional", [_, yes, no]) => {
                let size = self.size_or_unknown(yes).or(self.size_or_unknown(no));
                if let Some(entries) = Entries::or(self.entries_of(yes), self.entries_of(no)) {
                    self.entries.insert(expr.id, entries);
                }
                (costs[0].plus(costs[1].or(costs[2])), Some(size))
            }
            ("add_string" | "add_bytes" | "add_list", [one, two]) => {
                let size = self.size_or_unknown(one).plus(self.size_or_unknown(two));
                if let Some(entries) = Entries::or(self.entries_of(one), self.entries_of(two)) {
                    self.entries.insert(expr.id, entries);
                }
                let cost = if form == "add_list" { Range::fixed(1) } else { size.by(TEXT) };
                (cost.plus(all), Some(size))
            }
            ("string_to_bytes", [text]) => {
                let size = self.size_or_unknown(text);
                (size.by(TEXT).plus(all), Some(Range::new(size.min, size.max.saturating_mul(4))))
            }
            ("bytes_to_string", [bytes]) => {
                let size = self.size_or_unknown(bytes);
                (size.by(TEXT).plus(all), Some(Range::new(size.min / 4, size.max)))
            }
            ("strings_quote", [text]) => {
                let size = self.size_or_unknown(text);
                let quoted = Range::new(size.min + 2, size.max.saturating_mul(2).saturating_add(2));
                (size.by(TEXT).plus(all), Some(quoted))
            }
            ("starts_with_string" | "ends_with_string", [part]) => {
                (self.size_or_unknown(part).by(TEXT).plus(all), None)
            }
            ("in_list", [_, list]) => (self.size_or_unknown(list).by(1.0).plus(all), None),
            ("matches_string", [pattern]) => {
                let text = target.map_or(Range::UNKNOWN, |target| self.size_or_unknown(target));
                let cost =
                    text.plus(Range::fixed(1)).by(TEXT).times(self.size_or_unknown(pattern).by(PATTERN));
                (cost.plus(all), None)
            }
            ("contains_string", [part]) => {
                let text = target.map_or(Range::UNKNOWN, |target| self.size_or_unknown(target));
                (text.by(TEXT).times(self.size_or_unknown(part).by(TEXT)).plus(all), None)
            }
            ("string_format", _) => {
                let text = target.map_or(Range::UNKNOWN, |target| self.size_or_unknown(target));
                (text.by(TEXT).plus(all), None)
            }
            (form, [one, two]) if compares_by_size(form) => {
                let smaller = self.size_or_unknown(one).max.min(self.size_or_unknown(two).max);
                (Range::new(u64::from(smaller > 0), smaller).by(TEXT).plus(all), None)
            }
            _ => (Range::fixed(1).plus(all), None),
        }
    }

    /// The size by which Kubernetes' own functions are estimated.
    fn own_size(&mut self, expr: &Expr) -> Range {
        let path = self.path(expr);
        // Of what a loop collects only its size is known.
        let is_collected = path.first().is_some_and(|name| name == ACCUMULATOR);
        let size = self.size(expr);
        if is_collected && size.is_none() { Range::UNKNOWN } else { size.unwrap_or(Range::UNKNOWN) }
    }

    /// The type of a list's items, and their size.
    fn items(&mut self, list: &Expr) -> Option<(Type, Range)> {
        let Type::List(of) = &list.of else { return None };
        let mut path = self.path(list);
        path.push("@items".to_owned());
        let size = self.declared(&path).map_or(Range::UNKNOWN, |declared| Range::new(0, declared.most));
        Some(((**of).clone(), if path.len() > 1 { size } else { Range::UNKNOWN }))
    }

    fn of_library(
        &mut self,
        function: &str,
        form: &str,
        target: Option<&Expr>,
        args: &[Expr],
    ) -> Option<Estimate> {
        let one = Some((Range::fixed(1), None));
        match function {
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => {
                let target = target?;
                let size = self.own_size(target);
                let Some((of, items)) = self.items(target) else { return Some((size.by(TEXT), None)) };
                let each = match of {
                    Type::String | Type::Bytes => Range::fixed(1).plus(items.by(TEXT)),
                    _ => Range::fixed(1),
                };
                Some((size.times(each), None))
            }
            "url" => {
                let size = self.own_size(args.first()?);
                Some((size.by(TEXT), Some(size)))
            }
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = self.own_size(target?);
                Some((size.by(TEXT), Some(size)))
            }
            "replace" => self.replace(target?, args),
            "split" => {
                let size = self.own_size(target?);
                let limit = args.get(1).and_then(|limit| match limit.node {
                    Node::Literal(Literal::Int(limit)) => Some(limit.cast_unsigned()),
                    _ => None,
                });
                Some((size.by(2.0 * TEXT), Some(Range::new(0, limit.unwrap_or(size.max)))))
            }
            "join" => {
                let target = target?;
                let count = self.own_size(target);
                let mut size = self.items(target).map(|(_, items)| count.times(items)).unwrap_or_default();
                if let Some(separator) = args.first() {
                    let between = Range::new(count.min.saturating_sub(1), count.max.saturating_sub(1));
                    size = size.plus(self.own_size(separator).times(between));
                }
                Some((size.by(TEXT), Some(size)))
            }
            "find" | "findAll" => {
                let (size, pattern) = (self.own_size(target?), self.own_size(args.first()?));
                let cost = size.plus(Range::fixed(1)).by(TEXT).times(pattern.by(PATTERN));
                Some((cost, Some(Range::new(0, size.max))))
            }
            "ip" if form == "cidr_ip" => one,
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => {
                Some((self.own_size(args.first()?).by(TEXT), None))
            }
            "ip.isCanonical" => Some((self.own_size(args.first()?).by(2.0 * TEXT), None)),
            "containsIP" | "containsCIDR" => {
                let size = Range::new(4, 16);
                let mut cost = size.plus(size).by(TEXT);
                if function == "containsCIDR" {
                    cost = cost.plus(size.by(TEXT)).plus(Range::fixed(1));
                }
                if form.ends_with("_string") {
                    cost = cost.plus(self.own_size(args.first()?).by(TEXT));
                }
                Some((cost, None))
            }
            "validate" => Some((self.own_size(args.first()?).by(TEXT).by(128.0 * PATTERN), None)),
            "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery" => one,
            "_==_" => {
                let [left, right] = args else { return None };
                if !left.of.is(&right.of) {
                    return None;
                }
                match left.of {
                    Type::Opaque(IP | CIDR | QUANTITY | SEMVER, _) => one,
                    Type::Opaque(FORMAT, _) => Some((Range::new(1, 64).by(TEXT), None)),
                    Type::Opaque(URL, _) => {
                        let most = self.size(right).map_or(1, |size| size.max);
                        Some((Range::new(1, most).by(TEXT), None))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn replace(&mut self, target: &Expr, args: &[Expr]) -> Option<Estimate> {
        let [from, to, ..] = args else { return None };
        let (size, from, to) = (self.own_size(target), self.own_size(from), self.own_size(to));
        let (mut count, mut kept) = (Range::default(), Range::default());
        let parts = |whole: u64, part: u64| whole.div_ceil(part.max(1));
        if from.min == 0 {
            count.max = size.max.saturating_add(1);
            kept.max = size.max;
        } else if to.max <= from.min {
            kept.max = size.max;
        } else {
            count.max = parts(size.max, from.min);
        }
        if from.max == 0 {
            count.min = size.min.saturating_add(1);
            kept.min = size.min;
        } else if from.max <= to.min {
            kept.min = size.min;
        } else {
            count.min = parts(size.min, from.max);
        }
        Some((size.by(2.0 * TEXT), Some(count.times(to).plus(kept))))
    }
}

fn compares_by_size(form: &str) -> bool {
    matches!(
        form,
        "equals"
            | "not_equals"
            | "less_string"
            | "less_equals_string"
            | "greater_string"
            | "greater_equals_string"
            | "less_bytes"
            | "less_equals_bytes"
            | "greater_bytes"
            | "greater_equals_bytes"
    )
}
