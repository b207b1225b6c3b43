//! `format`: a text with values in it.

use super::{
    super::value::{Error, Result, Val},
    numbers, show, strings,
};

/// Fills in the values of a text.
pub(super) fn format(text: &str, values: &[Val<'_>]) -> Result<String> {
    let (mut out, mut letters, mut next) = (String::with_capacity(text.len()), text.chars().peekable(), 0);
    let fail = |why: String| Error::new(why);
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        if letters.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut precision = None;
        if letters.next_if_eq(&'.').is_some() {
            let mut digits = String::new();
            while let Some(digit) = letters.next_if(char::is_ascii_digit) {
                digits.push(digit);
            }
            precision = digits.parse::<usize>().ok();
        }
        let verb = letters
            .next()
            .ok_or_else(|| fail("could not parse formatting clause: unexpected end of string".into()))?;
        let value = values.get(next).ok_or_else(|| fail(format!("index {next} out of range")))?;
        next += 1;
        out.push_str(&clause(verb, precision, value)?);
    }
    Ok(out)
}

fn clause(verb: char, precision: Option<usize>, value: &Val<'_>) -> Result<String> {
    let wrong = |what: &str, allowed: &str| {
        Err(Error::new(format!(
            "error during formatting: {what} can only be used on {allowed}, was given {}",
            value.kind().runtime_name()
        )))
    };
    let places = precision.unwrap_or(6);
    match (verb, value) {
        ('s', value) => nested(value, false),
        ('d', Val::Int(_) | Val::Uint(_)) => Ok(show(value)),
        ('d', Val::Double(number)) if !number.is_finite() => Ok(float_name(*number)),
        ('d', _) => wrong("decimal clause", "integers"),
        ('f', Val::Double(number)) if !number.is_finite() => Ok(float_name(*number)),
        ('f', value) => match value.float() {
            Some(number) => Ok(format!("{number:.places$}")),
            None => wrong("fixed-point clause", "doubles"),
        },
        ('e', value) => match value.float() {
            Some(number) => {
                let text = format!("{number:.places$e}");
                let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
                let (sign, exponent) =
                    exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
                Ok(format!("{digits}e{sign}{exponent:0>2}"))
            }
            None => wrong("scientific clause", "doubles"),
        },
        ('b', Val::Int(number)) => Ok(signed(*number, |number| format!("{number:b}"))),
        ('b', Val::Uint(number)) => Ok(format!("{number:b}")),
        ('b', Val::Bool(value)) => Ok(u8::from(*value).to_string()),
        ('b', _) => wrong("binary clause", "integers and bools"),
        ('x', Val::Int(number)) => Ok(signed(*number, |number| format!("{number:x}"))),
        ('X', Val::Int(number)) => Ok(signed(*number, |number| format!("{number:X}"))),
        ('x', Val::Uint(number)) => Ok(format!("{number:x}")),
        ('X', Val::Uint(number)) => Ok(format!("{number:X}")),
        ('x', Val::String(text)) => Ok(text.bytes().map(|byte| format!("{byte:02x}")).collect()),
        ('X', Val::String(text)) => Ok(text.bytes().map(|byte| format!("{byte:02X}")).collect()),
        ('x', Val::Bytes(bytes)) => Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        ('X', Val::Bytes(bytes)) => Ok(bytes.iter().map(|byte| format!("{byte:02X}")).collect()),
        ('x' | 'X', _) => wrong("hexadecimal clause", "integers, bytes, and strings"),
        ('o', Val::Int(number)) => Ok(signed(*number, |number| format!("{number:o}"))),
        ('o', Val::Uint(number)) => Ok(format!("{number:o}")),
        ('o', _) => wrong("octal clause", "integers"),
        (other, _) => Err(Error::new(format!(
            "could not parse formatting clause: unrecognized formatting clause \"{other}\""
        ))),
    }
}

fn signed(number: i64, show: impl Fn(u64) -> String) -> String {
    format!("{}{}", if number < 0 { "-" } else { "" }, show(number.unsigned_abs()))
}

fn float_name(number: f64) -> String {
    match number {
        number if number.is_nan() => "NaN",
        number if number > 0.0 => "Infinity",
        _ => "-Infinity",
    }
    .to_owned()
}

fn nested(value: &Val<'_>, quotes: bool) -> Result<String> {
    Ok(match value {
        Val::String(text) if quotes => strings::quote(text),
        Val::Double(number) if !number.is_finite() => float_name(*number),
        Val::Double(number) => numbers::show(*number),
        Val::Duration(nanoseconds) => {
            #[expect(clippy::cast_precision_loss, reason = "as the real server writes it")]
            let seconds = *nanoseconds as f64 / 1e9;
            format!("{seconds}s")
        }
        Val::List(list) => {
            let items = list.items.iter().map(|item| nested(item, true)).collect::<Result<Vec<_>>>()?;
            format!("[{}]", items.join(", "))
        }
        Val::Map(_) | Val::Object(_) => {
            let entries = value.entries().unwrap_or_default().into_iter();
            let entries = entries
                .map(|(key, value)| Ok(format!("{}: {}", nested(&key, true)?, nested(&value?, true)?)));
            format!("{{{}}}", entries.collect::<Result<Vec<_>>>()?.join(", "))
        }
        other => show(other),
    })
}
