//! Instants of a run, as people read and write them: `1.004s`.

/// Milliseconds since the run began, in seconds.
pub fn show(at_ms: u64) -> String {
    format!("{}.{:03}s", at_ms / 1000, at_ms % 1000)
}

/// Reads `1.004s`, `10s`, `250ms`, `2m`, `1h` as milliseconds; what is finer is dropped.
pub fn parse(text: &str) -> Option<u64> {
    let digits = text.find(|letter: char| letter.is_ascii_alphabetic())?;
    let (number, unit) = text.split_at(digits);
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let unit_ms: u64 = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    let whole_ms = digits_of(whole)?.checked_mul(unit_ms)?;
    if fraction.is_empty() {
        return (!number.contains('.')).then_some(whole_ms);
    }
    // Three places are a millisecond of a second; of the larger units they are exact enough.
    let thousandths = digits_of(&format!("{fraction:0<3}")[..3])?;
    whole_ms.checked_add(thousandths * unit_ms / 1_000)
}

fn digits_of(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_reads_back() {
        for at_ms in [0, 7, 1_004, 600_000] {
            assert_eq!(parse(&show(at_ms)), Some(at_ms));
        }
    }

    #[test]
    fn units_are_needed_and_junk_is_refused() {
        assert_eq!(parse("250ms"), Some(250));
        assert_eq!(parse("1.5m"), Some(90_000));
        for junk in ["", "1", "s", "1.s", "-1s", "1.xs", "é1s", "99999999999999999999h", "1.é00s"]
        {
            assert_eq!(parse(junk), None, "{junk}");
        }
    }
}
