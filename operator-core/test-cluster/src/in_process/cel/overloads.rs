//! The functions that rules can call, with the types that they take.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use super::types::{CIDR, FORMAT, IP, OPTIONAL, QUANTITY, SEMVER, Type, URL};

/// One form of a function.
#[derive(Debug)]
pub(super) struct Overload {
    /// Whether it is called on its first argument.
    pub(super) is_member: bool,
    pub(super) arguments: Vec<Type>,
    pub(super) result: Type,
    pub(super) has_params: bool,
}

/// The forms of a function; `None` if there is no such function.
pub(super) fn overloads(function: &str) -> Option<&'static [Overload]> {
    ALL.get(function).map(Vec::as_slice)
}

/// Each line: the function, then its forms as `(types)result`; a dot before one stands for a member. Types are letters:
/// see [`of_letter`].
const TABLE: &str = include_str!("overloads.txt");

static ALL: LazyLock<BTreeMap<&'static str, Vec<Overload>>> = LazyLock::new(|| {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let functions = lines.filter_map(|line| {
        let (function, forms) = line.split_once(' ')?;
        Some((function, forms.split(' ').filter_map(form).collect::<Vec<_>>()))
    });
    let mut all = BTreeMap::<_, Vec<Overload>>::new();
    functions.for_each(|(function, forms)| all.entry(function).or_default().extend(forms));
    all
});

fn form(text: &'static str) -> Option<Overload> {
    let (dot, rest) = text.split_once('(')?;
    let (arguments, result) = rest.split_once(')')?;
    let is_member = dot == ".";
    let mut letters = arguments.chars();
    let mut types = Vec::new();
    while let Some(of) = read(&mut letters) {
        types.push(of);
    }
    let has_params = arguments.contains(['A', 'B']) || result.contains(['A', 'B']);
    let result = read(&mut result.chars())?;
    Some(Overload { is_member, arguments: types, result, has_params })
}

fn read(letters: &mut std::str::Chars<'_>) -> Option<Type> {
    Some(match letters.next()? {
        'l' => Type::list(read(letters)?),
        'm' => Type::map(read(letters)?, read(letters)?),
        'o' => Type::Opaque(OPTIONAL, vec![read(letters)?]),
        'Y' => Type::Meta(Some(Box::new(read(letters)?))),
        letter => of_letter(letter)?,
    })
}

fn of_letter(letter: char) -> Option<Type> {
    Some(match letter {
        'z' => Type::Dyn,
        'b' => Type::Bool,
        'i' => Type::Int,
        'u' => Type::Uint,
        'd' => Type::Double,
        's' => Type::String,
        'x' => Type::Bytes,
        't' => Type::Timestamp,
        'e' => Type::Duration,
        'A' => Type::Param(Arc::from("A")),
        'B' => Type::Param(Arc::from("B")),
        'Q' => Type::Opaque(QUANTITY, Vec::new()),
        'U' => Type::Opaque(URL, Vec::new()),
        'I' => Type::Opaque(IP, Vec::new()),
        'C' => Type::Opaque(CIDR, Vec::new()),
        'S' => Type::Opaque(SEMVER, Vec::new()),
        'F' => Type::Opaque(FORMAT, Vec::new()),
        _ => return None,
    })
}

/// The type that a name stands for.
pub(super) fn type_name(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "double" => Type::Double,
        "string" => Type::String,
        "bytes" => Type::Bytes,
        "null_type" => Type::Null,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "type" => Type::Meta(None),
        "google.protobuf.Timestamp" => Type::Timestamp,
        "google.protobuf.Duration" => Type::Duration,
        "optional_type" => Type::Opaque(OPTIONAL, vec![Type::Dyn]),
        "net.IP" => Type::Opaque(IP, Vec::new()),
        "net.CIDR" => Type::Opaque(CIDR, Vec::new()),
        "kubernetes.Quantity" => Type::Opaque(QUANTITY, Vec::new()),
        "kubernetes.URL" => Type::Opaque(URL, Vec::new()),
        "kubernetes.Semver" => Type::Opaque(SEMVER, Vec::new()),
        "kubernetes.NamedFormat" => Type::Opaque(FORMAT, Vec::new()),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_read() {
        for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (function, forms) = line.split_once(' ').expect(line);
            for form in forms.split(' ') {
                assert!(super::form(form).is_some(), "{function}: {form}");
            }
        }
        assert_eq!(overloads("_[_]").map(<[_]>::len), Some(4));
    }
}
