//! Values of expressions. Those of an object stay where they are, and are looked at when a rule asks for them.

use std::{borrow::Cow, cmp::Ordering, collections::BTreeMap, net::IpAddr, sync::Arc};

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::{
    declare::{META, flag},
    types::Type,
};
use crate::in_process::go::{duration, type_of, uri::Uri};

/// A value.
#[derive(Clone, Debug)]
pub(super) enum Val<'v> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    String(Cow<'v, str>),
    Bytes(Arc<Vec<u8>>),
    Timestamp(Timestamp),
    /// In nanoseconds.
    Duration(i64),
    List(Arc<List<'v>>),
    /// A map that an expression has made, with the keys as they were given.
    Map(Arc<BTreeMap<Key, (Val<'v>, Val<'v>)>>),
    /// An object or a map of the object that is checked.
    Object(Object<'v>),
    Type(Arc<Type>),
    Optional(Option<Arc<Val<'v>>>),
    /// In billionths.
    Quantity(i128),
    Url(Arc<Uri>),
    Ip(IpAddr),
    Cidr(IpAddr, u8),
    Semver(Arc<semver::Version>),
    /// The name of a format.
    Format(&'static str),
    /// Something that no schema describes, which can only be compared.
    Unknown(&'v Value),
}

/// Items, and how they are compared.
#[derive(Clone, Debug)]
pub(super) struct List<'v> {
    pub(super) items: Vec<Val<'v>>,
    /// The schema of a list of the object, if its items have an identity.
    pub(super) of: Option<&'v Value>,
}

/// The fields of an object, or the entries of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object<'v> {
    pub(super) fields: &'v Map<String, Value>,
    pub(super) schema: &'v Value,
    /// Whether it has the fields that every object has.
    pub(super) is_root: bool,
}

/// A key: equal numbers are one key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Bool(bool),
    Int(i64),
    Uint(u64),
    String(String),
}

/// Why there is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Error {
    /// The words of Go's interpreter.
    Said(String),
    /// It takes too long.
    TooLong,
}

impl Error {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self::Said(text.into())
    }

    pub(super) fn overload() -> Self {
        Self::new("no such overload")
    }
}

pub(super) type Result<T> = std::result::Result<T, Error>;

impl<'v> Object<'v> {
    /// Whether its fields are named by the schema: then rules see their escaped names.
    pub(super) fn is_map(&self) -> bool {
        !self.is_root
            && self.schema.get("properties").is_none()
            && self.schema.get("additionalProperties").is_some_and(Value::is_object)
    }

    /// The schema of a field.
    fn of_field(&self, name: &str) -> Option<&'v Value> {
        if self.is_root
            && let Some(meta) = META.get(name)
        {
            return Some(meta);
        }
        let properties = self.schema.get("properties");
        match properties.and_then(|properties| properties.get(name)) {
            Some(property) => Some(property),
            None if properties.is_some() || self.is_root => None,
            None => self.schema.get("additionalProperties").filter(|others| others.is_object()),
        }
    }

    /// The value of a field, by the name that it has in the object.
    pub(super) fn get(&self, name: &str) -> Option<Result<Val<'v>>> {
        let value = self.fields.get(name)?;
        let of = self.of_field(name)?;
        Some(open(value, of, flag(of, "x-kubernetes-embedded-resource")))
    }

    /// The names of the fields that rules can see.
    pub(super) fn names(&self) -> impl Iterator<Item = &'v String> {
        let this = *self;
        self.fields.keys().filter(move |name| this.of_field(name).is_some())
    }
}

/// A value of the object that is checked.
pub(super) fn open<'v>(value: &'v Value, schema: &'v Value, is_root: bool) -> Result<Val<'v>> {
    let text = |word: &str| schema.get(word).and_then(Value::as_str).unwrap_or_default();
    let wrong = |wanted: &str| Err(Error::new(format!("invalid data, expected {wanted}")));
    if value.is_null() {
        return if flag(schema, "nullable") {
            Ok(Val::Null)
        } else {
            Err(Error::new("invalid data, got null for schema with nullable=false"))
        };
    }
    if flag(schema, "x-kubernetes-int-or-string") {
        return match value {
            Value::String(text) => Ok(Val::String(Cow::Borrowed(text))),
            Value::Number(number) if number.as_i64().is_some() => {
                Ok(Val::Int(number.as_i64().unwrap_or_default()))
            }
            _ => wrong("XIntOrString value to be either a string or integer"),
        };
    }
    match if is_root { "object" } else { text("type") } {
        "object" => match value {
            Value::Object(fields) => Ok(Val::Object(Object { fields, schema, is_root })),
            _ => wrong("a map for the provided schema with type=object"),
        },
        "array" => {
            let (Value::Array(items), Some(of)) = (value, schema.get("items")) else {
                return wrong("an array for the provided schema with type=array");
            };
            let embedded = flag(of, "x-kubernetes-embedded-resource");
            let items = items.iter().map(|item| open(item, of, embedded)).collect::<Result<Vec<_>>>()?;
            let of = matches!(text("x-kubernetes-list-type"), "map" | "set").then_some(schema);
            Ok(Val::List(Arc::new(List { items, of })))
        }
        "string" => match value {
            Value::String(value) => read(value, text("format")),
            other => wrong(&format!("string, got {}", type_of(other))),
        },
        "number" => value.as_f64().map(Val::Double).map_or_else(|| wrong("float"), Ok),
        "integer" => match value.as_i64() {
            Some(number) => Ok(Val::Int(number)),
            None => wrong(&format!("int, got {}", type_of(value))),
        },
        "boolean" => value.as_bool().map(Val::Bool).map_or_else(|| wrong("bool"), Ok),
        _ if flag(schema, "x-kubernetes-preserve-unknown-fields") => Ok(Val::Unknown(value)),
        other => Err(Error::new(format!(
            "invalid type, expected object, array, number, integer, boolean or string, or no type with \
             x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got {other}"
        ))),
    }
}

