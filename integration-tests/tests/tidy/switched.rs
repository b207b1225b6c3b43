//! Breaks that are compiled in at once, each behind a switch.

use integration_tests::{Place, Switched};

const SOUND: &str = "\
const LIMIT: u32 = 3;

fn double(x: u32) -> u32 {
    // As a product: `}`.
    x * 2
}

const fn always() -> bool {
    true
}

impl Thing {
    fn outer(&self) -> String {
        fn inner() -> &'static str {
            \"{\"
        }
        let call: fn() -> &'static str = inner;
        call().to_owned()
    }
}

trait Named {
    fn name(&self) -> u8;

    fn long_name(&self) -> u8 {
        self.name() + 1
    }
}

macro_rules! made {
    ($name:ident) => {
        fn $name() -> u8 { 1 }
        fn other() -> u8 { 2 }
    };
}
";

/// Whether the break that writes `to` for `from` can be switched, and the source then.
fn switched(breaks: &[(&str, &str, &str)]) -> (Vec<bool>, String) {
    let mut source = Switched::new(SOUND.to_owned());
    let taken = breaks.iter().map(|(id, from, to)| {
        assert!(SOUND.contains(from), "{from} is not in the source");
        source.add(id, &SOUND.replacen(from, to, 1)).expect("it is Rust")
    });
    (taken.collect(), source.text().0)
}

#[test]
fn a_body_stands_twice_behind_a_switch_and_all_else_is_as_it_was() {
    let (taken, text) = switched(&[("b", "x * 2", "x * 3")]);
    assert_eq!(taken, [true]);
    let body = "\n    // As a product: `}`.\n    x * 2\n";
    let both =
        format!(" if crate::broken::by(\"b\") {{{}}} else {{{body}}} ", body.replace("x * 2", "x * 3"));
    assert_eq!(text, SOUND.replace(body, &both));
}

#[test]
fn several_breaks_of_one_function_are_a_chain() {
    let (taken, text) = switched(&[("a", "x * 2", "x"), ("b", "x * 2", "0")]);
    assert_eq!(taken, [true, true]);
    let at = ["by(\"a\") {", "    x\n}", "else if", "by(\"b\") {", "    0\n}", " else {", "    x * 2\n}"];
    let mut rest = text.as_str();
    for part in at {
        let found = rest.find(part).unwrap_or_else(|| panic!("{part} is not in {rest}"));
        rest = &rest[found + part.len()..];
    }
}

#[test]
fn methods_and_what_a_trait_provides_are_functions_too() {
    let (taken, text) = switched(&[("a", "self.name() + 1", "0"), ("b", "call().to", "inner().to")]);
    assert_eq!(taken, [true, true]);
    assert!(text.contains("fn long_name(&self) -> u8 { if crate::broken::by(\"a\") {"), "{text}");
    assert!(text.contains("fn outer(&self) -> String { if crate::broken::by(\"b\") {"), "{text}");
}

#[test]
fn a_break_of_several_functions_is_switched_in_each() {
    let mut source = Switched::new(SOUND.to_owned());
    let broken = SOUND.replace("x * 2", "x").replace("self.name() + 1", "0");
    assert!(source.add("b", &broken).expect("it is Rust"));
    assert_eq!(source.text().0.matches("by(\"b\")").count(), 2);
}

#[test]
fn what_is_no_body_goes_alone() {
    let breaks = [
        ("a constant", "= 3", "= 4"),
        ("a signature", "double(x: u32)", "double(_: u32)"),
        ("what the compiler runs", "true", "false"),
        ("a macro", "{ 1 }", "{ 3 }"),
        ("a function of a macro", "{ 2 }", "{ 3 }"),
        ("a further function", "trait", "fn more() {}\n\ntrait"),
    ];
    let (taken, text) = switched(&breaks);
    assert_eq!(taken, [false; 6]);
    assert_eq!(text, SOUND);
}

#[test]
fn a_function_in_another_ones_body_is_switched_itself() {
    let (taken, text) = switched(&[("a", "\"{\"", "\"\""), ("b", "call().to", "inner().to")]);
    // What is around it would have the first one's switch in it twice.
    assert_eq!(taken, [true, false]);
    assert!(text.contains("fn inner() -> &'static str { if crate::broken::by(\"a\") {"), "{text}");
    assert!(!text.contains("by(\"b\")"), "{text}");
}

#[test]
fn a_place_says_whose_it_is() {
    let mut source = Switched::new(SOUND.to_owned());
    for (id, body) in [("a", "first"), ("b", "second")] {
        assert!(source.add(id, &SOUND.replace("x * 2", body)).expect("it is Rust"));
    }
    let (text, places) = source.text();
    let whose = |part: &str| {
        let at = text.find(part).expect("it is in the text");
        let place = places.iter().find(|place| place.range.contains(&at));
        place.map(|Place { breaks, .. }| breaks.join(" "))
    };
    assert_eq!(whose("first").as_deref(), Some("a"));
    assert_eq!(whose("second").as_deref(), Some("b"));
    assert_eq!(whose("x * 2").as_deref(), Some("a b"));
    assert_eq!(whose("LIMIT"), None);
    source.remove("a");
    assert_eq!(source.text().0.matches("by(").count(), 1);
    source.remove("b");
    assert_eq!(source.text(), (SOUND.to_owned(), Vec::new()));
}
