//! A badge: the certificate in one word, as a picture for a page.

use crate::certify::{Certificate, Tier};

/// What stands on the left.
const LABEL: &str = "loadSession";
/// The width of a letter in the badge's font, in tenths of a pixel: close enough to centre by.
const LETTER_TENTHS: usize = 65;

/// The badge as SVG. It needs no font and no network.
pub fn svg(certificate: &Certificate) -> String {
    draw(&certificate.word(), colour(certificate.tier))
}

fn colour(tier: Option<Tier>) -> &'static str {
    match tier {
        Some(Tier::Robust) => "#2e7d32",
        Some(Tier::Honest | Tier::Faithful) => "#558b2f",
        Some(Tier::Survives) => "#b08800",
        Some(Tier::Loads | Tier::Speaks) => "#c05600",
        None => "#b71c1c",
    }
}

fn draw(word: &str, colour: &str) -> String {
    let width = |text: &str| text.chars().count() * LETTER_TENTHS / 10 + 12;
    let (left, right) = (width(LABEL), width(word));
    let (whole, middle) = (left + right, left + right / 2);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{whole}\" height=\"20\" role=\"img\" \
         aria-label=\"{LABEL}: {word}\">\
         <title>{LABEL}: {word}</title>\
         <rect width=\"{left}\" height=\"20\" fill=\"#444\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{colour}\"/>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" \
         text-anchor=\"middle\">\
         <text x=\"{}\" y=\"14\">{LABEL}</text><text x=\"{middle}\" y=\"14\">{word}</text></g></svg>\n",
        left / 2
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_says_its_word_and_nothing_from_elsewhere() {
        let badge = draw("survives", colour(Some(Tier::Survives)));
        assert!(badge.contains("<title>loadSession: survives</title>"), "{badge}");
        assert_eq!(badge.matches("http").count(), 1, "only the name of SVG itself: {badge}");
    }
}
