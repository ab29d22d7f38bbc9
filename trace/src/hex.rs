//! Thirty-two bytes that are written as hex: public keys and event ids.

use std::fmt;

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// A public key or an event id: compared by value, so that its spelling never matters (H-53).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Hex32(pub [u8; 32]);

impl Hex32 {
    /// Reads exactly 64 hex digits of either case; anything else is `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        decode_into(text, &mut bytes).then_some(Self(bytes))
    }

    /// The first eight digits, enough to tell ids apart in a story.
    pub fn short(&self) -> String {
        encode(&self.0[..4])
    }

    /// All 64 digits in upper case, for the scenarios about spelling.
    pub fn to_upper(&self) -> String {
        self.to_string().to_ascii_uppercase()
    }
}

impl fmt::Display for Hex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.pad(std::str::from_utf8(&digits).expect("hex digits are ASCII"))
    }
}

impl fmt::Debug for Hex32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())
    }
}

/// Bytes as lower-case hex.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// Reads exactly `2 * bytes.len()` hex digits of either case into `bytes`.
pub fn decode_into(text: &str, bytes: &mut [u8]) -> bool {
    let digits = text.as_bytes();
    if digits.len() != bytes.len() * 2 {
        return false;
    }
    for (pair, byte) in digits.chunks_exact(2).zip(bytes) {
        let (Some(high), Some(low)) = (digit(pair[0]), digit(pair[1])) else {
            return false;
        };
        *byte = high << 4 | low;
    }
    true
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|value| value as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_and_lower_case_are_one_value() {
        let lower = "ab".repeat(32);
        assert_eq!(Hex32::parse(&lower), Hex32::parse(&lower.to_uppercase()));
        assert_eq!(Hex32::parse(&lower).unwrap().to_string(), lower);
    }

    #[test]
    fn sixty_three_digits_and_strangers_are_refused() {
        assert_eq!(Hex32::parse(&"a".repeat(63)), None);
        assert_eq!(Hex32::parse(&"g".repeat(64)), None);
        assert_eq!(Hex32::parse(""), None);
    }
}
