//! Bare words, and the slips among them.

use super::{Scanner, is_newline, is_space};
use crate::scenario::value::shortened;

/// Letters that end a bare word.
fn ends_word(letter: char) -> bool {
    is_space(letter)
        || is_newline(letter)
        || matches!(letter, '{' | '}' | '(' | ')' | '=' | ';' | '"' | '\\')
}

/// What is wrong with a bare word: a title, a label, and what to write instead.
struct Slip {
    title: String,
    label: &'static str,
    help: String,
}

impl Scanner<'_> {
    /// A bare word, number or keyword.
    pub(super) fn word(&mut self) {
        let start = self.offset;
        let rest = &self.text[start..];
        let length = rest.find(ends_word).unwrap_or(rest.len());
        let length = comment_inside(&rest[..length]).unwrap_or(length);
        let word = &rest[..length];
        self.offset += length;
        if is_raw_of_version_one(word, &rest[length..]) {
            return self.raw_of_version_one(start, length);
        }
        let slip = slip(word);
        let blank = word == ",";
        if !blank {
            let is_word = slip.is_some() || !(begins_number(word) || word.starts_with('#'));
            self.value_token(start, is_word);
        }
        if let Some(slip) = slip {
            let span = self.span(start, self.offset);
            self.at.error(span, slip.title, slip.label, slip.help);
            // A comma leaves nothing; another word stays a word, or its line would lack a value.
            self.cover(start, self.offset, if blank { " " } else { "x" });
            self.out.slips.push(span);
        }
    }

    /// In KDL 1 a raw text began with `r`; the `r` is passed over.
    fn raw_of_version_one(&mut self, start: usize, length: usize) {
        let hashes = "#".repeat((length - 1).max(1));
        let span = self.span(start, start + 1);
        let help = format!("write `{hashes}\"…\"{hashes}`, without the `r`");
        self.at.error(span, "a raw text has no `r` before it", "not wanted", help);
        self.cover(start, start + 1, " ");
        self.offset = start + 1;
    }
}

/// `r"…"`, `r#"…"#`.
fn is_raw_of_version_one(word: &str, after: &str) -> bool {
    let hashes = word.strip_prefix('r').map(|rest| rest.trim_start_matches('#'));
    hashes == Some("") && after.starts_with('"')
}

/// Where a comment begins that follows a word without a space.
fn comment_inside(word: &str) -> Option<usize> {
    [word.find("//"), word.find("/*")].into_iter().flatten().filter(|at| *at > 0).min()
}

fn slip(word: &str) -> Option<Slip> {
    if let Some(keyword) = keyword(word) {
        return Some(Slip {
            title: format!("`{word}` lacks its `#`"),
            label: "a keyword of KDL",
            help: format!("write `#{keyword}`, or `\"{word}\"` if it is a text"),
        });
    }
    if word.starts_with('#') {
        return hash(word);
    }
    if word == "," {
        return Some(Slip {
            title: "a comma between values".to_owned(),
            label: "not wanted",
            help: "values are separated by spaces; remove the comma".to_owned(),
        });
    }
    if begins_number(word) && !is_number(word) {
        return Some(number(word));
    }
    word.contains(['/', '[', ']', '#', ',']).then(|| unquoted(word))
}

/// The keyword that a bare word stands for: KDL 2 wants a `#` before it.
fn keyword(word: &str) -> Option<&str> {
    let known = ["true", "false", "null", "inf", "-inf", "nan"];
    known.contains(&word).then_some(word)
}

fn hash(word: &str) -> Option<Slip> {
    let known = ["#true", "#false", "#null", "#inf", "#-inf", "#nan"];
    let help = match word.to_lowercase().as_str() {
        "#yes" | "#on" | "#true" => "write `#true`",
        "#no" | "#off" | "#false" => "write `#false`",
        _ => "there is `#true`, `#false` and `#null`; a text with a `#` in it is quoted",
    };
    (!known.contains(&word)).then(|| Slip {
        title: format!("`{}` is no keyword", shortened(word)),
        label: "unknown",
        help: help.to_owned(),
    })
}

fn begins_number(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    digits.strip_prefix('.').unwrap_or(digits).starts_with(|c: char| c.is_ascii_digit())
}

/// It is a number as KDL writes them.
fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let based = |prefix: &str, radix: u32| {
        let rest = digits.strip_prefix(prefix);
        rest.is_some_and(|rest| all_digits(rest, radix))
    };
    if based("0x", 16) || based("0o", 8) || based("0b", 2) {
        return true;
    }
    let (mantissa, exponent) = match digits.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            (mantissa, exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        }
        None => (digits, "0"),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    [whole, fraction, exponent].iter().all(|part| all_digits(part, 10))
}

fn all_digits(text: &str, radix: u32) -> bool {
    text.starts_with(|c: char| c.is_digit(radix))
        && text.chars().all(|c| c.is_digit(radix) || c == '_')
}

fn number(word: &str) -> Slip {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let time = matches!(unit, "ms" | "s" | "m" | "h");
    Slip {
        title: if time { "a duration is quoted" } else { "a number with letters in it" }.to_owned(),
        label: "neither a number nor a text",
        help: format!("write `\"{}\"`", shortened(word)),
    }
}

fn unquoted(word: &str) -> Slip {
    match word.strip_suffix(',') {
        Some(rest) if !rest.contains(['/', '[', ']', '#', ',']) => Slip {
            title: "a comma between values".to_owned(),
            label: "ends in a comma",
            help: format!("values are separated by spaces; write `{rest}`"),
        },
        _ => Slip {
            title: format!("`{}` is not quoted", shortened(word)),
            label: "a text with such letters needs quotes",
            help: format!("write `\"{}\"`", shortened(word)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_kdl() {
        for word in ["1", "-32002", "+1.5", "1e9", "1.0E-3", "0xff", "0o600", "1_000"] {
            assert!(is_number(word), "{word}");
        }
        for word in ["10s", "1.", "0x", "0600m", "1e", "1.2.3", "-1x"] {
            assert!(begins_number(word) && !is_number(word), "{word}");
        }
    }

    #[test]
    fn plain_words_are_no_slips() {
        for word in ["mention", "load-timeout", "#true", "#-inf", "-", "é", "a.b", "<x>"] {
            assert!(slip(word).is_none(), "{word}");
        }
        for word in ["true", "10s", "session/new", "[1]", "#yes", "a,"] {
            assert!(slip(word).is_some(), "{word}");
        }
    }
}
