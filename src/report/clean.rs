//! What foreign programs and files say, made safe and short enough to print.
//!
//! A log line or a session id may hold anything; what reaches a terminal holds no control
//! characters and nothing that changes the direction of the text around it.

use unicode_width::UnicodeWidthChar;

/// The widest line that a report prints.
pub const COLUMNS: usize = 100;

/// The text on one line, with what a terminal would act upon written out.
pub fn clean(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push(' '),
            _ if acts_on_terminals(letter) => safe.extend(letter.escape_unicode()),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Control characters, and the marks that turn text around or hide in it.
fn acts_on_terminals(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The first so many columns of it, and `…` where that is not all.
pub fn fit(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fits = |letter: &char| {
        let wide = letter.width().unwrap_or(0);
        let fits = wide <= left;
        left = left.saturating_sub(wide);
        fits
    };
    let mut short: String = text.chars().take_while(fits).collect();
    short.push('…');
    short
}

/// How many columns it takes.
pub fn width(text: &str) -> usize {
    text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
}

/// The text in quotes, at most so many columns of it.
pub fn quote(text: &str, columns: usize) -> String {
    format!("\"{}\"", fit(&clean(text), columns))
}

/// The text, filled up with spaces to so many columns.
pub fn pad(text: &str, columns: usize) -> String {
    let missing = columns.saturating_sub(width(text));
    format!("{text}{}", " ".repeat(missing))
}

/// A text in lines of so many columns at most, broken at spaces; a word that is longer stands alone.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| width(line) + 1 + width(word) <= columns) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_terminal_acts_upon_comes_through() {
        assert_eq!(clean("a\u{1b}[2Jb\nc\u{202e}d"), "a\\u{1b}[2Jb\\nc\\u{202e}d");
    }

    #[test]
    fn long_text_is_cut_by_columns_not_letters() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefg", 6), "abcde…");
        assert_eq!(fit("蜂蜂蜂", 5), "蜂蜂…");
        assert_eq!(pad("蜂", 4), "蜂  ");
    }
}
