//! What single values mean: names, file modes, JSON, bytes.

use serde_json::Value as Json;

use super::tree::{Kind, Value};

/// How long a name may be: it becomes part of a URL, a directory, a key.
const MAX_NAME: usize = 64;

/// What is wrong with a name, and what to write instead.
pub(super) fn name_fault(name: &str) -> Option<(String, String)> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    if name.is_empty() {
        return Some(("a name is empty".to_owned(), "write one: `\"t1\"`".to_owned()));
    }
    if looks_like_hex(name) {
        let help = "give it a name of its own, such as `\"t1\"`; the seed makes the id";
        return Some(("an id stands where a name belongs".to_owned(), help.to_owned()));
    }
    let begins_well = name.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    if !begins_well || !name.chars().all(plain) || name.len() > MAX_NAME {
        let title = format!("`{}` is no name", shortened(name));
        let help = format!(
            "a name has at most {MAX_NAME} ASCII letters, digits, `-` and `_`, \
             and begins with a letter or digit"
        );
        return Some((title, help));
    }
    None
}

/// An event id, a public key or a UUID.
fn looks_like_hex(name: &str) -> bool {
    let digits: String = name.chars().filter(|letter| *letter != '-').collect();
    digits.len() >= 32 && digits.chars().all(|letter| letter.is_ascii_hexdigit())
}

/// A text as short as a title can bear.
pub(super) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Permission bits from octal digits.
pub(super) fn mode(text: &str) -> Option<u32> {
    let octal = (3..=4).contains(&text.len()) && text.bytes().all(|b| (b'0'..=b'7').contains(&b));
    octal.then(|| u32::from_str_radix(text, 8).ok()).flatten()
}

/// A value as JSON, or why it is none.
pub(super) fn json(value: &Value) -> Result<Json, String> {
    match &value.kind {
        Kind::Text(text) => match serde_json::from_str(text) {
            Ok(json) => Ok(json),
            Err(error) if text.trim_start().starts_with(['{', '[']) => Err(error.to_string()),
            Err(_) => Ok(Json::String(text.to_string())),
        },
        Kind::Integer(number) => match i64::try_from(*number) {
            Ok(number) => Ok(number.into()),
            Err(_) => Err("the number is too large".to_owned()),
        },
        Kind::Float(number) => Ok((*number).into()),
        Kind::Bool(switch) => Ok((*switch).into()),
        Kind::Null | Kind::Reported => Ok(Json::Null),
    }
}

/// What is wrong with a path below a state directory.
pub(super) fn path_fault(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        Some("the path is empty")
    } else if path.starts_with('/') || path.contains('\0') {
        Some("a path begins in the state directory, without a `/`")
    } else if path.split('/').any(|part| matches!(part, ".." | "")) {
        Some("a path stays in the state directory, without `..`")
    } else {
        None
    }
}

/// The range of a number type, as help.
pub(super) fn range<T: TryFrom<i128>>() -> String {
    let fits = |number: &i128| T::try_from(*number).is_ok();
    let limits: [i128; 4] = [u16::MAX.into(), i32::MAX.into(), u32::MAX.into(), i64::MAX.into()];
    let most = limits.into_iter().filter(fits).max().unwrap_or_default();
    let least = if fits(&-1) { -most } else { 0 };
    format!("write a number from {least} to {most}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_and_ids_are_not() {
        for name in ["a", "t1", "old-harness", "C_2", "7up"] {
            assert_eq!(name_fault(name), None, "{name}");
        }
        for name in ["", "-a", "a b", "../x", "é", &"ab".repeat(32), &"a-".repeat(40)] {
            assert!(name_fault(name).is_some(), "{name}");
        }
    }

    #[test]
    fn modes_are_octal() {
        assert_eq!(mode("0600"), Some(0o600));
        assert_eq!(mode("644"), Some(0o644));
        assert_eq!(mode("0x10"), None);
        assert_eq!(mode("0888"), None);
        assert_eq!(mode("+600"), None);
    }

    #[test]
    fn paths_stay_inside() {
        assert_eq!(path_fault("a/b.json"), None);
        for path in ["", "/etc", "../x", "a//b", "a/../../b"] {
            assert!(path_fault(path).is_some(), "{path}");
        }
    }
}
