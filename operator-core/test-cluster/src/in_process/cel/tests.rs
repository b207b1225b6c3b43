//! What expressions come to.

use serde_json::{Value, json};

use super::*;

fn schema() -> Value {
    json!({"type": "object", "properties": {
        "n": {"type": "integer", "maximum": 10},
        "name": {"type": "string", "maxLength": 20},
        "list": {"type": "array", "maxItems": 5, "items": {"type": "integer"}},
        "set": {"type": "array", "maxItems": 5, "x-kubernetes-list-type": "set", "items": {"type": "string", "maxLength": 5}},
        "map": {"type": "object", "maxProperties": 3, "additionalProperties": {"type": "string", "maxLength": 5}},
        "namespace": {"type": "string", "maxLength": 5},
        "either": {"x-kubernetes-int-or-string": true},
        "time": {"type": "string", "format": "date-time"},
        "size": {"type": "string", "maxLength": 10},
        "inner": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5}}},
    }})
}

fn run(rule: &str) -> Result<Outcome, Failed> {
    let object = json!({
        "n": 3, "name": "web-1", "list": [3, 1, 2], "set": ["b", "a"], "map": {"x": "1", "y": "2"}, "namespace": "ns",
        "either": "5%", "time": "2024-01-02T03:04:05Z", "size": "1Gi", "inner": {},
    });
    let schema = schema();
    let declared = declare(&schema, false, "selfType0").expect("a type");
    let rule = Expression::compile(rule, &declared, false).unwrap_or_else(|why| panic!("{why}"));
    rule.run(&schema, false, &object, OldSelf::Value(None))
}

fn refused(rule: &str) -> String {
    let declared = declare(&schema(), false, "selfType0").expect("a type");
    match Expression::compile(rule, &declared, false) {
        Ok(_) => panic!("{rule} is taken"),
        Err(why) => why,
    }
}

#[test]
fn expressions_come_to_what_they_say() {
    for rule in [
        "self.n == 3 && self.n < 4 && self.n < 5.5 && 2 + 3 * 4 == 14 && 7 % 3 == 1 && -self.n == -3",
        "self.name.matches('^[a-z]+-[0-9]$') && self.name.startsWith('web') && self.name.size() == 5",
        "self.list.all(x, x > 0) && self.list.exists(x, x == 2) && self.list.exists_one(x, x == 1)",
        "self.list.map(x, x * 2) == [6, 2, 4] && self.list.filter(x, x > 1).size() == 2",
        "self.list.sum() == 6 && self.list.max() == 3 && !self.list.isSorted() && self.list.sort() == [1, 2, 3]",
        "self.list.sortBy(x, -x) == [3, 2, 1] && self.list.indexOf(2) == 2 && 3 in self.list",
        "self.set == ['a', 'b'] && sets.contains(self.set, ['a']) && (self.set + ['a', 'c']).size() == 3",
        "self.map.all(k, self.map[k] != '') && 'x' in self.map && self.map.x == '1' && has(self.map.y) && !has(self.map.z)",
        "self.map.exists(k, v, v == '2') && self.list.all(i, x, x + i > 0)",
        "self.list.transformList(i, x, x + i) == [3, 2, 4] && self.map.transformMap(k, v, v + k) == {'x': '1x', 'y': '2y'}",
        "self.__namespace__ == 'ns' && has(self.inner) && !has(self.inner.a)",
        "self.inner.?a.orValue('none') == 'none' && self.?name.hasValue() && self.map[?'z'].or(optional.of('q')).value() == 'q'",
        "self.?name.optMap(n, n + '!').orValue('') == 'web-1!'",
        "type(self.either) == string && self.either.replace('%', '') == '5' && (type(self.either) == int || self.either.size() == 2)",
        "self.time < timestamp('2025-01-01T00:00:00Z') && self.time.getFullYear() == 2024 && duration('90m') == duration('1h30m')",
        "quantity(self.size).isGreaterThan(quantity('500M')) && isQuantity('1k') && !isQuantity('x') && quantity('2').asInteger() == 2",
        "isIP('::1') && ip('10.0.0.1').family() == 4 && cidr('10.0.0.0/8').containsIP('10.1.2.3') && !isCIDR('x')",
        "isURL('https://a.b/c') && url('https://a.b:80/c?d=e').getHostname() == 'a.b' && url('/x').getQuery() == {}",
        "semver('1.2.3').isLessThan(semver('1.10.0')) && isSemver('v1.2', true) && semver('1.2.3').major() == 1",
        "!format.dns1123Label().validate('a-b').hasValue() && format.named('uri').hasValue()",
        "'%s is %d, %.2f, %x'.format([dyn('a'), 3, 1.5, 255]) == 'a is 3, 1.50, ff' && 'a,b'.split(',') == ['a', 'b']",
        "'abc'.substring(1) == 'bc' && ['a', 'b'].join('-') == 'a-b' && 'aBc'.upperAscii() == 'ABC' && ' a '.trim() == 'a'",
        "'abcab'.find('b.') == 'bc' && 'abab'.findAll('a').size() == 2 && 'abc'.indexOf('c') == 2 && 'x'.charAt(0) == 'x'",
        "(false && 1 / 0 == 1) == false && (true || 1 / 0 == 1) && (1 / 0 == 1 || true)",
        "self.n == 3 ? true : self.n / 0 == 1",
        "!(self.list[7] in [])",
        "string(3) == '3' && int('4') == 4 && double(2) == 2.0 && dyn(1) == 1u && bytes('a') == b'a'",
        "[1, 2, 2].distinct() == [1, 2] && [[1], [2]].flatten() == [1, 2] && lists.range(3) == [0, 1, 2]",
    ] {
        assert_eq!(run(rule), Ok(Outcome::Bool(true)), "{rule}");
    }
    assert_eq!(run("'n is ' + string(self.n)"), Ok(Outcome::Text("n is 3".into())));
    for (rule, why) in [
        ("self.n / 0 == 1", "division by zero"),
        ("self.inner.a == 'x'", "no such key: a"),
        ("self.list[7] == 1", "index out of bounds: 7"),
        ("self.either < 5", "no such overload"),
        ("9223372036854775807 + self.n > 0", "integer overflow"),
    ] {
        assert_eq!(run(rule), Err(Failed::Said(why.into())), "{rule}");
    }
}

#[test]
fn what_does_not_fit_is_told_with_its_place() {
    for (rule, why) in [
        (
            "self.missing == 1",
            "ERROR: <input>:1:5: undefined field 'missing'\n | self.missing == 1\n | ....^",
        ),
        (
            "self.n == 'a'",
            "ERROR: <input>:1:8: found no matching overload for '_==_' applied to '(int, string)'\n | self.n == 'a'\n | .......^",
        ),
        (
            "foo(self.n)",
            "ERROR: <input>:1:4: undeclared reference to 'foo' (in container '')\n | foo(self.n)\n | ...^",
        ),
        (
            "self.name.matches('[')",
            "ERROR: <input>:1:19: invalid matches argument\n | self.name.matches('[')\n | ..................^",
        ),
    ] {
        assert_eq!(refused(rule), why);
    }
}
