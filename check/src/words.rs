//! Instants and numbers as a reader wants them.

/// `1.004s`.
pub(crate) fn instant(at_ms: u64) -> String {
    format!("{}.{:03}s", at_ms / 1000, at_ms % 1000)
}

/// `once`, `twice`, `3 times`.
pub(crate) fn times(count: u32) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        more => format!("{more} times"),
    }
}

/// `one`, `2`: how many, in a sentence.
pub(crate) fn number(count: u32) -> String {
    if count == 1 { "one".to_owned() } else { count.to_string() }
}

/// A foreign text as short as a sentence can bear.
pub(crate) fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// `violated once, at 1.004s`, `violated 3 times, first at 1.004s`.
pub(crate) fn violated(count: u32, first_ms: u64) -> String {
    let first = if count > 1 { "first at" } else { "at" };
    format!("violated {}, {first} {}", times(count), instant(first_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_have_three_digits_after_the_point() {
        assert_eq!(instant(0), "0.000s");
        assert_eq!(instant(61_004), "61.004s");
    }

    #[test]
    fn a_single_violation_has_no_first() {
        assert_eq!(violated(1, 1004), "violated once, at 1.004s");
        assert_eq!(violated(2, 1004), "violated twice, first at 1.004s");
        assert_eq!(violated(3, 7), "violated 3 times, first at 0.007s");
    }
}