fn read<'v>(text: &'v str, format: &str) -> Result<Val<'v>> {
    match format {
        "duration" => duration::parse_loosely(text).map(Val::Duration).ok_or_else(|| {
            Error::new(format!("Invalid duration {text}: unable to parse {text} as duration"))
        }),
        "date" => format!("{text}T00:00:00Z")
            .parse()
            .map(Val::Timestamp)
            .map_err(|_| Error::new(format!("Invalid date formatted string {text}"))),
        "date-time" => text
            .parse()
            .map(Val::Timestamp)
            .map_err(|_| Error::new(format!("Invalid date-time formatted string {text}"))),
        "byte" => from_base64(text)
            .map(|bytes| Val::Bytes(Arc::new(bytes)))
            .ok_or_else(|| Error::new(format!("Invalid byte formatted string {text}"))),
        _ => Ok(Val::String(Cow::Borrowed(text))),
    }
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(digits.len()), 0_u32, 0);
    for letter in digits.bytes() {
        let digit = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(digit);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

impl<'v> Val<'v> {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::String(Cow::Owned(text.into()))
    }

    pub(super) fn list(items: Vec<Self>) -> Self {
        Self::List(Arc::new(List { items, of: None }))
    }

    /// The value as a key of a map.
    pub(super) fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Bool(value) => Key::Bool(*value),
            Self::Int(value) => Key::Int(*value),
            Self::Uint(value) => i64::try_from(*value).map_or(Key::Uint(*value), Key::Int),
            #[expect(clippy::cast_possible_truncation, reason = "a whole number within the range")]
            Self::Double(value) if value.fract() == 0.0 && value.abs() < 9.2e18 => Key::Int(*value as i64),
            Self::String(text) => Key::String(text.to_string()),
            _ => return None,
        })
    }

    /// The value's type.
    pub(super) fn kind(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::Timestamp(_) => Type::Timestamp,
            Self::Duration(_) => Type::Duration,
            Self::List(_) => Type::list(Type::Dyn),
            Self::Map(_) | Self::Object(_) => Type::map(Type::Dyn, Type::Dyn),
            Self::Type(_) => Type::Meta(None),
            Self::Optional(_) => Type::optional(Type::Dyn),
            Self::Quantity(_) => Type::Opaque(super::types::QUANTITY, Vec::new()),
            Self::Url(_) => Type::Opaque(super::types::URL, Vec::new()),
            Self::Ip(_) => Type::Opaque(super::types::IP, Vec::new()),
            Self::Cidr(..) => Type::Opaque(super::types::CIDR, Vec::new()),
            Self::Semver(_) => Type::Opaque(super::types::SEMVER, Vec::new()),
            Self::Format(_) => Type::Opaque(super::types::FORMAT, Vec::new()),
            Self::Unknown(_) => Type::Dyn,
        }
    }

    /// The number of letters, bytes, items or entries; 1 for anything else.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::String(text) => text.chars().count(),
            Self::Bytes(bytes) => bytes.len(),
            Self::List(list) => list.items.len(),
            Self::Map(map) => map.len(),
            Self::Object(object) => object.fields.len(),
            _ => 1,
        }
    }

    /// The entries of a map or an object, in the order of their names.
    pub(super) fn entries(&self) -> Option<Vec<(Self, Result<Self>)>> {
        match self {
            Self::Map(map) => {
                Some(map.values().map(|(key, value)| (key.clone(), Ok(value.clone()))).collect())
            }
            Self::Object(object) => {
                let names = object.names().filter_map(|name| {
                    let key = if object.is_map() {
                        Cow::Borrowed(name.as_str())
                    } else {
                        Cow::Owned(super::declare::escape(name)?)
                    };
                    Some((Self::String(key), object.get(name)?))
                });
                Some(names.collect())
            }
            _ => None,
        }
    }

    /// The order of two values of one type, or of two numbers.
    pub(super) fn compare(&self, other: &Self) -> Result<Ordering> {
        let ordered = match (self, other) {
            (Self::Bool(one), Self::Bool(two)) => one.cmp(two),
            (Self::Int(one), Self::Int(two)) => one.cmp(two),
            (Self::Uint(one), Self::Uint(two)) => one.cmp(two),
            (Self::Int(one), Self::Uint(two)) => i128::from(*one).cmp(&i128::from(*two)),
            (Self::Uint(one), Self::Int(two)) => i128::from(*one).cmp(&i128::from(*two)),
            (Self::String(one), Self::String(two)) => one.cmp(two),
            (Self::Bytes(one), Self::Bytes(two)) => one.cmp(two),
            (Self::Timestamp(one), Self::Timestamp(two)) => one.cmp(two),
            (Self::Duration(one), Self::Duration(two)) => one.cmp(two),
            (one, two) => {
                let (Some(one), Some(two)) = (one.float(), two.float()) else {
                    return Err(Error::overload());
                };
                return one.partial_cmp(&two).ok_or_else(|| Error::new("NaN values cannot be ordered"));
            }
        };
        Ok(ordered)
    }

    /// A number as a float.
    #[expect(clippy::cast_precision_loss, reason = "as the real server compares numbers")]
    pub(super) fn float(&self) -> Option<f64> {
        match self {
            Self::Int(number) => Some(*number as f64),
            Self::Uint(number) => Some(*number as f64),
            Self::Double(number) => Some(*number),
            _ => None,
        }
    }
}
